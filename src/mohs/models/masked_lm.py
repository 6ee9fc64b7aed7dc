"""`hf:PATH_OR_ID`: a masked language model. It guesses words and scores pieces of words.

Logits are rounded to LOGIT_DECIMALS before they are sorted; ties follow the vocabulary's order. A batch has rows of
one length and a multiple of four rows. On some machines an answer is then the same in every batch. On others logits
change by millionths with the batch: rounding hides nearly all of that, and the order of guesses hardly ever changes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import accumulate, pairwise
from typing import Any

from mohs.errors import BadInput, ServiceFailed
from mohs.models.batch_shapes import FEWEST_ROWS
from mohs.models.entries import Entries
from mohs.models.mask_questions import MaskQuestion, MaskReader, MaskReading
from mohs.models.pretrained import load_hf
from mohs.models.transformer import LOGIT_DECIMALS, Network
from mohs.text.questions import Blank, Filled, Guess, Piece, Pieces, Spelling

Answer = Filled | tuple[Piece, ...] | float
Ticket = tuple[list[MaskQuestion], list[MaskReading], dict[str, Any]]

_STEPS: int = 10**LOGIT_DECIMALS
_Row = tuple[tuple[int, ...], tuple[int, ...]]
_KINDS = (Blank, Pieces, Spelling)


class MaskedLm(Network):
    """Answers Blank, Pieces and Spelling. A batch has one kind of question and rows of one length, without repeats.

    Blank: the best guesses at the mask, the log of the sum over the whole vocabulary, and the score of each requested
    word as a single entry (nan for a word that is not a single entry there).
    Pieces: the best guesses at each piece of a word, which the model sees unmasked. Pieces outside the window are left
    out.
    Spelling: the mean negative log-likelihood of some pieces. The model sees them all, as a text of their own with
    special tokens. inf if a piece is not in the vocabulary, nan if there are none. BERT-Attack's released code omits
    the special tokens; without them a small BERT could hardly tell words of two pieces from random pieces.

    If two entries at one place have the same text and both or neither start a word, only the better one is kept.
    `narrow` says that vocabulary scores are computed only where they are needed. Loading tests whether the model's head
    allows that; if not, scores are computed at all places.
    """

    def __init__(self, spec: str, *, device: str = "auto", tokens: int = 0, trust_code: bool = False) -> None:
        super().__init__(
            f"hf:{spec}", lambda: load_hf(spec, "AutoModelForMaskedLM", trust_code), device=device, tokens=tokens
        )
        mask = self._tokenizer.mask_token_id
        if mask is None:
            raise BadInput(f"{self.name} has a tokenizer without a mask token; give a masked language model.")
        self._readings: dict[MaskQuestion, MaskReading] = {}
        self.narrow = False
        row, types = self._special_tokens.row([[mask, *self.composer.ids(["a good film"])[0]][: self._room(1)]])
        sample = [MaskReading(row, types, (0, len(row) - 1))]
        try:
            whole = self._scores(sample)
        except Exception as error:  # a model that needs inputs which a tokenizer does not give
            raise self._unfit(error) from error
        self.entries = Entries(self._tokenizer, whole.shape[-1])
        self._shown = self._torch.tensor([bool(text) for text in self.entries.texts], device=self._device)
        self._offered = sum(map(bool, self.entries.texts))
        self._reader = MaskReader(self.composer, self._special_tokens, self.entries, mask, self._room)
        self.narrow = self._narrows(sample, whole)

    def _narrows(self, sample: list[MaskReading], whole: Any) -> bool:
        self.narrow = True
        try:
            narrow = self._scores(sample)
        except Exception:  # a head may raise anything at fewer places than it expects
            return False
        return narrow.shape == whole.shape and bool(self._torch.allclose(narrow, whole, 1e-3, 1e-3, equal_nan=True))

    def plan(self, items: list[MaskQuestion]) -> list[list[MaskQuestion]]:
        """Groups of one kind and one length, longest first, cut to the batch size."""
        self._read(items)
        groups: dict[tuple[int, int], list[MaskQuestion]] = defaultdict(list)
        batches = []
        for item in items:
            if item in self._readings:
                groups[_KINDS.index(type(item)), -self._length(len(self._readings[item].ids))].append(item)
            else:
                batches.append([item])  # unreadable: fails at launch, alone
        batches.sort(key=repr)
        for kind, length in sorted(groups, reverse=True):
            batches[:0] = self._cut(sorted(groups[kind, length]), max(1, -length))
        return batches

    def _cut(self, group: list[MaskQuestion], length: int) -> list[list[MaskQuestion]]:
        """Batches limited in rows and in scores. The words of one text are neighbours in the group and share a row."""
        size = len(self.entries.texts)
        places = [len(self._readings[item].places) for item in group]
        most_rows = self._rows_at(length, (min(places) if self.narrow else length) * size)
        most_places = self._rows_at(1, size)
        batches: list[list[MaskQuestion]] = []
        rows: set[_Row] = set()
        filled = 0
        for item, count in zip(group, places, strict=True):
            row = _row(self._readings[item])
            if not batches or len(rows | {row}) > most_rows or filled + count > most_places:
                batches.append([])
                rows, filled = set(), 0
            batches[-1].append(item)
            rows.add(row)
            filled += count
        return batches

    def _read(self, items: list[MaskQuestion]) -> None:
        try:
            self._readings.update(zip(items, self._reader(items), strict=True))
        except Exception:  # an unreadable item must not make the others fail
            for item in items if len(items) > 1 else []:
                self._read([item])

    def launch(self, batch: list[MaskQuestion]) -> Ticket:
        """Send a batch of one kind and length to the device; on CUDA this does not wait for the answers."""
        missing = [item for item in batch if item not in self._readings]
        self._readings.update(zip(missing, self._reader(missing), strict=True))
        readings = [self._readings[item] for item in batch]
        for item in batch:
            self._readings.pop(item, None)
        if not any(reading.places for reading in readings):
            return batch, readings, {}
        guesses = max((item.k for item in batch if not isinstance(item, Spelling)), default=0)
        with self._torch.inference_mode():
            return batch, readings, self._best(self._scores(readings), guesses, readings)

    def _scores(self, readings: list[MaskReading]) -> Any:
        """The logits at all places of the readings, in order; equal rows run once."""
        torch = self._torch
        rows = {_row(reading): (reading.ids, reading.types) for reading in readings}
        inputs = self._inputs(list(rows.values()), pad=True)
        numbers = {row: number for number, row in enumerate(rows)}
        places = [(numbers[_row(reading)], place) for reading in readings for place in reading.places]
        count = len(places)
        full = max(8, 1 << (count - 1).bit_length()) if self._padded else -(-count // FEWEST_ROWS) * FEWEST_ROWS
        at = tuple(torch.tensor(places + places[-1:] * (full - count)).T.to(self._device))

        def pick(module: Any, arguments: Any, output: Any) -> Any:
            if isinstance(output, tuple):
                return (output[0][at].unsqueeze(1), *output[1:])
            output.last_hidden_state = output.last_hidden_state[at].unsqueeze(1)
            return output

        with torch.inference_mode():
            if not self.narrow:
                return self._model(**inputs).logits[at][:count].float()
            # The hook passes the head only the states at the wanted places.
            hook = self._model.base_model.register_forward_hook(pick)
            try:
                return self._model(**inputs).logits[:count, 0].float()
            finally:
                hook.remove()

    def _best(self, scores: Any, guesses: int, readings: list[MaskReading]) -> dict[str, Any]:
        """The parts of the scores that the answers need, as whole multiples of the last decimal."""
        torch = self._torch
        size = scores.shape[-1]
        total = scores.logsumexp(-1)
        sound = total.isfinite().all() & (scores.isfinite() | ~self._shown).all()
        found = {"sound": sound, "total": _steps(total)}
        wanted = [numbers for reading in readings for numbers in reading.wanted]
        width = max(map(len, wanted), default=0)
        if width:
            table = [[max(0, number) for number in numbers] + [0] * (width - len(numbers)) for numbers in wanted]
            found["wanted"] = _steps(scores.gather(-1, torch.tensor(table).to(self._device)))
        if guesses:
            order = torch.arange(size - 1, -1, -1, device=scores.device)  # ties: the first in the vocabulary
            keys = (_steps(scores) * size + order).masked_fill(~self._shown, -(2**62))
            twice = 1 + any(reading.bare for reading in readings)  # an entry may exist with and without its space mark
            best = keys.topk(min(twice * guesses, self._offered)).values
            found |= {"numbers": size - 1 - best % size, "steps": best // size}
        return found

    def collect(self, ticket: Ticket) -> list[Answer]:
        """Wait for the scores, and make the answers."""
        batch, readings, tensors = ticket
        found = {name: tensor.cpu().tolist() for name, tensor in tensors.items()}
        if not found.pop("sound", True):
            raise ServiceFailed(f"{self.name} gave scores that are not finite; use another masked language model.")
        ends = [0, *accumulate(len(reading.places) for reading in readings)]
        parts = [{name: table[start:end] for name, table in found.items()} for start, end in pairwise(ends)]
        return list(map(self._answer, batch, readings, parts))

    def _answer(self, item: MaskQuestion, reading: MaskReading, found: dict[str, Any]) -> Answer:
        if isinstance(item, Blank):
            (guesses,), (total,) = self._guesses(item.k, reading, found), found["total"]
            steps = zip(reading.wanted[0], found["wanted"][0] if item.words else (), strict=False)
            words = tuple(math.nan if number < 0 else (step - total) / _STEPS for number, step in steps)
            return Filled(guesses, total / _STEPS, words)
        if isinstance(item, Pieces):
            return tuple(map(Piece, reading.texts, self._guesses(item.k, reading, found)))
        if not reading.places:
            return math.inf if item.pieces else math.nan
        misfit = sum(found["total"]) - sum(step for (step,) in found["wanted"])
        return float(misfit / _STEPS / len(reading.places))

    def _guesses(self, k: int, reading: MaskReading, found: dict[str, Any]) -> list[tuple[Guess, ...]]:
        """The k best guesses at each place."""
        if not k:
            return [()] * len(reading.places)
        texts, starts = self.entries.texts, self.entries.starts
        places = []
        for place, pairs in enumerate(map(zip, found["numbers"], found["steps"])) if reading.places else ():
            kept: dict[tuple[str, bool], int] = {}
            for number, step in pairs:
                kept.setdefault((texts[number], starts[number] or (reading.bare and not place)), step)
                if len(kept) == k:
                    break
            places.append(tuple(Guess(text, step / _STEPS, whole) for (text, whole), step in kept.items()))
        return places


def _steps(scores: Any) -> Any:
    """Scores as whole multiples of the last decimal."""
    return (scores * _STEPS).round().long()


def _row(reading: MaskReading) -> _Row:
    """The model input of a reading; readings with equal inputs share a row."""
    return tuple(reading.ids), tuple(reading.types or ())


def load_masked_lm(spec: str, device: str = "auto", trust_code: bool = False) -> MaskedLm:
    """Load the masked language model named on the command line."""
    if spec.startswith("hf:") and spec != "hf:":
        return MaskedLm(spec[3:], device=device, trust_code=trust_code)
    raise BadInput(f"Unknown masked language model {spec!r}; none is bundled, so use hf:PATH_OR_ID.")
