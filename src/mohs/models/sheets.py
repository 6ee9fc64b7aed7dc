"""Token rows for thousands of variants of one text, built without making any strings.

A layout is one text cut at its spaces, with the token ids of every word that may stand at each place. A sheet holds the
variants as numbers: which places change, and to which words. A few array operations build all its rows from the layout.
The rows are token by token the same as those of the strings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mohs.engine import Service
from mohs.models.special_tokens import SpecialTokens
from mohs.models.token_rows import INT32_BYTES, Laid
from mohs.models.tokens import Composer
from mohs.models.transformer import Ticket
from mohs.models.victim import Output, probabilities, traits_of
from mohs.text import Text

Whole = npt.NDArray[np.int32]
Table = npt.NDArray[np.float64]

_MOST_SPELLINGS = 4096  # for one piece that holds several words
_ROWS_AT_ONCE = 16_384  # enough for full batches of each length


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a row. Its tokens depend on the words at a few places, or are fixed."""

    ids: Whole  # one row per spelling, the original first
    sizes: npt.NDArray[np.int64]  # the number of tokens in each row
    kinds: Whole  # the segment ids of its tokens
    places: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()  # the number of words at each of these places, including the original

    @property
    def longest(self) -> int:
        """The length of the longest spelling, in tokens."""
        return int(self.sizes.max())

    def spelling(self, words: Whole) -> Any:
        """The number of each text's spelling in this segment."""
        if not self.places:
            return np.zeros(1, np.int64)
        if len(self.places) == 1:
            return words[:, self.places[0]]
        return np.ravel_multi_index(tuple(words[:, place] for place in self.places), self.counts)


@dataclass(frozen=True, eq=False)
class Layout:
    """The segments of a text's row, and the number of tokens that fit."""

    segments: tuple[Segment, ...]
    behind: Segment  # the special tokens at the end; always present, even if the text is cut
    places: int
    window: int  # tokens that fit, not counting those of `behind`
    kinds: bool  # whether there are several segment ids

    def rows(self, places: Whole, picks: Whole) -> tuple[Whole, npt.NDArray[np.int64], Whole | None]:
        """Token ids, the length of each row (the rest has no meaning), and segment ids if there are any."""
        n = len(places)
        words = np.zeros((n, self.places + 1), np.int32)
        np.put_along_axis(words, places, picks + 1, axis=1)  # padding of -1 falls into the last column
        width = sum(segment.longest for segment in (*self.segments, self.behind))
        ids = np.zeros((n, width), np.int32)
        kinds = np.zeros((n, width), np.int32) if self.kinds else None
        starts = np.arange(n) * width
        at = starts.copy()
        for segment in self.segments:
            spelling = segment.spelling(words)
            _put(ids, kinds, at, segment, spelling)  # the next segment overwrites the excess
            at += segment.sizes[spelling]
        np.minimum(at, starts + self.window, out=at)
        _put(ids, kinds, at, self.behind, np.zeros(1, np.int64))
        return ids, at - starts + self.behind.longest, kinds


def _put(ids: Whole, kinds: Whole | None, at: npt.NDArray[np.int64], segment: Segment, spelling: Any) -> None:
    where = at[:, None] + np.arange(segment.longest)
    ids.reshape(-1)[where] = segment.ids[spelling]
    if kinds is not None:
        kinds.reshape(-1)[where] = segment.kinds


