"""The figures of an analysis as rows of tables: a name, the figure and what it is of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mohs.report.rates import Rate
from mohs.report.table import mean as mean_said
from mohs.report.table import rate
from mohs.studies.agreement import HumanAccuracy
from mohs.studies.confusion import Confusion
from mohs.studies.curated import Curated, Trained
from mohs.studies.design import Design
from mohs.studies.group_figures import GroupFigures
from mohs.studies.model_judges import ModelJudge
from mohs.studies.question_figures import Agreeing, QuestionFigures
from mohs.studies.ratings import Estimate
from mohs.studies.validity import Validity
from mohs.studies.versions import Difference, Versions, named

Row = tuple[str, str, str]
Rows = list[Row]

# what an item is, and what a valid one is, by what the design shows
ITEMS = {
    "pairs": ("adversarial texts", "valid texts"),
    "words": ("word pairs", "valid changes"),
    "fragments": ("changed words", "valid changes"),
    "texts": ("texts", "unsuspicious altered texts"),
    "versions": ("questions about texts", "valid"),
    "labels": ("adversarial texts", "texts that keep their label"),
}

FAIR = dict.fromkeys(ITEMS, "fair success") | {"texts": "unsuspicious success"}

ANEW = "the same, with judges and items drawn anew"
_PANELS = "items with two judges or more"


def lines(one: GroupFigures, design: Design) -> Rows:
    """All figures of a group."""
    return [row for _, rows in parts_of(one, design) for row in rows]


def parts_of(one: GroupFigures, design: Design) -> list[tuple[str, Rows]]:
    """The figures of a group, by what they are about; parts without a row are left out."""
    parts = [
        ("Validity", validity_rows(one, design)),
        ("Agreement", [row for found in one.questions for row in agreement_rows(found, len(one.questions) > 1)]),
        ("The habit of agreeing", [row for q in one.questions if q.agreeing for row in habit_rows(q.agreeing)]),
        ("Real or altered", confusion_rows(one.confusion)),
        ("Versions", version_rows(one.versions)),
        ("Curation", curation_rows(one.curated, one.valid)),
    ]
    return [(name, rows) for name, rows in parts if rows]


def validity_rows(one: GroupFigures, design: Design) -> Rows:
    """How much was judged, what is valid, and what that leaves of the attack."""
    what, valid = ITEMS[design.items]
    judged = sum(found.items for found in one.questions)
    rows = [
        (what, f"{judged:,}" if judged == one.items else f"{judged:,} of {one.items:,}", "judged"),
        ("judgements", f"{sum(found.judgements for found in one.questions):,}", "of these"),
        ("judges", _judges(one.questions), "who made them"),
    ]
    if design.valid is not None:
        rows.append((valid, share(one.valid), f"of {one.valid.of}"))
        if one.bootstrap is not None:
            rows.append((f"{valid}, bootstrap", ends(one.bootstrap.valid), ANEW))
        if one.valid.undecided:
            rows.append(("no verdict", f"{one.valid.undecided:,}", "items with too few judges"))
    if one.measured == "by formula" and one.valid_attacks is not None:
        rows.append(("valid attacks", share(one.valid_attacks), f"of {one.valid_attacks.of}; by Eq. 6.2"))
        if one.bootstrap is not None and one.bootstrap.attacks is not None:
            rows.append(("valid attacks, bootstrap", ends(one.bootstrap.attacks), ANEW))
    if one.attacked:
        rows.append(("attack success", rate(Rate(one.successes, one.attacked, "")), "of attacked examples"))
    if one.fair is not None:
        how = "measured" if one.measured == "directly" else "by Eq. 6.2"
        rows.append((FAIR[design.items], share(one.fair), f"of {one.fair.of}; {how}"))
    return rows


def agreement_rows(found: QuestionFigures, several: bool) -> Rows:
    """How far people agree on a question. several: whether rows must name it."""
    before = f"{found.question}: " if several else ""
    level = "ordinal" if found.mean is not None else "nominal"
    rows: Rows = []
    if found.mean is not None:
        ends = sorted((one.value, one.label) for one in found.answers)
        way = f"from {ends[0][0]} ({ends[0][1]}) to {ends[-1][0]}; over items"
        rows.append((f"{before}mean", figure(found.mean), way))
    rows += [
        (f"{before}Krippendorff's alpha", figure(found.alpha), f"{level}; {_PANELS}"),
        (f"{before}Fleiss' kappa", figure(found.kappa), f"answers as categories; {_PANELS}"),
    ]
    if found.kappa_curated is not None:
        rows.append((f"{before}Fleiss' kappa, curated", figure(found.kappa_curated), "the same, of valid items alone"))
    if found.mean is None:  # points of a scale have neither a majority to hit nor one right answer
        rows += _accuracy_rows(found.accuracy, before)
    if found.within_one is not None and found.within_one.value is not None:
        panel = found.within_one.panel or 0.0
        near = f"{figure(found.within_one)} of {panel:.3g}"
        rows.append((f"{before}within one point", near, "judges of an item near its mean"))
    return rows


def _accuracy_rows(found: HumanAccuracy, before: str) -> Iterator[Row]:
    yield f"{before}human accuracy", share(found.without_own), "one judge, against the majority of the others"
    yield f"{before}human accuracy, with own", share(found.with_own), "against the majority with that judge (AdvGLUE)"
    if found.known is not None:
        yield f"{before}against what is known", share(found.known), f"of {found.known.of}"


def habit_rows(found: Agreeing) -> Rows:
    """The habit of agreeing, and the scores without it."""
    habit = found.found
    if habit.habit.value is None:
        return []  # one of the two statements was shown to nobody
    rows = [
        (f'"{found.label}" to the plain statement', share(habit.plain.plainly), f"of {habit.plain.plainly.of}"),
        (f'"{found.label}" to the opposite', share(habit.negated.plainly), f"of {habit.negated.plainly.of}"),
        (f'"{found.label}" in all', share(habit.both.plainly), f"of {habit.both.plainly.of}"),
        ("agreeing in all", share(habit.both.agreeing), "beyond the middle of the scale"),
        ("habit of agreeing", figure(habit.habit), f"points above the middle; {habit.habit.of}"),
        ("corrected mean", figure(found.mean), "the mean without that habit"),
    ]
    if found.valid is not None:
        rows.append(("corrected valid items", rate(found.valid), "items alone; judges are not in the interval"))
    return rows


def confusion_rows(found: Confusion | None) -> Rows:
    """How well people tell altered texts."""
    if found is None:
        return []
    return [
        ("accuracy", share(found.accuracy), "of guesses; 50% would be chance"),
        ("precision", share(found.precision), f"of {found.precision.of}"),
        ("recall", share(found.recall), f"of {found.recall.of}"),
        ("guessed real", share(found.guessed_real), f"of {found.guessed_real.of}"),
    ]


def version_rows(found: Versions | None) -> Rows:
    """The four versions of a second-order attack."""
    rows: Rows = []
    for one in found.natural if found is not None else ():
        for version, value in one.versions.items():
            rows.append((f"{one.question}: {named(version)}", mean_said(value, 2), "mean of medians over examples"))
        rows.append((f"{one.question}: examples", f"{one.neighbour.examples:,}", "judged as x and as x~"))
        rows.append((f"{one.question}: x~ minus x", difference(one.neighbour), "points, on these examples"))
        for version, apart in one.synonym.items():
            rows.append((f"{one.question}: p in {version}", difference(apart), "points that p adds"))
    for same in found.same if found is not None else ():
        for version, held in same.after_synonym.items():
            rows.append((f"{same.question}: same after p, {version}", rate(held), f"of {held.of}"))
        said = difference(same.difference, percent=True)
        rows.append((f"{same.question}: x~ minus x", said, "percentage points, on the same examples"))
    return rows


def curation_rows(found: Curated | None, valid: Validity) -> Rows:
    """What curation keeps. valid: the share that it keeps."""
    if found is None:
        return []
    return [
        ("filter rate", share(_rejected(valid)), f"of {valid.of}"),
        ("no consensus", rate(found.no_consensus), f"of {found.no_consensus.of}; interval for other items"),
        ("another label", rate(found.other_label), "people agree, and not on the original label; the same"),
        ("human accuracy, curated", share(found.accuracy.with_own), "on texts that are kept; with own (AdvGLUE)"),
    ]


def _rejected(kept: Validity) -> Validity:
    """The share that curation rejects."""
    if kept.value is None or kept.low is None or kept.high is None:
        return kept
    return replace(kept, value=1 - kept.value, low=1 - kept.high, high=1 - kept.low, valid=kept.items - kept.valid)


def training_rows(found: Trained | None) -> Rows:
    """How people did before the main part."""
    if found is None:
        return []
    rows = [("training passed", rate(found.passed), f"of {found.passed.of}")] if found.passed.total else []
    if found.unchanged.value is not None:
        rows.append(("unchanged texts right", share(found.unchanged), f"{found.unchanged.items:,} texts, known labels"))
    return rows


def model_rows(one: ModelJudge) -> Rows:
    """A model beside people, on one question."""
    rows = [
        ("items answered", f"{one.answered:,}", one.question),
        ("agrees with people", rate(one.agreeing), f"of {one.agreeing.of}"),
        ("one person, for comparison", share(one.people), f"of {one.people.of}"),
        ("beyond chance", figure(one.beyond_chance), "alpha or kappa with people's mean or majority"),
    ]
    if one.correlation is not None:
        rows.append(("rank correlation", figure(one.correlation), "with people's mean scores"))
    if one.difference is not None:
        rows.append(("score minus people's", f"{one.difference:+.2f}", "points, on the same items"))
    if one.same_verdict is not None:
        rows.append(("same verdict", rate(one.same_verdict), f"of {one.same_verdict.of}"))
    return rows


def share(found: Estimate) -> str:
    """A share as `49.0% (49/100) [39.4, 58.7]`; without counts where it is no count of items."""
    if found.value is None:
        return "-"
    counted = f" ({found.valid:,}/{found.items:,})" if isinstance(found, Validity) else ""
    return f"{found.value:.1%}{counted} {_ends(found.low, found.high, 100, 1)}"


def figure(found: Estimate, digits: int = 2) -> str:
    """A figure as `4.07 [3.74, 4.39]`."""
    return "-" if found.value is None else f"{found.value:.{digits}f} {_ends(found.low, found.high, 1, digits)}"


def ends(found: tuple[float, float]) -> str:
    """An interval of shares without the share, as `[39.4, 58.7]`."""
    return _ends(*found, 100, 1)


def difference(found: Difference, percent: bool = False) -> str:
    """A difference as `-0.24 [-0.41, -0.07]`."""
    if found.value is None:
        return "-"
    times, digits = (100, 1) if percent else (1, 2)
    return f"{times * found.value:+.{digits}f} {_ends(found.low, found.high, times, digits, '+')}"


def _ends(low: float | None, high: float | None, times: int, digits: int, sign: str = "") -> str:
    if low is None or high is None:
        return "[-]"
    return f"[{times * low:{sign}.{digits}f}, {times * high:{sign}.{digits}f}]"


def _judges(questions: Sequence[QuestionFigures]) -> str:
    known = [found.judges for found in questions]
    if any(count is None for count in known):
        return "unknown"
    return f"{max((count or 0 for count in known), default=0):,}"
