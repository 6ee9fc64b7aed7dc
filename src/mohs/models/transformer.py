"""Texts through a transformer in batches of one exact token length.

There is then no padding and no mask, and the fast attention kernel is taken. A group's last batch is filled up to a
multiple of four rows by repeating one: on some machines a text's numbers are then the same bits in any company.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from mohs.errors import BadInput, VictimError
from mohs.models.device import choose_device
from mohs.models.frame import BYTES, Frame, Packed, Row, keep
from mohs.models.pretrained import hash_of, load_hf, window_of
from mohs.models.tokens import Composer
from mohs.models.victim import Fields, at_least

DECIMALS = 4  # of logits and their logarithms, which may move by a few millionths with the shape of a batch

_ROW_STEP = 4
_CPU_TOKENS, _CUDA_TOKENS = 2048, 65_536  # in a batch: enough to fill the device, few enough for its caches
_SCORES = 4096  # over a vocabulary, for each token that a batch may hold: 32 MB on a CPU, 1 GB on CUDA


class Network:
    """A model with its tokenizer, on a device: what becomes rows of token ids is up to those who inherit."""

    def __init__(
        self,
        name: str,
        load: Callable[[], tuple[Any, Any]],  # gives the tokenizer and the model
        *,
        device: str,
        dtype: str = "auto",
        tokens: int = 0,
    ) -> None:
        import torch

        self.name = name
        self._torch = torch
        self._device = choose_device(device)
        self._dtype = _dtype(torch, dtype, self._device)
        at_least(0, tokens=tokens)
        cuda = self._device.startswith("cuda")
        tokenizer, model = load()
        if tokenizer.truncation_side != "right":
            raise BadInput(f"{self.name} cuts long texts at the start; set truncation_side to right in its tokenizer.")
        self._tokenizer = tokenizer
        self._model = model.to(self._device, self._dtype).eval()
        self.in_flight = 2 if cuda else 1
        self._tokens = tokens or (_CUDA_TOKENS if cuda else _CPU_TOKENS)
        self.composer = Composer(tokenizer)
        self._frame = Frame(tokenizer, window_of(tokenizer, model.config))
        reads = inspect.signature(model.forward).parameters
        self._types = "token_type_ids" in reads and getattr(model.config, "type_vocab_size", 2) > 1
        self.fingerprint = f"{hash_of(tokenizer, model)}-{str(self._dtype).removeprefix('torch.')}"

    def _room(self, fields: int) -> int:
        if not self._frame.accepts(fields):
            raise VictimError(f"{self.name} has no input form for {fields} texts.")
        return self._frame.room(fields)

    def _rows_at(self, length: int, scores: int = 0) -> int:
        """How many rows of so many tokens make a batch, or fewer if each gives many scores over a vocabulary."""
        rows = self._tokens // length
        if scores:
            rows = min(rows, self._tokens * _SCORES // scores)
        return max(_ROW_STEP, rows // _ROW_STEP * _ROW_STEP)

    def _inputs(self, rows: list[Row]) -> dict[str, Any]:
        """Rows of one length as the model takes them, filled up to the row step."""
        torch = self._torch
        rows = rows + rows[-1:] * (-len(rows) % _ROW_STEP)
        if len({len(ids) for ids, _ in rows}) > 1:  # only when a caller skips `plan`
            raise AssertionError("rows of one batch have one length")
        inputs = {"input_ids": torch.tensor([ids for ids, _ in rows])}
        if self._types and rows[0][1] is not None:
            inputs["token_type_ids"] = torch.tensor([types for _, types in rows])
        if self._device.startswith("cuda"):
            inputs = {key: value.pin_memory().to(self._device, non_blocking=True) for key, value in inputs.items()}
        return inputs


class Transformer(Network):
    """Texts through a network. `read` takes what is wanted out of its outputs, one row a text."""

    def __init__(
        self,
        spec: str,
        kind: str,
        read: Callable[[Any], Any],
        *,
        device: str,
        dtype: str = "auto",
        tokens: int = 0,
        trust_code: bool = False,
    ) -> None:
        super().__init__(
            f"hf:{spec}", lambda: load_hf(spec, kind, trust_code), device=device, dtype=dtype, tokens=tokens
        )
        self._read = read
        self._rows: dict[Fields, Packed] = {}

    def _encode(self, items: Sequence[Fields]) -> None:
        found = iter(self.composer.packed([field for fields in items for field in fields]))
        rooms = {number: self._room(number) for number in {len(fields) for fields in items}}
        for fields in items:
            parts = [next(found) for _ in fields]
            if sum(map(len, parts)) > rooms[len(fields)] * BYTES:
                kept = keep([len(part) // BYTES for part in parts], rooms[len(fields)])
                parts = [part[: size * BYTES] for part, size in zip(parts, kept, strict=True)]
            self._rows[fields] = self._frame.packed(parts)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Groups of equal token length, longest first, cut to the batch size."""
        self._encode([item for item in items if all(map(writable, item))])
        groups: dict[int, list[Fields]] = defaultdict(list)
        for item in sorted(items):
            groups[len(self._rows[item][0]) // BYTES if item in self._rows else 0].append(item)
        unreadable = groups.pop(0, [])
        batches = []
        for length in sorted(groups, reverse=True):
            rows = self._rows_at(length)
            group = groups[length]
            batches += [group[start : start + rows] for start in range(0, len(group), rows)]
        return batches + [[item] for item in unreadable]  # these fail on launching, and alone

    def launch(self, batch: list[Fields]) -> tuple[int, Any]:
        """Send a batch of one token length to the device; on CUDA this returns before it is done."""
        missing = [item for item in batch if item not in self._rows]
        for item in missing:
            "".join(item).encode()  # half a surrogate pair raises here, in words that say so
        self._encode(missing)
        return len(batch), self._forward([self._rows.pop(item) for item in batch])

    def _forward(self, rows: list[Packed]) -> Any:
        rows = rows + rows[-1:] * (-len(rows) % _ROW_STEP)
        inputs = {"input_ids": self._table([ids for ids, _ in rows])}
        if self._types and any(types is not None for _, types in rows):  # a batch may hold pairs and single texts
            inputs["token_type_ids"] = self._table([types or bytes(len(ids)) for ids, types in rows])
        with self._torch.inference_mode():
            return self._read(self._model(**inputs))

    def _table(self, rows: list[bytes]) -> Any:
        if len(set(map(len, rows))) > 1:  # only when a caller skips `plan`
            raise AssertionError("rows of one batch have one length")
        numbers = self._torch.frombuffer(bytearray(b"".join(rows)), dtype=self._torch.int32).view(len(rows), -1)
        if self._device.startswith("cuda"):
            numbers = numbers.pin_memory().to(self._device, non_blocking=True)
        return numbers.long()


def writable(text: str) -> bool:
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
