"""PR in a radius run: which share of each example's texts keeps the label, over all examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mohs.report.metrics import Rate
from mohs.report.radius_uppers import rate_json
from mohs.report.table import rate

THRESHOLDS = (0.5, 0.9, 0.99)
_OF = "examples with PR"


@dataclass(frozen=True)
class Above:
    """How many examples have a PR above a threshold: surely, by the lower end of its interval, and as estimated."""

    threshold: float
    low: Rate
    value: Rate


@dataclass(frozen=True)
class ShareFigures:
    """The shares of a run."""

    total: int
    counted: int  # exact, every text asked
    methods: dict[str, int]
    r: str  # as asked for
    least_r: int
    most_r: int
    draws: int  # for one example, at most
    epsilon: float | None
    delta: float | None
    above: list[Above]
    values: list[tuple[int, bool, float]]  # L, whether the whole space is withstood, PR

    @property
    def estimated(self) -> int:
        """How many examples have an interval."""
        return self.total - self.counted

    def to_json(self) -> dict[str, Any]:
        """A plain structure for machines; each example's own share is in its record."""
        row = asdict(self)
        del row["values"]
        row["above"] = [
            {"threshold": one.threshold, "low": rate_json(one.low), "value": rate_json(one.value)} for one in self.above
        ]
        return row


class ShareTally:
    """Collects shares while the records stream by."""

    def __init__(self) -> None:
        self._methods: Counter[str] = Counter()
        self._values: list[tuple[int, bool, float]] = []
        self._lows: list[float] = []
        self._radii: list[int] = []
        self._draws = 0

    def add(self, details: Mapping[str, Any]) -> None:
        """One example's, if it has one."""
        share = details.get("share")
        if share is None:
            return
        self._methods[share["method"]] += 1
        self._values.append((int(details["lower"]), bool(details["whole"]), float(share["value"])))
        self._lows.append(share["low"])
        self._radii.append(share["r"])
        if share["method"] != "counted":
            self._draws = max(self._draws, share["n"])

    def figures(self, asked: Mapping[str, Any]) -> ShareFigures | None:
        """All of them; None if no example has one."""
        total = len(self._values)
        if not total:
            return None
        return ShareFigures(
            total=total,
            counted=self._methods["counted"],
            methods=dict(self._methods),
            r=str(asked.get("r", "-")),
            least_r=min(self._radii),
            most_r=max(self._radii),
            draws=self._draws,
            epsilon=asked.get("epsilon"),
            delta=asked.get("delta"),
            above=[
                Above(
                    threshold,
                    Rate(sum(low > threshold for low in self._lows), total, _OF),
                    Rate(sum(value > threshold for *_, value in self._values), total, _OF),
                )
                for threshold in THRESHOLDS
            ],
            values=self._values,
        )


def share_headline(share: ShareFigures) -> str:
    """One sentence on how often the share is high."""
    high = next(one for one in share.above if one.threshold == 0.9)
    return f"PR lies above 0.9, by the lower end of its interval, for {rate(high.low)} of {_OF}."


def share_notes(share: ShareFigures) -> list[str]:
    """What PR is, how it was found, and what its intervals promise; a sentence each."""
    radii = str(share.least_r) if share.least_r == share.most_r else f"{share.least_r} to {share.most_r}"
    found = [
        f"PR is the share of an example's texts with at most r substitutions (r: {share.r}, here {radii}) in which the "
        "label stays; the original is one of them."
    ]
    if share.counted:
        found.append(
            f"For {share.counted:,} of {share.total:,} examples all texts were asked: PR is exact, no estimate."
        )
    if share.estimated:
        methods = ", ".join(method for method in share.methods if method != "counted")
        found.append(
            f"For {share.estimated:,} it is estimated from at most {share.draws:,} texts drawn evenly from all "
            f"({methods}; epsilon {_number(share.epsilon)}, delta {_number(share.delta)})."
        )
        if "sequential" in share.methods:
            found.append("A sequential share leans a little towards what stopped it; its interval does not.")
        if share.delta is not None:
            found.append(
                f"Each interval holds for its one example with probability 1 - delta = {1 - share.delta:g}, not "
                f"for all together: {_together(share.estimated, share.delta)}."
            )
    return found


def _together(number: int, delta: float) -> str:
    missed = number * delta
    if missed >= 1:
        return f"that any of {number:,} misses is only bounded by {number:,} * delta, which is above 1"
    return f"that any of {number:,} misses has a probability of at most {number:,} * delta = {missed:g}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
