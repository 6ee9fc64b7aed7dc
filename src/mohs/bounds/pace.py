"""How many texts to ask at once so that a time limit is kept.

A chunk of thousands of texts can take longer than the limit. So with a limit a chunk is asked in parts, each as large
as a tenth of the limit holds at the speed seen so far, and the clock is read between them. What a chunk finds does not
depend on its parts, so a record depends on the machine only by what the limit cuts off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

_PARTS = 10  # of the limit; about this share of it is the most by which a proof runs over
FIRST_PART = 8  # texts, before anything is known about the speed
_GROWTH = 4  # a part is at most this many times the one before, because few texts say little about the speed


class Pace:
    """The time of one proof, from now on. Without a limit, everything is asked at once and never late."""

    def __init__(self, limit: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._started = 0.0 if limit is None else clock()
        self._room: dict[str, int] = {}

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.limit is not None and self._clock() - self._started > self.limit

    def parts(self, count: int, how: str = "", first: int = FIRST_PART) -> Iterator[slice]:
        """Slices of `count` texts, to be asked before the next is taken; ends early if the time is up.

        how: each way of asking has its own speed. first: the size of the first part.
        """
        if self.limit is None:
            yield slice(0, count)
            return
        start = 0
        while start < count and not self.late:
            room = self._room.get(how, first)
            end = min(count, start + room)
            began = self._clock()
            yield slice(start, end)
            took = max(self._clock() - began, 1e-9)
            fitting = (end - start) * self.limit / _PARTS / took
            self._room[how] = max(1, int(min(fitting, _GROWTH * room)))
            start = end
