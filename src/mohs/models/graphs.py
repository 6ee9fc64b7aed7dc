"""A model's work on a CUDA device recorded once for each shape, and played back from then on.

Launching the few hundred kernels of an encoder one by one takes the host longer than a small batch takes the device;
playing back a recording is one call. Recording costs as much as several ordinary launches, so that it waits until a
shape has come up a few times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MOST_SHAPES = 512  # then they start afresh
_RECORDINGS_PER_SHAPE = 2  # playing one again waits until it has ended, and a second fills that time

Key = tuple[int, int, bool]  # rows, length of each, and whether segment ids come with them


@dataclass(frozen=True, slots=True)
class _Recording:
    buffer: Any  # where it reads
    graph: Any
    answer: Any  # where it writes
    ended: Any  # the event of its last play


class Graphs:
    """Plays back `work`, a function of one flat buffer on the device and of the shape of what is in it."""

    def __init__(self, work: Callable[[Any, Key], Any], device: str, times: int = 0) -> None:
        """times: how often a shape is launched in the ordinary way first."""
        import torch

        self._torch = torch
        self._work = work
        self._device = device
        self._times = times
        self._met: Counter[Key] = Counter()
        self._recorded: dict[Key, list[_Recording]] = {}  # of each shape, the one played longest ago first
        self._pool: Any = None
        self._stream: Any = None
        self.plays = True  # until a model turns out to do what cannot be recorded

    def __call__(self, key: Key, numbers: Any) -> Any:
        """The answer on the device to numbers on the host. Returns before it is there, and nothing overwrites it."""
        pinned = numbers.pin_memory()
        self._met[key] += 1
        if self._met[key] <= self._times:
            return self._work(pinned.to(self._device, non_blocking=True), key)
        if len(self._recorded) >= _MOST_SHAPES and key not in self._recorded:
            self._recorded.clear()
        known = self._recorded.setdefault(key, [])
        if self.plays and len(known) < _RECORDINGS_PER_SHAPE and not (known and known[0].ended.query()):
            self._record(key, pinned, known)
        if not self.plays:
            return self._work(pinned.to(self._device, non_blocking=True), key)
        chosen = known.pop(0)
        known.append(chosen)
        chosen.buffer.copy_(pinned, non_blocking=True)
        chosen.graph.replay()
        answer = chosen.answer.clone()
        chosen.ended.record()
        return answer

    def _record(self, key: Key, numbers: Any, known: list[_Recording]) -> None:
        torch = self._torch
        buffer = numbers.to(self._device)
        graph = torch.cuda.CUDAGraph()
        try:
            if self._pool is None:  # what libraries set up at their first use cannot be recorded
                self._work(buffer, key)
                self._pool, self._stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()
            with torch.cuda.stream(self._stream):  # torch.cuda.graph() would wait for the device and empty its caches
                graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
                try:
                    answer = self._work(buffer, key)
                finally:
                    graph.capture_end()
        except RuntimeError:
            torch.cuda.synchronize()
            self.plays = False
        else:
            known.insert(0, _Recording(buffer, graph, answer, torch.cuda.Event()))
