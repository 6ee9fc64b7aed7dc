"""Chart geometry that several kinds of run share. The templates do the drawing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

_BARS = 16


def bars(words: Mapping[str, Counter[int]]) -> dict[str, Any] | None:
    """Histograms of the words changed, one for each attack, with the same bins."""
    if not words:
        return None
    low, high = min(map(min, words.values())), max(map(max, words.values()))
    step = math.ceil((high - low + 1) / _BARS)
    starts = range(low, high + 1, step)
    panels = {
        attack: [sum(counts[n] for n in range(start, start + step)) for start in starts]
        for attack, counts in words.items()
    }
    labels = [str(start) if step == 1 else f"{start}–{start + step - 1}" for start in starts]
    return {"labels": labels, "panels": panels, "most": max(max(counts) / sum(counts) for counts in panels.values())}


def ticks(low: float, high: float) -> list[float]:
    """Round numbers that enclose `low` and `high`, in about four steps."""
    room = max(high - low, 1e-4)
    raw = room / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


def written(value: float) -> str:
    """A tick's label, without trailing zeros."""
    return f"{value:.10f}".rstrip("0").rstrip(".") or "0"
