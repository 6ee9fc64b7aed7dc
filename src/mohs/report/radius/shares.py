"""PR figures of a radius run. PR is the share of an example's texts that keep the label, for each requested r."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from mohs.bounds.finding import RadiusFinding, ShareFinding
from mohs.report.rates import Mean, Rate, mean_of
from mohs.report.table import mean, rate

THRESHOLDS = (0.5, 0.9, 0.99)
_OF = "examples with a PR"


@dataclass(frozen=True)
class Above:
    """How many examples have a PR above a threshold: by the lower end of its interval (safe), and by the estimate."""

    threshold: float
    low: Rate
    value: Rate


@dataclass(frozen=True)
class Decided:
    """For how many examples it is decided whether PR is above a level, by their intervals."""

    level: float
    yes: int
    no: int
    undecided: int


@dataclass(frozen=True)
class ShareFigures:
    """The PR figures of a run at one radius."""

    r: str  # as requested
    total: int
    counted: int  # exact: every text was queried
    methods: dict[str, int]
    least_r: int
    most_r: int
    draws: int  # the most for one example
    epsilon: float | None
    delta: float | None
    among: int  # number of intervals that share delta; 0 if each has its own
    mean: Mean
    median: float
    least: float
    above: list[Above]
    values: list[tuple[int, bool, float, float]]  # L, whether no text of the space changes the label, PR, its lower end
    decided: Decided | None = None  # with --decide
    draw: str | None = None  # independent: words were drawn one by one

    @property
    def estimated(self) -> int:
        """How many examples have an interval."""
        return self.total - self.counted

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict. The PR of each example is in its record."""
        row = asdict(self)
        del row["values"]
        row["above"] = [
            {"threshold": one.threshold, "low": one.low.to_json(), "value": one.value.to_json()} for one in self.above
        ]
        return row


def radii_of(config: Mapping[str, Any]) -> list[str]:
    """The radii as requested."""
    asked = config.get("r", "-")
    return [str(r) for r in asked] if isinstance(asked, list) else [str(asked)]


class ShareTally:
    """Collects the shares at one radius while the records stream by."""

    def __init__(self) -> None:
        self._methods: Counter[str] = Counter()
        self._values: list[tuple[int, bool, float, float]] = []
        self._shares: list[ShareFinding] = []
        self._draws = 0

    def add(self, found: RadiusFinding, share: ShareFinding) -> None:
        """Add one example."""
        self._methods[share.method] += 1
        self._values.append((found.lower, found.whole, float(share.value), float(share.low)))
        self._shares.append(share)
        if share.method != "counted":
            self._draws = max(self._draws, share.n)

    def figures(self, r: str, asked: Mapping[str, Any], among: int, errors: int = 0) -> ShareFigures:
        """The figures of all examples."""
        total, values = len(self._values), [value for *_, value, _ in self._values]
        return ShareFigures(
            r=r,
            total=total,
            counted=self._methods["counted"],
            methods=dict(self._methods),
            least_r=min(share.r for share in self._shares),
            most_r=max(share.r for share in self._shares),
            draws=self._draws,
            epsilon=asked.get("epsilon"),
            delta=asked.get("delta"),
            among=among,
            mean=mean_of(values, _OF, 0, 1),
            median=median(values),
            least=min(values),
            above=[
                Above(
                    threshold,
                    Rate(sum(low > threshold for *_, low in self._values), total, _OF, errors),
                    Rate(sum(value > threshold for value in values), total, _OF, errors),
                )
                for threshold in THRESHOLDS
            ],
            values=self._values,
            decided=None if asked.get("decide") is None else self._decided(float(asked["decide"])),
            draw=asked.get("draw"),
        )

    def _decided(self, level: float) -> Decided:
        seen = Counter(share.above(level) for share in self._shares)
        return Decided(level, yes=seen[True], no=seen[False], undecided=seen[None])


def all_figures(
    tallies: Sequence[ShareTally], config: Mapping[str, Any], examples: int, errors: int = 0
) -> list[ShareFigures]:
    """The figures of every radius, in the order requested."""
    asked = config if config.get("pac") else {}
    radii = radii_of(asked) if len(radii_of(asked)) == len(tallies) else ["-"] * len(tallies)
    among = examples * len(tallies) if asked.get("together") else 0
    return [tally.figures(r, asked, among, errors) for tally, r in zip(tallies, radii, strict=True)]


