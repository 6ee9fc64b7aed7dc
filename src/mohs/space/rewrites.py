"""Rewrites: new strings for a whole field of a text, beside the replacements of single words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeGuard

from mohs.space.services import Services
from mohs.text import Text
from mohs.text.alignment import Alignment, align, rewrite_edit
from mohs.text.placeholders import marks, placeholders
from mohs.text.text import Edit

Rewritten = dict[str, str]  # new string of a field -> the name of the rule that made it, best first


class Rewriter(Protocol):
    """Gives new strings for a whole field of a text. A frozen dataclass, whose fields are its settings."""

    keeps_label_of: ClassVar[frozenset[str]]  # the kinds of tasks whose labels stay (see mohs.text.kinds)

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of services it uses (see mohs.space.services.KINDS)."""
        ...

    async def rewrite(self, text: Text, number: int, ask: Services) -> Rewritten:
        """New strings for field `number` of a text, best first, each with the name of its rule."""
        ...


def is_rewriter(source: Any) -> TypeGuard[Rewriter]:
    """Whether a source rewrites whole fields."""
    return hasattr(source, "rewrite")


def parts_of(source: Any) -> tuple[Any, ...]:
    """The sources in a union, or the one source."""
    several = getattr(source, "sources", None)
    return (source,) if several is None else tuple(part for one in several for part in parts_of(one))


def rewriters(source: Any) -> tuple[Rewriter, ...]:
    """The rewriters in a source, in order."""
    return tuple(part for part in parts_of(source) if is_rewriter(part))


def only_rewrites(source: Any) -> bool:
    """Whether a source rewrites whole fields and replaces no single words."""
    return all(map(is_rewriter, parts_of(source)))


@dataclass(frozen=True)
class Rewrites(Mapping[tuple[int, str], str]):
    """The rewrites in a space: by field number and new string, the name of the rule.

    A rewrite changes one field of the original and nothing else. Words that may not change stay where they are, so
    that placeholders, words to keep and words beyond the victim's window are safe from rewriters too.
    """

    text: Text
    positions: frozenset[int]  # words that may change, as far as the victim reads
    stopwords: frozenset[int] = frozenset()  # those among them that stay all the same
    _found: dict[tuple[int, str], str] = field(default_factory=dict)

    def __getitem__(self, key: tuple[int, str]) -> str:
        return self._found[key]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @cached_property
    def free(self) -> frozenset[int]:
        """The words that may change."""
        return self.positions - self.stopwords

    @cached_property
    def fields(self) -> tuple[int, ...]:
        """The fields that may be rewritten: those with a word that may change."""
        return tuple(dict.fromkeys(self.text.field_of(position) for position in sorted(self.free)))

    def admit(self, number: int, string: str, rule: str) -> Text | None:
        """Add a rewrite of a field and give the text; None if it changes nothing, or a word that must stay."""
        if (number, string) not in self._found:
            if number not in self.fields or string == self.text.fields[number] or not self._keeps(number, string):
                return None
            self._found[number, string] = rule
        return self._made(number, string)

    def in_order(self) -> list[Text]:
        """The rewritten texts, in the order in which they were found."""
        return [self._made(number, string) for number, string in self._found]

    def changed(self) -> frozenset[int]:
        """The words that may change in a field for which there is a rewrite."""
        numbers = {number for number, _ in self._found}
        return frozenset(position for position in self.free if self.text.field_of(position) in numbers)

    def key_of(self, candidate: Text) -> tuple[int, str] | None:
        """The field and the string that make a candidate of the original; None if no rewrite does."""
        pairs = list(zip(self.text.fields, candidate.fields, strict=False))
        differing = [number for number, (one, other) in enumerate(pairs) if one != other]
        if len(differing) != 1 or len(candidate.fields) != len(self.text.fields):
            return None
        key = differing[0], candidate.fields[differing[0]]
        return key if key in self._found else None

    def edits(self, candidate: Text) -> tuple[Edit, ...]:
        """What became of the words of the original, by `mohs.text.alignment`. The source is "rewrite: " and the rule.

        Where only words change, putting these edits into the original gives the candidate. Where the signs between
        words change as well, no list of words can, and the text itself is the truth.
        """
        key = self.key_of(candidate)
        assert key is not None, "it is one of the rewrites"
        first, words = self._words(key[0])
        new = self._aligned(*key).new
        return tuple(
            rewrite_edit(first + place, old, said, self._found[key])
            for place, (old, said) in enumerate(zip(words, new, strict=True))
            if old != said
        )

    def _made(self, number: int, string: str) -> Text:
        fields = list(self.text.fields)
        fields[number] = string
        return Text(*fields)

    def _words(self, number: int) -> tuple[int, Sequence[str]]:
        first, end = self.text.bounds[number : number + 2]
        return first, self.text.words[first:end]

    def _aligned(self, number: int, string: str) -> Alignment:
        first, words = self._words(number)
        return align(words, string, {place for place in range(len(words)) if first + place not in self.free})

    def _keeps(self, number: int, string: str) -> bool:
        """Whether the words that may not change stay, with the placeholders they are part of."""
        (first, words), found = self._words(number), self._aligned(number, string)
        end = first + len(words)
        if any(first + place not in self.free for place in found.replaced):
            return False
        if not all(self._beside_free(first, first + place, end) for place in found.added):
            return False
        held = {position for position in self._held if first <= position < end}
        if held & self.positions:  # placeholders may change in this run
            return True
        return not marks(self.text.fields[number]) - marks(string)

    @cached_property
    def _held(self) -> frozenset[int]:
        return placeholders(self.text)

    def _beside_free(self, first: int, place: int, end: int) -> bool:
        """Whether words may be added before a word: not where the victim no longer reads."""
        passed = (self._held - self.positions) | self.stopwords
        before = next((p for p in range(place - 1, first - 1, -1) if p not in passed), None)
        after = next((p for p in range(place, end) if p not in passed), None)
        return before in self.free or after in self.free


async def find_rewrites(source: Any, found: Rewrites, ask: Services) -> Rewrites:
    """Ask the rewriters in a source for every field that may be rewritten, one after the other.

    One after the other, because they may draw from the search's randomness, which must not depend on the schedule.
    """
    for rewriter in rewriters(source):
        for number in found.fields:
            for string, rule in (await rewriter.rewrite(found.text, number, ask)).items():
                found.admit(number, string, rule)
    return found
