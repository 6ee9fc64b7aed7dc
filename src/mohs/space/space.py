"""The space of an example: which positions may change and which words may stand there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mohs.space.constraints import Constraint, Services, TextMeasure
from mohs.space.sources import Source
from mohs.text import Example, Text


@dataclass(frozen=True)
class Space:
    """Positions and their choices for one text, and the constraints on whole texts."""

    text: Text
    choices: Mapping[int, tuple[str, ...]]  # only positions that have a choice, in order
    constraints: tuple[Constraint, ...] = ()  # on whole texts; those on words are in the choices already

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions that may change."""
        return tuple(self.choices)

    def __contains__(self, candidate: Text) -> bool:
        """Whether a text is made from the original by choices of this space alone."""
        return self.text.same_shape(candidate) and all(
            edit.new in self.choices.get(edit.position, ()) for edit in self.text.edits(candidate)
        )

    async def allowed(self, current: Text, candidates: Sequence[Text], ask: Services) -> list[Text]:
        """The candidates that every constraint on texts lets through, in their order."""
        kept = list(candidates)
        for constraint in self.constraints:
            if kept:
                values = await self._measure(constraint).of_texts(self.text, current, kept, ask)
                kept = [text for text, value in zip(kept, values, strict=True) if constraint.holds(value)]
        return kept

    async def audit(self, candidate: Text, ask: Services) -> dict[str, float]:
        """Every text measure of a final text, whole against the original."""
        found = {}
        for constraint in self.constraints:
            (value,) = await self._measure(constraint).of_texts(self.text, None, [candidate], ask)
            found[constraint.measure.name] = value
        return found

    def violated(self, measures: Mapping[str, float]) -> list[str]:
        """The constraints that an audit shows broken.

        One that a search checks step by step (against the text before, or in a window) cannot be judged from the
        last text: left out.
        """
        return [
            constraint.measure.name
            for constraint in self.constraints
            if not getattr(constraint.measure, "previous", False)
            and getattr(constraint.measure, "window", None) is None
            and not constraint.holds(measures[constraint.measure.name])
        ]

    def _measure(self, constraint: Constraint) -> TextMeasure:
        measure: TextMeasure = constraint.measure  # type: ignore[assignment]
        return measure


def build_space(
    example: Example,
    source: Source,
    constraints: Sequence[Constraint],
    stopwords: Collection[str],
    positions: Sequence[int],
) -> Space:
    """The space of an example from a source of words, with the constraints on words applied.

    Stopwords are neither replaced nor brought in.
    """
    on_words = [constraint for constraint in constraints if constraint.about_words]
    choices = {}
    for position in positions:
        word = example.text.words[position]
        if _plain(word) in stopwords:
            continue
        allowed = tuple(
            new
            for new in source(word)
            if _plain(new) not in stopwords
            and all(constraint.holds(constraint.measure.of_words(word, new)) for constraint in on_words)  # type: ignore[union-attr]
        )
        if allowed:
            choices[position] = allowed
    return Space(example.text, choices, tuple(c for c in constraints if not c.about_words))


def _plain(word: str) -> str:
    """A word as the lists write it."""
    return word.lower().replace("\u2019", "'")
