"""The exact radius in closed form, for a victim that adds up word scores: the bundled bag of words.

Each substitution changes the sum by its own amount, independently of the others. So the worst text with at most r
substitutions takes the worst word at each position, and then the r positions that lose most. No other text has to be
checked. That one text is put to the victim, so the verdict comes from the victim and not from a formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.models.bag import BagVictim
from mohs.models.victim import Fields, answers_of, differ, traits_of
from mohs.space import Space
from mohs.space.omega import Edits
from mohs.text.text import words_of

_TEXTS_COMPARED = 10  # with one substitution, and as many with all
_BYTES_A_SUBSTITUTION = 200  # of the worst text of a level: in the proof, the certificate and its JSON


@dataclass(frozen=True)
class Worst:
    """The substitutions that hurt a label, worst first: the first r of them are the worst r."""

    steps: tuple[tuple[int, str], ...]

    def edits(self, r: int) -> Edits:
        """The worst text with at most r substitutions."""
        return dict(sorted(self.steps[:r]))


def worst_of(model: Any, space: Space, label: int) -> Worst | None:
    """The worst substitutions; None if the victim does not add up words, or one changes the number of words.

    Positions where every choice helps the label are left out.
    """
    inside = traits_of(model).inside
    if type(inside) is not BagVictim or not _adds_up(space.text.fields, space.text.words):
        return None  # a subclass may answer otherwise than its words add up
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


def bytes_of_levels(steps: int, levels: int) -> int:
    """About how much memory a closed form takes: level r tells its worst r substitutions, and from `steps` on all."""
    told = min(steps, levels)
    return _BYTES_A_SUBSTITUTION * (told * (told + 1) // 2 + (levels - told) * told)


def agrees(model: Any, texts: Sequence[Fields], tolerance: float) -> bool:
    """Whether a victim answers as the model inside it does, so that what is proven of that is proven here."""
    distinct = list(dict.fromkeys(texts))
    answers, own = answers_of(model, distinct), answers_of(traits_of(model).inside, distinct)
    return not any(differ(answers[text], own[text], tolerance) for text in distinct)


def some_texts(model: Any, space: Space, random: Random) -> list[Fields]:
    """Texts of a space on which to compare a victim with the model inside it; none if it is that model itself."""
    if traits_of(model).inside is model or not space.choices:
        return []
    single = [{place: word} for place, words in space.choices.items() for word in words]
    drawn = random.sample(single, min(_TEXTS_COMPARED, len(single)))
    drawn += [{place: random.choice(words) for place, words in space.choices.items()} for _ in range(_TEXTS_COMPARED)]
    return [space.text.replace_all(edits).fields for edits in drawn]


def _adds_up(fields: Fields, words: tuple[str, ...]) -> bool:
    """Whether the victim reads exactly the words of the text, one by one."""
    return words_of(fields) == [part for word in words for part in words_of((word,))]
