"""A text as words and the gaps between them, so that a word can change while every other byte stays the same."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache, total_ordering
from itertools import accumulate, chain, compress
from operator import ne
from typing import NamedTuple

import regex

# A word: letters, marks and digits, with single joiners inside (don't, well-made, rock_n_roll, f*ck, name@host)
# and the zero-width joiners inside Persian and Indic words.
# Everything else, including emoji, is gap and is never replaced. A word does not start with a mark, because the
# variation selectors inside emoji are marks.
_WORD = regex.compile(
    r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:(?:['’\-_*@](?=[\p{L}\p{N}])|[\u200c\u200d])[\p{L}\p{M}\p{N}]+)*"
)

_JOINING = {"", *"'’-_*@\u200c\u200d"}  # a gap that is one of these would make one word of its neighbours
_LONG_TEXT = 64  # words; in longer texts it is faster to slice strings, and to compare words in blocks
_SENTENCE_END = ". "  # where long strings are split to look up their words; no word contains a space
_SHORT_STRING = 400  # characters; shorter strings are looked up word by word, and are their own key
_LONG_SENTENCE = 1000  # characters; longer ones are not cached


class Edit(NamedTuple):
    """One changed word: its position in the original, the old word and the new word."""

    position: int
    old: str
    new: str
    source: str = ""  # where the new word came from


@lru_cache(maxsize=1 << 17)
def is_word(string: str) -> bool:
    """Whether a string is one word wherever a word stands."""
    return _WORD.fullmatch(string) is not None


def split_words(string: str) -> tuple[list[str], list[str]]:
    """The words and the gaps around them. There is one more gap than words; interleaved they give the string."""
    words, gaps, end = [], [], 0
    for match in _WORD.finditer(string):
        gaps.append(string[end : match.start()])
        words.append(match.group())
        end = match.end()
    gaps.append(string[end:])
    return words, gaps


@total_ordering
class Text:
    """The input of a victim: one string, or several for a pair. Words are numbered across all strings.

    Immutable. Equality, order and hash are those of the strings. A replaced word keeps its position even if the
    replacement is empty or has several words, so positions stay valid through a whole search. When a word becomes
    empty, one surplus space goes with it.
    """

    __slots__ = ("_bounds", "_fields", "_gaps", "_hash", "_shape", "_starts", "_step", "clean", "words")

    words: tuple[str, ...]
    _shape: tuple[str, ...]  # the gaps before any word became empty, of all fields; a field of n words has n + 1 gaps
    _gaps: tuple[str, ...]  # the current gaps; the same object as _shape if no word is empty
    _bounds: tuple[int, ...]  # the number of words before each field, and the total
    _fields: tuple[str, ...] | None
    _hash: int | None
    _starts: array[int] | None  # where each word starts in its field's string; computed when needed
    _step: tuple[tuple[str, ...], int] | None  # if made by replacing one word: the words before that, and its position
    clean: bool  # whether the strings, split again, are known to give these words and gaps

    def __init__(self, *fields: str) -> None:
        words: list[str] = []
        gaps: list[str] = []
        bounds = [0]
        for field in fields:
            found, between = split_words(field)
            words += found
            gaps += between
            bounds.append(len(words))
        self.words, self._gaps, self._bounds = tuple(words), tuple(gaps), tuple(bounds)
        self._shape = self._gaps
        self.clean = True
        self._fields = fields
        self._hash = self._starts = self._step = None

    @classmethod
    def _made(
        cls, words: tuple[str, ...], shape: tuple[str, ...], bounds: tuple[int, ...], clean: bool = False
    ) -> Text:
        text = cls.__new__(cls)
        text.words, text._shape, text._bounds, text.clean = words, shape, bounds, clean
        text._fields = text._hash = text._starts = text._step = None
        text._gaps = text._without_left_over_spaces() if "" in words else shape
        return text

    def _without_left_over_spaces(self) -> tuple[str, ...]:
        gaps = list(self._shape)
        for position, word in enumerate(self.words):
            if not word:
                number = self.field_of(position)
                place = position + number
                first = not any(self.words[self._bounds[number] : position])
                gaps[place], gaps[place + 1] = closed_up(gaps[place], gaps[place + 1], first)
        return tuple(gaps)

    @property
    def fields(self) -> tuple[str, ...]:
        """The strings, one for each field."""
        if self._fields is None:
            if len(self._bounds) == 2:
                self._fields = (self._field(0),)
            else:
                self._fields = tuple(self._field(number) for number in range(len(self._bounds) - 1))
        return self._fields

    def _field(self, number: int) -> str:
        start, end = self._bounds[number], self._bounds[number + 1]
        pieces = [""] * (2 * (end - start) + 1)
        pieces[0::2] = self._gaps[start + number : end + number + 1]
        pieces[1::2] = self.words[start:end]
        return "".join(pieces)

    def __str__(self) -> str:
        return "\n".join(self.fields)

    def __repr__(self) -> str:
        return f"Text({', '.join(map(repr, self.fields))})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Text) and self.fields == other.fields)

    def __lt__(self, other: Text) -> bool:
        return self.fields < other.fields

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.fields)
        return self._hash

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        # Another process hashes the same string differently; the rest is computed again when needed.
        passing = ("_hash", "_starts", "_step")
        return None, {name: None if name in passing else getattr(self, name) for name in self.__slots__}

    def __len__(self) -> int:
        return len(self.words)

    def field_of(self, position: int) -> int:
        """The number of the field that holds a word."""
        self._check(position)
        if len(self._bounds) == 2:
            return 0
        return bisect_right(self._bounds, position, hi=len(self._bounds) - 1) - 1

    @property
    def gaps(self) -> tuple[str, ...]:
        """What stands before, between and behind the words, of all fields; a field of n words has n + 1 gaps."""
        return self._gaps

    @property
    def bounds(self) -> tuple[int, ...]:
        """The number of words before each field, and of all."""
        return self._bounds

    def spans(self) -> list[tuple[int, int, int]]:
        """For each word its field, and its start and end in that field's string."""
        found = []
        for number in range(len(self._bounds) - 1):
            at = 0
            for position in range(self._bounds[number], self._bounds[number + 1]):
                at += len(self._gaps[position + number])
                found.append((number, at, at + len(self.words[position])))
                at += len(self.words[position])
        return found

    def replace(self, position: int, word: str) -> Text:
        """The text with another word at a position."""
        self._check(position)
        changed = list(self.words)
        changed[position] = word
        words = tuple(changed)
        if not word or self._gaps is not self._shape:
            return self._made(words, self._shape, self._bounds)
        text = self.__class__.__new__(self.__class__)
        text.words, text._shape, text._gaps, text._bounds = words, self._shape, self._shape, self._bounds
        text._hash = text._starts = None
        text._step = (self.words, position)
        text.clean = self.clean and is_word(word)
        text._fields = None
        if len(words) > _LONG_TEXT and self._fields is not None:
            start = self.start(position)
            text._fields = self._spliced(position, start, word, start + len(self.words[position]))
        return text

    def start(self, position: int) -> int:
        """Where a word starts in its field's string."""
        if self._starts is None:
            self._starts = array("L")  # a fifth of the size of a list; searches keep thousands of long texts
            for number in range(len(self._bounds) - 1):
                start, end = self._bounds[number], self._bounds[number + 1]
                lengths = [0] * (2 * (end - start))
                lengths[0::2] = map(len, self._gaps[start + number : end + number])
                lengths[1::2] = map(len, self.words[start:end])
                self._starts.extend(list(accumulate(lengths))[0::2])
        return self._starts[position]

    def _spliced(self, position: int, start: int, piece: str, end: int) -> tuple[str, ...]:
        """The fields, with `piece` in place of start to end in the field of the word at `position`."""
        number = self.field_of(position)
        fields = list(self.fields)
        fields[number] = fields[number][:start] + piece + fields[number][end:]
        return tuple(fields)

    def replace_all(self, words: Mapping[int, str]) -> Text:
        """The text with several words replaced at once."""
        if words:
            self._check(min(words))
            self._check(max(words))
        changed = list(self.words)
        for position, word in words.items():
            changed[position] = word
        clean = self.clean and all(map(is_word, words.values()))
        return self._made(tuple(changed), self._shape, self._bounds, clean)

    def drop(self, position: int) -> Text:
        """The text without a word and without the surplus space that its removal would leave."""
        words, gaps = self.words, self._shape
        number = self.field_of(position)
        place = position + number
        before, after = closed_up(gaps[place], gaps[place + 1], position == self._bounds[number])
        bounds = tuple(bound - (bound > position) for bound in self._bounds)
        between = before + after
        edge = position in (self._bounds[number], self._bounds[number + 1] - 1)
        text = self._made(
            words[:position] + words[position + 1 :],
            (*gaps[:place], between, *gaps[place + 2 :]),
            bounds,
            self.clean and (edge or between not in _JOINING),
        )
        if len(words) > _LONG_TEXT and self._gaps is gaps:
            start = self.start(position)
            end = start + len(words[position]) + len(gaps[place + 1])
            text._fields = self._spliced(position, start - len(gaps[place]), before + after, end)
        return text

    def cut(self, position: int, *, head: bool) -> Text:
        """The text with the field of a word cut off after that word (`head`) or before it; other fields stay."""
        words, gaps, number = self.words, self._shape, self.field_of(position)
        start, end = self._bounds[number], self._bounds[number + 1]
        if head:
            gone = end - position - 1
            kept = words[: position + 1] + words[end:]
            between = (*gaps[: position + number + 1], "", *gaps[end + number + 1 :])
        else:
            gone = position - start
            kept = words[:start] + words[position:]
            between = (*gaps[: start + number], "", *gaps[position + number + 1 :])
        bounds = tuple(bound - gone * (index > number) for index, bound in enumerate(self._bounds))
        text = self._made(kept, between, bounds)
        if self._gaps is gaps:
            at = self.start(position)
            fields = list(self.fields)
            fields[number] = fields[number][: at + len(words[position])] if head else fields[number][at:]
            text._fields = tuple(fields)
        return text

    def insert(self, position: int, word: str) -> Text:
        """The text with a new word before a position, or after the last word, separated by one space.

        The new word joins the field of the word that it precedes, or of the last word. If there are no words, it joins
        the last field.
        """
        words, gaps = self.words, self._shape
        if position != len(words):
            number = self.field_of(position)
        else:
            number = self.field_of(position - 1) if words else len(self._bounds) - 2
        place = position + number
        if not words:  # the new word goes before any gap
            around = ("", gaps[place] and f" {gaps[place]}")
        elif position == len(words):
            around = (" ", gaps[place])
        else:
            around = (gaps[place], " ")
        bounds = tuple(bound + (index > number) for index, bound in enumerate(self._bounds))
        return self._made(
            (*words[:position], word, *words[position:]), (*gaps[:place], *around, *gaps[place + 1 :]), bounds
        )

    def _check(self, position: int) -> None:
        if not 0 <= position < len(self.words):
            raise IndexError(f"there is no word {position} in a text of {len(self.words)} words")

    def around(self, position: int, size: int) -> str:
        """At most `size` words around a position, within its field, as a string."""
        number = self.field_of(position)
        start = max(self._bounds[number], position - size // 2)
        end = min(self._bounds[number + 1], start + size)
        start = max(self._bounds[number], end - size)
        pieces = [""] * (2 * (end - start))
        pieces[0::2] = self.words[start:end]
        pieces[1::2] = self._gaps[start + number + 1 : end + number + 1]
        return "".join(pieces)

    def stretch(self, position: int, before: int, after: int) -> tuple[str, int, int]:
        """A word with up to `before` and `after` words around it in its field, and its start and end in that string."""
        number = self.field_of(position)
        start = max(self._bounds[number], position - before)
        end = min(self._bounds[number + 1], position + after + 1)
        pieces = [""] * (2 * (end - start))
        pieces[0::2] = self.words[start:end]
        pieces[1::2] = self._gaps[start + number + 1 : end + number + 1]
        left = sum(map(len, pieces[: 2 * (position - start)]))
        return "".join(pieces), left, left + len(self.words[position])

    def same_shape(self, other: Text) -> bool:
        """Whether the two texts have the same gaps and fields, and differ at most in words."""
        return (self._shape is other._shape or self._shape == other._shape) and self._bounds == other._bounds

    def changes(self, changed: Text) -> list[int]:
        """The positions whose words differ, for a text of the same shape."""
        assert self.same_shape(changed), "edits are defined between texts with the same gaps"
        one, other = self.words, changed.words
        if changed._step is not None and changed._step[0] is one:
            position = changed._step[1]
            return [position] if one[position] != other[position] else []
        if len(one) <= _LONG_TEXT:
            return list(compress(range(len(one)), map(ne, one, other)))
        found: list[int] = []
        for start in range(0, len(one), _LONG_TEXT):
            ours, theirs = one[start : start + _LONG_TEXT], other[start : start + _LONG_TEXT]
            if ours != theirs:
                found += compress(range(start, start + _LONG_TEXT), map(ne, ours, theirs))
        return found

    def edits(self, changed: Text) -> tuple[Edit, ...]:
        """The words that differ, for a text of the same shape."""
        return tuple(Edit(p, self.words[p], changed.words[p]) for p in self.changes(changed))


def closed_up(before: str, after: str, first: bool) -> tuple[str, str]:
    """The gaps around a removed word, without the surplus space."""
    if before[-1:] == " ":
        return before[:-1], after
    if after[:1] == " " and (first or any(map(str.isspace, before))):
        return before, after[1:]  # as in "(word next)": the bracket belongs to the next word
    return before, after


def like(word: str, pattern: str) -> str:
    """A word in the case pattern of another: UPPER, Title or unchanged."""
    if len(pattern) > 1 and pattern.isupper():
        return word.upper()
    if pattern[:1].isupper() and word[:1].islower():
        return word[:1].title() + word[1:]
    return word


def brief(fields: tuple[str, ...]) -> Hashable:
    """A short key for the strings of a query: short ones themselves, long ones as a digest. Searches keep thousands."""
    if sum(map(len, fields)) < _SHORT_STRING:
        return fields
    whole = "".join([repr(list(map(len, fields))), *fields])
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()[:16]


def words_of(fields: Sequence[str]) -> list[str]:
    """All words of some strings in lower case, as the small models of this package read them."""
    sentences = sentences_of(fields)
    if not sentences:
        return [word for field in fields for piece in field.split(" ") for word in _lowered(piece)]
    return list(
        chain.from_iterable([_kept(one) if len(one) < _LONG_SENTENCE else _of_sentence(one) for one in sentences])
    )


def sentences_of(fields: Sequence[str]) -> list[str]:
    """Long strings split into sentences; no word is split. Empty if the strings are short."""
    if sum(map(len, fields)) < _SHORT_STRING:
        return []
    return [sentence for field in fields for sentence in field.split(_SENTENCE_END)]


def _of_sentence(sentence: str) -> tuple[str, ...]:
    return tuple([word for piece in sentence.split(" ") for word in _lowered(piece)])


_kept = lru_cache(maxsize=1 << 14)(_of_sentence)  # candidates of a long text share all sentences but one


@lru_cache(maxsize=1 << 17)
def _lowered(piece: str) -> tuple[str, ...]:
    """The words of a piece without spaces. No word contains a space, and candidates share nearly all pieces."""
    return tuple(word.lower() for word in _WORD.findall(piece))
