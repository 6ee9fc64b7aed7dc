"""The figures of an audit. Shares have Wilson intervals, means Student's; every denominator is named.

Figures, tables and equations are those of Morris et al. 2020 ("Pragmatic evaluation of adversarial examples in natural
language"). Success by Eq. 1: an example counts if the victim is fooled and every constraint holds. The denominator
stays "examples attacked", so the figures before and after filtering compare. Only final texts are filtered: an attack
that searches under a constraint may find other texts that obey it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from mohs.audits import gauges as g
from mohs.audits.columns import Column
from mohs.audits.gauges import Required
from mohs.audits.measuring import Example, Tools
from mohs.audits.taxonomy import Constrained
from mohs.report.attack.classes import ByClass
from mohs.report.rates import Mean, Rate, mean_of
from mohs.space.written import limits_of

FOUND = "adversarial examples"
ATTACKED = "examples attacked"
STEPS = 100  # thresholds of a curve, from 0 to 1


@dataclass(frozen=True)
class Measured:
    """One measure over the adversarial examples of one attack."""

    name: str
    family: str
    mean: Mean | None = None
    median: float | None = None
    unknown: int = 0  # examples without a value
    why: str = ""  # why it was not measured; empty if it was


@dataclass(frozen=True)
class Rule:
    """How often a rule of grammar is broken in the originals and in the adversarial examples made of them."""

    rule: str
    before: int
    after: int

    @property
    def ratio(self) -> float | None:
        """After divided by before (Figure 2); None if no original breaks the rule."""
        return self.after / self.before if self.before else None


@dataclass(frozen=True)
class Grammar:
    """Errors of grammar: how many examples have new ones, by rule, and by the number of substitutions."""

    introduced: Rate  # Table 1
    rules: tuple[Rule, ...]  # most introduced first
    by_changes: tuple[tuple[int, int, float], ...]  # words changed, examples, mean errors introduced (Figure 1)
    slope: float | None  # errors introduced per word changed, by least squares; None if all have as many changes


@dataclass(frozen=True)
class Filtered:
    """Success under one constraint."""

    written: str
    rate: Rate | None  # None if it was not measured
    unknown: int = 0  # adversarial examples without a value; they count as not holding
    why: str = ""


@dataclass(frozen=True)
class AttackAudit:
    """The audit of one attack of one run."""

    name: str
    attack: str
    run: str | None
    examples: int  # adversarial examples
    success: Rate  # before filtering
    required: tuple[Filtered, ...]
    together: Rate | None  # all constraints of `required` that were measured; None if none was
    absolute: tuple[Filtered, ...]
    absolute_together: Rate | None
    measures: tuple[Measured, ...]
    grammar: Grammar | None
    curves: Mapping[str, tuple[tuple[float, int], ...]]  # measure -> (threshold, successes at or above it)
    by_class: ByClass
    labels: tuple[str, ...] = ()
    classes: tuple[Constrained, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        grammar = None
        if self.grammar is not None:
            grammar = {
                "introduced": rate_json(self.grammar.introduced),
                "rules": [{**asdict(rule), "ratio": rule.ratio} for rule in self.grammar.rules],
                "by_changes": [
                    {"words_changed": words, "examples": count, "mean_errors": value}
                    for words, count, value in self.grammar.by_changes
                ],
                "slope": self.grammar.slope,
            }
        return {
            "name": self.name,
            "attack": self.attack,
            "run": self.run,
            "adversarial_examples": self.examples,
            "success": rate_json(self.success),
            "required": [_filtered_json(one) for one in self.required],
            "all_required": rate_json(self.together),
            "absolute": [_filtered_json(one) for one in self.absolute],
            "all_absolute": rate_json(self.absolute_together),
            "measures": [asdict(one) for one in self.measures],
            "grammar": grammar,
            "success_by_threshold": {
                name: [{"threshold": at, "hits": hits, "total": self.success.total} for at, hits in points]
                for name, points in self.curves.items()
            },
            "by_class": self.by_class.to_json(),
            "labels": list(self.labels),
            "constraint_classes": [row.to_json() for row in self.classes],
        }


@dataclass(frozen=True)
class Synonyms:
    """Success against the number of synonyms: runs that differ in the source's k alone (Figure 4)."""

    attack: str
    points: tuple[tuple[int, Rate, Rate | None], ...]  # k, success, success with all constraints

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "attack": self.attack,
            "points": [
                {"k": k, "success": rate_json(before), "all_required": rate_json(after)}
                for k, before, after in self.points
            ],
        }


