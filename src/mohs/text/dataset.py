"""Labelled examples from a file, read as a stream.

Sources: JSONL, CSV, TSV and Parquet files, plain or gzipped; `pocket`, the bundled reviews; and `hf:NAME`,
`hf:NAME:SPLIT` or `hf:NAME:CONFIG:SPLIT`, a Hugging Face dataset, if `datasets` is installed.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from mohs.errors import BadInput
from mohs.text import pocket
from mohs.text.distinct import Ids
from mohs.text.example import Example, has_surrogates, whole_number
from mohs.text.rows import Row, file_rows, hub_rows, reading_notes
from mohs.text.text import Text

_TEXT_NAMES: tuple[tuple[str, ...], ...] = (
    ("text",),
    ("question", "sentence"),  # must come before ("sentence",), which would match too
    ("sentence",),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("sentence1", "sentence2"),
    ("review",),
    ("content",),
)


@dataclass(frozen=True)
class Dataset:
    """The source of examples and the names of their columns. Each iteration reads the source again."""

    source: str  # a path, `pocket`, `pocket:train` or `hf:NAME[:SPLIT]`
    fields: tuple[str, ...] = ()  # text columns; empty: detect text, sentence, premise+hypothesis ...
    label_field: str = "label"
    id_field: str = "id"  # if there is no such column, ids are row numbers
    labels: tuple[str, ...] = ()  # class names in the victim's order
    change: tuple[str, ...] = ()  # fields an attack may change
    encoding: str = "utf-8"
    n: int | None = None  # the first n rows
    sample: int | None = None  # a seed: draw the n rows at random; they keep the order of the file
    least_words: int | None = None  # shorter texts are left out before n rows are taken; pairs count both texts
    most_words: int | None = None  # longer ones, too

    def __post_init__(self) -> None:
        if self.n is not None and self.n < 1:
            raise BadInput(f"n is {self.n}; it must be at least 1.")
        if self.least_words is not None and self.most_words is not None and self.least_words > self.most_words:
            raise BadInput(
                f"No text has at least {self.least_words} and at most {self.most_words} words; "
                "give a least number that is not above the most."
            )
        for kind, names in (("label", self.labels), ("text field", self.fields)):
            if len(set(names)) != len(names):
                raise BadInput(f"A {kind} is named twice in {', '.join(names)}; name each once.")

    def __iter__(self) -> Iterator[Example]:
        return (example for example, _ in self.with_rows())

    def with_rows(self) -> Iterator[tuple[Example, Row]]:
        """The examples, each with the row it was read from and all its columns."""
        if self.least_words is None and self.most_words is None:
            yield from self._examples(self._numbered())
        elif self.n is not None and self.sample is not None:
            wanted = self._drawn(sum(1 for _ in self._fitting()), self.n)
            yield from (pair for place, pair in enumerate(self._fitting()) if place in wanted)
        else:
            yield from islice(self._fitting(), self.n)

    def keeps(self, example: Example) -> bool:
        """Whether an example has neither too few words nor too many."""
        words = len(example.text)
        return (self.least_words or 0) <= words and (self.most_words is None or words <= self.most_words)

    def _fitting(self) -> Iterator[tuple[Example, Row]]:
        """All examples that have the right length."""
        return (pair for pair in self._examples(enumerate(self._rows())) if self.keeps(pair[0]))

    def _drawn(self, total: int, n: int) -> set[int]:
        """The places of n examples drawn at random."""
        return set(Random(f"sample/{self.sample}").sample(range(total), min(n, total)))

    def _examples(self, numbered: Iterable[tuple[int, Row]]) -> Iterator[tuple[Example, Row]]:
        names = self.fields
        for number, row in numbered:
            example = self._example(number, row, names)
            names = example.names  # detected in the first row, and used for all
            yield example, row

    def notes(self) -> list[str]:
        """What is assumed about the file, for its user to see."""
        if self.source.startswith(("pocket:", "hf:")):
            return []
        return reading_notes(Path(self.source), self.encoding, self.n if self.sample is None else None)

    def survey(
        self, examples: Iterable[Example] | None = None, watch: Callable[[Example], object] | None = None
    ) -> tuple[int, int, str]:
        """Read everything once. Returns the number of examples, the highest label, and a hash of all examples.

        Finds bad rows and duplicate ids before any work is done. watch: is shown each example.
        """
        digest, ids, count, highest = hashlib.sha256(), Ids(), 0, 0
        names: tuple[str, ...] = ()
        given = self if examples is None else examples
        for example in given:
            names = names or example.names
            if example.names != names:
                raise BadInput(
                    f"{self.source}: example {example.id!r} has the fields {', '.join(example.names)}, but the first "
                    f"has {', '.join(names)}; give all examples the same fields."
                )
            ids.add(example.id)
            if watch is not None:
                watch(example)
            line = json.dumps([example.id, example.names, example.text.fields, example.changeable, example.label])
            digest.update(line.encode() + b"\n")
            count += 1
            highest = max(highest, example.label)
        again = self if iter(given) is given else given  # what can be read only once came from here
        twice = ids.repeated(example.id for example in again)
        if twice is not None:
            raise BadInput(
                f"{self.source}: the id {twice!r} occurs twice; make ids unique or name another id column with "
                "--id-field."
            )
        if not count:
            bounds = {"at least": self.least_words, "at most": self.most_words}
            wanted = " and ".join(f"{side} {words}" for side, words in bounds.items() if words is not None)
            raise BadInput(
                f"{self.source} has no examples of {wanted} words; change --least-words or --most-words."
                if wanted
                else f"{self.source} has no examples; give at least one row."
            )
        return count, highest, digest.hexdigest()[:16]

    def _numbered(self) -> Iterator[tuple[int, Row]]:
        """The selected rows, with their numbers in the file, from 0."""
        rows = enumerate(self._rows())
        if self.n is None:
            yield from rows
        elif self.sample is None:
            yield from islice(rows, min(self.n, sys.maxsize))
        else:
            wanted = self._drawn(sum(1 for _ in self._rows()), self.n)
            yield from (pair for pair in rows if pair[0] in wanted)

    def _rows(self) -> Iterator[Row]:
        if self.source == "pocket" or self.source.startswith("pocket:"):
            return pocket.reviews(self.source.partition(":")[2] or "test")
        if self.source.startswith("hf:"):
            return hub_rows(self.source[3:])
        return file_rows(Path(self.source), self.encoding)

    def _example(self, number: int, row: Row, names: tuple[str, ...]) -> Example:
        where = f"{self.source}, row {number + 1}"
        names = names or next((names for names in _TEXT_NAMES if all(name in row for name in names)), ())
        if not names:
            raise BadInput(f"{where}: no text column among {_listed(row)}; name it with --text-field.")
        texts = []
        for name in names:
            if name not in row:
                raise BadInput(
                    f"{where}: there is no field {name!r}; the fields are {_listed(row)}; "
                    "name the right one with --text-field."
                )
            value = row[name]
            if not isinstance(value, str):
                raise BadInput(
                    f"{where}: field {name!r} holds {_shown(value)}, which is not a text; "
                    "fix the row or name another field with --text-field."
                )
            texts.append(value)
        if self.id_field != "id" and self.id_field not in row:
            raise BadInput(
                f"{where}: there is no id field {self.id_field!r}; the fields are {_listed(row)}; "
                "name the right one with --id-field."
            )
        identity = row.get(self.id_field)
        identity = str(number if identity is None else identity)
        for name, value in zip((self.id_field, *names), (identity, *texts), strict=True):
            if has_surrogates(value):
                raise BadInput(
                    f"{where}: field {name!r} holds half a surrogate pair, which is not valid text; fix the row."
                )
        return Example(
            id=identity,
            text=Text(*texts),
            label=self._label(row, where),
            names=names,
            changeable=self.change,
        )

    def _label(self, row: Row, where: str) -> int:
        if self.label_field not in row:
            raise BadInput(
                f"{where}: there is no label field {self.label_field!r}; the fields are {_listed(row)}; "
                "name it with --label-field."
            )
        value = row[self.label_field]
        name = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if name in self.labels:
            return self.labels.index(name)
        number = _digits(value) if isinstance(value, str) else whole_number(value)
        if number is None or number < 0 or (self.labels and number >= len(self.labels)):
            classes = f"{', '.join(self.labels)}, or 0 to {len(self.labels) - 1}"
            raise BadInput(
                f"{where}: label {_shown(value)} is not a class; labels are "
                f"{classes if self.labels else 'whole numbers from 0'}; fix the row, or give all names in the order "
                "of the victim's classes, as in --labels negative,positive."
            )
        return number


def _digits(value: str) -> int | None:
    """A number written as 1, or as 1.0, as tables often store whole numbers."""
    found = re.fullmatch(r"([0-9]{1,18})(\.0+)?", value.strip())
    return int(found[1]) if found else None


def _listed(row: Row) -> str:
    return " ".join(", ".join(map(str, row)).split())


def _shown(value: object) -> str:
    """A value for a message: on one line, at most 80 characters."""
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


AnyExamples = str | Path | Dataset | Iterable[Example | tuple[str, Any] | Row]


def examples_from(values: Iterable[Example | tuple[str, Any] | Row], labels: Sequence[str] = ()) -> list[Example]:
    """Examples from Python values: Examples, (text, label) pairs, or rows."""
    found = []
    reader = Dataset("examples", labels=tuple(labels))
    number_of: dict[Any, Any] = {name: place for place, name in enumerate(labels)}
    for number, value in enumerate(values):
        if isinstance(value, Example):
            found.append(value)
        elif isinstance(value, Mapping):
            found.append(reader._example(number, value, ()))
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            text, label = value
            found.append(
                Example.of(text, number_of.get(label, label) if isinstance(label, str) else label, id=str(number))
            )
        else:
            raise BadInput(
                f"Example {number} is {_shown(value)}; give an Example, a pair (text, label), or a row such as "
                "{'text': ..., 'label': ...}."
            )
    return found
