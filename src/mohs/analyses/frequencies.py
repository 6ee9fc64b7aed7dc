"""How often original and attack words stand in the training data, and with which class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mohs.analyses.intervals import Clustered, Median, median_of, share_of
from mohs.analyses.substitutions import Column, Substitution, of_examples, single_word
from mohs.errors import BadInput
from mohs.text import Example


def labelled(examples: Iterable[Example], classes: int | None) -> Iterator[Example]:
    """The examples. Refuses a label that the run's victim does not have, and data without a row."""
    row = 0
    for row, example in enumerate(examples, 1):
        if classes is not None and example.label >= classes:
            raise BadInput(
                f"The training data has a label {example.label} in row {row}, but the run has {classes} classes "
                f"(0 to {classes - 1}); give the data that the victim was trained on with --train."
            )
        yield example
    if not row:
        raise BadInput("The training data has no rows; give a file with at least one to --train.")


@dataclass
class Training:
    """Counts of some words in labelled texts. Words are those of `Text`, in lower case."""

    wanted: frozenset[str]
    rows: int = 0
    words: Counter[int] = field(default_factory=Counter)  # by class: all words, |V_i|
    found: dict[int, Counter[str]] = field(default_factory=dict)  # by class: the wanted words

    def read(self, examples: Iterable[Example], classes: int | None) -> None:
        """Count a stream of examples; only the counts are kept. `classes`: how many the run's victim has, if known."""
        for example in labelled(examples, classes):
            words = [word.lower() for word in example.text.words]
            self.words[example.label] += len(words)
            self.found.setdefault(example.label, Counter()).update(word for word in words if word in self.wanted)
            self.rows += 1

    def count(self, word: str) -> int:
        """How often a word occurs."""
        return sum(counts[word.lower()] for counts in self.found.values())

    def relative(self, word: str) -> dict[int, float]:
        """The relative frequency of a word in each class: f_i(w) = count / |V_i| (Equation 5.1)."""
        return {
            label: counts[word.lower()] / self.words[label]
            for label, counts in sorted(self.found.items())
            if self.words[label]
        }

    def elsewhere(self, word: str, label: int) -> bool | None:
        """Whether the relative frequency is highest in another class than `label`; None for a word that never occurs.

        If the label's class shares the highest frequency with another, it does not count as elsewhere.
        """
        if not self.count(word):
            return None
        found = self.relative(word)
        return found.get(label, 0.0) < max(found.values())


@dataclass(frozen=True)
class Frequencies:
    """The figures of one attack (Tables 5.1 and 5.2)."""

    old_median: Median
    new_median: Median
    old_wrong: Clustered
    new_wrong: Clustered
    old_unseen: Clustered  # original words that the training data does not have
    new_unseen: Clustered
    several: int  # replacements that are not one word, left out

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        names = ("old_median", "new_median", "old_wrong", "new_wrong", "old_unseen", "new_unseen")
        return {**{name: getattr(self, name).to_json() for name in names}, "several": self.several}


def wanted_words(columns: Sequence[Column]) -> frozenset[str]:
    """The words to count, in lower case."""
    return frozenset(word.lower() for column in columns for one in column.substitutions for word in (one.old, one.new))


def fill_in(substitutions: Iterable[Substitution], training: Training) -> None:
    """Write the counts into the substitutions. A replacement of several words has none."""
    for one in substitutions:
        one.old_count, one.old_wrong = training.count(one.old), training.elsewhere(one.old, one.label)
        if single_word(one.new):
            one.new_count, one.new_wrong = training.count(one.new), training.elsewhere(one.new, one.label)


def frequencies_of(column: Column, seed: int = 0) -> Frequencies:
    """The figures, from substitutions with counts. Original words are those whose attack word is counted, too."""
    counted = [one for one in column.substitutions if one.new_count is not None]

    def median(side: str) -> Median:
        values = [float(getattr(one, f"{side}_count")) for one in counted]
        return median_of(values, of_examples(column, counted), "substitutions", seed)

    def wrong(side: str) -> Clustered:
        seen = [one for one in counted if getattr(one, f"{side}_wrong") is not None]
        hits = [bool(getattr(one, f"{side}_wrong")) for one in seen]
        name = {"old": "original", "new": "attack"}[side]
        return share_of(hits, of_examples(column, seen), f"{name} words that the training data has")

    def unseen(side: str) -> Clustered:
        hits = [getattr(one, f"{side}_count") == 0 for one in counted]
        return share_of(hits, of_examples(column, counted), "substitutions")

    return Frequencies(
        median("old"), median("new"), wrong("old"), wrong("new"), unseen("old"), unseen("new"),
        len(column.substitutions) - len(counted),
    )  # fmt: skip
