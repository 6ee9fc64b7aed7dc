"""For which kinds of tasks an attack says that it keeps the label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mohs.space.rewrites import rewriters
from mohs.text.kinds import KINDS, in_words, kind_of

if TYPE_CHECKING:
    from mohs.tasks.subject import Subject


def keeps_label_of(attack: Any) -> frozenset[str] | None:
    """The kinds of tasks whose labels an attack keeps, as far as it and its rewriters say; None if they do not."""
    said = [getattr(part, "keeps_label_of", None) for part in (attack, *rewriters(getattr(attack, "source", None)))]
    known = [frozenset(kinds) for kinds in said if kinds is not None]
    return frozenset.intersection(*known) if known else None


def other_tasks(attacks: Iterable[tuple[str, Any]], subject: Subject) -> list[str]:
    """Notes on attacks that keep the labels of other kinds of tasks than this one seems to be."""
    known = {name: kinds for name, attack in attacks if (kinds := keeps_label_of(attack)) is not None}
    first = next(iter(subject.data), None) if known else None
    kind = None if first is None else kind_of(subject.labels, first.names)
    return [
        f"{name} keeps the labels of these tasks: {in_words(kinds)}. This one seems to be another ({KINDS[kind]}), so "
        "look whether a changed text still has its label."
        for name, kinds in known.items()
        if kind is not None and kind not in kinds
    ]