# What is shown of each class, with the kinds of services it needs. The mean, unless the median is the usual figure.
SHOWN: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ("morphology", g.EDITS, ()),
    ("morphology", g.EDIT_SHARE, ()),
    ("morphology", g.CHANGED, ()),
    ("morphology", g.SHARE, ()),
    ("semantics", g.COSINE, ("encoder",)),
    *(("semantics", f"{g.COSINE} in {window} words", ("encoder",)) for window in g.WINDOWS),
    ("semantics", g.WORD, ("vectors",)),
    ("semantics", g.BERT, ("token_encoder",)),
    ("semantics", g.ACCEPTED, ("judge", "tagger")),
    ("grammar", g.ERRORS, ("grammar",)),
    ("fluency", g.PPL_BEFORE, ("lm",)),
    ("fluency", g.PPL, ("lm",)),
    ("suspicion", g.PPL_RATIO, ("lm",)),
    ("suspicion", g.EXPECTED, ("masked_lm",)),
)
CURVES = (g.COSINE, f"{g.COSINE} in {g.WINDOWS[-1]} words", g.WORD, g.ACCEPTED)


@dataclass
class Drawing:
    """Turns the examples of a column into its figures."""

    required: Sequence[Required]
    absolute: Sequence[Required]
    tools: Tools
    classes: Mapping[str, Sequence[Constrained]] = field(default_factory=dict)

    def audit_of(self, column: Column, examples: Sequence[Example], classes: Sequence[Constrained]) -> AttackAudit:
        """The figures of one attack."""
        success = column.summary.success
        return AttackAudit(
            name=column.name,
            attack=column.attack,
            run=str(column.run.folder) if column.run.folder else None,
            examples=len(examples),
            success=success,
            required=tuple(self._filtered(one, examples, success) for one in self.required),
            together=self._together(self.required, examples, success),
            absolute=tuple(self._filtered(one, examples, success) for one in self.absolute),
            absolute_together=self._together(self.absolute, examples, success),
            measures=tuple(self._measured(*shown, examples) for shown in SHOWN),
            grammar=None if self.tools.why_not(("grammar",)) else grammar_of(examples),
            curves={
                name: curve_of([one.taken.values.get(name, math.nan) for one in examples])
                for family, name, needs in SHOWN
                if name in CURVES and not self.tools.why_not(needs)
            },
            by_class=column.summary.by_class,
            labels=tuple(column.labels),
            classes=tuple(classes),
        )

    def _filtered(self, one: Required, examples: Sequence[Example], success: Rate) -> Filtered:
        why = self.tools.why_not(one.gauge.needs)
        if why:
            return Filtered(one.written, None, why=why)
        hits = sum(one.holds(example.taken, example.words) for example in examples)
        unknown = sum(math.isnan(example.taken.values.get(one.value, math.nan)) for example in examples)
        return Filtered(one.written, Rate(hits, success.total, ATTACKED, success.errors), unknown)

    def _together(self, wanted: Sequence[Required], examples: Sequence[Example], success: Rate) -> Rate | None:
        usable = [one for one in wanted if not self.tools.why_not(one.gauge.needs)]
        if not usable:
            return None
        hits = sum(all(one.holds(example.taken, example.words) for one in usable) for example in examples)
        return Rate(hits, success.total, ATTACKED, success.errors)

    def _measured(self, family: str, name: str, needs: tuple[str, ...], examples: Sequence[Example]) -> Measured:
        why = self.tools.why_not(needs)
        if why:
            return Measured(name, family, why=why)
        values = [one.taken.values.get(name, math.nan) for one in examples]
        known = [value for value in values if math.isfinite(value)]
        middle = median(known) if known else None
        return Measured(name, family, mean_of(known, FOUND, *limits_of(name)), middle, len(values) - len(known))


