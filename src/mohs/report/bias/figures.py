"""The figures of a bias run: B_{p,k} of every pair at every distance, on all sentences and on the filtered set.

The statistics come from `mohs.bias`. Intervals and p-values treat the source sentence as the unit, because the
neighbours of one sentence are not independent evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mohs.bias.change import PairChange
from mohs.bias.statistics import PairBias, pair_biases
from mohs.bias.words import word_biases
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.flags import run_flags
from mohs.report.listing import named
from mohs.tasks.inference import TESTED

if TYPE_CHECKING:
    from mohs.runs.run import Run

LEVEL = 0.05
_NAMED = 3  # pairs or words named in a sentence
_ALIKE = 3  # words with equal figures that are mentioned
_SAME = ("both_directions", "masked_lm", "most", "breadth", "blacklist", "floor", "seed")

Pair = tuple[str, str]
ByPair = dict[Pair, dict[int, PairBias]]


@dataclass(frozen=True)
class BiasFigures:
    """The figures of a bias run."""

    outcomes: dict[str, int]
    label: str  # the class whose probability is measured
    k: int
    epsilon: float | None  # the filtered set has the sentences whose own difference is below this; none if k is 0
    whole: tuple[PairBias, ...]
    filtered: tuple[PairBias, ...]
    words: tuple[PairBias, ...] = ()  # of groups: each word against the mean of its group

    @property
    def shown(self) -> tuple[PairBias, ...]:
        """What tables and charts show: the words of groups, or else the pairs."""
        return self.words or self.whole

    @property
    def of(self) -> str:
        """What a row is about."""
        return "word" if self.words else "pair"

    @property
    def head(self) -> str:
        """The heading above the names of the rows, written as they are."""
        return "group|word" if self.words else "pair"

    @property
    def without(self) -> str:
        """What examples that were not measured lack."""
        return "without a word of a group" if self.words else "without a matching pair"

    @property
    def unit(self) -> str:
        """The note above every table and chart."""
        second = "the second word of the pair than with the first"
        than = "the word than on average over its group" if self.words else second
        return (
            "Intervals and p-values treat the source sentence as the unit. A bias above 0 means that "
            f"P({self.label}) is higher with {than}."
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict. What cannot be computed is null."""
        row = asdict(self)
        if not self.words:
            del row["words"]
        for key in ("whole", "filtered", *(["words"] if self.words else [])):
            row[key] = [{name: finite(value) for name, value in one.items()} for one in row[key]]
        return row


def finite(value: Any) -> Any:
    """The value for JSON: None for what is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def bias_figures(run: Run, epsilon: float | None = None) -> BiasFigures:
    """The figures of a bias run. epsilon: a threshold for the filtered set, in place of the run's own."""
    config: Mapping[str, Any] = run.manifest.get("config", {})
    counts: Counter[str] = Counter()

    def counted() -> Iterator[Record]:
        for record in run.records():  # read once for both: records of a large group of words take long to read
            counts[str(record.outcome)] += 1
            yield record

    whole = tuple(pair_biases(counted()))
    kinds = (Outcome.MEASURED, Outcome.EXHAUSTED, Outcome.SKIPPED, Outcome.ERROR)
    labels = [str(label) for label in config.get("labels") or ()]
    label = int(config.get("label", 1))
    k = int(config.get("k", 0))
    epsilon = config.get("epsilon") if epsilon is None else epsilon
    groups = run.manifest.get("facts", {}).get("groups", {})
    if k == 0 or groups:  # at k = 0 the set shows nothing because it was chosen so; it belongs to a pair
        epsilon = None
    return BiasFigures(
        outcomes={str(kind): counts[str(kind)] for kind in kinds},
        label=named(label, labels),
        k=k,
        epsilon=epsilon,
        whole=whole,
        filtered=tuple(pair_biases(run.records(), epsilon=epsilon)) if epsilon is not None else (),
        words=tuple(_most_certain(word_biases(run.records(), groups))) if groups else (),
    )


def _most_certain(found: Sequence[PairBias]) -> list[PairBias]:
    """Words by their p-value at the largest distance, then by their bias there; distances of a word stay together."""
    last = max((one.k for one in found), default=0)
    rank = {(one.old, one.new): (one.p, -abs(one.bias)) for one in found if one.k == last}
    return sorted(found, key=lambda one: (rank.get((one.old, one.new), (1.0, 0.0)), one.old, one.new, one.k))


