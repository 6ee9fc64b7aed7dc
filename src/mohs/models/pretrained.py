"""Models and tokenizers in the Hugging Face layout: opened with care, and what can be read off them."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

# These count positions from behind the padding id.
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


def load_hf(spec: str, kind: str, trust_code: bool) -> tuple[Any, Any]:
    """A tokenizer and a model, from a folder or by name, with one sentence when that fails.

    Weights are read from safetensors, or from a pickle with torch's reader for plain tensors, which runs no code.
    """
    library: Any = importlib.import_module("transformers")
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    folder = Path(spec).expanduser()
    if (spec.startswith((".", "/", "~")) or spec.count("/") > 1) and not folder.is_dir():
        raise BadInput(f"There is no folder {spec}; hf: takes a model folder or a name on the Hugging Face hub.")
    place = str(folder) if folder.is_dir() else spec
    own_code = f"hf:{spec} brings its own code; if you trust it, add --trust-code, which runs that code."
    try:
        config = library.AutoConfig.from_pretrained(place, trust_remote_code=trust_code)
        wanted = getattr(config, "auto_map", None) or {}
        if not trust_code and ("AutoConfig" in wanted or kind in wanted):
            raise BadInput(own_code)
        tokenizer = library.AutoTokenizer.from_pretrained(place, trust_remote_code=trust_code)
        model, report = getattr(library, kind).from_pretrained(
            place, trust_remote_code=trust_code, output_loading_info=True
        )
    except BadInput:
        raise
    except Exception as error:  # the library raises many kinds
        reason = " ".join(str(error).split())
        if "trust_remote_code" in reason or "custom code" in reason:
            raise BadInput(own_code) from error
        raise BadInput(f"hf:{spec} cannot be loaded: {reason[:300] or type(error).__name__}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise BadInput(f"hf:{spec} has no fast tokenizer; save the model with a tokenizer.json beside it.")
    read = tokenizer("It was a good day in the city.", add_special_tokens=False)["input_ids"]
    if not read or set(read) <= {tokenizer.unk_token_id}:  # the library makes up an empty one where files are missing
        raise BadInput(f"hf:{spec} has a tokenizer that knows no words; save the trained tokenizer beside the model.")
    missing = sorted(report["missing_keys"])
    if missing and kind != "AutoModel":  # a bare encoder may lack parts that are not used
        raise BadInput(
            f"hf:{spec} has no weights for {missing[0]}{' and others' * (len(missing) > 1)}, "
            "which would be random numbers; give a model that was trained as a classifier."
        )
    return tokenizer, model


def window_of(tokenizer: Any, config: Any) -> int:
    """How many tokens the model can read: the tokenizer's word, or the number of positions if that is less."""
    limit = int(min(tokenizer.model_max_length, 1_000_000))
    positions = getattr(config, "max_position_embeddings", None)
    if positions and positions > 0:
        if getattr(config, "model_type", "") in _SHIFTED:
            positions -= (getattr(config, "pad_token_id", None) or 0) + 1
        limit = min(limit, positions)
    return limit


def hash_of(tokenizer: Any, model: Any) -> str:
    """Equal for equal weights, configurations and tokenizers, wherever they are kept."""
    digest = hashlib.sha256(model.config.to_json_string().encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    digest.update(str(window_of(tokenizer, model.config)).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
