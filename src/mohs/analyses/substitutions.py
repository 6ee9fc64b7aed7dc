"""The word substitutions of a run's adversarial examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mohs.attacks.goal import keeps_label
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.runs.run import Run
from mohs.text import Text
from mohs.text.alignment import is_rewrite


@dataclass
class Substitution:
    """One replaced word of one adversarial example. What is not known is None."""

    attack: str
    example_id: str
    position: int
    old: str
    new: str
    label: int
    old_count: int | None = None  # how often the word stands in the training data
    new_count: int | None = None
    old_wrong: bool | None = None  # its relative frequency is highest in another class than the label
    new_wrong: bool | None = None
    cosine: float | None = None  # of the two words' vectors
    similarity: float | None = None  # of the two fragments, by the encoder
    old_fragment: str = ""
    new_fragment: str = ""

    def to_row(self) -> dict[str, Any]:
        """For the file, one column a field."""
        return asdict(self)


@dataclass(frozen=True)
class Case:
    """One adversarial example with its texts, word by word."""

    record: Record
    original: Text
    final: Text
    substitutions: tuple[Substitution, ...]


@dataclass(frozen=True)
class Column:
    """The adversarial examples of one attack."""

    attack: str
    cases: tuple[Case, ...] = field(repr=False)
    left_out: int = 0  # adversarial examples that are not the original with some words replaced

    @property
    def substitutions(self) -> list[Substitution]:
        """All replaced words, in the order of the run."""
        return [one for case in self.cases for one in case.substitutions]


def columns_of(run: Run, window: int) -> tuple[list[Column], list[str]]:
    """The attacks of a run with their substitutions, and notes about what was left out."""
    place = run.folder or "This run"
    notes = []
    if len(run) < run.planned:
        notes.append(f"The run is not finished: {len(run):,} of {run.planned:,} attempts so far.")
    columns = []
    for attack in dict.fromkeys(record.attack for record in run.records()):
        if keeps_label(run.goal_of(attack)):
            notes.append(f"{attack} keeps the label, so its texts are not adversarial: left out.")
            continue
        hits = [r for r in run.records() if r.attack == attack and r.outcome is Outcome.SUCCESS and r.perturbed]
        cases = [case for record in hits if (case := _case(record, window)) is not None]
        column = Column(attack, tuple(cases), len(hits) - len(cases))
        if column.left_out:
            notes.append(
                f"{attack}: {column.left_out} of {len(hits)} adversarial examples insert or remove words, so their "
                "words cannot be compared; they are left out."
            )
        if cases:
            columns.append(column)
        elif not hits:
            notes.append(f"{attack} has no adversarial example, so there is nothing to analyse.")
    if not columns:
        said = f" {' '.join(notes)}" if notes else " No attempt is finished yet."
        raise BadInput(f"{place} has no adversarial example with replaced words.{said}")
    return columns, notes


def _case(record: Record, window: int) -> Case | None:
    original = Text(*record.original)
    changes = {edit.position: edit.new for edit in record.edits}
    if is_rewrite(record.edits) or not changes or max(changes) >= len(original) or not all(changes.values()):
        return None
    final = original.replace_all(changes)
    if final.fields != record.perturbed:
        return None
    found = tuple(
        Substitution(
            record.attack,
            record.example_id,
            position,
            original.words[position],
            new,
            record.label,
            old_fragment=fragment(original, position, window),
            new_fragment=fragment(final, position, window),
        )
        for position, new in sorted(changes.items())
    )
    return Case(record, original, final, found)


def fragment(text: Text, position: int, window: int) -> str:
    """The words around a position, half of the window on each side. At the end of a text there are fewer."""
    side = window // 2
    return text.stretch(position, side, window - 1 - side)[0].strip()


def single_word(word: str) -> bool:
    """Whether a replacement is one word, as texts are cut into words."""
    return Text(word).words == (word,)


def of_examples(column: Column, substitutions: Sequence[Substitution]) -> list[int]:
    """For each substitution the number of its example: examples are the unit of intervals."""
    numbers = {case.record.example_id: number for number, case in enumerate(column.cases)}
    return [numbers[one.example_id] for one in substitutions]