def by_pair(found: Iterable[PairBias]) -> ByPair:
    """Each pair's figures by distance, in order of appearance."""
    pairs: ByPair = {}
    for one in found:
        pairs.setdefault((one.old, one.new), {})[one.k] = one
    return pairs


def bias_headline(figures: BiasFigures) -> str:
    """One sentence."""
    finished = sum(figures.outcomes.values())
    if not finished:
        return "Nothing has been measured yet."
    if not figures.whole:
        if figures.outcomes["error"] == finished:
            return "Every measurement ended in an error."
        return f"No pair matches any of the {finished:,} examples finished, so there is no bias to report."
    k = max(one.k for one in figures.shown)
    last = sorted((one for one in figures.shown if one.k == k), key=lambda one: -abs(one.bias))
    moved = [one for one in last if one.holm < LEVEL]
    what, from_mean = figures.of, " from the mean of the group" if figures.words else ""
    tested = sum(not math.isnan(one.p) for one in last)
    if not tested:
        return (
            f"At k = {k}, no {what} has the {TESTED} sentences that a test needs; "
            f"the largest bias is {last[0].old}|{last[0].new} {signed(last[0].bias)}."
        )
    if not moved:
        rows = f"the one {what}" if len(last) == 1 else f"the {tested} of {len(last)} {what}s that were tested"
        return (
            f"At k = {k}, no shift of P({figures.label}){from_mean} beyond chance in {rows}; "
            f"the largest is {last[0].old}|{last[0].new} {signed(last[0].bias)}."
        )
    shown = ", ".join(f"{one.old}|{one.new} {signed(one.bias)}" for one in moved[:_NAMED])
    of = (
        f"{len(moved)} of {tested} {what}s tested shift{'s' * (len(moved) == 1)}"
        if len(last) > 1
        else f"the one {what} shifts"
    )
    more = f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
    return f"At k = {k}, {of} P({figures.label}){from_mean} beyond chance: {shown}{more}."


def bias_flags(facts: Mapping[str, Any], figures: BiasFigures, finished: int, planned: int) -> list[str]:
    """What a reader must know before trusting the figures, one sentence each."""
    found = [*run_flags(facts, finished, planned), *facts.get("notes", [])]
    if figures.outcomes["exhausted"]:
        found.append(
            f"The query budget ended {figures.outcomes['exhausted']} of {finished} measurements early: "
            "their larger distances are missing."
        )
    if figures.outcomes["error"]:
        found.append(
            f"{figures.outcomes['error']} of {finished} examples ended in an error and are in no figure: the bias is "
            "that of the others."
        )
    found += _alike(figures)
    pairs = by_pair(figures.shown)
    few = sum(max(one.sentences for one in levels.values()) < TESTED for levels in pairs.values())
    if few:
        found.append(
            f"{few} of {len(pairs)} {figures.of}s occur in fewer than {TESTED} sentences, too few for a "
            "test: for these, a lack of evidence does not show fairness."
        )
    return found


def _alike(figures: BiasFigures) -> list[str]:
    """A warning about words of a group that the victim cannot tell apart, for each group."""
    alike: dict[tuple[str, tuple[float, ...]], list[str]] = {}
    for (group, word), levels in by_pair(figures.words).items():
        alike.setdefault((group, tuple(round(one.bias, 9) for one in levels.values())), []).append(word)
    return [
        f"{len(words)} words of {group} get the same answers in all texts ({', '.join(sorted(words)[:_NAMED])} ...), "
        "as words do that the victim does not know: they pull the mean of the group towards them; leave them out of it."
        for (group, _), words in alike.items()
        if len(words) >= _ALIKE
    ]


def comparable(run: Run, other: Run) -> None:
    """Raise BadInput if two runs cannot be compared."""
    for one in (run, other):
        if one.manifest.get("command") != "bias":
            raise BadInput(
                f"{one.folder or 'This run'} is not a bias run: --against compares two runs of `mohs bias`, "
                "before and after debiasing."
            )
    mine, theirs = run.manifest["config"], other.manifest["config"]
    for key, option in (("label", "--label"), ("k", "-k")):
        if mine.get(key) != theirs.get(key):
            raise BadInput(
                f"The two runs cannot be compared: {run.folder or 'one'} has {key} {mine.get(key)} and "
                f"{other.folder or 'the other'} has {theirs.get(key)}; measure both with the same {option}."
            )
    if _known(run, "pairs_hash", "pairs") != _known(other, "pairs_hash", "pairs"):
        raise BadInput(
            f"The two runs cannot be compared: {run.folder or 'one'} has the pairs {mine.get('pairs')} and "
            f"{other.folder or 'the other'} the other pairs {theirs.get('pairs')}; measure both with the same --pairs."
        )


