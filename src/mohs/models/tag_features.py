"""The features of the bundled tagger: the word itself, and two words on each side.

No feature combines the word with its neighbours, except whether it opens a sentence. So a score is the sum of three
parts that can be cached: for the word, for the words before it, and for the words after it. Features are 32-bit hashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zlib import crc32

import regex

REACH = 40  # characters read on each side: two words, with room to spare
EDGE = "\n"  # stands for a missing neighbour; no token is a line break

# Words as `mohs.text.text` splits them, and what is between them: abbreviations with their dots, numbers, separate
# clitics ("do n't", "it 's" in tokenised texts), runs of dots or dashes, single punctuation marks.
_TOKEN = regex.compile(
    r"""(?:Mrs?|Ms|Messrs|Dr|St|Prof|Gen|Sen|Rep|Rev|Gov|Jr|Sr|Capt|Col|Lt|Inc|Corp|Co|Ltd|No|vs|etc)\.
    |(?:\p{L}\.){2,}
    |[A-HJ-Z]\.(?=\s)
    |\p{N}+(?:[.,/:]\p{N}+)+
    |[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:(?:['’\-_*@](?=[\p{L}\p{N}])|[\u200c\u200d])[\p{L}\p{M}\p{N}]+)*
    |['’](?:s|ll|re|ve|d|m)\b
    |\.{2,}|-{2,}|``|''
    |\S""",
    regex.VERBOSE,
)
_CLITIC = regex.compile(r"(.+?)(n't|'(?:s|ll|re|ve|d|m))")
_DIGIT = regex.compile(r"\p{N}")
_BEFORE_A_SENTENCE = frozenset([EDGE, ".", "!", "?", ":", "``", "..", "..."])


class Side(NamedTuple):
    """The features of one side of a word, and whether a sentence can start there."""

    keys: tuple[int, ...]
    opens: bool


def plain(word: str) -> str:
    """Lower-case a word, straighten apostrophes, and turn every digit into 0."""
    if word.isalpha():
        return word.lower()
    low: str = _DIGIT.sub("0", word.lower().replace("’", "'"))
    return low


def tokens(string: str, edge: str = "") -> list[str]:
    """Words and punctuation in order, double quotes as `` or ''; `edge` is the character before the string, if any."""
    found = []
    for match in _TOKEN.finditer(string):
        token = match.group()
        found.append(quote(string, match.start(), edge) if token in ('"', "“", "”") else token)
    return found


def quote(string: str, at: int, edge: str = "") -> str:
    """Whether a quotation mark opens (``) or closes (''): an opening one has a space before it and none after."""
    before, behind = string[at - 1] if at else edge, string[at + 1 : at + 2]
    return "``" if (not before or before.isspace() or before in "([") and not behind.isspace() else "''"


def shape(word: str) -> str:
    """The kinds of characters in a word, with runs collapsed: `Xx`, `x-x`, `0`."""
    if word.isalpha() and word.islower():
        return "x"
    kinds: list[str] = []
    for char in word[:20]:
        kind = "X" if char.isupper() else "x" if char.isalpha() else "0" if char.isdigit() else char
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    return "".join(kinds[:6])


def guess_keys(word: str) -> list[str]:
    """The keys for a word not in the dictionary: its endings, longest first, with the kind of its first character."""
    kind = word[:1]
    kind = "X" if kind.isupper() else "0" if kind.isdigit() else "-" if "-" in word else "x"
    low = plain(word)
    return [f"{kind}\t{low[-size:]}" for size in (4, 3, 2, 1)] + [f"{kind}\t"]


def key(name: str, value: str) -> int:
    """A feature as a number: the CRC-32 of `name=value`."""
    return crc32(value.encode("utf-8", "surrogatepass"), _begun(name))


@cache
def _begun(name: str) -> int:
    """The CRC-32 of `name=`, cached since there are few names and very many values."""
    return crc32(f"{name}=".encode())


@dataclass(frozen=True, eq=False)
class Features:
    """Turns strings into features; holds the dictionary of each word's usual tags."""

    classes: Mapping[int, str]  # by key("class", word or ending): the usual tags, most frequent first
    senses: Mapping[int, int]  # by key("sense", word): the open classes it can belong to, as bits (mohs.text.lexicon)

    def kind(self, word: str) -> str:
        """The usual tags of a word, or of words with its ending."""
        if word == EDGE:
            return EDGE
        known = self.classes.get(key("class", word.replace("’", "'")))
        if known is None and (low := plain(word)) != word:
            known = self.classes.get(key("class", low))
            known = known and f"^{known}"
        if known is None:
            known = next(
                (self.classes[k] for name in guess_keys(word) if (k := key("class", name)) in self.classes), ""
            )
            known = f"?{known}"
        return known

    def word(self, word: str, opens: bool) -> list[int]:
        """Features of the word itself. A word with a clitic (don't, film's) is read as its first part, and marked."""
        low = plain(word)
        found = [key("", ""), key("word", low), key("shape", f"{shape(word)}{opens:d}")]
        if "'" in low and (clitic := _CLITIC.fullmatch(low)):
            low = clitic[1]
            found += [key("word", low), key("clitic", clitic[2])]
        if "-" in low:
            low = low.rsplit("-", 1)[1]
            found.append(key("last", low))
        senses = self.senses.get(key("sense", low), 0)
        found += [key("sense", f"{senses}"), key("sense-2", f"{senses} {low[-2:]}")]
        found += [key(f"-{size}", low[-size:]) for size in range(1, min(len(low), 5) + 1)]
        found += [key(f"{size}-", low[:size]) for size in range(1, min(len(low), 4))]
        return found

    def before(self, string: str) -> Side:
        """Features of the words before."""
        near, far = [*tokens(string)[:-3:-1], EDGE, EDGE][:2]
        return Side(self._side("<", near, far), near in _BEFORE_A_SENTENCE)

    def behind(self, string: str) -> Side:
        """Features of the words after."""
        near, far = [*tokens(string, "x")[:2], EDGE, EDGE][:2]  # the character before is part of a word
        return Side(self._side(">", near, far), False)

    def _side(self, side: str, near: str, far: str) -> tuple[int, ...]:
        low, kind, other = plain(near), self.kind(near), self.kind(far)
        return (
            key(f"{side}1", low),
            key(f"{side}1c", kind),
            key(f"{side}1s", low[-3:]),
            key(f"{side}1x", shape(near)[:2]),
            key(f"{side}2", plain(far)),
            key(f"{side}12c", f"{kind} {other}"),
        )
