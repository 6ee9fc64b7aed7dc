"""How fast work goes on: time taken, rate and time left, all from the same two numbers."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]


class Pace:
    """The rate since the start, and the time left at that rate.

    Both are worked out anew whenever they are shown. So they agree with each other, and while nothing is finished the
    rate falls and the time left grows. What was finished before the start, by a run that is resumed, does not count.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._started: float | None = None
        self._before = 0
        self.finished = 0
        self.total = 0

    def step(self, finished: int, total: int) -> None:
        """Note how much is finished. The first call is the start."""
        if self._started is None:
            self._started, self._before = self._clock(), finished
        self.finished, self.total = finished, total

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return 0.0 if self._started is None else self._clock() - self._started

    def told(self) -> str:
        """Time taken, rate and time left: `2:10, 1.8/min, about 19:30 left`."""
        elapsed, done = self.elapsed, self.finished - self._before
        if not done or elapsed <= 0:
            return duration(elapsed)
        left = elapsed * (self.total - self.finished) / done
        return f"{duration(elapsed)}, {speed(done, elapsed)}, about {duration(left)} left"


def duration(seconds: float) -> str:
    """A time as `0:07`, `12:30` or `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def speed(count: float, seconds: float) -> str:
    """A rate in the unit that makes it at least 1: `12.0/s`, `1.8/min`, `3.0/h`."""
    for unit, size in (("s", 1), ("min", 60)):
        if count * size >= seconds:
            return f"{count * size / seconds:,.1f}/{unit}"
    return f"{count * 3600 / seconds:,.1f}/h"
