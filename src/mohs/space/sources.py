"""Sources of replacement words: word vectors, dictionaries, and unions of sources.

For each position of a text, a source gives replacement words, best first, each with the name of its source. A word has
the case pattern of the word it replaces, and is never that word itself.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from mohs.engine import others_first, together
from mohs.space.rewrites import Rewriter, is_rewriter, parts_of
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text
from mohs.text.questions import Spot
from mohs.text.text import like
from mohs.text.thesaurus import Thesaurus

Offers = dict[str, str]  # new word -> the name of its source, best first


class Later(Offers):
    """Offers whose order is expensive, so it is computed only when a search reaches their position (`in_order`)."""

    def __init__(self, offered: Offers, order: Callable[[Services], Awaitable[Sequence[str]]]) -> None:
        super().__init__(offered)
        self.order = order


def some_of(offered: Offers, words: Iterable[str]) -> Offers:
    """A subset of offers; if their order comes later, it still does."""
    found = {word: offered[word] for word in words}
    return Later(found, offered.order) if isinstance(offered, Later) else found


async def in_order(offered: Offers, ask: Services) -> Offers:
    """The offers, best first."""
    if not isinstance(offered, Later):
        return offered
    return {word: offered[word] for word in await offered.order(ask) if word in offered}


class Source(Protocol):
    """Gives replacement words for the positions of a text."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of services it uses (see mohs.space.services.KINDS)."""
        ...

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The offers for each position, in the order given."""
        ...


@dataclass(frozen=True)
class Neighbours:
    """The k nearest words by their vectors, with a cosine of at least `min_cosine`.

    With `max_distance` they are the nearest by squared Euclidean distance, at most that far (Alzantot et al. 2018: 0.5;
    for unit vectors the order is the same). The minimum cosine still applies.
    """

    k: int = 50
    min_cosine: float = 0.5
    max_distance: float | None = None

    def __post_init__(self) -> None:
        at_least(1, k=self.k)
        at_least(-1, min_cosine=self.min_cosine)
        at_least(0, max_distance=self.max_distance)

    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The neighbours of each word, lower-cased."""
        words = [text.words[position] for position in positions]
        plain = [word.lower() for word in words]
        ask.vectors.expect(plain, self.k, by_distance=self.max_distance is not None)
        await others_first()  # so that the words of many texts are looked up together
        if self.max_distance is None:
            near = [[other for other, _ in found] for found in ask.vectors.near(plain, self.k, self.min_cosine)]
        else:
            near = []
            for word, found in zip(plain, ask.vectors.near_by_distance(plain, self.k, self.max_distance), strict=True):
                others = [other for other, _ in found]
                cosines = ask.vectors.cosines(word, others)
                near.append([o for o, cosine in zip(others, cosines, strict=True) if cosine >= self.min_cosine])
        return [offers(word, others, "neighbours") for word, others in zip(words, near, strict=True)]


