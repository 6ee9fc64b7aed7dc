"""The exact radius of a prediction in closed form, where words add up: the bundled bag of words.

A substitution moves the sum of the words' scores by its own amount, whatever the others are. The worst text with at
most r substitutions therefore takes, of each position its worst word, the r positions that lose most: no other text has
to be looked at. That text itself is then put to the victim, so that the verdict is the victim's and not a formula's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mohs.models.bag import BagVictim
from mohs.models.victim import Fields, traits_of
from mohs.space import Space
from mohs.space.omega import Edits
from mohs.text.text import words_of


@dataclass(frozen=True)
class Worst:
    """The substitutions that hurt a label most, in this order: the first r of them are the worst r."""

    steps: tuple[tuple[int, str], ...]

    def edits(self, r: int) -> Edits:
        """The worst text with at most r substitutions."""
        return dict(sorted(self.steps[:r]))


def worst_of(model: Any, space: Space, label: int) -> Worst | None:
    """For a victim whose words add up; None for any other, or where a substitution changes the number of words.

    Positions at which every word helps the label are left out: changing them hurts nobody.
    """
    inside = traits_of(model).inside
    if not isinstance(inside, BagVictim) or not _adds_up(space.text.fields, space.text.words):
        return None
    sign = 1.0 if label == 1 else -1.0
    score = inside.word_scores.get

    def total(word: str) -> tuple[int, float]:
        parts = words_of((word,))
        return len(parts), sign * sum(score(part, 0.0) for part in parts)

    losses: list[tuple[float, int, str]] = []
    for place, words in space.choices.items():
        count, old = total(space.text.words[place])
        news = [(word, *total(word)) for word in words]
        if any(number != count for _, number, _ in news):
            return None
        loss, word = min((new - old, word) for word, _, new in news)
        if loss < 0:
            losses.append((loss, place, word))
    return Worst(tuple((place, word) for _, place, word in sorted(losses)))


def _adds_up(fields: Fields, words: tuple[str, ...]) -> bool:
    """Whether the victim reads the words that may be replaced, one by one."""
    return words_of(fields) == [part for word in words for part in words_of((word,))]
