"""How often something may happen: counted in memory, for each client or link."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

Clock = Callable[[], float]


@dataclass(frozen=True)
class Limit:
    """A bucket of tokens for each key: `burst` at once, then `per_second`. Keys not used for long are forgotten."""

    burst: int
    per_second: float
    clock: Clock = time.monotonic
    most_keys: int = 10_000
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict, repr=False)
    _gate: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def wait(self, key: str) -> int:
        """Seconds until it may happen again; 0 if it may happen now. Does not count."""
        with self._gate:
            return self._wait(self._full_by(key))

    def take(self, key: str) -> int:
        """Count it, if it may happen now. Returns the seconds to wait otherwise, and 0 if not."""
        with self._gate:
            left = self._full_by(key)
            wait = self._wait(left)
            self._left[key] = (left if wait else left - 1, self.clock())
            self._left.move_to_end(key)
            while len(self._left) > self.most_keys:
                self._left.popitem(last=False)
            return wait

    def _full_by(self, key: str) -> float:
        """How many are left by now."""
        left, at = self._left.get(key, (float(self.burst), self.clock()))
        return min(float(self.burst), left + (self.clock() - at) * self.per_second)

    def _wait(self, left: float) -> int:
        return 0 if left >= 1 else math.ceil((1 - left) / self.per_second)