@dataclass(frozen=True)
class Synonyms:
    """The single-word lemmas of a word's synsets in WordNet, in WordNet's order.

    With `same_pos`, only synsets of the word's part of speech in its text count, by the tagger. Words that are not a
    noun, verb, adjective or adverb there then have no synonyms.
    """

    same_pos: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """WordNet, and a tagger with `same_pos`."""
        return ("wordnet", "tagger") if self.same_pos else ("wordnet",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Synonyms of each word."""
        words = [text.words[position] for position in positions]
        if not self.same_pos:
            return [offers(word, ask.wordnet.synonyms(word.lower(), None), "wordnet") for word in words]
        kinds = [_OPEN.get(pos) for pos, _ in await tags(text, positions, ask)]
        return [
            offers(word, ask.wordnet.synonyms(word.lower(), kind) if kind else (), "wordnet")
            for word, kind in zip(words, kinds, strict=True)
        ]


@dataclass(frozen=True)
class Sememes:
    """Words with the same part of speech and an identical set of sememes in HowNet (Zang et al. 2020).

    The part of speech in the text selects the list. Inflected words get substitutes with the same inflection. With `k`
    only the k nearest by cosine are kept (paper 001 takes 5), words without a vector last. Proper nouns and function
    words are left alone. That includes plural proper nouns, which paper 001 replaces: the table's entries are poor.

    With `symmetric`, words that have this word among their own k nearest follow (`--sym` in the authors' code): a word
    may then replace another wherever the other may replace it. Without `k` this adds nothing.
    """

    k: int | None = None
    symmetric: bool = field(default=False, metadata={"later": True})

    def __post_init__(self) -> None:
        at_least(1, k=self.k)

    @property
    def needs(self) -> tuple[str, ...]:
        """Also vectors: for ranking, and as the vocabulary of inflected forms."""
        return ("sememes", "tagger", "vectors")

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Substitutes of each word."""
        found = []
        for position, (pos, tag) in zip(positions, await tags(text, positions, ask), strict=True):
            word = text.words[position].lower()
            kind = _SEMEME_LISTS.get(pos)
            others = self._nearest(word, kind, tag, ask) if kind else []
            kept = others[: self.k]
            if kind and self.symmetric:
                more = others[len(kept) :]
                kept += [other for other in more if word in self._nearest(other, kind, tag, ask)[: self.k]]
            found.append(offers(text.words[position], kept, "sememes"))
        return found

    def _nearest(self, word: str, kind: str, tag: str, ask: Services) -> list[str]:
        """All substitutes of a word in a form, the nearest first; as they stand if all are kept."""
        others = ask.sememes.substitutes(word, kind, tag, ask.vectors.index)
        if self.k is None or len(others) <= self.k:
            return others
        cosines = [round(float(value), 6) for value in ask.vectors.cosines(word, others)]
        known = [i for i, cosine in enumerate(cosines) if not math.isnan(cosine)]
        unknown = [i for i, cosine in enumerate(cosines) if math.isnan(cosine)]
        return [others[i] for i in sorted(known, key=lambda i: (-cosines[i], i)) + unknown]


@dataclass(frozen=True)
class Listed:
    """The words listed in the user's own thesaurus file."""

    path: str
    fingerprint: str
    book: Thesaurus = field(repr=False, compare=False)

    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, path: str) -> Listed:
        """Read a JSON or TSV file."""
        book = Thesaurus.read(path)
        return cls(path, book.fingerprint, book)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The listed words for each word."""
        words = [text.words[position] for position in positions]
        return [offers(word, self.book.lookup(word), "thesaurus") for word in words]


@dataclass(frozen=True)
class Union:
    """The offers of several sources, in the order of the sources; a repeated word counts for the first.

    There may be rewriters among the sources (mohs.space.rewrites). They offer no words.
    """

    sources: tuple[Source | Rewriter, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """What any of the sources needs."""
        return tuple(dict.fromkeys(kind for source in self.sources for kind in source.needs))

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Ask all sources at once."""
        words: list[Any] = [source for source in self.sources if not is_rewriter(source)]
        answers = await together(*(source(text, positions, ask) for source in words)) if words else []
        return [joined([await in_order(answer[p], ask) for answer in answers]) for p in range(len(positions))]


def words_of(source: Source | Rewriter) -> Source:
    """The part of a source that replaces single words; it may be empty."""
    parts = parts_of(source)
    words = tuple(part for part in parts if not is_rewriter(part))
    return source if len(words) == len(parts) else Union(words)  # type: ignore[return-value]


@dataclass(frozen=True)
class OneOf:
    """One offer of a source per position, picked at random with the search's own seed."""

    source: Source

    @property
    def needs(self) -> tuple[str, ...]:
        """What the source needs."""
        return self.source.needs

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """At most one word per position."""
        found = await self.source(text, positions, ask)
        ordered = [await in_order(offer, ask) for offer in found]
        return [dict([ask.random.choice(list(offer.items()))]) if offer else {} for offer in ordered]


def joined(parts: Iterable[Offers]) -> Offers:
    """Merge offers, in the order of the parts; a repeated word counts for the first."""
    found: Offers = {}
    for part in parts:
        found = {**found, **part, **found} if found else dict(part)
    return found


def offers(old: str, new: Iterable[str], name: str) -> Offers:
    """Offers in the case pattern of the old word, without that word and without repeats."""
    found = dict.fromkeys(new if old.islower() else [like(word, old) for word in new], name)
    found.pop(old, None)
    return found


async def tags(text: Text, positions: Sequence[int], ask: Services) -> list[tuple[str, str]]:
    """The universal and the Penn tag of each word, in the context of its whole field."""
    spans = text.spans()
    spots = [Spot(text.fields[spans[p][0]], spans[p][1], spans[p][2]) for p in positions]
    return [(tag.pos, tag.tag) for tag in await ask.tagger(spots)]


_OPEN = {"NOUN": "n", "VERB": "v", "AUX": "v", "ADJ": "a", "ADV": "r"}
_SEMEME_LISTS = {"NOUN": "noun", "VERB": "verb", "ADJ": "adj", "ADV": "adv"}
