"""The batch size on a CPU, in tokens: measured once, and stored for the next run.

Larger batches use the processor better, until the data between two layers no longer fit its caches. That limit depends
on the model, the processor and the number of threads. So a few sizes are timed on rows of random tokens.

On CUDA nothing is timed. Each shape is recorded at its first use, and recording would distort the timing. There, one
constant that fills the device works for all models.
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
SIZES_TRIED = (512, 768, 1024, 2048, 4096)  # smaller batches lose too much when cut to a multiple of four rows
ROW_TRIED = 32  # tokens in a row: about a sentence
TOKENS_BEFORE_TRYING = 1 << 16  # several times what the measurement costs, so that it pays off

_SECONDS_IN_ALL = 2.0  # a model too slow for two sizes keeps the default
_MOST_ROUNDS = 5
_AS_GOOD_AS_THE_BEST = 0.95  # share of the best speed: then the smaller batch wins, with less memory and less waiting
_WORSE_THAN_THE_BEST = 0.85  # share of the best speed: then larger batches are not tried
_FILE = "batch-sizes.json"


def fastest(
    work: Callable[[int], int],  # runs a batch of at most this many tokens, and returns how many it ran
    clock: Callable[[], float] = time.perf_counter,
) -> int | None:
    """The fastest size, or a smaller one that is nearly as fast; None if time runs out before two are measured."""
    ends = clock() + _SECONDS_IN_ALL
    pace = _pace(work, SIZES_TRIED[0] // 4, clock)  # warm-up: one-time costs fall here
    paces: dict[int, float] = {}
    sizes: tuple[int, ...] = SIZES_TRIED
    for _ in range(_MOST_ROUNDS):  # in rounds, so that a busy moment affects all sizes alike
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
    """Tokens per second."""
    begun = clock()
    done = work(size)
    return done / max(clock() - begun, 1e-9)


def _best(paces: dict[int, float]) -> int | None:
    if len(paces) < 2:
        return None
    return min(size for size, pace in paces.items() if pace >= _AS_GOOD_AS_THE_BEST * max(paces.values()))


def key_of(model: Any, dtype: Any) -> str:
    """The cache key: what the best size depends on (the model, its dtype, the processor, threads, torch)."""
    import torch

    shape = hashlib.sha256(model.config.to_json_string().encode()).hexdigest()[:16]
    return (
        f"{type(model).__name__} {shape}, {str(dtype).removeprefix('torch.')}, {processor()}, "
        f"{torch.get_num_threads()} threads, torch {torch.__version__}"
    )


def processor(facts: Path = Path("/proc/cpuinfo")) -> str:
    """The name of the CPU, if the system gives one."""
    with contextlib.suppress(OSError):
        for line in facts.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def recall(key: str) -> int | None:
    """The size stored by an earlier run; None if there is none or it is not valid."""
    found = _read().get(key)
    return found if found in SIZES_TRIED and type(found) is int else None


def remember(key: str, size: int) -> None:
    """Store a size for the next run, if there is a cache folder."""
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
