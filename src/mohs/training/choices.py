"""The words that may stand at each place of a text, as tables of word numbers that go to a device.

They are those of the space that `mohs certify` makes with the same source and stopwords: placeholders, stopwords and
words beyond the window keep their place, and only fields that may change do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import Any

import torch
from torch import Tensor

from mohs import engine
from mohs.models.vocabulary import PADDING, UNKNOWN, Vocabulary
from mohs.space import Services, Source, build_space
from mohs.text import Example, Text
from mohs.text.placeholders import without_placeholders
from mohs.text.text import words_of

Fields = tuple[str, ...]
Seat = tuple[Fields, int]  # a word in its text


class Choices:
    """The choices of some texts.

    A source that looks at single words is asked about each word once, in the first text that has it.
    """

    def __init__(
        self,
        examples: Iterable[Example],
        vocabulary: Vocabulary,
        source: Source,
        stopwords: Collection[str],
        services: Mapping[str, Any],
    ) -> None:
        self.skipped = 0  # choices of several words, which no bound can hold
        seats: dict[str, Seat] = {}
        read = {}
        for example in examples:
            fields = example.text.fields
            if fields not in read:
                read[fields] = words = _changeable(example, vocabulary)
                for place in words:
                    seats.setdefault(example.text.words[words[place]], (fields, words[place]))
        found = _asked(seats, source, stopwords, services)
        table: dict[tuple[int, ...], int] = {}
        entries: dict[str, tuple[int, ...]] = {
            word: self._numbers(word, others, vocabulary) for word, others in found.items() if others
        }
        self.rows: dict[Fields, list[int]] = {}  # for each text and place a row of the table
        for fields, words in read.items():
            text = Text(*fields)
            row: list[int] = []
            for place, own in enumerate(vocabulary.row(fields)):
                entry = entries.get(text.words[words[place]], (own,)) if place in words else (own,)
                row.append(table.setdefault(entry if entry[0] == own else (own,), len(table)))
            self.rows[fields] = row
        self.most = max(map(len, table), default=1)
        self.changing = sum(len(entry) > 1 for entry in table)
        own_first = [(*entry, *entry[:1] * (self.most - len(entry))) for entry in table]
        self.table = torch.tensor(own_first or [[PADDING]], dtype=torch.int32)  # what is missing repeats the word

    @property
    def digest(self) -> str:
        """A hash of the texts' choices."""
        told = json.dumps([self.table.tolist(), list(self.rows.values())])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def of(self, texts: Sequence[Fields], device: torch.device) -> tuple[Tensor, Tensor | None]:
        """Row x place x choice, and the lengths if they differ."""
        if self.table.device != device:
            self.table = self.table.to(device)
        rows = [torch.tensor(self.rows[fields]) for fields in texts]
        lengths = torch.tensor([len(row) for row in rows])
        together = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)
        same = int(lengths.min()) == together.shape[1]
        return self.table[together], None if same else lengths

    def _numbers(self, word: str, others: Sequence[str], vocabulary: Vocabulary) -> tuple[int, ...]:
        """The numbers of a word and of the words that may stand for it."""
        single = [read for read in map(_one, others) if read]
        self.skipped += len(others) - len(single)
        numbers = [vocabulary.index.get(one, UNKNOWN) for one in (word.lower(), *single)]
        return tuple(dict.fromkeys(numbers))


def _changeable(example: Example, vocabulary: Vocabulary) -> dict[int, int]:
    """The places of a row that may change, with their positions in the text."""
    text = example.text
    if Text(*text.fields).words != text.words or tuple(words_of(text.fields)) != tuple(w.lower() for w in text.words):
        return {}
    position_of = {span: position for position, span in enumerate(text.spans())}
    free = set(without_placeholders(text, example.positions))
    places, spans = vocabulary.spans(text.fields)
    found = {place: position_of[span] for place, span in zip(places, spans, strict=True)}
    return {place: position for place, position in found.items() if position in free}


def _asked(
    seats: Mapping[str, Seat], source: Source, stopwords: Collection[str], services: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The choices of each word."""

    async def ask(seat: Seat) -> tuple[str, ...]:
        fields, position = seat
        space = await build_space(Text(*fields), source, (), stopwords, (position,), Services(services, Random(0)))
        return space.choices.get(position, ())

    found: dict[str, tuple[str, ...]] = {}
    for ended in engine.run(((word, ask(seat)) for word, seat in seats.items()), []):
        if ended.error is not None:
            raise ended.error
        assert ended.result is not None
        found[ended.key] = ended.result
    return found


def _one(word: str) -> str | None:
    """A word as the vocabulary reads it; None if it is read as several."""
    read = words_of((word,))
    return read[0] if len(read) == 1 else None
