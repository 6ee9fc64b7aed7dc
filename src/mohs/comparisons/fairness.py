"""Fair success in two runs, example by example: how many more successes people would accept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mohs.errors import BadInput
from mohs.records import Outcome
from mohs.report.verdicts import Verdicts
from mohs.runs.run import Run
from mohs.tasks.described import loadable
from mohs.tasks.inference import FEWEST
from mohs.text.calibration import Calibration

_DRAWS = 1000

Words = Sequence[float]  # the judge's probabilities of the changed words of a success; nan without an opinion
Success = Words | bool | None  # False: no success; True: one on which the judge has no opinion; None: an error hides it


@dataclass(frozen=True)
class PairedFair:
    """The expected shares of examples with a success that people would accept, of examples attacked in both runs."""

    first: float  # expected numbers, of judged successes
    second: float
    judged: int  # successes, in either run
    unjudged: int  # successes, in either run, on which the judge has no opinion: only in the interval
    total: int
    errors: int
    interval: tuple[float, float] | None
    judge: str

    @property
    def difference(self) -> float | None:
        """The share in the second run minus that in the first; None if no success could be judged."""
        known = self.total and (self.judged or not self.unjudged)
        return (self.second - self.first) / self.total if known else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The difference if errors had hidden only fair successes of the first run, and only of the second."""
        n, gained = self.total + self.errors, self.second - self.first
        return ((gained - self.errors) / n, (gained + self.errors) / n) if n else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "difference": self.difference, "bounds": self.bounds}


def verdicts_of(runs: Sequence[Run], judge: Any) -> tuple[list[Verdicts] | None, str]:
    """What one judge says about the successes of all runs; None without one, with the reason."""
    if any(run.command != "attack" for run in runs):
        if judge not in (None, "none"):
            raise BadInput(f"--judge is for runs of `mohs attack`; these are of `mohs {runs[0].command}`.")
        return None, ""
    if judge is None:
        known = list(dict.fromkeys(str(run.manifest.get("facts", {}).get("judge") or "pocket") for run in runs))
        if len(known) > 1:
            return (
                None,
                f"Fair success is left out: the runs have several judges ({', '.join(known)}); name one with --judge.",
            )
        if known[0] != "none" and not loadable(known[0]):
            return (
                None,
                f"Fair success is left out: the judge {known[0]!r} was given as an object; name one with --judge.",
            )
        judge = known[0]
    if judge == "none":
        return None, ""
    return [Verdicts(run.records(), judge) for run in runs], ""


def successes_of(run: Run, verdicts: Verdicts, attack: str) -> dict[str, Success]:
    """What the judge says about each attempt, by example."""
    found: dict[str, Success] = {}
    for record in run.records():
        if record.attack == attack:
            hit = record.outcome is Outcome.SUCCESS
            words = verdicts.words(record) if hit else None
            found[record.example_id] = None if record.outcome is Outcome.ERROR else (words or True) if hit else False
    return found


def paired_fair(pairs: Sequence[tuple[Success, Success]], calibration: Calibration, judge: str) -> PairedFair:
    """From the successes of examples attacked in both runs.

    The interval is that of fair success (`mohs.report.fair`), of the difference: the Bayesian bootstrap over examples
    and, in the same draws for both runs, what the judge's calibration leaves open. Half an example is added in which
    only one of the runs has a fair success, for what the sample happens not to hold.
    """
    known = [(one, other) for one, other in pairs if one is not None and other is not None]
    texts: list[list[float]] = []
    entries: list[tuple[_Entry, _Entry]] = []
    for one, other in known:
        if one is not False or other is not False:
            entries.append((_entry(one, texts), _entry(other, texts)))
    both = [entry for pair in entries for entry in pair]
    sums = [math.fsum(_expected(entry[side], texts, calibration) for entry in entries) for side in (0, 1)]
    unjudged = sum(entry.free or entry.partly for entry in both)
    judged = sum(entry.text is not None and not entry.partly for entry in both)
    interval = _ends(entries, texts, len(known), calibration) if len(known) >= FEWEST else None
    return PairedFair(sums[0], sums[1], judged, unjudged, len(known), len(pairs) - len(known), interval, judge)


@dataclass(frozen=True)
class _Entry:
    text: int | None = None  # the number of its text among those judged
    partly: bool = False  # some of its words were not judged
    free: bool = False  # nothing of it was


def _entry(success: Success, texts: list[list[float]]) -> _Entry:
    if isinstance(success, bool) or success is None:
        return _Entry(free=success is True)
    words = [value for value in success if not math.isnan(value)]
    if not words:
        return _Entry(free=True)
    texts.append(words)
    return _Entry(len(texts) - 1, len(words) < len(success))


def _expected(entry: _Entry, texts: Sequence[Sequence[float]], calibration: Calibration) -> float:
    return 0.0 if entry.text is None or entry.partly else calibration.whole(texts[entry.text])


def _ends(
    entries: Sequence[tuple[_Entry, _Entry]], texts: Sequence[Sequence[float]], total: int, calibration: Calibration
) -> tuple[float, float]:
    random = np.random.default_rng(0)
    drawn = calibration.redrawn(texts, _DRAWS, random)
    weights = random.standard_exponential((_DRAWS, len(entries)))
    rest = random.standard_gamma(total - len(entries) + 0.5, _DRAWS)
    more = random.standard_gamma(0.5, _DRAWS)
    whole = weights.sum(axis=1) + rest + more

    def summed(side: int, most: bool) -> Any:
        found = np.zeros(_DRAWS)
        for number, pair in enumerate(entries):
            entry = pair[side]
            if entry.text is not None and (most or not entry.partly):
                found += weights[:, number] * drawn[:, entry.text]
            elif entry.free and most:
                found += weights[:, number]
        return found

    lower = (summed(1, False) - summed(0, True) - more) / whole
    upper = (summed(1, True) - summed(0, False) + more) / whole
    return float(np.percentile(lower, 2.5)), float(np.percentile(upper, 97.5))
