"""Patch words: a pair of synonyms that should not change the prediction near a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mohs.space import Listed, Services, Source
from mohs.space.plausible import LONGEST_CHECKED, keeps, word_by_word
from mohs.text import Text
from mohs.text.text import like

Scores = tuple[float, ...]

_GAP_DECIMALS = 6  # noise from batching is smaller


class Patch(NamedTuple):
    """A word of a text and the synonym that replaces it."""

    position: int
    old: str  # as written in the text
    new: str
    gap: float  # between the victim's answers to the two words alone

    def applied(self, text: Text) -> Text:
        """The text with the synonym, in the capitalization of the word it replaces."""
        return text.replace(self.position, like(self.new, text.words[self.position]))

    @property
    def words(self) -> frozenset[str]:
        """Both words, in lower case."""
        return frozenset({self.old.lower(), self.new.lower()})


@dataclass(frozen=True)
class PatchBook:
    """The synonyms of each word, in both directions, and the victim's scores for each word alone."""

    partners: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, Scores]
    barred: frozenset[str] = frozenset()  # in lower case; a pair with one of these words is not used

    def gap(self, one: str, other: str) -> float:
        """The largest difference between two words in the victim's probability of a class."""
        pairs = zip(self.scores[one], self.scores[other], strict=True)
        return round(max(abs(a - b) for a, b in pairs), _GAP_DECIMALS)

    def choices(self, text: Text, positions: Iterable[int]) -> list[Patch]:
        """The patches that fit a text, largest gap first: the word occurs once, and its synonym does not occur."""
        counts = Counter(word.lower() for word in text.words)
        found: list[Patch] = []
        for position in positions:
            word = text.words[position].lower()
            if counts[word] == 1 and word not in self.barred:
                others = [other for other in self.partners.get(word, ()) if other not in {*counts, *self.barred}]
                found += [Patch(position, text.words[position], other, self.gap(word, other)) for other in others]
        return sorted(found, key=lambda patch: (-patch.gap, patch.position, patch.new))

    async def choose(
        self, text: Text, positions: Sequence[int], ask: Services, drop: float | None = None
    ) -> Patch | None:
        """The patch with the largest gap, or None.

        drop: skip patches that make a text of at most twenty words less plausible to the masked language model by more
        than this, as in the released code.
        """
        choices = self.choices(text, positions)
        if drop is None or len(text) > LONGEST_CHECKED:
            return next(iter(choices), None)
        before = await word_by_word(text, ask) if choices else []
        for patch in choices:
            after = await word_by_word(patch.applied(text), ask)
            if keeps(before, after, drop):
                return patch
        return None


async def partners_of(words: Iterable[str], source: Source, ask: Services) -> dict[str, tuple[str, ...]]:
    """The synonyms of words from a source, in lower case; a source that is a word list is used in both directions."""
    backwards: dict[str, list[str]] = {}
    if isinstance(source, Listed):
        for word, others in source.book.table.items():
            for other in others:
                backwards.setdefault(other.lower(), []).append(word.lower())
    found = {}
    for word in sorted(set(words)):
        (offers,) = await source(Text(word), [0], ask) if len(Text(word)) == 1 else [{}]
        both = [*(other.lower() for other in offers), *backwards.get(word, ())]
        single = [other for other in dict.fromkeys(both) if other != word and len(Text(other)) == 1]
        if single:
            found[word] = tuple(single)
    return found


def words_in(partners: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Every word of the pairs, once, in order."""
    yield from sorted({*partners, *(other for others in partners.values() for other in others)})
