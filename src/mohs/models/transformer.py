"""Runs a transformer in batches of one token length (`mohs.models.batch_shapes` says why)."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.engine import cut
from mohs.errors import BadInput, VictimError
from mohs.models import batch_size
from mohs.models.batch_shapes import (
    FEWEST_ROWS,
    TOKENS_PER_BATCH_ON_CUDA,
    filled_up,
    full_batch,
    padded_length,
    takes_masks,
    without_filling,
)
from mohs.models.device import choose_device, choose_dtype, current
from mohs.models.graphs import Graphs, Key
from mohs.models.pretrained import hash_of, window_of
from mohs.models.special_tokens import SpecialTokens
from mohs.models.sweeps import Base
from mohs.models.token_rows import INT32_BYTES, Laid, Packed, Row, laid_out, packed_rows, writable
from mohs.models.tokens import Composer
from mohs.models.victim import Fields, at_least
from mohs.text import Text

if TYPE_CHECKING:
    from mohs.models.sheets import Layout

Ticket = tuple[int, Any, Any]  # number of rows, their answers, and on CUDA the event after which these are ready

LOGIT_DECIMALS = 4  # logits and log-probabilities may vary by a few millionths with the batch shape

_LAUNCHES_BEFORE_RECORDING = 3  # for a shape in bf16; in fp32 it is recorded at once


class Network:
    """A model with its tokenizer, on a device. Subclasses turn their questions into rows of token ids."""

    def __init__(
        self,
        name: str,
        load: Callable[[], tuple[Any, Any]],  # returns the tokenizer and the model
        *,
        device: str,
        dtype: str = "auto",
        tokens: int = 0,
    ) -> None:
        import torch

        self.name = name
        self._torch = torch
        self._device = choose_device(device)
        self._dtype = choose_dtype(dtype, self._device)
        at_least(0, tokens=tokens)
        cuda = self._device.startswith("cuda")
        tokenizer, model = load()
        if tokenizer.truncation_side != "right":
            raise BadInput(
                f"{self.name} truncates long texts at the start; set truncation_side to right in its tokenizer."
            )
        self._tokenizer = tokenizer
        self._padded = cuda and takes_masks(tokenizer, model)
        self._model = model.to(self._device, self._dtype).eval()
        self.in_flight = 4 if cuda else 1
        self._asked = 0  # tokens processed so far
        self._tokens, self._untried = tokens or TOKENS_PER_BATCH_ON_CUDA, False
        if not (tokens or cuda):
            known = batch_size.recall(batch_size.key_of(self._model, self._dtype))
            self._tokens, self._untried = known or batch_size.DEFAULT_TOKENS, known is None
        self.composer = Composer(tokenizer)
        self._special_tokens = SpecialTokens(tokenizer, window_of(tokenizer, model.config))
        reads = inspect.signature(model.forward).parameters
        self._types = "token_type_ids" in reads and getattr(model.config, "type_vocab_size", 2) > 1
        self.fingerprint = f"{hash_of(tokenizer, model)}-{str(self._dtype).removeprefix('torch.')}"

    def _unfit(self, error: Exception) -> BadInput:
        reason = " ".join(str(error).split())[:300]
        return BadInput(f"{self.name} loads but does not run: {type(error).__name__}: {reason}")

    def _room(self, fields: int) -> int:
        if not self._special_tokens.accepts(fields):
            raise VictimError(f"{self.name} has no input form for {fields} texts.")
        return self._special_tokens.room(fields)

    def _rows_at(self, length: int, scores: int = 0) -> int:
        """The number of rows of one length in a batch; fewer if each row gives many vocabulary scores."""
        if self._untried and self._asked >= batch_size.TOKENS_BEFORE_TRYING:
            self._untried = False
            self._tokens = self._try_sizes()
            batch_size.remember(batch_size.key_of(self._model, self._dtype), self._tokens)
        return full_batch(length, self._tokens, self._padded, scores)

    def _try_sizes(self) -> int:
        """The batch size at which the layers are fastest; the cost of a head hardly depends on it."""
        bits: set[bytes] = set()

        def work(tokens: int) -> int:
            batch = rows[: max(FEWEST_ROWS, tokens // length // FEWEST_ROWS * FEWEST_ROWS)]
            states = self._model.base_model(**self._inputs(batch))[0]
            bits.add(states[:FEWEST_ROWS].numpy().tobytes())
            return len(batch) * length

        try:
            length = min(batch_size.ROW_TRIED, self._special_tokens.window)
            own = length - (self._special_tokens.window - self._room(1))  # the others are special tokens
            words, chance = self.composer.ids(["It was a good day in the city."])[0], Random(0)
            count = max(FEWEST_ROWS, batch_size.SIZES_TRIED[-1] // length)
            rows = [self._special_tokens.row([chance.choices(words, k=own)]) for _ in range(count)]
            with self._torch.inference_mode():
                found = batch_size.fastest(work) or batch_size.DEFAULT_TOKENS
        except Exception:  # the layers do not run without their head, or memory runs out
            return batch_size.DEFAULT_TOKENS
        # `exact` was tested in small batches. If large ones give other bits, batches must not grow.
        return min(found, batch_size.DEFAULT_TOKENS) if len(bits) > 1 and getattr(self, "exact", False) else found

    def batch_of(self, length: int, waiting: int) -> int:
        """How many of the waiting rows to send together: a full batch, or one that needs no filling up."""
        most = self._rows_at(length)
        return without_filling(most, waiting) if self._padded else min(most, waiting)

    def _length(self, tokens: int) -> int:
        """The length of a row on the device, with padding."""
        return padded_length(tokens) if self._padded else tokens

    def _inputs(self, rows: list[Row], *, pad: bool = False) -> dict[str, Any]:
        """The model inputs for rows of one length, filled up to the row step; padded if `pad` and the device pads."""
        torch = self._torch
        self._asked += len(rows) * len(rows[0][0])
        if pad and self._padded:
            return self._moved(self._masked(rows))
        rows = rows + rows[-1:] * (-len(rows) % FEWEST_ROWS)
        if len({len(ids) for ids, _ in rows}) > 1:  # only when a caller skips `plan`
            raise AssertionError("rows of one batch have one length")
        inputs = {"input_ids": torch.tensor([ids for ids, _ in rows])}
        if self._types and rows[0][1] is not None:
            inputs["token_type_ids"] = torch.tensor([types for _, types in rows])
        return self._moved(inputs)

    def _masked(self, rows: list[Row]) -> dict[str, Any]:
        """Model inputs with padding and a mask; the row count is filled up to a power of two."""
        torch = self._torch
        rows = rows + rows[-1:] * (max(8, 1 << (len(rows) - 1).bit_length()) - len(rows))
        length = self._length(max(len(ids) for ids, _ in rows))
        pad = self._tokenizer.pad_token_id
        sizes = torch.tensor([len(ids) for ids, _ in rows])
        inputs = {
            "input_ids": torch.tensor([ids + [pad] * (length - len(ids)) for ids, _ in rows]),
            "attention_mask": (torch.arange(length) < sizes[:, None])[:, None, None],
        }
        if self._types and rows[0][1] is not None:
            inputs["token_type_ids"] = torch.tensor(
                [(types or []) + [0] * (length - len(types or [])) for _, types in rows]
            )
        return inputs

    def _moved(self, inputs: dict[str, Any]) -> dict[str, Any]:
        if not self._device.startswith("cuda"):
            return inputs
        with current(self._device):
            return {key: value.pin_memory().to(self._device, non_blocking=True) for key, value in inputs.items()}


class Transformer(Network):
    """Runs texts through a network. `read` extracts the answers from its outputs, one row per text.

    `read` also gets a mask of the tokens that are not padding, or None if there is no padding.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[], tuple[Any, Any]],  # returns the tokenizer and the model
        read: Callable[[Any, Any], Any],
        *,
        device: str,
        dtype: str = "auto",
        tokens: int = 0,
        pads: bool = True,  # whether to pad on devices where that helps
    ) -> None:
        super().__init__(name, load, device=device, dtype=dtype, tokens=tokens)
        self._read = read
        self._row_step = 1  # a batch is filled up to a multiple of this, and to at least four rows
        self._late = False  # fill up after the layers, not before; before them four tokens are enough
        self._padded = self._padded and pads
        # bf16 scores are never a verdict, so it does not matter if a recording rounds differently.
        first = _LAUNCHES_BEFORE_RECORDING if self._dtype.itemsize < 4 else 0
        self._work = Graphs(self._answers, self._device, first) if self._padded else None
        self._rows: dict[Fields, Packed] = {}

    def _encode(self, items: Sequence[Fields]) -> None:
        self._rows |= packed_rows(items, self.composer, self._special_tokens, self._room)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Groups of one token length (after padding, if any), longest first, cut to the batch size."""
        try:
            self._encode(items)
        except (TypeError, UnicodeEncodeError):  # an unreadable text must not make the others fail
            self._encode([item for item in items if all(map(writable, item))])
        rows = self._rows
        # Sorting is useless if shapes depend on the waiting texts.
        readable = [item for item in (items if self._padded else sorted(items)) if item in rows]
        unreadable = [[item] for item in items if item not in rows]  # these fail at launch, alone
        return self.batches(readable, lambda item: rows[item][0]) + unreadable

    def batches(self, items: Iterable[Any], row_of: Callable[[Any], bytes]) -> list[list[Any]]:
        """Groups of one token length (after padding, if any), longest first, cut to the batch size."""
        own: dict[int, list[Any]] = defaultdict(list)
        for item in items:
            own[len(row_of(item))].append(item)
        groups: dict[int, list[Any]] = defaultdict(list)
        for size in sorted(own):
            groups[self._length(size // INT32_BYTES)] += own[size]
        found = []
        for length in sorted(groups, reverse=True):
            found += cut(groups[length], self._rows_at(length))
        return found

    def launch(self, batch: list[Fields]) -> Ticket:
        """Send a batch of one token length to the device; on CUDA this does not wait for the answers."""
        if not self._rows.keys() >= set(batch):
            missing = [item for item in batch if item not in self._rows]
            for item in missing:
                "".join(item).encode()  # raises a clear error here if the text holds half a surrogate pair
            self._encode(missing)
        return self._sent(list(map(self._rows.pop, batch)))

    def send_rows(self, rows: list[bytes]) -> Ticket:
        """Send a batch of rows without segment ids."""
        return self.post(self._joined(rows, None))

    def base(self, text: Text) -> Base | None:
        """The row of a text in pieces (see mohs.models.sweeps); None if a piece depends on what is around it."""
        ends = self._special_tokens.ends
        if ends is None:
            return None
        heads, tails = self.composer.pieces(text.fields[0])
        return Base.of(text, heads, tails, ends)

    @property
    def limits(self) -> tuple[int, int]:
        """The fewest and the most bytes of a row that is neither filled up nor cut."""
        return 0, self._special_tokens.window * INT32_BYTES

    def rows_of(self, items: Sequence[Fields]) -> dict[Fields, bytes]:
        """The rows of single texts."""
        rows = packed_rows(items, self.composer, self._special_tokens, self._room)
        return {item: ids for item, (ids, _) in rows.items()}

    def _sent(self, rows: list[Packed]) -> Ticket:
        return self.post(self._laid(rows))

    def post(self, laid: Laid) -> Ticket:
        """Send rows of one length."""
        return self.send([laid])

    def layout(self, text: Text, choices: Mapping[int, Sequence[str]]) -> Layout | None:
        """The layout for building the rows of a text's variants without strings; None if that is impossible."""
        from mohs.models.sheets import text_layout

        return text_layout(text, choices, self.composer, self._special_tokens, self._types)

    def lengths(self, tokens: Any) -> Any:
        """The lengths of rows on the device, with padding."""
        return padded_length(tokens) if self._padded else tokens

    def send(self, laid: Sequence[Laid]) -> Ticket:
        """Send rows of one length to the device in one batch."""
        count = sum(part.rows for part in laid)
        with current(self._device):
            answers = self._forward(laid)
            if answers.device.type != "cuda":
                return count, answers, None
            answers = answers.to("cpu", non_blocking=True)  # now, so that it does not wait for later launches
            done = self._torch.cuda.Event()
            done.record()
            return count, answers, done

    def answers(self, ticket: Ticket) -> Any:
        """Wait for the answers to a launched batch."""
        count, answers, done = ticket
        if done is not None:
            done.synchronize()
        return answers.numpy()[:count]

    def _laid(self, rows: list[Packed]) -> Laid:
        types = self._types and any(kinds is not None for _, kinds in rows)  # a batch may hold pairs and single texts
        return self._joined([ids for ids, _ in rows], [kinds or b"" for _, kinds in rows] if types else None)

    def _joined(self, rows: list[bytes], kinds: list[bytes] | None) -> Laid:
        sizes = list(map(len, rows))
        self._asked += sum(sizes) // INT32_BYTES
        return laid_out(rows, sizes, kinds, self._length(max(sizes) // INT32_BYTES), padded=self._padded)

    def _forward(self, laid: Sequence[Laid]) -> Any:
        torch = self._torch
        rows, length = sum(part.rows for part in laid), laid[0].length
        if self._padded:
            count = filled_up(rows)
        else:
            fewest = -(-FEWEST_ROWS // length) if self._late else FEWEST_ROWS
            count = max(fewest, -(-rows // self._row_step) * self._row_step)
        fill, last = count - rows, laid[-1]
        parts = [*(part.ids for part in laid), last.ids[-length * INT32_BYTES :] * fill]
        parts += [*(part.sizes for part in laid), last.sizes[-INT32_BYTES:] * fill]
        if last.kinds is not None:
            parts += [*(part.kinds or b"" for part in laid), last.kinds[-length * INT32_BYTES :] * fill]
        numbers = torch.frombuffer(bytearray(b"".join(parts)), dtype=torch.int32)
        key = count, length, last.kinds is not None
        with torch.inference_mode():
            if self._work is not None:
                return self._work(key, numbers)
            return self._answers(numbers.to(self._device), key)

    def _answers(self, numbers: Any, key: Key) -> Any:
        """The model's answers. `numbers` holds token ids, then sizes in bytes, then segment ids if there are any."""
        torch = self._torch
        rows, length, types = key
        end = rows * length
        inputs = {"input_ids": numbers[:end].view(rows, length).long()}
        real = None
        if self._padded:
            sizes = numbers[end : end + rows, None] // INT32_BYTES
            real = torch.arange(length, device=numbers.device) < sizes
            inputs["input_ids"] = inputs["input_ids"].masked_fill(~real, self._tokenizer.pad_token_id)
            inputs["attention_mask"] = real[:, None, None]
        if types:
            inputs["token_type_ids"] = numbers[end + rows :].view(rows, length).long()
        return self._read(self._model(**inputs), real)
