"""CUDA graphs: record a model's work once for each batch shape, and replay it from then on.

An encoder has a few hundred kernels. Launching them one by one takes the host longer than a small batch takes the
device, while a replay is one call. Recording costs as much as several ordinary launches, so it waits until a shape has
come up a few times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MOST_SHAPES = 512  # then all recordings are dropped
_RECORDINGS_PER_SHAPE = 2  # a recording cannot replay before it has ended; a second one fills that time

Key = tuple[int, int, bool]  # number of rows, their length, and whether there are segment ids


@dataclass(frozen=True, slots=True)
class _Recording:
    buffer: Any  # its input
    graph: Any
    answer: Any  # its output
    ended: Any  # the event at the end of its last replay


class Graphs:
    """Replays `work`, a function of one flat buffer on the device and of the batch shape in it."""

    def __init__(self, work: Callable[[Any, Key], Any], device: str, times: int = 0) -> None:
        """times: how many ordinary launches a shape gets before it is recorded."""
        import torch

        self._torch = torch
        self._work = work
        self._device = device
        self._times = times
        self._met: Counter[Key] = Counter()
        self._recorded: dict[Key, list[_Recording]] = {}  # for each shape, the least recently replayed first
        self._pool: Any = None
        self._stream: Any = None
        self.plays = True  # until a model turns out to be impossible to record

    def __call__(self, key: Key, numbers: Any) -> Any:
        """Run on numbers from the host. Returns a tensor on the device without waiting; nothing overwrites it."""
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
            if self._pool is None:  # a first run, since one-time setup in libraries cannot be recorded
                self._work(buffer, key)
                self._pool, self._stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()
            with torch.cuda.stream(self._stream):  # torch.cuda.graph() would synchronise and empty caches
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
