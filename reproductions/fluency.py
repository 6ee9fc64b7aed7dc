"""Perplexities as ratios of pairs, on texts written as people write them: Tables 3 and 8 of Zhang et al. 2021.

A median before and a median after say little: perplexities of short texts differ a hundredfold, and two medians of 40
texts move by chance more than a changed word moves one. Each text is therefore compared with its own original. SST-2 is
written in lower case with spaces around punctuation, which a language model of today finds odd whatever the words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_ENDINGS = re.compile(r" (n't|'s|'re|'ve|'ll|'d|'m|'t)(?![\w'])", re.IGNORECASE)
_CLOSING = re.compile(r" +([,.;:!?%)\]}]|\.\.\.)")
_OPENING = re.compile(r"([(\[{$#]) +")
_QUOTED = re.compile(r"(``|\") ?(.*?) ?(''|\")")
_SINGLE = re.compile(r"(?<![\w'])(`) ?(.*?) ?'(?![\w'])")
_SENTENCE = re.compile(r"(^|(?<!\.)[.!?] +)([\"'(\[]*)([a-z])")
_I = re.compile(r"(?<![\w'-])i(?![\w-])")


def detokenised(text: str) -> str:
    """Text as people write it: no spaces before punctuation, `n't` and `'s` with their word, sentences capitalized.

    Names stay in lower case, because nothing says which words are names.
    """
    for written, bracket in _BRACKETS.items():
        text = re.sub(re.escape(written), lambda _, b=bracket: b, text, flags=re.IGNORECASE)  # type: ignore[misc]
    text = _QUOTED.sub(r'"\2"', text)
    text = _SINGLE.sub(r"'\2'", text)
    text = _ENDINGS.sub(r"\1", text)
    text = re.sub(r"\b(can|gon|wan|got) (not|na|ta)\b", r"\1\2", text)
    text = _CLOSING.sub(r"\1", text)
    text = _OPENING.sub(r"\1", text)
    text = re.sub(r" -- ", " - ", text)
    text = _I.sub("I", text)
    text = re.sub(r" {2,}", " ", text).strip()
    return _SENTENCE.sub(lambda found: found[1] + found[2] + found[3].upper(), text)


@dataclass(frozen=True)
class Ratios:
    """Perplexities after over before, each text against its own original."""

    before: float  # medians
    after: float
    ratio: float
    low: float | None  # a 95% interval of the median ratio; None under six texts
    high: float | None
    total: int

    def __str__(self) -> str:
        """Medians, the median ratio and its interval."""
        spread = "" if self.low is None or self.high is None else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.before:.0f} → {self.after:.0f}; ×{self.ratio:.2f}{spread}"


def ratios(pairs: Iterable[tuple[float, float]]) -> Ratios | None:
    """The figures of (before, after) pairs; texts without a perplexity are left out."""
    known = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b) and a > 0]
    if not known:
        return None
    each = [b / a for a, b in known]
    low, high = median_interval(each)
    return Ratios(median(a for a, _ in known), median(b for _, b in known), median(each), low, high, len(known))


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """A 95% interval of the median from order statistics, which holds for every continuous distribution.

    The number of values below the median is binomial with one half. None under six values, where no interval has 95%.
    """
    n, order = len(values), sorted(values)
    cut, below = -1, 0.0
    for rank in range(n):
        below += math.comb(n, rank) / 2**n
        if below > 0.025:
            break
        cut = rank
    return (None, None) if cut < 0 else (order[cut], order[n - 1 - cut])


def perplexities(texts: Iterable[str], lm: Any) -> dict[str, float]:
    """The perplexity of each text."""
    from mohs.models.causal_lm import perplexity

    found: dict[str, float] = {}
    for batch in lm.plan(list(dict.fromkeys(texts))):
        found.update(zip(batch, map(perplexity, lm.collect(lm.launch(batch))), strict=True))
    return found


def compared(records: Iterable[Any], lm: Any, *, changed: bool = False) -> tuple[Ratios | None, Ratios | None]:
    """The successes of a run against their originals: as the data writes them, and detokenised.

    changed: leave out originals that are vulnerable as they stand, whose ratio is 1.
    """
    pairs = [
        (" ".join(record.original), " ".join(record.perturbed))
        for record in records
        if record.outcome == "success" and record.perturbed is not None and (record.edits or not changed)
    ]
    found = []
    for write in (str, detokenised):
        both = [(write(a), write(b)) for a, b in pairs]
        known = perplexities([text for pair in both for text in pair], lm)
        found.append(ratios((known[a], known[b]) for a, b in both))
    return found[0], found[1]
