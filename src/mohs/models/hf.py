"""`hf:PATH_OR_ID`: a Hugging Face sequence classifier.

Rows are grouped by their exact token length (no padding, no mask, the fast attention kernel), and a group's last batch
is filled up to a multiple of four rows by repeating one. On the CPUs tried, a text's scores are then the same bits
whatever its companions are; whether they are is tried out on loading and kept in `exact`.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from mohs.errors import BadInput, VictimError
from mohs.models.device import choose_device
from mohs.models.frame import Frame, Row, keep
from mohs.models.pretrained import hash_of, load_hf, window_of
from mohs.models.tokens import Composer
from mohs.models.victim import Fields, Output, Scores, at_least, scores

_ROW_STEP = 4
_CPU_TOKENS, _CUDA_TOKENS = 2048, 65_536  # in a batch: enough to fill the device, few enough for its caches


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
        self._dtype = _dtype(torch, dtype, self._device)
        at_least(0, tokens=tokens)
        cuda = self._device.startswith("cuda")
        tokenizer, model = load_hf(spec, "AutoModelForSequenceClassification", trust_code)
        if model.config.num_labels < 2:
            raise BadInput(f"{self.name} has one output, which is a regression; a classifier with classes is needed.")
        if tokenizer.truncation_side != "right":
            raise BadInput(f"{self.name} cuts long texts at the start; set truncation_side to right in its tokenizer.")
        names = [str(model.config.id2label.get(i, i)) for i in range(model.config.num_labels)]
        self.labels = tuple(labels) or tuple(names)
        if len(self.labels) != model.config.num_labels:
            raise BadInput(
                f"{self.name} has {model.config.num_labels} classes ({', '.join(names)}), "
                f"but --labels names {len(self.labels)}."
            )
        self._model = model.to(self._device, self._dtype).eval()
        self.in_flight = 2 if cuda else 1
        self._tokens = tokens or (_CUDA_TOKENS if cuda else _CPU_TOKENS)
        self.composer = Composer(tokenizer)
        self._frame = Frame(tokenizer, window_of(tokenizer, model.config))
        reads = inspect.signature(model.forward).parameters
        self._types = "token_type_ids" in reads and getattr(model.config, "type_vocab_size", 2) > 1
        self._rows: dict[Fields, Row] = {}
        self.fingerprint = f"{hash_of(tokenizer, model)}-{str(self._dtype).removeprefix('torch.')}"
        try:
            self.exact = self._companions_do_not_matter()
        except VictimError:
            raise
        except Exception as error:  # a model that needs what a tokenizer does not give
            reason = " ".join(str(error).split())[:300]
            raise BadInput(f"{self.name} loads but does not run: {type(error).__name__}: {reason}") from error

    def _room(self, fields: int) -> int:
        if not self._frame.accepts(fields):
            raise VictimError(f"{self.name} has no input form for {fields} texts.")
        return self._frame.room(fields)

    def _row(self, ids: list[list[int]]) -> Row:
        kept = keep([len(part) for part in ids], self._room(len(ids)))
        return self._frame.row([part[:size] for part, size in zip(ids, kept, strict=True)])

    def _encode(self, items: Sequence[Fields]) -> None:
        flat = self.composer.ids([field for fields in items for field in fields])
        at = 0
        for fields in items:
            self._rows[fields] = self._row(flat[at : at + len(fields)])
            at += len(fields)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Groups of equal token length, longest first, cut to the batch size."""
        self._encode([item for item in items if all(map(_writable, item))])
        groups: dict[int, list[Fields]] = defaultdict(list)
        for item in sorted(items):
            groups[len(self._rows[item][0]) if item in self._rows else 0].append(item)
        unreadable = groups.pop(0, [])
        batches = []
        for length in sorted(groups, reverse=True):
            rows = max(_ROW_STEP, self._tokens // length // _ROW_STEP * _ROW_STEP)
            group = groups[length]
            batches += [group[start : start + rows] for start in range(0, len(group), rows)]
        return batches + [[item] for item in unreadable]  # these fail on launching, and alone

    def launch(self, batch: list[Fields]) -> tuple[int, Any]:
        """Send a batch of one token length to the device; on CUDA this returns before it is done."""
        missing = [item for item in batch if item not in self._rows]
        for item in missing:
            "".join(item).encode()  # half a surrogate pair raises here, in words that say so
        self._encode(missing)
        rows = [self._rows[item] for item in batch]
        for item in batch:
            self._rows.pop(item, None)
        return len(batch), self._forward(rows)

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
        kept = keep(lengths, self._room(len(fields)))
        if kept == lengths:
            return None
        return tuple(self.composer.ends(field, size) for field, size in zip(fields, kept, strict=True))

    def _companions_do_not_matter(self) -> bool:
        words = ["good", "film", "a", "bad", "the", "very"]
        for length in (2, 11):
            texts: list[Fields] = [
                (" ".join(words[(i // 6 + j * j * i) % 6] for j in range(length)),) for i in range(29)
            ]
            batches = self.plan(texts)
            together = dict(
                pair for batch in batches for pair in zip(batch, self.collect(self.launch(batch)), strict=True)
            )
            if any(together[text] != self.collect(self.launch([text]))[0] for text in texts[:4]):
                return False
        return True


def _writable(text: str) -> bool:
    """Whether a string can be told to a tokenizer: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _dtype(torch: Any, name: str, device: str) -> Any:
    if name in ("auto", "fp32"):
        return torch.float32
    if name == "bf16":
        if not device.startswith("cuda"):
            raise BadInput("dtype=bf16 is for CUDA devices; on a CPU use fp32.")
        return torch.bfloat16
    raise BadInput(f"Unknown dtype {name!r}; use fp32 or bf16.")
