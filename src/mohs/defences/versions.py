"""A victim that answers for a text by what the victim inside says about several versions of it."""

from __future__ import annotations

import hashlib
from random import Random
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores, Victim, answers_of, traits_of
from mohs.models.wrapper import Wrapper

Table = npt.NDArray[np.float64]  # one row a version, one column a class

_LEAST = 1e-12  # a probability of 0 has no logarithm
_ROWS = 2048  # versions in one batch of this victim; the victim inside splits them as it likes


class Defence(Protocol):
    """How to make versions of a text, and one answer of the answers to them. Its repr is its identity.

    It may state `draws` (whether chance has a part; by default it has) and `n` (the most versions of a text).
    """

    needs: tuple[str, ...]  # the word books it asks, by kind

    @property
    def scores_needed(self) -> bool:
        """Whether votes alone do not do."""
        ...

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        """The versions of one text; always at least one."""
        ...

    def combined(self, table: Table) -> Table:
        """One answer."""
        ...


class Versions(Wrapper):
    """The victim inside, asked about versions of each text.

    The randomness of a text comes from a hash of the text and the defence's key alone. So the same text gets the same
    answer in any batch, run or process, and another key gives a fresh draw.
    """

    def __init__(self, victim: Victim, defence: Any, name: str, key: int = 0, resources: str = "") -> None:
        traits = traits_of(victim)
        if traits.rejects:
            raise BadInput(f"{name} cannot stand around a victim that rejects texts; put the detector outside.")
        if traits.hard and defence.scores_needed:
            raise BadInput(f"{name} adds up scores, but {victim.name} gives labels only; use safer({victim.name}).")
        missing = [kind for kind in defence.needs if kind not in getattr(defence, "books", {kind: None})]
        if missing:
            raise BadInput(
                f"{name} asks {missing[0]}, and none is given; give books={{{missing[0]!r}: ...}}, or write the victim "
                "as on the command line, such as ensemble(V), which takes the bundled ones."
            )
        self.defence = defence
        self.key = key
        self.resources = resources
        self._made = (name, key, resources)
        self._most = getattr(defence, "n", 0)  # 0: unknown
        identity = f"{defence!r} {key} {resources} {victim.fingerprint}"
        super().__init__(
            victim,
            name=name,
            fingerprint=hashlib.sha256(identity.encode()).hexdigest()[:32],
            inside=None,
            hard=traits.hard and self._most == 1,  # several votes are a share
            together=max(1, traits.together // self._most) if self._most else 1,  # all their versions have one shape
        )

    @property
    def draws(self) -> bool:
        """Whether another key may give another answer."""
        return bool(getattr(self.defence, "draws", True))

    def _around(self, verdict: Victim) -> Victim:
        name, key, resources = self._made
        return Versions(verdict, self.defence, name, key, resources)

    def with_key(self, key: int) -> Versions:
        """The same defence with fresh randomness."""
        name, _, resources = self._made
        return Versions(self.victim, self.defence, name, key, resources)

    def versions(self, fields: Fields) -> list[Fields]:
        """The versions that this victim asks about."""
        return self.defence.versions(fields, Random(repr((self.key, fields))))  # type: ignore[no-any-return]

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Batches of at most some two thousand versions; long texts stand together."""
        ordered = sorted(items, key=lambda fields: (-sum(map(len, fields)), fields))
        size = max(1, _ROWS // (self._most or len(self.versions(ordered[0])))) if ordered else 1
        return [ordered[start : start + size] for start in range(0, len(ordered), size)]

    def launch(self, batch: list[Fields]) -> Any:
        """Make the versions; the victim inside is asked about them when the answers are collected."""
        return [self.versions(fields) for fields in batch]

    def collect(self, ticket: list[list[Fields]]) -> list[Scores]:
        """Ask about all versions of the batch, each once, and combine the answers to the versions of each text."""
        answers = answers_of(self.victim, list(dict.fromkeys(version for versions in ticket for version in versions)))
        found = []
        for versions in ticket:
            table = np.array([answers[version] for version in versions], np.float64)
            found.append(tuple(self.defence.combined(table).tolist()))
        return found


def by_logits(table: Table) -> Table:
    """The class with the largest sum of logits, as probabilities: the softmax of the mean log-probabilities.

    The log-probabilities of a text are its logits minus a number that all classes share. So the classes come in the
    order of Equation 7.3 of Hauser et al. 2021, and a black box that gives probabilities does.
    """
    mean = np.log(np.maximum(table, _LEAST)).mean(axis=0)
    shares = np.exp(mean - mean.max())
    return np.asarray(shares / shares.sum(), np.float64)


def by_votes(table: Table) -> Table:
    """The share of versions that each class wins; a tie goes to the first class."""
    wins = np.bincount(table.argmax(axis=1), minlength=table.shape[1])
    return np.asarray(wins / len(table), np.float64)


def chosen(count: int, rate: float, random: Random) -> list[int]:
    """A share of so many places, drawn uniformly: rounded to the nearest whole number, at least one."""
    if not count:
        return []
    return sorted(random.sample(range(count), min(count, max(1, int(rate * count + 0.5)))))
