"""The smoothed classifier: what most random versions of a text are classified as, over all draws.

A victim such as safer(V, n=32) asks 32 versions, which a key fixes. The classifier that is certified is its limit: the
class that wins over all versions, each as often as it is drawn. Nobody can ask it. Fresh draws, of which neither the
key nor an attack knows, bound its shares with a stated confidence.

What is certified is the label. It is known before anything is drawn, so no draws are needed to select a class (Cohen et
al. 2019 select one, since they certify predictions), and one interval for its share serves all budgets.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from mohs.certifying.finding import VotesFinding
from mohs.certifying.losses import overlap, ranmask_loss, safer_loss
from mohs.defences.smoothing import RanMask, Safer
from mohs.defences.versions import Versions
from mohs.models.victim import Fields, answers_of
from mohs.space import Space
from mohs.text import Text

_AT_ONCE = 16_384  # versions that are held at once
_PUBLISHED_ERROR = 0.01  # what the released code of SAFER subtracts for the error of its draws


@dataclass(frozen=True)
class Votes:
    """How many versions each class won."""

    counts: tuple[int, ...]

    @property
    def draws(self) -> int:
        """All votes."""
        return sum(self.counts)

    def winner(self, label: int) -> int:
        """The class with the most votes: the label if it is among several, or else the first of them."""
        most = max(self.counts)
        return label if self.counts[label] == most else self.counts.index(most)

    def finding(self, label: int, alpha: float) -> VotesFinding:
        """What the votes say about a label."""
        hits, n = self.counts[label], self.draws
        low, high = lower_bound(hits, n, alpha), 1 - lower_bound(n - hits, n, alpha)
        return VotesFinding(n, hits, self.winner(label), math.floor(low * 1e9) / 1e9, math.ceil(high * 1e9) / 1e9)


def lower_bound(hits: int, n: int, alpha: float) -> float:
    """A lower bound on a probability, too high with probability alpha at most: exact (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    return float(betaincinv(hits, n - hits + 1, alpha)) if hits else 0.0


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A victim whose random versions vote: draws fresh versions, and bounds what a change can cost."""

    victim: Versions
    published: bool = False  # the formulas of the papers, which are estimates
    _sets: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)  # of words met so far

    @property
    def defence(self) -> Safer | RanMask:
        """What draws the versions."""
        found: Safer | RanMask = self.victim.defence
        return found

    @property
    def method(self) -> str:
        """The name of the certificate."""
        return "safer" if isinstance(self.defence, Safer) else "ranmask"

    def votes(self, fields: Fields, n: int, classes: int, random: Random) -> Votes:
        """The votes of n fresh versions of a text. Equal versions are asked once."""
        counts = [0] * classes
        for start in range(0, n, _AT_ONCE):
            drawn = self._drawn(Text(*fields), min(_AT_ONCE, n - start), random)
            for version, scores in answers_of(self.victim.victim, list(drawn)).items():
                counts[scores.index(max(scores))] += drawn[version]
        return Votes(tuple(counts))

    def _drawn(self, text: Text, n: int, random: Random) -> Counter[Fields]:
        """How often each version was drawn. As the defence draws them, but only distinct ones become strings."""
        found: Counter[Fields] = Counter()
        if isinstance(self.defence, Safer):
            sets = self.defence.sets(text)
            columns = [random.choices(words, k=n) for words in sets.values()]
            for words, times in Counter(zip(*columns, strict=True) if columns else [()] * n).items():
                found[text.replace_all(dict(zip(sets, words, strict=True))).fields] += times
        else:
            places = range(len(text))
            shown = len(text) - self.defence.hidden(len(text))
            for kept, times in Counter(frozenset(random.sample(places, shown)) for _ in range(n)).items():
                hidden = dict.fromkeys((p for p in places if p not in kept), self.defence.mask)
                found[text.replace_all(hidden).fields] += times
        return found

    def choices(self, text: Text, positions: tuple[int, ...]) -> dict[int, tuple[str, ...]]:
        """For SAFER, the words that may stand at each position: its own perturbation sets."""
        assert isinstance(self.defence, Safer)
        sets = self.defence.sets(text)
        return {p: tuple(sets[p][1:]) for p in positions if p in sets}

    def loss(self, space: Space, budget: int | None, share: float) -> float:
        """The most that the label's share can fall in the space, with at most so many changed words.

        share: the label's share as estimated, for the published formula of RanMASK.
        """
        text, defence = space.text, self.defence
        if isinstance(defence, RanMask):
            changed = len(space.choices) if budget is None else min(budget, len(space.choices))
            kept = len(text) - defence.hidden(len(text))
            return ranmask_loss(len(text), kept, changed, share if self.published else 1.0)
        return safer_loss((self._least(space, p) for p in space.choices), budget)

    def floor(self, votes: VotesFinding) -> float:
        """What the certificate takes as the label's share of votes."""
        if self.published and isinstance(self.defence, Safer):
            return votes.label / votes.draws - _PUBLISHED_ERROR
        return votes.low

    def _least(self, space: Space, place: int) -> float:
        """The smallest overlap of a word's perturbation set with that of a word that may stand in its place."""
        own = self._set(space.text.words[place])
        found = 1.0 if own else 0.0
        for word in space.choices[place]:
            other = self._set(word) if reads(space.text, place, word) else ()
            found = min(found, overlap(own, other, published=self.published)) if own and other else 0.0
        return found

    def _set(self, word: str) -> tuple[str, ...]:
        """The perturbation set of a word, wherever it stands; empty if it is not read as one word."""
        if word not in self._sets:
            assert isinstance(self.defence, Safer)
            text = Text(word)
            self._sets[word] = tuple(self.defence.sets(text).get(0, [word])) if text.words == (word,) else ()
        return self._sets[word]


def reads(text: Text, place: int, word: str) -> bool:
    """Whether a text with a new word is read as the same words with that one in place."""
    changed = text.replace(place, word)
    return Text(*changed.fields).words == changed.words
