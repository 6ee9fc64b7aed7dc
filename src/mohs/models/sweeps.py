"""A victim that is asked with sweeps instead of with strings.

The row of a text with another word is that of the text with other numbers at one place. So no text is made, joined, cut
at its spaces or looked up as a whole. The rows are byte for byte those of the strings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

from mohs.engine import Service
from mohs.models.victim import Fields, Scores, traits_of
from mohs.text import Text
from mohs.text.sweep import Sweep

Pieces = Mapping[str, bytes]  # the numbers of each piece between two spaces

_ROWS_AT_ONCE = 4096
_WAYS = ("plan", "launch", "send_rows")  # into a victim


class Around(NamedTuple):
    """What stands around a word: the row before its piece, the piece before and behind it, the row behind the piece."""

    head: bytes
    before: str
    behind: str
    tail: bytes
    known: Pieces  # the pieces that may stand there


class Base:
    """The row of a text of one string, in pieces."""

    def __init__(
        self, text: Text, pieces: list[str], own: list[bytes], ends: tuple[bytes, bytes], known: tuple[Pieces, Pieces]
    ) -> None:
        self.row = b"".join([ends[0], *own, ends[1]])
        self._text, self._pieces, self._known = text, pieces, known
        self._bytes = list(accumulate(map(len, own), initial=len(ends[0])))
        self._starts = list(accumulate([len(piece) + 1 for piece in pieces], initial=0))

    @classmethod
    def of(cls, text: Text, heads: Pieces, tails: Pieces, ends: tuple[bytes, bytes] = (b"", b"")) -> Base | None:
        """The row of a text whose pieces are all known; else None.

        heads, tails: the pieces at the start and after a space. ends: what stands before and behind them all.
        """
        pieces = text.fields[0].split(" ")
        own = [found for found in (heads.get(pieces[0]), *map(tails.get, pieces[1:])) if found is not None]
        return cls(text, pieces, own, ends, (heads, tails)) if len(own) == len(pieces) else None

    def around(self, position: int) -> Around:
        """What stands around a word."""
        start = self._text.start(position)
        at = bisect_right(self._starts, start) - 1
        piece, first = self._pieces[at], start - self._starts[at]
        behind = piece[first + len(self._text.words[position]) :]
        head, tail = self.row[: self._bytes[at]], self.row[self._bytes[at + 1] :]
        return Around(head, piece[:first], behind, tail, self._known[at > 0])


@runtime_checkable
class TakesPieces(Protocol):
    """A victim whose rows are put together from the numbers of pieces."""

    def base(self, text: Text) -> Base | None:
        """The row of a text in pieces; None if texts with other words need their strings."""
        ...

    @property
    def limits(self) -> tuple[int, int]:
        """The fewest and the most bytes of a row that is neither filled up nor cut."""
        ...

    def rows_of(self, items: Sequence[Fields]) -> Mapping[Fields, bytes]:
        """The rows of strings; those that cannot be read are missing."""
        ...

    def batches(self, items: Iterable[Any], row_of: Callable[[Any], bytes]) -> list[list[Any]]:
        """Batches of things that have rows."""
        ...

    def send_rows(self, rows: list[bytes]) -> Any:
        """Launch a batch of rows."""
        ...


@dataclass(frozen=True)
class Sent:
    """Sweeps on their way: how many texts each has, the number of each text's row, and the batches of rows."""

    sizes: list[int]
    numbers: list[int]  # texts with equal rows share one
    rows: int
    batches: list[tuple[list[int], Any]]


class SweepRows:
    """A victim whose questions are sweeps. The answer is a list, one row of scores for each text."""

    def __init__(self, victim: Any) -> None:
        self._victim = victim
        self.name = victim.name
        self.fingerprint = victim.fingerprint
        self.in_flight = victim.in_flight

    @staticmethod
    def rows_of(sweeps: Sequence[Sweep], sent: Any = None) -> int:
        """The number of rows of some sweeps, as sent if they were."""
        return sent.rows if isinstance(sent, Sent) else sum(map(len, sweeps))

    def plan(self, sweeps: list[Sweep]) -> list[list[Sweep]]:
        """Group sweeps so that their texts make full batches."""
        batches: list[list[Sweep]] = []
        room = 0
        for sweep in sweeps:
            if not batches or len(sweep) > room:
                batches.append([])
                room = _ROWS_AT_ONCE
            batches[-1].append(sweep)
            room -= len(sweep)
        return batches

    def launch(self, sweeps: list[Sweep]) -> Sent:
        """Send the rows; on CUDA this does not wait for the answers."""
        rows: list[bytes] = []
        unknown: list[tuple[int, Fields]] = []  # numbers and strings of the texts with a piece that is new
        for sweep in sweeps:
            self._lay(sweep, rows, unknown)
        if unknown:
            found = self._victim.rows_of(list(dict.fromkeys(fields for _, fields in unknown)))
            for number, fields in unknown:
                rows[number] = found[fields]
        own: dict[bytes, int] = {}
        numbers = [own.setdefault(row, len(own)) for row in rows]
        distinct = list(own)
        batches = self._victim.batches(range(len(distinct)), distinct.__getitem__)
        tickets = [(batch, self._victim.send_rows([distinct[number] for number in batch])) for batch in batches]
        return Sent(list(map(len, sweeps)), numbers, len(distinct), tickets)

    def collect(self, sent: Sent) -> list[list[Scores]]:
        """Wait for all answers."""
        found: dict[int, Scores] = {}
        for batch, ticket in sent.batches:
            found.update(zip(batch, self._victim.collect(ticket), strict=True))
        ordered = map(found.__getitem__, sent.numbers)
        return [list(islice(ordered, size)) for size in sent.sizes]

    def _lay(self, sweep: Sweep, rows: list[bytes], unknown: list[tuple[int, Fields]]) -> None:
        """Add the row of each text, or what is needed to find it."""
        # A word of several pieces has no piece of its own, and the gaps around an empty one depend on the words.
        base = self._victim.base(sweep.base) if sweep.base.clean else None
        least, most = self._victim.limits
        places = {} if base is None else {p: base.around(p) for p in dict.fromkeys(sweep.positions)}
        for number, (position, word) in enumerate(zip(sweep.positions, sweep.words, strict=True)):
            if word and position in places:
                head, before, behind, tail, known = places[position]
                piece = known.get(f"{before}{word}{behind}")
                if piece is not None and least <= len(head) + len(piece) + len(tail) <= most:
                    rows.append(head + piece + tail)
                    continue
            unknown.append((len(rows), sweep[number].fields))
            rows.append(b"")


def sweeps_of(model: Any) -> Service[Sweep, Sequence[Scores]] | None:
    """A service that is asked with sweeps of single texts; None if the victim must have strings."""
    if traits_of(model).inside is not model or not isinstance(model, TakesPieces) or _reads_strings(model):
        return None
    if model.base(Text("a")) is None:  # pieces depend on what is around them, or rows have segment ids
        return None
    return Service(SweepRows(model), rows=SweepRows.rows_of)


def _reads_strings(model: Any) -> bool:
    """Whether a victim has its own way with strings, which rows would pass over: what it is made of takes rows."""
    made_of = type(model).__mro__
    first = {name: next((n for n, kind in enumerate(made_of) if name in vars(kind)), len(made_of)) for name in _WAYS}
    return first["send_rows"] > min(first["plan"], first["launch"]) or any(name in vars(model) for name in _WAYS)
