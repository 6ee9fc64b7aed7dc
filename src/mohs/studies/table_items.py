"""The items of a new study, from the rows of a table instead of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mohs.errors import BadInput
from mohs.studies.design import Design, Question
from mohs.studies.drawing import control_items
from mohs.studies.heard import BadRow, Heard, folded, name_of, scale, shown, valid
from mohs.studies.item import Item, Role
from mohs.studies.matching import Sift
from mohs.studies.tables import texts_wanted

TRUTHS = {  # what files call texts as people wrote them, and those that were changed
    "real": ("real", "original", "human", "unchanged"),
    "altered": ("altered", "fake", "computer-altered", "adversarial", "changed", "perturbed"),
}
_PAIRED = {"pairs": ("original", "final"), "words": ("old", "new")}  # facts that figures use, and drawn items have


@dataclass
class Collected:
    """Items in the order of their first row, and the rows with their keys."""

    items: dict[str, Item] = field(default_factory=dict)
    rows: list[tuple[str, Heard]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def items_of(design: Design, rows: Sequence[tuple[str, Heard]], group: str, sift: Sift) -> Collected:
    """One item for each key, or for each text and question where rows have no key. group: of rows that name none."""
    found = Collected()
    keys: dict[tuple[Any, ...], str] = {}
    words: set[tuple[str, str]] = set()
    for where, heard in rows:
        try:
            question = _question(design, heard)
            texts = heard.texts[::-1] if heard.swapped and not heard.own else heard.texts
            if len(texts) < texts_wanted(design) or not all(text.strip() for text in texts):
                raise BadRow("a text is missing")
            own = heard.group if heard.own else heard.group or group
            same = (question.name, tuple(map(folded, texts)), own, heard.truth)
            key = name_of(heard.item, "the item", 400, bare=not heard.own) or keys.setdefault(
                same, f"{own}/{len(found.items) + 1}"
            )
            expected, facts = _truth(design, question, heard, words)
            item = Item(key, question.name, tuple(map(valid, texts)), own, heard.role, expected, facts)
            first = found.items.setdefault(key, item)
            if list(map(folded, first.texts)) != list(map(folded, texts)) or first.question != item.question:
                raise BadRow(f"the item {shown(key)} has other texts or another question than before")
            if first.expected != item.expected or first.role is not item.role:
                raise BadRow(f"the item {shown(key)} has another truth or role than before")
            found.rows.append((where, replace(heard, item=key)))
        except BadRow as error:
            if heard.left_out:
                found.rows.append((where, heard))
            else:
                sift.bad(where, error)
    found.items = {key: replace(item, facts=_for_figures(design, item)) for key, item in found.items.items()}
    for theirs, ours in sorted(words):
        found.notes.append(f"{theirs!r} in the file is taken for {ours}.")
    if design.items == "texts" and not all(item.expected for item in found.items.values()):
        found.notes.append(
            "The table does not say of each text whether it is real or altered, so such texts are in no table of "
            "right and wrong guesses; name the column, as in --column truth=NAME."
        )
    return found


def with_controls(design: Design, items: Sequence[Item]) -> list[Item]:
    """The items, and the design's controls if the table has none."""
    if any(item.role is Role.CONTROL for item in items):
        return list(items)
    return [*items, *control_items(design)]


def fitting(design: Design, items: Sequence[Item]) -> tuple[Design, list[str]]:
    """The design without a training and a measure of accuracy for which the table has no items."""
    accuracy = sum(item.role is Role.ACCURACY for item in items)
    training = design.training if any(item.role is Role.TRAINING for item in items) else None
    if design.training and training is None:
        note = "The table has no items for training (a column `role`), so annotators begin without one."
        return replace(design, training=None, accuracy=accuracy), [note]
    return replace(design, training=training, accuracy=accuracy), []


def with_classes(design: Design, labels: Sequence[str]) -> Design:
    """The design with the classes as answers, if it asks for the class."""
    if all(question.answers for question in design.questions):
        if labels:
            raise BadInput(f"The design {design.name} has its own answers; leave --labels out.")
        return design
    if len(set(labels)) < max(2, len(labels)):
        raise BadInput(f"The design {design.name} asks for the label; name the classes with --labels A,B.")
    return design.with_labels(tuple(labels))


def _question(design: Design, heard: Heard) -> Question:
    names = [question.name for question in design.questions]
    if not heard.question and len(names) == 1:
        return design.questions[0]
    if not heard.question:
        raise BadRow(f"it does not say which question ({', '.join(names)}) it is about; add a column, or --question")
    if heard.question not in names:
        raise BadRow(f"there is no question {shown(heard.question)} in the design, but {', '.join(names)}")
    return design.question(heard.question)


def _truth(
    design: Design, question: Question, heard: Heard, words: set[tuple[str, str]]
) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The right answers of an item, and its facts. words: collects what was read as something else."""
    facts = dict(heard.facts)
    if heard.expected:
        if not set(heard.expected) <= set(question.values):
            raise BadRow(f"the expected answers are {list(heard.expected)}, and the answers are {scale(question)}")
        return heard.expected, facts
    if not heard.truth:
        return (), facts
    own = [answer.value for answer in question.answers if folded(answer.label) == folded(heard.truth)]
    if design.items == "texts":
        known = next((ours for ours, theirs in TRUTHS.items() if folded(heard.truth) in theirs), None)
        if known is None and own:
            known = "real" if own[0] == question.values[0] else "altered"
        if known is None:
            raise BadRow(f"the truth is {shown(heard.truth)}; write real or altered")
        if folded(heard.truth) != known:
            words.add((heard.truth, known))
        return (question.values[0 if known == "real" else 1],), facts | {"truth": known}
    if own:
        return (own[0],), facts | ({"label": question.values.index(own[0])} if design.items == "labels" else {})
    if design.items == "labels" or heard.role is not Role.MAIN:
        raise BadRow(f"the truth is {shown(heard.truth)}, and the answers are {scale(question)}")
    return (), facts | {"truth": valid(heard.truth)}


def _for_figures(design: Design, item: Item) -> dict[str, Any]:
    """The facts of an item, with those that items drawn from a run have."""
    facts = dict(item.facts)
    if len(item.texts) == 2:
        start = hashlib.sha256(item.texts[0].encode("utf-8", "surrogatepass")).hexdigest()[:12]
        facts = {"source": start} | facts
        first, second = _PAIRED.get(design.items, ("", ""))
        if design.items == "pairs":
            facts = {first: [item.texts[0]], second: [item.texts[1]]} | facts
        elif first:
            facts = {first: item.texts[0], second: item.texts[1]} | facts
    return facts