def text_layout(
    text: Text, choices: Mapping[int, Sequence[str]], composer: Composer, special_tokens: SpecialTokens, types: bool
) -> Layout | None:
    """The layout of a text with its choices; None if some variants must be tokenised as strings."""
    fields = text.fields
    if not special_tokens.accepts(len(fields)) or any("" in words for words in choices.values()) or "" in text.words:
        return None
    between, kinds = special_tokens.parts(len(fields))
    spans = text.spans()
    numbers = {place: number for number, place in enumerate(choices)}
    segments = [_special(between[0])]
    for field, string in enumerate(fields):
        own = [place for place in choices if spans[place][0] == field]
        pieces = string.split(" ")
        starts = list(accumulate((len(piece) + 1 for piece in pieces), initial=0))[:-1]
        held: dict[int, list[int]] = defaultdict(list)
        for place in own:
            held[bisect_right(starts, spans[place][1]) - 1].append(place)
        if any(prod(1 + len(choices[place]) for place in places) > _MOST_SPELLINGS for places in held.values()):
            return None
        spelt = [
            list(_spellings(piece, starts[at], [(spans[place], choices[place]) for place in held.get(at, [])]))
            for at, piece in enumerate(pieces)
        ]
        known = composer.known(
            {option[0] for option in spelt[0]},
            {piece for at, options in enumerate(spelt) for option in options for piece in option[at == 0 :]},
        )
        if known is None:
            return None
        heads, tails = known
        for at, options in enumerate(spelt):
            rows = [
                heads[option[0]] + _joined(tails, option[1:]) if at == 0 else _joined(tails, option)
                for option in options
            ]
            places = tuple(numbers[place] for place in held.get(at, []))
            counts = tuple(1 + len(choices[place]) for place in held.get(at, []))
            segments.append(_segment(rows, kinds[field], places, counts))
        if field + 1 < len(fields):
            segments.append(_special(between[field + 1]))
    behind = _special(between[-1])
    window = special_tokens.window - behind.longest
    if len(fields) > 1 and sum(segment.longest for segment in segments) > window:
        return None  # which text is cut depends on the words
    segments = _merged(segments)
    differ = types and any(segment.kinds.any() for segment in (*segments, behind))
    return Layout(tuple(segments), behind, len(choices), window, differ)


def _spellings(piece: str, start: int, held: list[tuple[tuple[int, int, int], Sequence[str]]]) -> Any:
    """All spellings of a piece, each cut at the spaces that a choice may contain."""
    between, at = [], 0
    for (_, first, last), _ in held:
        between.append(piece[at : first - start])
        at = last - start
    rest = piece[at:]
    originals = [piece[first - start : last - start] for (_, first, last), _ in held]
    for words in product(*((word, *own) for word, (_, own) in zip(originals, held, strict=True))):
        yield "".join([*(part for pair in zip(between, words, strict=True) for part in pair), rest]).split(" ")


def _joined(tails: Mapping[str, tuple[int, ...]], pieces: Sequence[str]) -> tuple[int, ...]:
    return tuple(number for piece in pieces for number in tails[piece])


def _segment(
    rows: Sequence[tuple[int, ...]], kind: int, places: tuple[int, ...] = (), counts: tuple[int, ...] = ()
) -> Segment:
    sizes = np.array([len(row) for row in rows], np.int64)
    ids = np.zeros((len(rows), int(sizes.max())), np.int32)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return Segment(ids, sizes, np.full(ids.shape[1], kind, np.int32), places, counts)


def _special(tokens: Sequence[tuple[int, int]]) -> Segment:
    ids, kinds = (np.array([token[i] for token in tokens], np.int32) for i in range(2))
    return Segment(ids[None], np.array([len(tokens)]), kinds)


def _merged(segments: Sequence[Segment]) -> list[Segment]:
    """Merge neighbouring segments that never change."""
    found: list[Segment] = []
    for segment in segments:
        last = found[-1] if found else None
        if last is not None and not last.places and not segment.places:
            ids = np.concatenate([last.ids, segment.ids], axis=1)
            found[-1] = Segment(ids, last.sizes + segment.sizes, np.concatenate([last.kinds, segment.kinds]))
        else:
            found.append(segment)
    return found


@dataclass(frozen=True, eq=False)
class Sheet:
    """Variants of one layout: the places that change, counted from 0, and the words picked; padded with -1."""

    layout: Layout
    places: Whole
    picks: Whole


