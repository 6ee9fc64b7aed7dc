"""How well a study goes: what each annotator did, what looks wrong about it, and how far people agree so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from mohs.studies.design import Design, Question
from mohs.studies.item import COUNTED, PEOPLE, Annotator, Item, Judgement, Kind, Role, State
from mohs.studies.study import Study

_IN_A_BATCH = (*COUNTED, Role.CONTROL)


@dataclass(frozen=True)
class Work:
    """What one annotator did."""

    annotator: Annotator
    answered: int  # main and accuracy items
    seconds: float | None  # the median for one item
    controls: int  # answered
    wrong: int  # of these
    fastest: float | None  # the seconds of the fastest complete batch
    flags: tuple[str, ...]  # what looks wrong, as sentences


@dataclass(frozen=True)
class Agreement:
    """How far people agree on one question. The value is None until two people judged the same item."""

    question: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    items: int  # with two judges or more


@dataclass(frozen=True)
class Quality:
    """The work of all annotators, in the order of their numbers, and what can be said of people together."""

    work: tuple[Work, ...]
    agreement: tuple[Agreement, ...]
    seconds: float | None  # the median for one item


def quality(study: Study) -> Quality:
    """Look at all judgements of a study. Agreement and time are of people who were not set aside."""
    items = {item.key: item for item in study.items()}
    everybody = study.annotators()
    given: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in study.judgements():
        given[judgement.annotator].append(judgement)
    unfinished = _unfinished(study)
    work = tuple(_work(study.design, who, given[who.name], items, unfinished) for who in everybody)
    people = [who for who in everybody if who.kind in PEOPLE and who.state is not State.ASIDE]
    counted = [one for who in people for one in given[who.name] if items[one.item].role in COUNTED]
    named = all(who.named for who in people)
    main = [one for one in counted if items[one.item].role is Role.MAIN]
    agreement = tuple(
        _agreement(question, [one for one in main if items[one.item].question == question.name], named)
        for question in study.design.questions
    )
    return Quality(work, agreement, _median(one.seconds for one in counted))


def _unfinished(study: Study) -> set[tuple[int, int]]:
    """Annotators with a batch that still has open items."""
    rows = study.database.read(lambda c: c.all("SELECT annotator, batch FROM judgements WHERE answer IS NULL"))
    return {(row[0], row[1]) for row in rows}


def _work(
    design: Design,
    who: Annotator,
    judgements: Sequence[Judgement],
    items: Mapping[str, Item],
    unfinished: set[tuple[int, int]],
) -> Work:
    counted = [one for one in judgements if items[one.item].role in COUNTED]
    controls = [one for one in judgements if items[one.item].role is Role.CONTROL]
    wrong = sum(not _right(design, one, items[one.item]) for one in controls)
    batches: dict[int, list[Judgement]] = defaultdict(list)
    for one in judgements:
        if items[one.item].role in _IN_A_BATCH and (who.number, one.batch) not in unfinished:
            batches[one.batch].append(one)
    flags = []
    if wrong > design.most_wrong_controls and who.kind in (Kind.PERSON, Kind.IMPORTED):
        flags.append(f"{wrong} of {len(controls)} controls answered wrong; {design.most_wrong_controls} may be.")
    totals, fast = [], []
    for number, batch in sorted(batches.items()):
        if (seconds := _total(batch)) is None:
            continue
        totals.append(seconds)
        wanted = design.least_seconds * min(1.0, len(batch) / design.batch)
        if seconds < wanted:
            said = f"{len(batch)} items in {seconds:.0f} s; {wanted:.0f} s are expected at least."
            fast.append((seconds / wanted, number, said))
    if fast:
        _, number, said = min(fast)
        several = f"{len(fast)} of {len(totals)} batches too fast, most of all batch"
        flags.append(f"{'Batch' if len(fast) == 1 else several} {number}: {said}")
    seconds = _median(one.seconds for one in counted)
    return Work(who, len(counted), seconds, len(controls), wrong, min(totals, default=None), tuple(flags))


def _right(design: Design, judgement: Judgement, item: Item) -> bool:
    return design.question(item.question).said(judgement.value, judgement.statement) in item.expected


def _total(batch: Iterable[Judgement]) -> float | None:
    """The seconds of a batch; None if not all are known."""
    seconds = [one.seconds for one in batch]
    return None if None in seconds else sum(filter(None, seconds))


def _median(seconds: Iterable[float | None]) -> float | None:
    known = [one for one in seconds if one is not None]
    return median(known) if known else None


def _agreement(question: Question, judgements: Sequence[Judgement], named: bool) -> Agreement:
    from mohs.studies.agreement import fleiss_kappa, krippendorff_alpha  # numpy takes a moment to load
    from mohs.studies.ratings import Ratings

    ratings = Ratings.of(
        ((one.item, one.annotator, question.said(one.value, one.statement)) for one in judgements), named
    )
    if question.statistic in ("mean", "median"):
        measure, found = "Krippendorff's alpha", krippendorff_alpha(ratings)
    else:
        measure, found = "Fleiss' kappa", fleiss_kappa(ratings)
    return Agreement(question.name, measure, found.value, found.low, found.high, found.items)
