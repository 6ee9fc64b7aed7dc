"""One network on a fast device for several processes.

A process that borrows it turns texts into rows of tokens and posts them; the one that has it puts the rows of all
together into large batches, and sends the answers back. So the network is loaded once, and the device sees batches as
large as if there were one process, while what Python does for a candidate is done on many cores.
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

_MOST_BATCHES_FLYING = 3  # on the device or on their way


@dataclass(frozen=True, slots=True)
class Posted:
    """Rows of one length that a borrower wants answered."""

    victim: int  # which of those that are lent
    ticket: int
    laid: Laid


class Desk:
    """A borrower's end of the line: posts rows, and waits for what comes back."""

    def __init__(self, line: Any) -> None:
        self._line = line
        self._tickets = 0
        self._came: dict[int, Any] = {}

    def post(self, victim: int, laid: Laid) -> int:
        """Send rows; the number under which their answers will come."""
        self._tickets += 1
        self._line.send(Posted(victim, self._tickets, laid))
        return self._tickets

    def answers(self, ticket: int) -> Any:
        """Wait for the answers to what was posted under that number, or raise what the network raised."""
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
        """Have rows of one length answered."""
        return laid.rows, self._desk.post(self._number, laid), None

    def answers(self, ticket: Ticket) -> Any:
        """Wait for the rows of a launched batch."""
        return self._desk.answers(ticket[1])


@dataclass(frozen=True)
class Loan:
    """What a borrower is given: everything of a victim but its network."""

    number: int
    parts: dict[str, Any]
    verdict: Loan | None


@dataclass(slots=True)
class _Owed:
    """What is still to be answered of a post."""

    reply: Callable[[Any], None]
    ticket: int
    rest: Laid | None  # not sent yet
    missing: int  # rows without an answer
    found: list[Any] = field(default_factory=list)

    def take(self, rows: int) -> Laid:
        """The next so many rows, or all that are left."""
        assert self.rest is not None
        part, self.rest = self.rest.cut(rows)
        return part

    def hear(self, answers: Any) -> None:
        """Keep answers to the next rows; once all are there, send them."""
        self.found.append(answers)
        self.missing -= len(answers)
        if not self.missing:
            self.reply((self.ticket, self.found[0] if len(self.found) == 1 else np.concatenate(self.found)))


def lender_of(victim: Any) -> Lender | None:
    """What lends a victim's network to other processes, where that is better than a copy for each."""
    return Lender(victim) if traits_of(victim).lends else None


class Lender:
    """Answers what borrowers post."""

    def __init__(self, victim: HfVictim) -> None:
        self._victims = victim, victim.verdict  # which may be the same, but verdicts go in batches of one shape
        self._waiting: dict[tuple[int, int, bool], deque[_Owed]] = {}  # what goes into one batch; the oldest first
        self._flying: deque[tuple[HfVictim, Ticket, list[tuple[_Owed, int]]]] = deque()

    def loan(self) -> Loan:
        """What each borrower is given."""
        victim, verdict = self._victims
        return Loan(0, victim.text_side(), Loan(1, verdict.text_side(), None))

    def take(self, reply: Callable[[Any], None], posted: Posted) -> None:
        """Put rows in the queue."""
        laid = posted.laid
        key = posted.victim, laid.length, laid.kinds is not None
        self._waiting.setdefault(key, deque()).append(_Owed(reply, posted.ticket, laid, laid.rows))

    @property
    def busy(self) -> bool:
        """Whether there is something to do for the device, even if nobody posts anything more."""
        return bool(self._flying or self._waiting)

    def launch(self) -> None:
        """Send what has waited longest, with all that goes into the same batch, while the device takes more."""
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
            except Exception as error:  # of the borrowers' rows, who will ask again one by one
                _fail(whose, error)
            else:
                self._flying.append((victim, ticket, whose))

    def collect(self) -> bool:
        """Send back the oldest batch if it is done; False if nothing is."""
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
        owed.missing = -1  # whatever comes for its other rows is not awaited any more
        owed.reply((owed.ticket, error))