def _known(run: Run, hashed: str, name: str) -> Any:
    """The hash of a file's content if the run kept one, else the file's name."""
    return run.manifest.get("identity", {}).get(hashed, run.manifest["config"].get(name))


def different_data(run: Run, other: Run) -> list[str]:
    """A warning if two runs differ in their data or settings."""
    mine, theirs = run.manifest["config"], other.manifest["config"]
    differ = [key for key in _SAME if mine.get(key) != theirs.get(key)]
    said = [f"{key} {theirs.get(key)} before and {mine.get(key)} after" for key in differ]
    if _known(run, "data_hash", "data") != _known(other, "data_hash", "data"):
        said.insert(0, "different data")
    if not said:
        return []
    return [
        f"The runs differ in more than the victim ({', '.join(said)}), so the victim alone does not explain the change."
    ]


def against_flags(run: Run, other: Run, after: BiasFigures, before: BiasFigures) -> list[str]:
    """What a reader must know before comparing two runs."""
    found = different_data(run, other)
    if before.epsilon != after.epsilon:
        found.append(
            f"The filtered sets use different thresholds ({before.epsilon} before and {after.epsilon} after); "
            "--filter-epsilon sets one for both."
        )
    flagged: dict[str, list[str]] = {}
    for name, one, figures in (("before", other, before), ("after", run, after)):
        own = bias_flags(one.manifest.get("facts", {}), figures, len(one), one.planned)
        notes = one.manifest.get("facts", {}).get("notes", [])
        flagged |= {flag: [*flagged.get(flag, []), name] for flag in own if flag not in notes}
    return found + [f"{' and '.join(names).capitalize()}: {flag}" for flag, names in flagged.items()]


def both(
    before: Sequence[PairBias], after: Sequence[PairBias]
) -> list[tuple[Pair, int, PairBias | None, PairBias | None]]:
    """Every pair and distance of either run, in the order of the later run."""
    old, new = by_pair(before), by_pair(after)
    return [
        (pair, k, old.get(pair, {}).get(k), new.get(pair, {}).get(k))
        for pair in {**new, **old}
        for k in sorted({**old.get(pair, {}), **new.get(pair, {})})
    ]


def compared(old: BiasFigures, new: BiasFigures, changes: Sequence[PairChange] = ()) -> str:
    """One sentence about two runs: how many pairs are nearer to 0 than before, at the largest distance."""
    rows = [(k, a, b) for _, k, a, b in both(old.shown, new.shown) if a is not None and b is not None]
    if not rows:
        return "No pair was measured in both runs, so there is nothing to compare."
    last = max(k for k, _, _ in rows)
    sizes = [(abs(before.bias), abs(after.bias)) for k, before, after in rows if k == last]
    nearer = sum(after < before for before, after in sizes)
    what = new.of
    start = (
        f"{nearer} of {len(sizes)} {what}s are" if len(sizes) > 1 else f"the one {what} is{'' if nearer else ' not'}"
    )
    means = [sum(side) / len(sizes) for side in zip(*sizes, strict=True)]
    return (
        f"At k = {last}, {start} nearer to zero bias than before; "
        f"the mean absolute bias went from {means[0]:.4f} to {means[1]:.4f}{_beyond(changes, last)}."
    )


def _beyond(changes: Sequence[PairChange], k: int) -> str:
    """How many pairs changed beyond chance, for the headline."""
    tested = [one for one in changes if one.k == k and not math.isnan(one.p)]
    if not tested:
        return ""
    sure = sum(one.holm < LEVEL for one in tested)
    return f"; {sure} of {len(tested)} changes tested {'is' if sure == 1 else 'are'} beyond chance"


def texts(one: PairBias) -> str:
    """How many texts were asked, and of about how many where they were sampled."""
    if one.exact:
        return f"{one.neighbours:,}"
    return f"~{one.neighbours:,}" + (f" of {one.size:,.0f}" if one.size > one.neighbours else "")


def signed(value: float) -> str:
    """A bias, always with its sign."""
    return f"{round(value, 4) + 0.0:+.4f}"  # no -0.0000


def spread(one: PairBias | PairChange) -> str:
    """The interval, or a dash if there are too few sentences."""
    return f"[{signed(one.low)}, {signed(one.high)}]" if math.isfinite(one.low) else "-"


def chance(value: float) -> str:
    """A p-value, or a dash if nothing was tested."""
    return "-" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"
