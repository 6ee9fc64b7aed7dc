"""Training data for detectors: what they learn from, what is held out, and a cache of what they learnt."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.text import Example
from mohs.text.dataset import Dataset, examples_from
from mohs.text.neighbours import cache_folder

Arrays = Mapping[str, npt.NDArray[Any]]

HELD_SHARE = 0.2  # of the training data, if no other data are held out
_MOST_HELD = 2000  # texts


@dataclass(frozen=True)
class Rows:
    """Labelled texts that a detector learns from, and held-out ones that set its threshold.

    Without `held`, a fifth of the training data is held out (at most 2,000 texts), drawn at random. A file is read as a
    stream, once for each question.
    """

    train: Dataset | Sequence[Example]
    held: Dataset | Sequence[Example] | None
    seed: int

    @cached_property
    def _surveys(self) -> list[tuple[int, int, str]]:
        found = []
        for part in (self.train, self.held):
            if part is not None:
                told = part if isinstance(part, Dataset) else Dataset("the training data given")
                found.append(told.survey(part))
        return found

    @property
    def identity(self) -> str:
        """Hashes of the data."""
        return " ".join(digest for _, _, digest in self._surveys)

    def check(self, name: str, classes: int) -> None:
        """Refuse labels that the victim does not have."""
        highest = max(highest for _, highest, _ in self._surveys)
        if highest >= classes:
            raise BadInput(
                f"The detector's training data has a label {highest}, but {name} has {classes} classes "
                f"(0 to {classes - 1}); give the data that the victim was trained on."
            )

    @cached_property
    def _held_places(self) -> frozenset[int]:
        size = self._surveys[0][0]
        if self.held is not None:
            return frozenset()
        return frozenset(Random(f"{self.seed}/held").sample(range(size), min(int(HELD_SHARE * size), _MOST_HELD)))

    def _kept(self) -> Iterator[Example]:
        return (example for place, example in enumerate(self.train) if place not in self._held_places)

    def drawn(self, most: int, seed: int) -> tuple[list[Fields], list[int]]:
        """At most so many texts to learn from with their labels, drawn at random, in the order of the data."""
        size = self._surveys[0][0] - len(self._held_places)
        wanted = set(Random(f"{seed}/drawn").sample(range(size), min(most, size)))
        found = [example for place, example in enumerate(self._kept()) if place in wanted]
        return [example.text.fields for example in found], [example.label for example in found]

    def words(self) -> Counter[str]:
        """How often each word occurs in the texts to learn from, in lower case."""
        counts: Counter[str] = Counter()
        for example in self._kept():
            counts.update(word.lower() for word in example.text.words)
        return counts

    def held_texts(self) -> list[Fields]:
        """The texts that set the threshold."""
        if self.held is None:
            return [one.text.fields for place, one in enumerate(self.train) if place in self._held_places]
        size = self._surveys[1][0]
        wanted = set(Random(f"{self.seed}/held").sample(range(size), min(size, _MOST_HELD)))
        return [one.text.fields for place, one in enumerate(self.held) if place in wanted]


def rows_of(train: Any, held: Any, labels: Sequence[str], seed: int) -> Rows:
    """Rows from files or Python values. labels: the victim's classes, for labels that are names."""

    def part(given: Any) -> Dataset | Sequence[Example]:
        if isinstance(given, str | Path):
            return Dataset(str(given), labels=tuple(labels))
        if isinstance(given, Dataset):
            return given if given.labels else replace(given, labels=tuple(labels))
        return examples_from(given, labels)

    return Rows(part(train), None if held is None else part(held), seed)


def kept(identity: str) -> Arrays | None:
    """What was learnt before under this identity; None if there is nothing, or it cannot be read."""
    place = _place(identity)
    if place is None:
        return None
    try:
        with open(place, "rb") as file, np.load(file, allow_pickle=False) as found:
            return dict(found)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def keep(identity: str, arrays: Arrays) -> None:
    """Keep what was learnt for the next time. A folder that cannot be written is no error: it is learnt again."""
    place = _place(identity)
    if place is None:
        return
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(suffix=".part", dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **cast(dict[str, Any], arrays))
            Path(beside).replace(place)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


def _place(identity: str) -> Path | None:
    folder = cache_folder()
    return folder and folder / "detectors" / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.npz"
