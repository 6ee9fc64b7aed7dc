"""The space of an example: the positions that may change, and the words that may stand there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from random import Random

from mohs.space import omega
from mohs.space.constraints import Constraint, Measure, WordMeasure
from mohs.space.services import Services
from mohs.space.sources import Later, Offers, Source, Union, in_order, joined, some_of
from mohs.space.spellings import Speller, Spellings
from mohs.text import Text
from mohs.text.text import Edit


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


@dataclass(frozen=True)
class Space:
    """Positions and their choices for one text, and the constraints on whole texts.

    The choices of a living space depend on the current text of a search, since a masked language model reads the words
    changed so far. `words` gives them, and a word that was offered once stays part of the space.
    """

    text: Text
    choices: Mapping[int, tuple[str, ...]]  # only positions with choices, in order; empty in a living space
    constraints: tuple[Constraint, ...] = ()  # the choices already obey those on words
    offers: MutableMapping[int, Offers] = field(default_factory=dict)  # the source of each choice
    living: tuple[Opening, tuple[int, ...]] | None = None  # with the positions that may change

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions that may change."""
        return self.living[1] if self.living else tuple(self.choices)

    async def words(self, current: Text, positions: Sequence[int], ask: Services) -> list[tuple[str, ...]]:
        """The words that may stand at each position of the current text."""
        if self.living is None:
            made = self.offers if isinstance(self.offers, dict) else {}
            return [
                tuple(await in_order(made[p], ask)) if isinstance(made.get(p), Later) else self.choices.get(p, ())
                for p in positions
            ]
        found = [await in_order(offered, ask) for offered in await self.living[0](current, positions, ask)]
        for position, offered in zip(positions, found, strict=True):
            for word, name in offered.items():
                self.admit(position, word, name)
        return [tuple(offered) for offered in found]

    def admit(self, position: int, word: str, source: str) -> None:
        """Add a word that a source offered for a position during a search."""
        self.offers.setdefault(position, {}).setdefault(word, source)

    def __contains__(self, candidate: Text) -> bool:
        """Whether a text differs from the original only by choices of this space."""
        return self.text.same_shape(candidate) and all(
            edit.new in self.choices.get(edit.position, ()) or edit.new in self.offers.get(edit.position, ())
            for edit in self.text.edits(candidate)
        )

    def edits(self, candidate: Text) -> tuple[Edit, ...]:
        """The edits that lead to a candidate, each with its source."""
        return tuple(
            edit._replace(source=self.offers.get(edit.position, {}).get(edit.new, ""))
            for edit in self.text.edits(candidate)
        )

    def size(self, r: int | None = None) -> int:
        """The number of combinations of at most r changes, none among them; without r, of any number.

        This is the number of texts if every choice is a single word (see mohs.bounds.distinct).
        """
        return omega.size(self.choices, r)

    def points(self, r: int, order: Sequence[int] | None = None) -> Iterator[Text]:
        """Iterate lazily over the texts within r changes: fewest changes first, then by position and choice.

        A text comes up again for every combination of changes that gives it.
        """
        return map(self.text.replace_all, omega.points(self.choices, r, order))

    def sampler(self, r: int) -> omega.Sampler:
        """A uniform sampler of combinations of at most r changes; reuse it when drawing many."""
        return omega.Sampler(self.choices, r)

    def sample(self, r: int, random: Random) -> Text:
        """Draw one text within r changes: uniform over combinations of changes."""
        return self.text.replace_all(self.sampler(r)(random))

    async def allowed(self, current: Text, candidates: Sequence[Text], ask: Services) -> list[Text]:
        """The candidates that pass every constraint on texts, in order."""
        kept = list(candidates)
        words = len(self.text)
        for constraint in self.constraints:
            if kept and not constraint.about_words:
                values = await constraint.measure.of_texts(self.text, current, kept, ask)
                kept = [text for text, value in zip(kept, values, strict=True) if constraint.holds(value, words)]
        return kept

    async def audit(self, candidate: Text, ask: Services, also: Sequence[Measure] = ()) -> dict[str, float]:
        """The values of all measures, and of `also`, for a final text against the original; nan if undefined."""
        found: dict[str, float] = {}
        for measure, name in self._names(also).items():
            (found[name],) = await measure.of_texts(self.text, None, [candidate], ask)
        return found

    def _names(self, also: Sequence[Measure] = ()) -> dict[Measure, str]:
        """A unique name for each measure: its own, plus its settings if that name is taken."""
        found: dict[Measure, str] = {}
        for measure in (*(constraint.measure for constraint in self.constraints), *also):
            if measure not in found:
                taken = measure.name in found.values()
                found[measure] = f"{measure.name} {measure!r}" if taken else measure.name
        return found

    def violated(self, measures: Mapping[str, float]) -> list[str]:
        """The constraints that an audit shows to be violated, except those that judge each step."""
        names = self._names()
        return [
            names[constraint.measure]
            for constraint in self.constraints
            if not constraint.measure.stepwise
            and not constraint.holds(measures.get(names[constraint.measure], math.nan), len(self.text))
        ]


async def build_space(
    text: Text,
    source: Source,
    constraints: Sequence[Constraint],
    stopwords: Collection[str],
    positions: Sequence[int],
    ask: Services,
    *,
    living: bool = False,
) -> Space:
    """Build the space of a text from a source of words, and apply the constraints on words.

    Stopwords are neither replaced nor inserted.
    """
    opening = Opening(source, tuple(constraints), stopwords, text)
    places = opening.open(positions)
    if living:
        return Space(text, {}, tuple(constraints), living=(opening, tuple(places)))
    spellings = opening.spellings(places, ask)
    if spellings is not None:
        return Space(text, spellings.words(), tuple(constraints), spellings)
    found = await opening(text, places, ask)
    offers = {}
    for position, offered in zip(places, found, strict=True):
        if text.words[position] in offered:  # from a user's own source; replacing a word by itself is no change
            offered = some_of(offered, [word for word in offered if word != text.words[position]])
        if offered:
            offers[position] = offered
    choices = {position: tuple(offered) for position, offered in offers.items()}
    return Space(text, choices, tuple(constraints), offers)


def _plain(word: str) -> str:
    """A word as the stopword lists spell it."""
    return word.lower().replace("\u2019", "'")
