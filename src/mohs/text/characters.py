"""All variants of a word that one typo or one character trick can make.

Each function returns its variants sorted by position, then by letter, without duplicates and without the word itself.
A letter is a grapheme cluster, so an accent is never separated from its letter. With `inner` the first and last
letters do not change. Words of fewer than `min_length` letters have no variants. A new letter is upper case if it
replaces an upper-case letter, or is inserted into a word that is all upper case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from string import ascii_lowercase

import regex

_LETTER = regex.compile(r"\X")

# For each letter one from another script that looks almost the same in common fonts: Cyrillic if possible, else Greek,
# Armenian or phonetic.
HOMOGLYPHS = {
    "a": "\u0430", "c": "\u0441", "d": "\u0501", "e": "\u0435", "g": "\u0261", "h": "\u04bb", "i": "\u0456",
    "j": "\u0458", "k": "\u03ba", "l": "\u04cf", "n": "\u0578", "o": "\u043e", "p": "\u0440", "q": "\u051b",
    "s": "\u0455", "u": "\u057d", "v": "\u03bd", "w": "\u051d", "x": "\u0445", "y": "\u0443",
    "A": "\u0410", "B": "\u0412", "C": "\u0421", "E": "\u0415", "H": "\u041d", "I": "\u0406", "J": "\u0408",
    "K": "\u041a", "M": "\u041c", "N": "\u039d", "O": "\u041e", "P": "\u0420", "S": "\u0405", "T": "\u0422",
    "X": "\u0425", "Y": "\u03a5", "Z": "\u0396",
}  # fmt: skip

# The letter rows of a QWERTY keyboard, and how far each is shifted to the right, in keys.
_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))


def swaps(word: str, *, inner: bool = False, min_length: int = 0) -> list[str]:
    """Swap two adjacent letters."""
    letters = _letters(word, min_length)
    places = _places(letters, inner)[:-1]
    return _variants(word, ([*letters[:i], letters[i + 1], letters[i], *letters[i + 2 :]] for i in places))


def deletions(word: str, *, inner: bool = False, min_length: int = 0) -> list[str]:
    """Delete one letter. A word of one letter has no variants."""
    letters = _letters(word, max(min_length, 2))
    return _variants(word, ([*letters[:i], *letters[i + 1 :]] for i in _places(letters, inner)))


def insertions(word: str, letters: str = ascii_lowercase, *, inner: bool = False, min_length: int = 0) -> list[str]:
    """Insert a letter between two letters or, unless `inner`, at either end."""
    old = _letters(word, min_length)
    upper = len(word) > 1 and word.isupper()
    new = [_cased(letter, upper) for letter in _LETTER.findall(letters)]
    places = range(1, len(old)) if inner else range(len(old) + 1 if old else 0)
    return _spelled(word, ((old[:i], new, old[i:]) for i in places))


def substitutions(word: str, letters: str = ascii_lowercase, *, inner: bool = False, min_length: int = 0) -> list[str]:
    """Replace a letter by one of those given."""
    new = _LETTER.findall(letters)
    upper = [_cased(letter, True) for letter in new]
    return _replaced(word, lambda old: upper if old.isupper() else new, inner, min_length)


def homoglyphs(word: str, *, inner: bool = False, min_length: int = 0) -> list[str]:
    """Replace a letter by its look-alike from another script. Letters not in HOMOGLYPHS have none."""
    return _replaced(word, lambda old: [HOMOGLYPHS[old]] if old in HOMOGLYPHS else [], inner, min_length)


def keyboard(word: str, *, inner: bool = False, min_length: int = 0) -> list[str]:
    """Replace a letter by one on an adjacent key of a QWERTY keyboard, in reading order."""
    keys = _touching()
    return _replaced(
        word, lambda old: [_cased(key, old.isupper()) for key in keys.get(old.lower(), "")], inner, min_length
    )


def splits(word: str, *, min_length: int = 0) -> list[str]:
    """Insert a space between two letters."""
    letters = _letters(word, min_length)
    return _variants(word, ([*letters[:i], " ", *letters[i:]] for i in range(1, len(letters))))


def _replaced(word: str, new: Callable[[str], Sequence[str]], inner: bool, min_length: int) -> list[str]:
    letters = _letters(word, min_length)
    return _spelled(word, ((letters[:i], new(letters[i]), letters[i + 1 :]) for i in _places(letters, inner)))


def _letters(word: str, min_length: int) -> list[str]:
    letters: list[str] = _LETTER.findall(word)
    return letters if len(letters) >= min_length else []


def _places(letters: Sequence[str], inner: bool) -> range:
    return range(1, len(letters) - 1) if inner else range(len(letters))


def _spelled(word: str, parts: Iterable[tuple[Sequence[str], Sequence[str], Sequence[str]]]) -> list[str]:
    """Build variants. For each position: the letters before it, the letters allowed there, the letters after it."""
    found: list[str] = []
    for before, new, behind in parts:
        left, right = "".join(before), "".join(behind)
        found += [left + letter + right for letter in new]
    return [variant for variant in dict.fromkeys(found) if variant != word]


def _variants(word: str, spelled: Iterable[Sequence[str]]) -> list[str]:
    return [variant for variant in dict.fromkeys(map("".join, spelled)) if variant != word]


def _cased(letter: str, upper: bool) -> str:
    return letter.upper() if upper and len(letter.upper()) == len(letter) else letter  # ß has no single capital


@cache
def _touching() -> dict[str, str]:
    """For each letter the adjacent keys: its neighbours in the row, and the keys above and below that overlap it."""
    places = {key: (row, shift + i) for row, (keys, shift) in enumerate(_ROWS) for i, key in enumerate(keys)}

    def touch(one: str, other: str) -> bool:
        (row, x), (other_row, other_x) = places[one], places[other]
        return abs(x - other_x) == 1 if row == other_row else abs(row - other_row) == 1 and abs(x - other_x) < 1

    return {one: "".join(other for other in places if touch(one, other)) for one in places}
