"""How words are related, from a compact table made of WordNet: senses, what lies above them, opposites, base forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.text import inflection

CLASSES = "nvar"  # noun, verb, adjective, adverb, as WordNet's letters
FAR = 9  # steps between words that have nothing in common
_DEEP = 3  # how many steps from a sense are looked at
_DECAY = 0.6  # what a step away from a sense leaves of its weight
_TAGS = (("NNS",), ("VBD", "VBG", "VBZ", "VBN"), ("JJR", "JJS"), ("RBR", "RBS"))  # forms that differ from the base
_RANKS = 64  # senses beyond count as the last

Numbers = npt.NDArray[np.int64]


class Entry(NamedTuple):
    """A word in one class."""

    senses: tuple[int, ...]  # commonest first
    near: dict[int, int]  # senses at most a few steps away: steps times 64 and the rank of the own sense
    synonyms: frozenset[int]  # numbers of words
    opposites: frozenset[int]  # numbers of words
    kin: frozenset[int] = frozenset()  # of an adjective: itself, its synonyms, and the words that these are like
    against: frozenset[int] = frozenset()  # the opposites of all of its kin


class Bond(NamedTuple):
    """What two words have in common."""

    shared: int  # senses
    rank_old: int  # of the first shared sense; 50 if there is none
    rank_new: int
    steps: int  # between the nearest senses
    steps_old: int  # of the two ranks, for the nearest senses
    steps_new: int
    above: int  # steps from the old word up to the new one; 9 if it does not lie there
    below: int
    synonyms: int  # how many further words are synonyms of both
    steps_from: dict[int, float]  # rank of a sense of the old word -> what the steps from there to a common one leave


_NOTHING = Entry((), {}, frozenset(), frozenset())


@dataclass(frozen=True, eq=False)
class Relations:
    """The table: words by number, the commonest first, then entries of several words."""

    words: tuple[str, ...]
    ranks: npt.NDArray[np.float32]  # log of the place in an order of frequency
    senses: tuple[Mapping[int, tuple[int, ...]], ...]  # for each class, word -> senses
    bases: tuple[Mapping[int, int], ...]  # for each class, an inflected form -> its base form
    links: tuple[tuple[int, ...], ...]  # for each sense, those above it and those like it
    opposed: Mapping[tuple[int, int], frozenset[int]]  # (class, word) -> the words WordNet sets against it

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> Relations:
        """The table in the arrays of a file."""
        words = tuple(parts["words"].tobytes().decode("utf-8").split("\n"))
        ranks = np.full(len(words), np.nan, np.float32)
        ranks[: len(parts["ranks"])] = parts["ranks"].astype(np.float32) / 100
        senses = []
        for letter in CLASSES:
            values = _grouped(parts[f"senses_{letter}"], parts[f"senses_{letter}_counts"])
            senses.append(dict(zip(np.cumsum(parts[f"senses_{letter}_words"]).tolist(), values, strict=True)))
        bases = [dict(parts[f"bases_{letter}"].tolist()) for letter in CLASSES]
        opposed: dict[tuple[int, int], set[int]] = {}
        for kind, one, other in parts["opposites"].tolist():
            opposed.setdefault((kind, one), set()).add(other)
            opposed.setdefault((kind, other), set()).add(one)
        return cls(
            words,
            ranks,
            tuple(senses),
            tuple(bases),
            tuple(_grouped(parts["links"], parts["links_counts"])),
            {key: frozenset(found) for key, found in opposed.items()},
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """Where a word is."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def members(self) -> list[list[int]]:
        """The words of each sense."""
        found: list[list[int]] = [[] for _ in self.links]
        for table in self.senses:
            for word, senses in table.items():
                for sense in senses:
                    found[sense].append(word)
        return found

    @cached_property
    def _entries(self) -> dict[tuple[int, int], Entry]:
        return {}

    def base(self, word: str, kind: int) -> str:
        """The base form of a word in a class; the word itself if it is one, or unknown."""
        number = self.index.get(word)
        if number is None:
            return self._guessed(word, kind)
        return self.words[self.bases[kind].get(number, number)]

    def _guessed(self, word: str, kind: int) -> str:
        """The base form of a form too rare to be in the table, by rule."""
        found = self._guesses.get((word, kind))
        if found is None:
            if len(self._guesses) > 100_000:
                self._guesses.clear()
            table, index = self.senses[kind], self.index
            found = next(
                (
                    base
                    for tag in _TAGS[kind]
                    for base in inflection.bases(word, tag, lambda base: index.get(base) in table, index.__contains__)
                ),
                word,
            )
            self._guesses[word, kind] = found
        return found

    @cached_property
    def _guesses(self) -> dict[tuple[str, int], str]:
        return {}

    def kinds(self, word: str) -> list[int]:
        """The classes a word can belong to, the one with most senses first."""
        found = [(len(self.entry(word, kind).senses), kind) for kind in range(4)]
        return [kind for senses, kind in sorted(found, key=lambda pair: (-pair[0], pair[1])) if senses]

    def rank(self, word: str) -> float:
        """The log of a word's place in an order of frequency; that of the rarest part if it has several."""
        unknown = 11.5
        found = [self.index.get(part) for part in word.split(" ")]
        return max(unknown if number is None else float(self.ranks[number]) for number in found)

    def entry(self, word: str, kind: int) -> Entry:
        """A word, or its base form, in a class."""
        number = self.index.get(self.base(word, kind))
        if number is None or number not in self.senses[kind]:
            return _NOTHING
        found = self._entries.get((number, kind))
        if found is None:
            found = self._entries[number, kind] = self._made(number, kind)
        return found

    def _made(self, number: int, kind: int) -> Entry:
        senses = self.senses[kind][number]
        near: dict[int, int] = {}
        for rank, sense in enumerate(senses[:_RANKS]):
            front = [sense]
            for steps in range(_DEEP + 1):
                for one in front:
                    near[one] = min(near.get(one, 10**6), steps * _RANKS + rank)
                front = [link for one in front for link in self.links[one]] if steps < _DEEP else []
        synonyms = frozenset(word for sense in senses for word in self.members[sense]) - {number}
        opposites = self.opposed.get((kind, number), frozenset())
        if CLASSES[kind] != "a":
            return Entry(senses, near, synonyms, opposites)
        likes = {word for sense in senses for link in self.links[sense] for word in self.members[link]}
        kin = synonyms | likes | {number}
        against = frozenset(word for one in kin for word in self.opposed.get((kind, one), ()))
        return Entry(senses, near, synonyms, opposites, kin, against)