class Sheets:
    """A transformer that answers each sheet with a table of probabilities."""

    def __init__(self, victim: Any) -> None:  # an HfVictim or a Borrowed one
        self._victim = victim
        self.name = victim.name
        self.fingerprint = victim.fingerprint
        self.in_flight = victim.in_flight

    @staticmethod
    def rows_of(sheets: Sequence[Sheet], _: Any = None) -> int:
        """The number of texts in some sheets."""
        return sum(len(sheet.places) for sheet in sheets)

    def plan(self, sheets: list[Sheet]) -> list[list[Sheet]]:
        """Group sheets so that they make full batches."""
        batches: list[list[Sheet]] = []
        room = 0
        for sheet in sheets:
            if not batches or len(sheet.places) > room:
                batches.append([])
                room = _ROWS_AT_ONCE
            batches[-1].append(sheet)
            room -= len(sheet.places)
        return batches

    def launch(self, sheets: list[Sheet]) -> tuple[list[Sheet], list[tuple[Any, Ticket]]]:
        """Send the rows, batched by length; on CUDA this does not wait for the answers."""
        found: dict[int, list[tuple[Any, Whole, Any, Whole | None]]] = defaultdict(list)
        first = 0
        for sheet in sheets:
            ids, sizes, kinds = sheet.layout.rows(sheet.places, sheet.picks)
            lengths = self._victim.lengths(sizes)
            for length in np.unique(lengths).tolist():
                at = np.flatnonzero(lengths == length)
                part = _wider(ids[at, :length], length)
                kind = None if kinds is None else _wider(kinds[at, :length], length)
                if kind is not None:
                    kind[np.arange(length) >= sizes[at, None]] = 0
                found[length].append((at + first, part, sizes[at], kind))
            first += len(sheet.places)
        tickets = []
        for length in sorted(found, reverse=True):
            parts = found[length]
            where, ids, sizes = (np.concatenate([part[i] for part in parts]) for i in range(3))
            kinds = None
            if any(part[3] is not None for part in parts):
                kinds = np.concatenate([np.zeros_like(part[1]) if part[3] is None else part[3] for part in parts])
            start = 0
            while start < len(where):
                end = start + self._batch(length, len(where) - start)
                laid = Laid(
                    end - start,
                    length,
                    ids[start:end].tobytes(),
                    (sizes[start:end] * INT32_BYTES).astype(np.int32).tobytes(),
                    None if kinds is None else kinds[start:end].tobytes(),
                )
                tickets.append((where[start:end], self._victim.post(laid)))
                start = end
        return sheets, tickets

    def _batch(self, length: int, waiting: int) -> int:
        """How many of the waiting rows to send together. There are few sizes, since each one is recorded."""
        full: int = self._victim.batch_of(length, 1 << 30)
        return next((size for size in (full, 1024, 256) if size <= min(waiting, full)), min(waiting, full))

    def collect(self, ticket: tuple[list[Sheet], list[tuple[Any, Ticket]]]) -> list[Table]:
        """Wait for all answers."""
        sheets, tickets = ticket
        classes = len(self._victim.labels)
        table = np.empty((self.rows_of(sheets), classes))
        for where, one in tickets:
            answers = self._victim.answers(one)
            table[where] = probabilities(self.name, answers, len(where), Output.LOGITS, classes)
        return np.split(table, np.cumsum([len(sheet.places) for sheet in sheets])[:-1])


@runtime_checkable
class TakesRows(Protocol):
    """A victim that takes rows of tokens."""

    def layout(self, text: Text, choices: Mapping[int, Sequence[str]]) -> Layout | None:
        """The layout for building the rows of a text's variants without strings; None if that is impossible."""
        ...


def layout_of(model: Any, text: Text, choices: Mapping[int, Sequence[str]]) -> Layout | None:
    """The layout of a text for a victim; None if the victim or this text needs strings."""
    inside = traits_of(model).inside
    return inside.layout(text, choices) if isinstance(inside, TakesRows) else None


def sheets_of(model: Any, probe: Sequence[str] = ("a",)) -> Service[Sheet, Table] | None:
    """A service for sheets; None if the victim takes no rows of tokens. The probe tests that."""
    layout = layout_of(model, Text(*probe), {})
    if layout is None:
        return None
    service: Service[Sheet, Table] = Service(Sheets(traits_of(model).inside), rows=Sheets.rows_of)
    nothing = np.zeros((1, 0), np.int32)
    service.prove([Sheet(layout, nothing, nothing)])
    return service


def _wider(ids: Whole, length: int) -> Whole:
    """Pad rows to a length."""
    return np.pad(ids, ((0, 0), (0, length - ids.shape[1])))
