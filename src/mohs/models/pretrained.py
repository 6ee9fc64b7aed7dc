"""Load models and tokenizers in the Hugging Face layout, and read their properties."""

from __future__ import annotations

import copy
import hashlib
import importlib
import importlib.util
import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from mohs import assets
from mohs.assets.registry import find, is_asset
from mohs.errors import BadInput
from mohs.models.hub import not_fetched, quiet_hub, unreachable

# These model types count positions from the padding id + 1.
_SHIFTED = {
    "camembert",
    "data2vec-text",
    "ibert",
    "lilt",
    "longformer",
    "luke",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}

_ROLES = {
    "AutoModel": "an encoder",
    "AutoModelForCausalLM": "a causal language model",
    "AutoModelForMaskedLM": "a masked language model",
    "AutoModelForSeq2SeqLM": "a sequence-to-sequence model",
    "AutoModelForSequenceClassification": "a classifier",
}


def load_hf(spec: str, kind: str, trust_code: bool) -> tuple[Any, Any]:
    """Load a tokenizer and a model from a folder or by name; raises BadInput if that fails.

    Weights come from safetensors, or from a pickle through torch's loader for plain tensors, which runs no code.
    """
    return _open(f"hf:{spec}", place_of(spec), kind, trust_code)


def place_of(spec: str) -> str:
    """Resolve a spec to a model folder, that of an installed asset included, or to a name on the hub."""
    folder = Path(spec).expanduser()
    if folder.is_dir():
        return str(folder)
    if spec.startswith((".", "/", "~")) or spec.count("/") > 1:
        raise BadInput(
            f"There is no folder {spec}; hf: takes a model folder, an asset (`mohs assets list`), or a name on the "
            "Hugging Face hub."
        )
    if is_asset(spec) and (assets.installed(spec) or find(spec).hub is None):
        return str(assets.path(spec))
    return spec


def transformers() -> Any:
    """The transformers library, with only errors logged."""
    library: Any = importlib.import_module("transformers")
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def load_gguf(path: str, kind: str) -> tuple[Any, Any]:
    """Load a tokenizer and a model from one GGUF file, with its weights dequantised."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise BadInput(f"There is no file {path}; gguf: takes a single model file that ends in .gguf.")
    missing = [package for package in ("gguf", "accelerate") if not importlib.util.find_spec(package)]
    if missing:
        raise BadInput(f"gguf:{path} needs {' and '.join(missing)}; run `pip install {' '.join(missing)}`.")
    with redirect_stderr(io.StringIO()):  # hides a progress bar that no setting turns off
        return _open(f"gguf:{path}", str(file.parent), kind, False, gguf_file=file.name)


@quiet_hub()
def _open(name: str, place: str, kind: str, trust_code: bool, **file: str) -> tuple[Any, Any]:
    library = transformers()
    own_code = f"{name} brings its own code; if you trust it, add --trust-code, which runs that code."
    role = _ROLES[kind]
    fault = unreachable(place)
    options: dict[str, Any] = {"trust_remote_code": trust_code, "local_files_only": bool(fault), **file}
    try:
        config = library.AutoConfig.from_pretrained(place, **options)
        wanted = getattr(config, "auto_map", None) or {}
        if not trust_code and ("AutoConfig" in wanted or kind in wanted):
            raise BadInput(own_code)
        tokenizer = library.AutoTokenizer.from_pretrained(place, **options)
        known = {"config": config} if file else {}  # parsing a GGUF file takes seconds each time
        model, report = getattr(library, kind).from_pretrained(place, output_loading_info=True, **options, **known)
    except BadInput:
        raise
    except Exception as error:  # the library raises many types
        reason = " ".join(str(error).split())
        if "trust_remote_code" in reason or "custom code" in reason:
            raise BadInput(own_code) from error
        if reason.startswith("Unrecognized configuration class") and kind in reason:
            sort = config.model_type
            raise BadInput(f"{name} is a {sort} model, which does not work as {role}; use {role}.") from error
        if fault and isinstance(error, OSError):  # the library raises this for missing files
            raise BadInput(not_fetched(name, fault)) from error
        raise BadInput(f"{name} cannot be loaded: {reason[:300] or type(error).__name__}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise BadInput(f"{name} has no fast tokenizer; save the model with a tokenizer.json beside it.")
    read = tokenizer("It was a good day in the city.", add_special_tokens=False)["input_ids"]
    if not read or set(read) <= {tokenizer.unk_token_id}:  # the library makes an empty one if files are missing
        raise BadInput(f"{name} has a tokenizer that knows no words; save the trained tokenizer beside the model.")
    missing = sorted(report["missing_keys"])
    if missing and kind != "AutoModel":  # a bare encoder may lack unused parts
        raise BadInput(
            f"{name} has no weights for {missing[0]}{' and others' * (len(missing) > 1)}, "
            f"so they would be random; use a model that was trained as {role}."
        )
    return tokenizer, model


def in_memory(model: Any, tokenizer: Any, device: str, dtype: str) -> tuple[Any, str, str]:
    """Prepare a model that the user has loaded: gives a copy, its device and its dtype.

    The user's model is not changed: hooks, mode and device change on the copy, which shares the weights if it can.
    """
    import torch

    if tokenizer is None:
        raise BadInput(f"A {type(model).__name__} needs its tokenizer; give (model, tokenizer).")
    if not getattr(tokenizer, "is_fast", False):
        raise BadInput(
            f"{type(tokenizer).__name__} is not a fast tokenizer; load it with AutoTokenizer, use_fast=True."
        )
    tensors = [*model.parameters(), *model.buffers()]
    if device == "auto":
        device = str(tensors[0].device)
    coarse = device.startswith("cuda") and tensors[0].dtype is torch.bfloat16
    if dtype == "auto":
        dtype = "bf16" if coarse else "fp32"
    wanted = torch.bfloat16 if dtype == "bf16" else torch.float32
    place = torch.device(device)
    fits = all(t.device == place and (not t.is_floating_point() or t.dtype is wanted) for t in tensors)
    return copy.deepcopy(model, {id(t): t for t in tensors} if fits else None), device, dtype


def window_of(tokenizer: Any, config: Any) -> int:
    """How many tokens the model can read: the tokenizer's limit or the number of positions, whichever is less."""
    limit = int(min(tokenizer.model_max_length, 1_000_000))
    positions = getattr(config, "max_position_embeddings", None)
    if positions and positions > 0:
        if getattr(config, "model_type", "") in _SHIFTED:
            positions -= (getattr(config, "pad_token_id", None) or 0) + 1
        limit = min(limit, positions)
    return limit


def hash_of(tokenizer: Any, model: Any) -> str:
    """A hash of the weights, the configuration and the tokenizer, independent of where they are stored."""
    digest = hashlib.sha256(model.config.to_json_string().encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    digest.update(str(window_of(tokenizer, model.config)).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
