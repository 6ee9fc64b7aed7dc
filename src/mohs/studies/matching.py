"""Finds the item, the answer and the statement that each row of a file means, and refuses rows that mean none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mohs.errors import BadInput
from mohs.studies.design import Design
from mohs.studies.heard import BadRow, Heard, answer_of, folded, name_of, scale, shown, statement_of, valid
from mohs.studies.item import Item, Judgement
from mohs.studies.platforms import printable

UNNAMED = "The file does not say who judged, so judge effects cannot be estimated."


class LeftOut(NamedTuple):
    """A row that does not count, and why."""

    where: str
    reason: str


@dataclass(frozen=True)
class Matched:
    """A row that fits. The judgement's annotator is what the file says; see `annotator`."""

    where: str
    judgement: Judgement
    heard: Heard

    def annotator(self, code: Callable[[str], str]) -> str:
        """The name to store. code: makes of a person's id elsewhere what nobody can turn back."""
        name = self.judgement.annotator
        return f"{self.heard.private}-{code(f'annotator {name}')}" if self.heard.private else name


@dataclass
class Sift:
    """Bad rows: the first is an error, or all are counted and left out."""

    path: str
    skip: bool
    left_out: list[LeftOut] = field(default_factory=list)

    def bad(self, where: str, error: BadRow) -> None:
        """Count a bad row, or refuse the file."""
        if not self.skip:
            raise BadInput(
                f"{self.path}, {where}: {error}; correct it, or leave bad rows out with --skip-bad."
            ) from error
        self.left_out.append(LeftOut(where, str(error)))


class Finder:
    """Finds items by key, by the code that a platform was given, or by their texts."""

    def __init__(self, items: Iterable[Item], codes: Mapping[str, str]) -> None:
        self._items = {valid(item.key): item for item in items}
        self._codes = codes
        self._texts: dict[tuple[str, ...], list[Item]] = {}
        for item in self._items.values():
            self._texts.setdefault(tuple(map(folded, item.texts)), []).append(item)

    def question(self, key: str) -> str:
        """The name of the question that an item is about."""
        return self._items[valid(key)].question

    def item(self, heard: Heard) -> tuple[Item, bool]:
        """The item that a row means, and whether its texts were found in the opposite order."""
        if key := self._codes.get(heard.item):
            item = self._items[valid(key)]
            return item, _turned(item.texts, heard.texts)
        if not heard.item:
            return self._by_texts(heard)
        if (found := self._items.get(valid(heard.item))) is None:
            raise BadRow(
                f"the study has no item {shown(heard.item)}, and judgements of this study's items can be imported"
            )
        if heard.own and heard.question != found.question:
            raise BadRow(
                f"the item {found.key} is about {shown(heard.question)} in the file, and here {found.question}"
            )
        texts = zip(heard.texts, found.texts, strict=False)
        if odd := next((own for own, text in texts if folded(own) != folded(text)), None):
            if tuple(map(folded, heard.texts)) == tuple(map(folded, found.texts[::-1])) and not heard.own:
                return found, True
            raise BadRow(f"the item {found.key} has another text here than {shown(odd)}")
        return found, False

    def _by_texts(self, heard: Heard) -> tuple[Item, bool]:
        texts = tuple(map(folded, heard.texts))
        if not any(texts):
            raise BadRow("there is neither an item nor a text")
        for own, turned in ((texts, False), (texts[::-1], True)):
            found = self._texts.get(own, [])
            found = [item for item in found if item.question == heard.question] or found
            found = [item for item in found if item.group == heard.group] or found
            if len(found) == 1:
                return found[0], turned
            if found:
                raise BadRow(f"{len(found)} items have the text {shown(heard.texts[0])}; give a column `item`")
        raise BadRow(f"the study has no item with the text {shown(heard.texts[0])}")


def matched(
    design: Design, finder: Finder, rows: Sequence[tuple[str, Heard]], sift: Sift, unnamed_as: str = "unnamed"
) -> tuple[list[Matched], int, list[str]]:
    """The rows that fit, how many repeat another, and what was assumed.

    unnamed_as: what judges are called, with a number, if the file does not say who judged.
    """
    unnamed = not any(heard.annotator for _, heard in rows)
    slots: Counter[str] = Counter()
    known: dict[tuple[str, str, str], Judgement] = {}
    found: list[Matched] = []
    how: set[tuple[str, str]] = set()
    repeated = 0
    for where, heard in rows:
        if heard.left_out:
            sift.left_out.append(LeftOut(where, heard.left_out))
            continue
        try:
            judgement, assumed = _judgement(design, finder, heard)
            if unnamed:
                slots[judgement.item] += 1
                judgement = replace(judgement, annotator=f"{unnamed_as}-{slots[judgement.item]}")
            elif not heard.annotator:
                raise BadRow("there is no annotator")
            elif not heard.private:
                judgement = replace(judgement, annotator=name_of(heard.annotator, "the annotator", bare=not heard.own))
            key = (judgement.item, heard.private, judgement.annotator)
            if (earlier := known.get(key)) is not None:
                if (earlier.value, earlier.statement) == (judgement.value, judgement.statement):
                    repeated += 1
                elif heard.private == "mturk" or judgement.annotator.startswith("label-studio-"):
                    sift.left_out.append(LeftOut(where, "somebody's second answer about an item"))
                else:
                    raise BadRow(f"{shown(judgement.annotator)} judges the item {judgement.item} a second time")
                continue
            known[key] = judgement
            how.add((finder.question(judgement.item), assumed))
            found.append(Matched(where, judgement, heard))
        except BadRow as error:
            sift.bad(where, error)
    return found, repeated, ([UNNAMED] if unnamed and found else []) + _assumed(design, how)


def _turned(texts: Sequence[str], given: Sequence[str]) -> bool:
    """Whether a platform gives the texts back in the opposite order; they may differ in capitals alone."""
    own, theirs = ([" ".join(printable(text).split()) for text in some] for some in (texts, given))
    return own != theirs and own[::-1] == theirs


def _judgement(design: Design, finder: Finder, heard: Heard) -> tuple[Judgement, str]:
    """What a row says, and how its answer was read."""
    item, turned = finder.item(heard)
    question = design.question(item.question)
    value, how = answer_of(question, heard)
    statement = statement_of(question, heard)
    swapped = turned or bool(heard.swapped)
    found = Judgement(item.key, heard.annotator, value, statement, swapped, heard.seconds, heard.at, heard.batch)
    return found, how


def _assumed(design: Design, how: set[tuple[str, str]]) -> list[str]:
    """What the user should check: how answers were read that are not the words of the design."""
    found = []
    for name, way in sorted(how):
        if way == "number":
            found.append(f"{name}: numbers are read as {scale(design.question(name))}.")
        elif way == "differ":
            found.append(f"{name}: the file has other numbers beside the words than the design; the words count.")
    return found
