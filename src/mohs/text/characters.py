"""All variants of a word that one typo or one character trick can make, and the tricks that a word holds.

Each function returns its variants sorted by position, then by letter, without duplicates and without the word itself.
A letter is a grapheme cluster, so an accent is never separated from its letter. With `inner` the first and last
letters do not change. Words of fewer than `min_length` letters have no variants. A new letter is upper case if it
replaces an upper-case letter, or is inserted into a word that is all upper case. `odd_characters` goes the other way
and finds the characters of a word that readers cannot see, or take for others.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from string import ascii_lowercase
from typing import NamedTuple

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

_PHONETIC = frozenset("\u0261")  # look-alikes of the same script

# A whole emoji, which may hold joiners, variation selectors and tags. A letter such as ℹ is one only with a selector.
_PICTURE = (
    r"\p{Extended_Pictographic}(?:(?<!\p{L})|(?=\ufe0f))"
    r"[\ufe0e\ufe0f\p{Emoji_Modifier}]?(?:[\U000e0020-\U000e007e]+\U000e007f)?"
)
_EMOJI = regex.compile(rf"{_PICTURE}(?:\u200d{_PICTURE})*|\p{{Regional_Indicator}}{{2}}|[0-9#*]\ufe0f?\u20e3")
_UNSEEN = regex.compile(r"[\p{Cf}\p{Cc}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800--\x20]", regex.V1)
_JOINER = regex.compile(r"[\u200c\u200d\p{Variation_Selector}]")
# Scripts of which every letter is seen alone: joiners and unusual marks have no place in their words.
_ALPHABETS = ("Latin", "Greek", "Cyrillic", "Armenian", "Georgian")
_LETTER_OR_MARK = regex.compile(r"[\p{L}\p{M}]")
_SEEN_ALONE = regex.compile("|".join(rf"\p{{Script={name}}}" for name in ("Common", "Inherited", *_ALPHABETS)))
_SCRIPTS = regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in _ALPHABETS))
# Characters of no script, and scripts that share words with others, as in "我的iPhone".
_NO_SCRIPT = regex.compile(
    r"[\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}"
    r"\p{Script=Hangul}\p{Script=Bopomofo}]"
)


class Odd(NamedTuple):
    """A character that readers cannot see, or take for another one."""

    at: int  # its index in the word
    code: str  # such as U+200B
    name: str  # its Unicode name
    seen: bool  # whether it can be seen


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


def odd_characters(word: str, instead_of: str = "") -> list[Odd]:
    """The characters of a word that readers cannot see, or take for others.

    These are: characters without ink (other than a plain space); letters and digits that stand for a plain one, such
    as full-width letters; letters of another script than the rest of the word; in a word of an alphabet such as Latin,
    marks that form no accented letter. Accented letters, words wholly in another script and whole emoji are ordinary,
    and so are joiners inside words of scripts that use them. `instead_of` is the word that was replaced: a letter that
    looks like the one at its place there is found even if it is the whole word.
    """
    found = []
    start = 0
    for part in word.split(" "):
        beside = instead_of if part == word else ""
        found += [_odd(part[at], start + at) for at in _odd_places(part, beside)]
        start += len(part) + 1
    return found


def _odd_places(word: str, instead_of: str) -> list[int]:
    if word.isascii() and word.isprintable():
        return []
    emoji = {at for match in _EMOJI.finditer(word) for at in range(*match.span())}
    main = _main_script(word, instead_of)
    twins = {at for at, (old, new) in enumerate(zip(instead_of, word, strict=False)) if HOMOGLYPHS.get(old) == new}
    found = []
    for at, sign in enumerate(word):
        if at in emoji or (sign.isascii() and sign.isprintable() and main in ("", "Latin")):
            continue
        if _UNSEEN.match(sign):
            odd = not (_JOINER.match(sign) and _joins(word, at))
        elif unicodedata.category(sign) in ("Mn", "Me"):
            odd = main in ("", *_ALPHABETS) and not _accents(word, at)
        else:
            odd = at in twins or sign in _PHONETIC or _stands_for_another(sign) or _script(sign) not in ("", main)
        if odd:
            found.append(at)
    return found


def _joins(word: str, at: int) -> bool:
    """Whether a joiner or a variation selector stands where its script has use for it."""
    before = word[at - 1 : at]
    inside = at < len(word) - 1 or word[at] not in "\u200c\u200d"
    return bool(inside and _LETTER_OR_MARK.match(before) and not _SEEN_ALONE.match(before))


def _odd(sign: str, at: int) -> Odd:
    name = unicodedata.name(sign, "control character" if unicodedata.category(sign) == "Cc" else "unnamed character")
    return Odd(at, f"U+{ord(sign):04X}", name, not _UNSEEN.match(sign))


def _stands_for_another(sign: str) -> bool:
    """Whether a letter or digit is another form of a plain one, such as a full-width letter or a ligature."""
    if not (sign.isalpha() or sign.isdecimal() or unicodedata.category(sign) == "Nl"):
        return False
    plain = unicodedata.normalize("NFKC", sign)
    return plain != sign and (plain.isascii() or (len(plain) == 1 and "<" in unicodedata.decomposition(sign)))


def _accents(word: str, at: int) -> bool:
    """Whether the marks up to this one form a single accented letter with the letter before them."""
    start = at
    while start and unicodedata.category(word[start]) == "Mn":
        start -= 1
    return len(unicodedata.normalize("NFC", word[start : at + 1])) == 1 and start < at


def _main_script(word: str, instead_of: str) -> str:
    """The script of most letters; empty if no letter has one. Of two equally common ones Latin counts."""
    own = Counter(filter(None, map(_script, word)))
    count = own + Counter(filter(None, map(_script, instead_of))) if len(own) > 1 else own
    return max(count, key=lambda script: (count[script], script == "Latin"), default="")


@cache
def _script(sign: str) -> str:
    """The script of a letter; empty if it has none, or if letters of other scripts are usual beside it."""
    if not sign.isalpha() or _NO_SCRIPT.match(sign):
        return ""
    known = _SCRIPTS.match(sign)
    return str(known.lastgroup) if known else unicodedata.name(sign, "unnamed").split(" ")[0]


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
