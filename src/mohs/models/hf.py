"""`hf:PATH_OR_ID`: a Hugging Face sequence classifier.

Rows are grouped by their exact token length (no padding, no mask, the fast attention kernel), and a group's last batch
is filled up to a multiple of four rows by repeating one. On the CPUs tried, a text's scores are then the same bits
whatever its companions are; whether they are is tried out on loading and kept in `exact`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mohs.errors import BadInput, VictimError
from mohs.models.device import choose_device
from mohs.models.tokens import Composer, Frame, keep
from mohs.models.victim import Fields, Output, Scores, scores

Row = tuple[list[int], list[int] | None]

_ROW_STEP = 4
_CPU_TOKENS, _CUDA_TOKENS = (
    2048,
    65_536,
)  # tokens in a batch: enough to fill the device, few enough for its caches


class HfVictim:
    """A classifier with its tokenizer, on a device."""

    hard = False

    def __init__(
        self,
        spec: str,
        *,
        device: str = "auto",
        dtype: str = "auto",  # fp32, or bf16 on CUDA; auto is fp32
        labels: Sequence[str] = (),
        tokens: int = 0,  # tokens in a batch; 0: by device
        trust_code: bool = False,
    ) -> None:
        import torch

        self.name = f"hf:{spec}"
        self._torch = torch
        self._device = choose_device(device)
        tokenizer, model = load_hf(spec, "AutoModelForSequenceClassification", trust_code)
        if model.config.num_labels < 2:
            raise BadInput(f"{self.name} has one output, which is a regression; a classifier with classes is needed.")
        self._dtype = _dtype(torch, dtype, self._device)
        self._model = model.to(self._device, self._dtype).eval()
        names = [str(model.config.id2label.get(i, i)) for i in range(model.config.num_labels)]
        self.labels = tuple(labels) or tuple(names)
        if len(self.labels) != model.config.num_labels:
            raise BadInput(
                f"{self.name} has {model.config.num_labels} classes ({', '.join(names)}), "
                f"but --labels names {len(self.labels)}."
            )
        self.in_flight = 2 if self._device.startswith("cuda") else 1
        self._tokens = tokens or (_CUDA_TOKENS if self._device.startswith("cuda") else _CPU_TOKENS)
        self.composer = Composer(tokenizer)
        self._frame = Frame(tokenizer, self.composer, _window(tokenizer, model.config))
        self._types = (
            "token_type_ids" in tokenizer.model_input_names and getattr(model.config, "type_vocab_size", 2) > 1
        )
        self._rows: dict[Fields, Row] = {}
        self.fingerprint = f"{_weights_hash(model)}-{str(self._dtype).removeprefix('torch.')}"
        self.exact = self._companions_do_not_matter()

    def _row(self, ids: list[list[int]]) -> Row:
        if not self._frame.accepts(len(ids)):
            raise VictimError(f"{self.name} has no input form for {len(ids)} texts.")
        kept = keep([len(part) for part in ids], self._frame.room(len(ids)))
        return self._frame.row([part[:size] for part, size in zip(ids, kept, strict=True)])

    def _encode(self, items: Sequence[Fields]) -> None:
        flat = self.composer.ids([field for fields in items for field in fields])
        at = 0
        for fields in items:
            self._rows[fields] = self._row(flat[at : at + len(fields)])
            at += len(fields)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Groups of equal token length, longest first, cut to the batch size."""
        self._encode(items)
        groups: dict[int, list[Fields]] = defaultdict(list)
        for item in sorted(items):
            groups[len(self._rows[item][0])].append(item)
        batches = []
        for length in sorted(groups, reverse=True):
            rows = max(_ROW_STEP, self._tokens // max(length, 1) // _ROW_STEP * _ROW_STEP)
            group = groups[length]
            batches += [group[start : start + rows] for start in range(0, len(group), rows)]
        return batches

    def launch(self, batch: list[Fields]) -> tuple[int, Any]:
        """Send a batch of one token length to the device; on CUDA this returns before it is done."""
        missing = [item for item in batch if item not in self._rows]
        if missing:
            self._encode(missing)
        return len(batch), self._forward([self._rows.pop(item) for item in batch])

    def collect(self, ticket: tuple[int, Any]) -> list[Scores]:
        """Wait for the logits, and check them."""
        rows, logits = ticket
        return scores(self.name, logits.cpu().numpy()[:rows], rows, Output.LOGITS, len(self.labels))

    def _forward(self, rows: list[Row]) -> Any:
        torch = self._torch
        rows = rows + rows[-1:] * (-len(rows) % _ROW_STEP)
        if len({len(ids) for ids, _ in rows}) > 1:  # only when a caller skips `plan`
            raise AssertionError("rows of one batch have one length")
        inputs = {"input_ids": torch.tensor([ids for ids, _ in rows])}
        if self._types and rows[0][1] is not None:
            inputs["token_type_ids"] = torch.tensor([types for _, types in rows])
        if self._device.startswith("cuda"):
            inputs = {key: value.pin_memory().to(self._device, non_blocking=True) for key, value in inputs.items()}
        with torch.inference_mode():
            return self._model(**inputs).logits.float()

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """Where the window ends in each field."""
        lengths = [len(ids) for ids in self.composer.ids(fields)]
        kept = keep(lengths, self._frame.room(len(fields)))
        if kept == lengths:
            return None
        return tuple(self.composer.ends(field, size) for field, size in zip(fields, kept, strict=True))

    def _companions_do_not_matter(self) -> bool:
        words = ["good", "film", "a", "bad", "the", "very"]
        for length in (2, 11):
            texts = [(" ".join(words[(i * 7 + j * 3 + i * j) % 6] for j in range(length)),) for i in range(29)]
            batches = self.plan(texts)
            together = dict(
                pair for batch in batches for pair in zip(batch, self.collect(self.launch(batch)), strict=True)
            )
            if any(together[text] != self.collect(self.launch([text]))[0] for text in texts[:4]):
                return False
        return True


def load_hf(spec: str, kind: str, trust_code: bool) -> tuple[Any, Any]:
    """A tokenizer and a model, from a folder or by name, with one sentence when that fails."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if (spec.startswith((".", "/", "~")) or spec.count("/") > 1) and not Path(spec).expanduser().is_dir():
        raise BadInput(f"There is no folder {spec}; hf: takes a model folder or a name on the Hugging Face hub.")
    place = str(Path(spec).expanduser()) if Path(spec).expanduser().is_dir() else spec
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=trust_code)
        model = getattr(transformers, kind).from_pretrained(place, trust_remote_code=trust_code)
    except Exception as error:  # the library raises many kinds
        reason = " ".join(str(error).split())[:300]
        if "trust_remote_code" in reason:
            raise BadInput(
                f"hf:{spec} brings its own code; if you trust it, add --trust-code, which runs that code."
            ) from error
        raise BadInput(f"hf:{spec} cannot be loaded: {reason}") from error
    return tokenizer, model


def _window(tokenizer: Any, config: Any) -> int:
    """How many tokens the model can read: the tokenizer's word, or else the number of positions."""
    limit = int(min(tokenizer.model_max_length, 1_000_000))
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        padding = getattr(config, "pad_token_id", None) or 0
        if getattr(config, "model_type", "") in (
            "roberta",
            "xlm-roberta",
            "camembert",
            "longformer",
            "mpnet",
            "xlm-roberta-xl",
        ):
            positions -= padding + 1  # these count positions from behind the padding id
        limit = min(limit, positions)
    return limit


def _dtype(torch: Any, name: str, device: str) -> Any:
    if name in ("auto", "fp32"):
        return torch.float32
    if name == "bf16":
        if not device.startswith("cuda"):
            raise BadInput("dtype=bf16 is for CUDA devices; on a CPU use fp32.")
        return torch.bfloat16
    raise BadInput(f"Unknown dtype {name!r}; use fp32 or bf16.")


def _weights_hash(model: Any) -> str:
    digest = hashlib.sha256(model.config.to_json_string().encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
