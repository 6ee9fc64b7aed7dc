"""A victim, a run, and a defence whose answers can be computed by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

import mohs
from mohs.models.victim import Fields, Scores
from mohs.text import Text
from tests.toys import WordCount, bundled

WEIGHTS = {
    **{"good": 2.0, "great": 3.0, "bad": -2.0, "awful": -3.0, "fine": 1.0, "nice": 1.5, "poor": -1.0, "film": 0.2},
    **{"it": 0.3, "was": -0.5, "a": 0.4, "the": -0.3, "what": 0.4, "and": -0.2, "music": 0.1, "day": -0.3, "plan": 0.1},
}
ROWS = [
    ("It was a good film.", 1),
    ("A bad and awful story.", 0),
    ("The music was great.", 1),
    ("A poor meal, a bad evening.", 0),
    ("A fine day, a good day.", 1),
    ("What a bad idea.", 0),
    ("A nice and good plan.", 1),
    ("A poor film.", 1),
]
ATTACKS = ["textfooler:paper", "random:baseline"]


def victim() -> WordCount:
    """The undefended victim."""
    return WordCount(WEIGHTS)


@cache
def run() -> mohs.Run:
    """Finished attacks against it, in memory."""
    return attacked(None)


def attacked(out: Path | None) -> mohs.Run:
    """The same, also in a folder."""
    return mohs.attack(victim(), ROWS, ATTACKS, out=out, seed=3, **bundled())


@dataclass(frozen=True)
class Dropped:
    """Answers for some of the text's words alone, which the text and the key choose."""

    needs = ()
    scores_needed = False

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        return [(" ".join(word for word in Text(*fields).words if random.random() < 0.6),)]

    def combined(self, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(table[0], np.float64)


@dataclass(frozen=True)
class Lower(Dropped):
    """Answers for the text in lower case: nothing is drawn."""

    draws = False

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        return [tuple(field.lower() for field in fields)]


def dropped(fields: Fields, key: int) -> Scores:
    """What the defended victim says, computed by hand."""
    random = Random(repr((key, fields)))
    return victim().scores((" ".join(word for word in Text(*fields).words if random.random() < 0.6),))


def said(scores: Scores) -> int:
    """The class with the highest score; the first of two."""
    return 0 if scores[0] >= scores[1] else 1


class Counting(WordCount):
    """Counts what it is asked."""

    fingerprint: Any
    total = 0

    def launch(self, batch: list[Fields]) -> list[Fields]:
        Counting.total += len(batch)
        return super().launch(batch)
