"""The space of an example: the positions that may change, and the words that may stand there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from mohs.space import omega
from mohs.space.constraints import Constraint, Measure
from mohs.space.opening import Opening
from mohs.space.rewrites import Rewriter, Rewrites, find_rewrites, rewriters
from mohs.space.services import Services
from mohs.space.sources import Later, Offers, Source, in_order, some_of, words_of
from mohs.text import Text
from mohs.text.sweep import Texts, picked
from mohs.text.text import Edit


@dataclass(frozen=True)
class Space:
    """Positions and their choices for one text, rewrites of its fields, and the constraints on whole texts.

    The choices of a living space depend on the current text of a search, since a masked language model reads the words
    changed so far. `words` gives them, and a word that was offered once stays part of the space.

    A text of the space is either the original with choices at some positions, or the original with one field rewritten.
    """

    text: Text
    choices: Mapping[int, tuple[str, ...]]  # only positions with choices, in order; empty in a living space
    constraints: tuple[Constraint, ...] = ()  # the choices already obey those on words
    offers: MutableMapping[int, Offers] = field(default_factory=dict)  # the source of each choice
    living: tuple[Opening, tuple[int, ...]] | None = None  # with the positions that may change
    rewrites: Rewrites | None = None  # None if the source rewrites no fields

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions that may change."""
        return self.living[1] if self.living else tuple(self.choices)

    @property
    def touched(self) -> frozenset[int]:
        """The positions that a choice or a rewrite may change."""
        return frozenset(self.positions) | (self.rewrites.changed() if self.rewrites else frozenset())

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

    def admit_rewrite(self, number: int, string: str, rule: str) -> Text | None:
        """Add a rewrite of a field that a search has made, and give the text.

        None if the rewrite changes nothing, or a word that must stay.
        """
        assert self.rewrites is not None, "the source of the space has a rewriter"
        return self.rewrites.admit(number, string, rule)

    def __contains__(self, candidate: Text) -> bool:
        """Whether a text is the original with choices of this space, or with one of its rewrites."""
        return self._by_words(candidate) or self._rewritten(candidate)

    def _by_words(self, candidate: Text) -> bool:
        return self.text.same_shape(candidate) and all(
            edit.new in self.choices.get(edit.position, ()) or edit.new in self.offers.get(edit.position, ())
            for edit in self.text.edits(candidate)
        )

    def _rewritten(self, candidate: Text) -> bool:
        return self.rewrites is not None and self.rewrites.key_of(candidate) is not None

    def edits(self, candidate: Text) -> tuple[Edit, ...]:
        """The edits that lead to a candidate, each with its source; of a rewrite, see `Rewrites.edits`."""
        if self.rewrites is not None and self._rewritten(candidate) and not self._by_words(candidate):
            return self.rewrites.edits(candidate)
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

    async def allowed(self, current: Text, candidates: Texts, ask: Services) -> Texts:
        """The candidates that pass every constraint on texts, in order; of rewrites, also those on words."""
        kept = await self._allowed_rewrites(candidates, ask) if self.rewrites else candidates
        words = len(self.text)
        for constraint in self.constraints:
            if kept and not constraint.about_words:
                values = await constraint.measure.of_texts(self.text, current, list(kept), ask)
                passed = [number for number, value in enumerate(values) if constraint.holds(value, words)]
                kept = picked(kept, passed)
        return kept

    async def _allowed_rewrites(self, candidates: Texts, ask: Services) -> Texts:
        """The candidates without the rewrites that break a constraint on words: no offer was judged by it before."""
        left = [text for text in dict.fromkeys(candidates) if self._rewritten(text) and not self._by_words(text)]
        broken: set[Text] = set()
        for constraint in self.constraints:
            if left and constraint.about_words:
                values = await constraint.measure.of_texts(self.text, None, left, ask)
                kept = [
                    text for text, value in zip(left, values, strict=True) if constraint.holds(value, len(self.text))
                ]
                broken.update(set(left).difference(kept))
                left = kept
        return picked(candidates, [number for number, text in enumerate(candidates) if text not in broken])

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
    source: Source | Rewriter,
    constraints: Sequence[Constraint],
    stopwords: Collection[str],
    positions: Sequence[int],
    ask: Services,
    *,
    living: bool = False,
) -> Space:
    """Build the space of a text from a source of words, of rewrites, or of both; apply the constraints on words.

    Stopwords are neither replaced nor inserted; a rewrite may add them.
    """
    opening = Opening(words_of(source), tuple(constraints), stopwords, text)
    places = opening.open(positions)
    if rewriters(source):
        space = await build_space(text, opening.source, constraints, stopwords, positions, ask, living=living)
        stay = frozenset(positions) - frozenset(places)
        return replace(space, rewrites=await find_rewrites(source, Rewrites(text, frozenset(positions), stay), ask))
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
