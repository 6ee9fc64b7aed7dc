"""A model's work on a CUDA device recorded once for each shape, and played back from then on.

Launching the few hundred kernels of an encoder one by one takes the host longer than a small batch takes the device;
playing back a recording is one call. Recording costs about as much as one ordinary launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MOST = 512  # recordings kept; then they start afresh

Key = tuple[int, int, bool]  # rows, length of each, and whether segment ids come with them


class Graphs:
    """Plays back `work`, a function of one flat buffer on the device and of the shape of what is in it."""

    def __init__(self, work: Callable[[Any, Key], Any], device: str) -> None:
        import torch

        self._torch = torch
        self._work = work
        self._device = device
        self._recorded: dict[
            Key, tuple[Any, Any, Any]
        ] = {}  # of a shape its buffer, the recording and where it answers
        self._pool: Any = None
        self.plays = True  # until a model turns out to do what cannot be recorded

    def __call__(self, key: Key, numbers: Any) -> Any:
        """The answer on the device to numbers on the host. Returns before it is there, and nothing overwrites it."""
        pinned = numbers.pin_memory()
        if self.plays and key not in self._recorded:
            if len(self._recorded) >= _MOST:
                self._recorded.clear()
            self._record(key, pinned)
        if not self.plays:
            return self._work(pinned.to(self._device, non_blocking=True), key)
        buffer, recording, answer = self._recorded[key]
        buffer.copy_(pinned, non_blocking=True)
        recording.replay()
        return answer.clone()

    def _record(self, key: Key, numbers: Any) -> None:
        torch = self._torch
        buffer = numbers.to(self._device)
        recording = torch.cuda.CUDAGraph()
        try:
            if self._pool is None:  # what libraries set up at their first use cannot be recorded
                self._work(buffer, key)
                self._pool = torch.cuda.graph_pool_handle()
            with torch.cuda.graph(recording, pool=self._pool):
                answer = self._work(buffer, key)
        except RuntimeError:
            torch.cuda.synchronize()
            self.plays = False
        else:
            self._recorded[key] = buffer, recording, answer
