"""Which words may stand where in a space: the offers of a source, without stopwords and within constraints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mohs.space.constraints import Constraint, WordMeasure
from mohs.space.services import Services
from mohs.space.sources import Offers, Source, Union, joined, some_of
from mohs.space.spellings import Speller, Spellings
from mohs.text import Text


@dataclass(frozen=True)
class Opening:
    """What decides which words may stand where: a source, constraints on words, and stopwords."""

    source: Source
    constraints: tuple[Constraint, ...]
    stopwords: Collection[str]
    original: Text

    def open(self, positions: Sequence[int]) -> list[int]:
        """The positions whose words are not stopwords."""
        return [position for position in positions if _plain(self.original.words[position]) not in self.stopwords]

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The offers for each position of a text, without stopwords and within the constraints on words."""
        found = []
        for position, offered in zip(positions, await self.source(text, positions, ask), strict=True):
            found.append(self._kept(position, offered, ask))
        return found

    def spellings(self, positions: Sequence[int], ask: Services) -> Spellings | None:
        """The offers for the positions that have any, made lazily; None if a source cannot do that."""
        sources = self.source.sources if isinstance(self.source, Union) else (self.source,)
        spellers = [source for source in sources if isinstance(source, Speller)]
        if len(spellers) < len(sources):
            return None
        words = self.original.words

        def make(position: int) -> Offers:
            return self._kept(position, joined(speller.spell(words[position]) for speller in spellers), ask)

        found = Spellings(make, positions)
        for position in positions:
            each = (self._kept(position, speller.spell(words[position]), ask) for speller in spellers)
            if not (any(each) if len(spellers) > 1 else found.made(position)):  # any: mostly the first is enough
                found.leave_out(position)
        return found

    def _kept(self, position: int, offered: Offers, ask: Services) -> Offers:
        kept = self._brought_in(offered)
        words = len(self.original)
        for constraint in self.constraints:
            if kept and constraint.about_words:
                assert isinstance(constraint.measure, WordMeasure)
                values = constraint.measure.of_words(self.original.words[position], kept, ask)
                kept = [word for word, value in zip(kept, values, strict=True) if constraint.holds(value, words)]
        return offered if len(kept) == len(offered) else some_of(offered, kept)

    def _brought_in(self, offered: Offers) -> list[str]:
        """The words that are not stopwords."""
        if not self.stopwords:
            return list(offered)
        plain = _plain("\n".join(offered)).split("\n")  # all at once, since stopwords are rare here
        if len(plain) == len(offered) and not any(map(self.stopwords.__contains__, plain)):
            return list(offered)
        return [word for word in offered if _plain(word) not in self.stopwords]


def _plain(word: str) -> str:
    """A word as the stopword lists spell it."""
    return word.lower().replace("\u2019", "'")
