"""One network on a fast device, shared by several processes.

A borrower turns texts into rows of tokens and posts them. The lender, which holds the network, joins the rows of all
borrowers into large batches and sends the answers back. So the network is loaded once, and batches are as large as with
one process, while the Python work for candidates is spread over many cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mohs.models.hf import HfVictim
from mohs.models.token_rows import Laid
from mohs.models.transformer import Ticket
from mohs.models.victim import traits_of

_MOST_BATCHES_FLYING = 3  # running or on their way


@dataclass(frozen=True, slots=True)
class Posted:
    """Rows of one length that a borrower wants answered."""

    victim: int  # the number of the lent victim
    ticket: int
    laid: Laid


class Desk:
    """A borrower's end of the connection: posts rows, and waits for the answers."""

    def __init__(self, line: Any) -> None:
        self._line = line
        self._tickets = 0
        self._came: dict[int, Any] = {}

    def post(self, victim: int, laid: Laid) -> int:
        """Send rows; returns the ticket number of their answers."""
        self._tickets += 1
        self._line.send(Posted(victim, self._tickets, laid))
        return self._tickets

    def answers(self, ticket: int) -> Any:
        """Wait for the answers to a ticket; raises what the network raised."""
        while ticket not in self._came:
            number, answers = self._line.recv()
            self._came[number] = answers
        found = self._came.pop(ticket)
        if isinstance(found, Exception):
            raise found
        return found


class Borrowed(HfVictim):
    """A victim whose network is in another process."""

    def __init__(self, loan: Loan, desk: Desk) -> None:
        self.__dict__.update(loan.parts)
        self._desk = desk
        self._number = loan.number
        self.lends = False
        self.verdict = self if loan.verdict is None else Borrowed(loan.verdict, desk)

    def post(self, laid: Laid) -> Ticket:
        """Send rows of one length."""
        return laid.rows, self._desk.post(self._number, laid), None

    def answers(self, ticket: Ticket) -> Any:
        """Wait for the answers to a launched batch."""
        return self._desk.answers(ticket[1])


@dataclass(frozen=True)
class Loan:
    """What a borrower gets: a victim without its network."""

    number: int
    parts: dict[str, Any]
    verdict: Loan | None


@dataclass(slots=True)
class _Owed:
    """A post that is not fully answered yet."""

    reply: Callable[[Any], None]
    ticket: int
    rest: Laid | None  # rows not sent yet
    missing: int  # rows without an answer
    found: list[Any] = field(default_factory=list)

    def take(self, rows: int) -> Laid:
        """The next `rows` rows, or all that are left."""
        assert self.rest is not None
        part, self.rest = self.rest.cut(rows)
        return part

    def hear(self, answers: Any) -> None:
        """Store the answers to the next rows; send them once all are there."""
        self.found.append(answers)
        self.missing -= len(answers)
        if not self.missing:
            self.reply((self.ticket, self.found[0] if len(self.found) == 1 else np.concatenate(self.found)))


def lender_of(victim: Any) -> Lender | None:
    """A lender for the victim's network, if sharing it is better than a copy per process."""
    return Lender(victim) if traits_of(victim).lends else None


class Lender:
    """Answers the posts of borrowers."""

    def __init__(self, victim: HfVictim) -> None:
        self._victims = victim, victim.verdict  # possibly the same, but verdicts run in batches of one shape
        self._waiting: dict[tuple[int, int, bool], deque[_Owed]] = {}  # posts by kind of batch, the oldest first
        self._flying: deque[tuple[HfVictim, Ticket, list[tuple[_Owed, int]]]] = deque()

    def loan(self) -> Loan:
        """What each borrower gets."""
        victim, verdict = self._victims
        return Loan(0, victim.text_side(), Loan(1, verdict.text_side(), None))

    def take(self, reply: Callable[[Any], None], posted: Posted) -> None:
        """Put rows in the queue."""
        laid = posted.laid
        key = posted.victim, laid.length, laid.kinds is not None
        self._waiting.setdefault(key, deque()).append(_Owed(reply, posted.ticket, laid, laid.rows))

    @property
    def busy(self) -> bool:
        """Whether work is left, even if nobody posts anything more."""
        return bool(self._flying or self._waiting)

    def launch(self) -> None:
        """Send the oldest posts, joined with others of the same length, as long as the device takes more."""
        while self._waiting and len(self._flying) < _MOST_BATCHES_FLYING:
            key = next(iter(self._waiting))
            owed = self._waiting.pop(key)
            victim = self._victims[key[0]]
            waiting = sum(one.rest.rows for one in owed if one.rest is not None)
            size = victim.batch_of(key[1], waiting if key[0] == 0 or victim.exact else min(waiting, victim.together))
            laid: list[Laid] = []
            whose: list[tuple[_Owed, int]] = []
            while owed and size:
                part = owed[0].take(size)
                size -= part.rows
                laid.append(part)
                whose.append((owed[0], part.rows))
                if owed[0].rest is None:
                    owed.popleft()
            if owed:
                self._waiting[key] = owed  # behind the others
            try:
                ticket = victim.send(laid)
            except Exception as error:  # in some borrower's rows; the borrowers will retry one by one
                _fail(whose, error)
            else:
                self._flying.append((victim, ticket, whose))

    def collect(self) -> bool:
        """Send back the answers of the oldest batch if it is done; False if it is not."""
        if not self._flying:
            return False
        ended = self._flying[0][1][2]
        if ended is not None and not ended.query():
            return False
        victim, ticket, whose = self._flying.popleft()
        try:
            answers = victim.answers(ticket)
        except Exception as error:
            _fail(whose, error)
            return True
        start = 0
        for owed, rows in whose:
            owed.hear(answers[start : start + rows])
            start += rows
        return True


def _fail(whose: list[tuple[_Owed, int]], error: Exception) -> None:
    for owed, _ in whose:
        owed.missing = -1  # ignore answers to its other rows
        owed.reply((owed.ticket, error))