def share_headline(shares: Sequence[ShareFigures]) -> str:
    """One sentence: how often PR is high, at the last radius requested."""
    last = shares[-1]
    if last.decided is not None:
        return " ".join(map(_decision, shares))
    high = next(one for one in last.above if one.threshold == 0.9)
    where = f" at r = {last.r}" if len(shares) > 1 else ""
    return f"PR{where} is above 0.9, by the lower end of its interval, for {rate(high.low)} of {_OF}."


def _decision(share: ShareFigures) -> str:
    """What --decide came to at one radius."""
    assert share.decided is not None
    told = share.decided
    return (
        f"PR above {told.level:g} at r = {share.r}? Yes for {told.yes:,}, no for {told.no:,}, undecided for "
        f"{told.undecided:,} of {share.total:,} {_OF}."
    )


def mean_cells(share: ShareFigures) -> list[tuple[str, str]]:
    """The mean, median and minimum, each with its heading."""
    return [("mean PR", mean(share.mean, 4)), ("median", f"{share.median:.4f}"), ("least", f"{share.least:.4f}")]


def share_notes(shares: Sequence[ShareFigures]) -> list[str]:
    """What PR is, how it was found, and what its intervals guarantee: one sentence each."""
    first, total, counted = shares[0], sum(s.total for s in shares), sum(s.counted for s in shares)
    found = [_meaning(shares)]
    what = "examples" if len(shares) == 1 else "shares"
    if counted:
        found.append(f"For {counted:,} of {total:,} {what} every text was queried, so PR is exact.")
    estimated = total - counted
    if estimated:
        methods = ", ".join(dict.fromkeys(m for share in shares for m in share.methods if m != "counted"))
        how = "uniformly" if first.draw is None else "word by word"
        found.append(
            f"For {estimated:,} it is estimated from at most {max(s.draws for s in shares):,} texts drawn {how} "
            f"({methods}; epsilon {_number(first.epsilon)}, delta {_number(first.delta)})."
        )
        if "sequential" in methods:
            found.append("A sequential estimate is slightly biased by its stopping rule; its interval is not.")
        if first.decided is not None:
            found.append(
                f"Drawing stopped once the interval lay on one side of {first.decided.level:g}, so the estimates are "
                "rough and biased; the decisions and the intervals are not."
            )
        if first.delta is not None:
            found.append(_promise(first.delta, first.among, estimated))
    return found


def _meaning(shares: Sequence[ShareFigures]) -> str:
    """What PR is here."""
    if shares[0].draw is not None:
        return (
            "PR is here the probability that a text keeps the label if each of its words is drawn by itself among its "
            f"choices and the original, which is then put back with probability 1 - r (r: "
            f"{', '.join(share.r for share in shares)}); this is not uniform over the texts with at most r "
            "substitutions, and a text may have more."
        )
    return (
        f"PR is the share of an example's texts with at most r substitutions ({'; '.join(map(_radius, shares))}) that "
        "keep the label; the original counts as one of them."
    )


def _radius(share: ShareFigures) -> str:
    radii = str(share.least_r) if share.least_r == share.most_r else f"{share.least_r} to {share.most_r}"
    of = " of the words that may change, rounded down, at least one" if share.r.endswith("%") else ""
    return f"r: {share.r}" if share.r == radii else f"r: {share.r}{of}, here {radii}"


def _promise(delta: float, among: int, number: int) -> str:
    """What the intervals guarantee."""
    if among:
        return (
            f"All intervals hold at once with probability 1 - delta = {1 - delta:g}: each uses delta / "
            f"{among:,} = {delta / among:.3g} (union bound over all examples and radii of the run)."
        )
    missed = number * delta
    said = "which is above 1" if missed >= 1 else f"here {missed:g}"
    return (
        f"Each interval holds with probability 1 - delta = {1 - delta:g} for its own example, but not for all at once: "
        f"the probability that any of the {number:,} misses is at most {number:,} * delta, {said}; with --together all "
        "hold at once."
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