def grammar_of(examples: Sequence[Example]) -> Grammar:
    """The figures about grammar. Examples that were not checked are left out."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    pairs = []
    for one in examples:
        if one.taken.rules_before is not None and one.taken.rules_after is not None:
            before.update(one.taken.rules_before)
            after.update(one.taken.rules_after)
            pairs.append((one.changed, len(one.taken.rules_after) - len(one.taken.rules_before)))
    rules = [Rule(name, before[name], after[name]) for name in before.keys() | after.keys()]
    rules.sort(key=lambda rule: (rule.before - rule.after, -rule.after, rule.rule))
    groups: dict[int, list[int]] = {}
    for changed, errors in sorted(pairs):
        groups.setdefault(changed, []).append(errors)
    return Grammar(
        introduced=Rate(sum(errors > 0 for _, errors in pairs), len(pairs), FOUND, len(examples) - len(pairs)),
        rules=tuple(rules),
        by_changes=tuple((changed, len(found), sum(found) / len(found)) for changed, found in groups.items()),
        slope=_slope(pairs),
    )


def _slope(pairs: Sequence[tuple[int, int]]) -> float | None:
    """The slope of the least-squares line through the pairs."""
    if len({changed for changed, _ in pairs}) < 2:
        return None
    x = sum(changed for changed, _ in pairs) / len(pairs)
    y = sum(errors for _, errors in pairs) / len(pairs)
    spread = math.fsum((changed - x) ** 2 for changed, _ in pairs)
    return math.fsum((changed - x) * (errors - y) for changed, errors in pairs) / spread


def curve_of(values: Sequence[float]) -> tuple[tuple[float, int], ...]:
    """How many values are at or above each threshold from 0 to 1; an undefined value never is."""
    return tuple((step / STEPS, sum(value >= step / STEPS for value in values)) for step in range(STEPS + 1))


_NOT_COMPARED = ("attacks", "source", "settings")
_K = re.compile(r"(source=[\w(]*\((?:[^()]*?\b)?k=)(\d+)")


def synonyms_of(columns: Sequence[Column], audits: Sequence[AttackAudit]) -> tuple[Synonyms, ...]:
    """Groups of columns whose attacks differ in the k of their source alone, on one victim and the same data."""
    groups: dict[str, list[tuple[int, AttackAudit]]] = {}
    for column, found in zip(columns, audits, strict=True):
        same = column.run.manifest.get("identity", {})
        settings = str(same.get("settings", {}).get(column.attack, ""))
        match = _K.search(settings)
        if match is None:
            continue
        rest = sorted((key, str(value)) for key, value in same.items() if key not in _NOT_COMPARED)
        alike = _K.sub(r"\1*", settings, count=1)
        groups.setdefault(f"{alike} {rest}", []).append((int(match[2]), found))
    made = []
    for group in groups.values():
        if len({k for k, _ in group}) > 1:
            points = sorted(((k, one.success, one.together) for k, one in group), key=lambda point: point[0])
            made.append(Synonyms(group[0][1].attack.partition("+")[0], tuple(points)))
    return tuple(made)


def rate_json(found: Rate | None) -> dict[str, Any] | None:
    """A rate with its value and interval."""
    return None if found is None else found.to_json()


def _filtered_json(found: Filtered) -> dict[str, Any]:
    return {
        "require": found.written,
        "rate": rate_json(found.rate),
        "unknown": found.unknown,
        "not_measured": found.why or None,
    }