def bond(old: Entry, new: Entry) -> Bond:
    """What two words of a class have in common."""
    leave: dict[int, float] = {}
    shared, rank_old, rank_new, steps, steps_old, steps_new, above, below = 0, 50, 50, FAR, 50, 50, FAR, FAR
    ours, theirs = old.near, new.near
    for sense in ours.keys() & theirs.keys():
        one, other = ours[sense], theirs[sense]
        up, rank = one >> 6, one & 63
        down, place = other >> 6, other & 63
        leave[rank] = max(leave.get(rank, 0.0), _DECAY**up * _DECAY**down)
        if not up and not down:
            shared += 1
            rank_old, rank_new = min(rank_old, rank), min(rank_new, place)
        elif not down:
            above = min(above, up)
        elif not up:
            below = min(below, down)
        if up + down < steps or (up + down == steps and rank + place < steps_old + steps_new):
            steps, steps_old, steps_new = up + down, rank, place
    common = len(old.synonyms & new.synonyms)
    return Bond(shared, rank_old, rank_new, steps, steps_old, steps_new, above, below, common, leave)


def opposite(old: Entry, old_number: int, new: Entry, new_number: int) -> int:
    """2 if the words are antonyms, 1 if words near to them are, 0 if neither.

    That is a synonym of one, and for adjectives words like each of the two: lousy is like bad, superb like good.
    """
    if new_number in old.opposites or old_number in new.opposites:
        return 2
    near = old.opposites & new.synonyms or new.opposites & old.synonyms or old.against & new.kin
    return int(bool(near) and not old.near.keys() & new.near.keys() & {*old.senses, *new.senses})


def _grouped(values: Numbers, counts: Numbers) -> list[tuple[int, ...]]:
    flat = values.tolist()
    ends = np.cumsum(counts.astype(np.int64)).tolist()
    return [tuple(flat[end - count : end]) for count, end in zip(counts.tolist(), ends, strict=True)]
