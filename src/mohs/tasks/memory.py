"""How much memory the candidates of an example take, and how much there is."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from mohs.errors import BadInput
from mohs.text import Text

GB = 1_000_000_000
_SHARE = 0.5  # of the memory that is free when a run starts
_BYTES_A_WORD = 16  # a candidate has its own list of words and may have its own list of gaps
_BYTES_A_CANDIDATE = 400  # whatever its length
_SHARE_OF_WORKERS = 0.8  # of the memory that is free; the rest is for what a run needs later
_INFO = Path("/proc/meminfo")
_OWN = Path("/proc/self/statm")


def bytes_of(x: Text) -> int:
    """About how much memory one candidate of a text takes."""
    letters = sum(len(field) * _width(field) for field in x.fields)
    return _BYTES_A_CANDIDATE + _BYTES_A_WORD * len(x) + letters


def _width(string: str) -> int:
    """Bytes a character, as Python stores strings."""
    if string.isascii():
        return 1
    highest = max(string)
    return 1 if highest < "\u0100" else 2 if highest < "\U00010000" else 4


def limit(gigabytes: float | None, workers: int) -> int | None:
    """How many bytes one example may take in one of the workers; None if nothing is known of this machine."""
    if gigabytes is not None:
        if not 0 < gigabytes < math.inf:
            raise BadInput(f"most_memory is {gigabytes}; it must be a number of gigabytes above 0.")
        return int(gigabytes * GB)
    free = _free()
    return None if free is None else int(free * _SHARE) // workers


def room() -> int | None:
    """How many more processes like this one the free memory holds; None if nothing is known of this machine."""
    free = _free()
    try:
        own = int(_OWN.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):  # not on every system
        own = getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return None if free is None else int(free * _SHARE_OF_WORKERS) // own


def _free() -> int | None:
    try:
        for line in _INFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # not on every system
        return None


def refuse_too_large(x: Text, candidates: int, most: int | None) -> None:
    """Refuse an example whose candidates would take more memory than allowed."""
    refuse_above(most, bytes_of(x) * candidates, x, f"its {candidates:,} candidates")


def refuse_above(most: int | None, needed: int, x: Text, what: str) -> None:
    """Refuse an example of which something would take more memory than allowed. what: what that is, in words."""
    if most is not None and needed > most:
        raise BadInput(
            f"The text has {len(x):,} words, and {what} would take about {_shown(needed)} GB of memory, more than the "
            f"{_shown(most)} GB allowed; shorten it, or allow more with --most-memory."
        )


def _shown(size: int) -> str:
    return f"{size / GB:.2g}" if size < GB else f"{size / GB:,.0f}"
