"""How many tokens make a batch on a CPU: found by trying once, and remembered for the next run.

More rows at once fill the processor better, until what lies between two layers no longer fits its caches; where that
is depends on the model, the processor and the threads. So a few sizes are timed on rows of random tokens.

On CUDA nothing is timed: there each shape of a batch is recorded at its first use, which the recording would drown, and
a constant that fills the device is good for all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mohs.text.neighbours import cache_folder

DEFAULT_TOKENS = 768
SIZES_TRIED = (512, 768, 1024, 2048, 4096)  # fewer tokens, cut to a multiple of four rows, would leave too little
ROW_TRIED = 32  # in tokens: a sentence
TOKENS_BEFORE_TRYING = 1 << 16  # several times what trying takes, so that it pays

_SECONDS_IN_ALL = 2.0  # a model too slow for two sizes keeps the default
_MOST_ROUNDS = 5
_AS_GOOD_AS_THE_BEST = 0.95  # share of the best pace: the smaller batch needs less memory and waits for less company
_WORSE_THAN_THE_BEST = 0.85  # share of the best pace: larger ones will not be better
_FILE = "batch-sizes.json"


def fastest(
    work: Callable[[int], int],  # does a batch of so many tokens at most, and tells how many it did
    clock: Callable[[], float] = time.perf_counter,
) -> int | None:
    """The size with the best pace, or a smaller one close to it; None if the time is up too early to compare."""
    ends = clock() + _SECONDS_IN_ALL
    pace = _pace(work, SIZES_TRIED[0] // 4, clock)  # what happens but once happens here
    paces: dict[int, float] = {}
    sizes: tuple[int, ...] = SIZES_TRIED
    for _ in range(_MOST_ROUNDS):  # a busy moment hits all sizes of a round
        for place, size in enumerate(sizes):
            if clock() + size / pace > ends:
                sizes = sizes[:place]
                break
            pace = _pace(work, size, clock)
            paces[size] = max(pace, paces.get(size, 0.0))
            if paces[size] < _WORSE_THAN_THE_BEST * max(paces.values()):
                sizes = sizes[:place]
                break
    return _best(paces)


def _pace(work: Callable[[int], int], size: int, clock: Callable[[], float]) -> float:
    """Tokens a second."""
    begun = clock()
    done = work(size)
    return done / max(clock() - begun, 1e-9)


def _best(paces: dict[int, float]) -> int | None:
    if len(paces) < 2:
        return None
    return min(size for size, pace in paces.items() if pace >= _AS_GOOD_AS_THE_BEST * max(paces.values()))


def key_of(model: Any, dtype: Any) -> str:
    """What the best size depends on, as a line: kind and size of the model, its numbers, the processor, its threads."""
    import torch

    shape = hashlib.sha256(model.config.to_json_string().encode()).hexdigest()[:16]
    return (
        f"{type(model).__name__} {shape}, {str(dtype).removeprefix('torch.')}, {processor()}, "
        f"{torch.get_num_threads()} threads, torch {torch.__version__}"
    )


def processor(facts: Path = Path("/proc/cpuinfo")) -> str:
    """The name of the CPU, as far as the system tells."""
    with contextlib.suppress(OSError):
        for line in facts.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def recall(key: str) -> int | None:
    """The size found earlier; None if there is none, or nothing sound is written there."""
    found = _read().get(key)
    return found if found in SIZES_TRIED and type(found) is int else None


def remember(key: str, size: int) -> None:
    """Write a size down for the next run, if there is where to."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=_FILE, dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(_read() | {key: size}, file, indent=1, sort_keys=True)
            os.replace(name, folder / _FILE)
        except OSError:
            os.unlink(name)
            raise


def _read() -> dict[str, Any]:
    folder = cache_folder()
    try:
        found = json.loads((folder / _FILE).read_text("utf-8")) if folder else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
