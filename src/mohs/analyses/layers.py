"""Layer by layer: how far a word's vector moves inside an encoder when words are replaced (Hauser 2021, 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from mohs.analyses.intervals import Median, Numbers, median_of
from mohs.analyses.substitutions import Case, single_word
from mohs.models.word_layers import WordLayers, cosines
from mohs.text import Text
from mohs.text.vectors import Vectors

UNCHANGED, ATTACK, RANDOM, MASK, NEAREST = "unchanged", "attack word", "random word", "mask", "nearest neighbour"
GROUPS = (UNCHANGED, NEAREST, ATTACK, MASK, RANDOM)


@dataclass(frozen=True)
class Curve:
    """One group of words: the quartiles of the cosine with the original word, in each layer."""

    group: str
    words: int
    quartiles: tuple[tuple[float, float, float], ...]  # the input embedding first
    medians: tuple[Median, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        layers = [
            {"layer": layer, "q25": low, "median": middle, "q75": high, "median_interval": [found.low, found.high]}
            for layer, ((low, middle, high), found) in enumerate(zip(self.quartiles, self.medians, strict=True))
        ]
        return {"group": self.group, "words": self.words, "examples": self.medians[0].examples, "layers": layers}


@dataclass(frozen=True)
class LayerFigures:
    """All groups in one victim."""

    victim: str
    pairs: int
    curves: tuple[Curve, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"victim": self.victim, "pairs": self.pairs, "groups": [curve.to_json() for curve in self.curves]}


@dataclass(frozen=True)
class Replacing:
    """Puts other words in the places of the attack words."""

    vectors: Vectors
    seed: int

    @cached_property
    def _words(self) -> list[str]:
        return [word for word in self.vectors.words if single_word(word) and any(map(str.isalpha, word))]

    def random(self, case: Case) -> dict[int, str]:
        """For each attack word any word that has a vector, except the original word."""
        found = {}
        for one in case.substitutions:
            chance = Random(f"{self.seed}/{one.attack}/{one.example_id}/{one.position}")
            drawn = chance.choice(self._words)
            while drawn == one.old.lower() and len(self._words) > 1:
                drawn = chance.choice(self._words)
            found[one.position] = drawn
        return found

    def nearest(self, case: Case) -> dict[int, str]:
        """For each attack word the nearest neighbour of the original; a word without one stays and is not counted."""
        near = self.vectors.near([one.old.lower() for one in case.substitutions], 1)
        return {one.position: found[0][0] for one, found in zip(case.substitutions, near, strict=True) if found}


def drawn_cases(cases: Sequence[Case], pairs: int, seed: int) -> list[Case]:
    """At most so many cases, drawn at random; they keep their order."""
    if len(cases) <= pairs:
        return list(cases)
    places = Random(f"{seed}/pairs/{cases[0].record.attack}").sample(range(len(cases)), pairs)
    return [cases[place] for place in sorted(places)]


def layer_figures(
    cases: Sequence[Case], layers: WordLayers, replacing: Replacing, tell: Callable[[int], None]
) -> LayerFigures:
    """Compare the words of each adversarial example, and of three variants of it, with those of the original."""
    values: dict[str, list[Numbers]] = {group: [] for group in GROUPS}
    owners: dict[str, list[int]] = {group: [] for group in GROUPS}
    for number, case in enumerate(cases):
        for group, found in _compared(case, layers, replacing):
            values[group].append(found)
            owners[group].append(number)
        tell(1)
    curves = [_curve(group, values[group], owners[group], replacing.seed) for group in GROUPS if values[group]]
    return LayerFigures(layers.name, len(cases), tuple(curves))


def _compared(case: Case, layers: WordLayers, replacing: Replacing) -> list[tuple[str, Numbers]]:
    before = layers.of_words(case.original)
    changed = {one.position for one in case.substitutions}
    found: list[tuple[str, Numbers]] = []

    def compare(group: str, after: Mapping[int, Any], positions: Sequence[int]) -> None:
        there = [position for position in positions if position in before and position in after]
        found.extend((group, cosines(before[position], after[position])) for position in there)

    def variant(words: Mapping[int, str]) -> Mapping[int, Any]:
        text: Text = case.original.replace_all(words)
        return layers.of_words(text)

    attacked, places = layers.of_words(case.final), sorted(changed)
    compare(UNCHANGED, attacked, [position for position in range(len(case.original)) if position not in changed])
    compare(ATTACK, attacked, places)
    compare(RANDOM, variant(replacing.random(case)), places)
    nearest = replacing.nearest(case)
    if nearest:
        compare(NEAREST, variant(nearest), sorted(nearest))
    if layers.mask is not None:
        compare(MASK, layers.of_words(case.original, changed), places)
    return found


def _curve(group: str, values: Sequence[Numbers], owners: Sequence[int], seed: int) -> Curve:
    table = np.array(values)
    quartiles = np.nanquantile(table, (0.25, 0.5, 0.75), axis=0).T
    medians = [median_of(column[~np.isnan(column)], np.array(owners)[~np.isnan(column)].tolist(), group, seed)
               for column in table.T]  # fmt: skip
    rows = tuple((float(low), float(middle), float(high)) for low, middle, high in quartiles)
    return Curve(group, len(values), rows, tuple(medians))
