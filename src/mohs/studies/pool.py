"""Whose judgements a figure is about: people, simulated judges or one model, and never two of these at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mohs.errors import BadInput
from mohs.studies.design import Design
from mohs.studies.item import PEOPLE, Annotator, Item, Judgement, Kind, Role, State
from mohs.studies.ratings import Ratings
from mohs.studies.study import Study

Whose = Literal["people", "simulated"]


@dataclass(frozen=True)
class Pool:
    """Judgements of one kind of judge. Those that were set aside, or left out by name, are not in it."""

    design: Design
    items: Mapping[str, Item]  # all of the study, by key
    judgements: tuple[Judgement, ...] = field(repr=False)
    whose: str  # people, simulated, or the name of a model
    named: bool = True  # whether it is known whose each judgement is

    def main(self) -> list[Item]:
        """The items that the study is about."""
        return [item for item in self.items.values() if item.role is Role.MAIN]

    def of(self, items: Iterable[Item]) -> list[Judgement]:
        """The judgements of these items."""
        keys = {item.key for item in items}
        return [one for one in self.judgements if one.item in keys]

    def ratings(self, items: Iterable[Item]) -> Ratings:
        """The scores of these items, as if the plain statement had been shown each time."""
        return Ratings.of(((one.item, one.annotator, self.said(one)) for one in self.of(items)), self.named)

    def said(self, one: Judgement) -> int:
        """An answer as if the plain statement had been shown."""
        return self.design.question(self.items[one.item].question).said(one.value, one.statement)

    def without(self, names: Collection[str]) -> Pool:
        """The pool without some of its judges."""
        kept = tuple(one for one in self.judgements if one.annotator not in names)
        return Pool(self.design, self.items, kept, self.whose, self.named)


@dataclass(frozen=True)
class Counted:
    """How many judgements there are, and why some of them are in no figure. Controls and training are not counted."""

    people: int
    set_aside: int  # by the organiser
    left_out: int  # by name, for this analysis
    simulated: int
    model: int
    judges: int  # of the judgements analysed
    whose: Whose

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


@dataclass(frozen=True)
class Gathered:
    """All judgements of a study, sorted by who made them."""

    pool: Pool  # what is analysed
    models: tuple[Pool, ...]  # one for each model judge
    counted: Counted


def gathered(study: Study, whose: Whose | None = None, without: Collection[str] = ()) -> Gathered:
    """Sort a study's judgements by who made them.

    whose: by default people; simulated judges if nobody else judged anything. without: names of annotators whose
    judgements are left out.
    """
    if whose not in (None, "people", "simulated"):
        raise BadInput(f"There is no kind of judge {whose!r}; use people or simulated.")
    items = {item.key: item for item in study.items()}
    who = {one.name: one for one in study.annotators()}
    if unknown := sorted(set(without) - set(who)):
        raise BadInput(f"There is no annotator {unknown[0]!r} in {study.place}; `mohs study status -v` lists them.")
    judgements = study.judgements()
    counts: Counter[str] = Counter()
    kept: dict[str, list[Judgement]] = {"people": [], "simulated": []}
    models: dict[str, list[Judgement]] = {}
    for one in judgements:
        annotator = who[one.annotator]
        sort = _sort(annotator, without)
        if items[one.item].role in (Role.MAIN, Role.ACCURACY):
            counts[sort] += 1
        if sort in kept:
            kept[sort].append(one)
        elif sort == "model":
            models.setdefault(annotator.name, []).append(one)
    chosen: Whose = whose or ("simulated" if not kept["people"] and kept["simulated"] else "people")
    named = all(who[one.annotator].named for one in kept[chosen])
    pool = Pool(study.design, items, tuple(kept[chosen]), chosen, named)
    judges = len({one.annotator for one in pool.judgements if items[one.item].role in (Role.MAIN, Role.ACCURACY)})
    return Gathered(
        pool,
        tuple(Pool(study.design, items, tuple(given), name) for name, given in models.items()),
        Counted(
            counts["people"],
            counts["set aside"],
            counts["left out"],
            counts["simulated"],
            counts["model"],
            judges if named else 0,
            chosen,
        ),
    )


def _sort(annotator: Annotator, without: Collection[str]) -> str:
    if annotator.name in without:
        return "left out"
    if annotator.state is State.ASIDE:
        return "set aside"
    if annotator.kind in PEOPLE:
        return "people"
    return "model" if annotator.kind is Kind.MODEL else "simulated"
