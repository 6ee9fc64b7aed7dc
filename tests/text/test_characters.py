from __future__ import annotations

from collections.abc import Callable
from string import ascii_letters, ascii_lowercase

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA, Hamming, Levenshtein

from mohs.text.characters import (
    HOMOGLYPHS,
    Odd,
    deletions,
    homoglyphs,
    insertions,
    keyboard,
    odd_characters,
    splits,
    substitutions,
    swaps,
)

Edit = Callable[..., list[str]]
EDITS: list[Edit] = [swaps, deletions, insertions, substitutions, homoglyphs, keyboard, splits]
INNER = EDITS[:-1]

distinct = st.lists(st.sampled_from(ascii_lowercase), unique=True, max_size=12).map("".join)
words = st.text(ascii_letters + "éßøж'", max_size=10)
# Letters with marks on them, Hangul and a Devanagari cluster: several code points each.
clusters = st.lists(st.sampled_from(["a", "b", "e\u0301", "o\u0308\u0323", "n\u0303", "각", "कि"]), max_size=6)


def letters(word: str) -> list[str]:
    found: list[str] = regex.findall(r"\X", word)
    return found


def test_examples() -> None:
    assert swaps("good") == ["ogod", "godo"]
    assert swaps("films", inner=True) == ["flims", "fimls"]
    assert deletions("good") == ["ood", "god", "goo"]
    assert deletions("good", inner=True) == ["god"]
    assert insertions("go", "xo") == ["xgo", "ogo", "gxo", "goo", "gox"]
    assert insertions("go", "xo", inner=True) == ["gxo", "goo"]
    assert substitutions("go", "xo") == ["xo", "oo", "gx"]
    assert substitutions("gold", "x", inner=True) == ["gxld", "goxd"]
    assert keyboard("as") == ["qs", "ws", "ss", "zs", "aw", "ae", "aa", "ad", "az", "ax"]
    assert keyboard("Ap", inner=True) == []
    assert homoglyphs("ab") == ["\u0430b"]
    assert splits("film") == ["f ilm", "fi lm", "fil m"]


def test_new_letters_take_the_case_of_what_they_replace() -> None:
    assert substitutions("Go", "x") == ["Xo", "Gx"]
    assert keyboard("Qa")[:2] == ["Wa", "Aa"]
    assert homoglyphs("Aa") == ["\u0410a", "A\u0430"]
    assert insertions("GO", "x") == ["XGO", "GXO", "GOX"]
    assert insertions("Go", "x") == ["xGo", "Gxo", "Gox"]
    assert insertions("I", "x") == ["xI", "Ix"]
    assert substitutions("GO", "ß") == ["ßO", "Gß"]
    assert swaps("Go") == ["oG"]


@given(distinct)
def test_as_many_as_there_are_ways(word: str) -> None:
    n = len(word)
    assert len(swaps(word)) == max(n - 1, 0)
    assert len(swaps(word, inner=True)) == max(n - 3, 0)
    assert len(deletions(word)) == (n if n > 1 else 0)
    assert len(deletions(word, inner=True)) == max(n - 2, 0)
    # Of 26 letters at n + 1 places, putting a letter of the word before or after its like gives the same.
    assert len(insertions(word)) == (26 * (n + 1) - n if n else 0)
    assert len(insertions(word, "0123456789", inner=True)) == 10 * max(n - 1, 0)
    assert len(substitutions(word)) == 25 * n
    assert len(substitutions(word, inner=True)) == 25 * max(n - 2, 0)
    assert len(homoglyphs(word)) == sum(letter in HOMOGLYPHS for letter in word)
    assert len(splits(word)) == max(n - 1, 0)


@given(words)
def test_each_variant_is_one_edit_away(word: str) -> None:
    for edit in (deletions, insertions, substitutions, homoglyphs, keyboard, splits):
        assert all(Levenshtein.distance(word, variant) == 1 for variant in edit(word))
    assert all(OSA.distance(word, variant) == 1 for variant in swaps(word))
    assert all(sorted(variant) == sorted(word) for variant in swaps(word))
    for edit in (substitutions, homoglyphs, keyboard):
        assert all(Hamming.distance(word, variant, pad=False) == 1 for variant in edit(word))
    assert all(len(variant) == len(word) - 1 for variant in deletions(word))


@given(words)
def test_all_of_them_are_there(word: str) -> None:
    """Brute force over all strings one edit away."""
    places = range(len(word))
    assert set(deletions(word)) == ({word[:i] + word[i + 1 :] for i in places} if len(word) > 1 else set())
    found = set(insertions(word, "q7"))
    upper = len(word) > 1 and word.isupper()
    expected = {word[:i] + new + word[i:] for i in range(len(word) + 1) for new in ("Q7" if upper else "q7")}
    assert found == (expected if word else set())
    assert set(substitutions(word, "7")) == {word[:i] + "7" + word[i + 1 :] for i in places}
    turned = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places[:-1]}
    assert set(swaps(word)) == turned - {word}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
@given(word=words)
def test_no_repeats_never_the_word_and_the_same_each_time(edit: Edit, word: str) -> None:
    found = edit(word)
    assert len(set(found)) == len(found)
    assert word not in found
    assert "" not in found
    assert edit(word) == found


@pytest.mark.parametrize("edit", INNER, ids=lambda edit: edit.__name__)
@given(word=words)
def test_inner_keeps_both_ends(edit: Edit, word: str) -> None:
    found = edit(word, inner=True)
    assert set(found) <= set(edit(word))
    assert all(variant[0] == word[0] and variant[-1] == word[-1] for variant in found)
    kept = {variant for variant in edit(word) if variant[0] == word[0] and variant[-1] == word[-1]}
    if len(set(word)) == len(word) and edit is not insertions:  # otherwise an edit at the end can look inner
        assert set(found) == kept


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_short_words_are_left_alone_if_wanted(edit: Edit) -> None:
    assert edit("film", min_length=5) == []
    assert edit("film", min_length=4) == edit("film") != []
    assert edit("") == []


@given(clusters)
def test_marks_stay_on_their_letters(parts: list[str]) -> None:
    word = "".join(parts)
    assert letters(word) == parts
    for variant in swaps(word):
        assert sorted(letters(variant)) == sorted(parts)
    for variant in deletions(word):
        assert len(letters(variant)) == len(parts) - 1
    for edit in (deletions, substitutions, insertions, splits):
        assert all(Levenshtein.distance(parts, letters(variant)) == 1 for variant in edit(word))


def test_look_alikes_are_single_letters_of_another_script() -> None:
    for letter, other in HOMOGLYPHS.items():
        assert letter.isascii()
        assert len(other) == 1
        assert other.isalpha()
        assert not other.isascii()
        assert letter.isupper() == other.isupper()
    assert len(set(HOMOGLYPHS.values())) == len(HOMOGLYPHS)


def test_neighbouring_keys_neighbour_each_other() -> None:
    near = {key: set(keyboard(key)) for key in ascii_lowercase}
    assert near["q"] == set("wa")
    assert near["g"] == set("tyfhvb")
    assert near["m"] == set("njk")
    for key, others in near.items():
        assert 2 <= len(others) <= 6
        assert all(key in near[other] for other in others)
    assert keyboard("é7") == []


ORDINARY = [
    "good",
    "café",
    "cafe\u0301",
    "naïve",
    "Việt",
    "привет",
    "ёлка",
    "καλημέρα",
    "食べる",
    "我的iPhone",
    "Tシャツ",
    "น้ำ",
    "և",
]
ORDINARY += ["שָׁלוֹם", "می\u200cخواهم", "क्\u200dष", "don’t", "ʻokina", "x²", "go od", "hello привет", "C3PO", ""]
EMOJI = [
    "👍",
    "👍🏽",
    "❤\ufe0f",
    "👨\u200d👩\u200d👧",
    "🇩🇪",
    "1\ufe0f\u20e3",
    "ℹ\ufe0f",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
]


@pytest.mark.parametrize("word", [*ORDINARY, *EMOJI, *(f"so {emoji}!" for emoji in EMOJI)])
def test_ordinary_words_and_emoji_hold_nothing_odd(word: str) -> None:
    assert odd_characters(word) == []


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("go\u200bod", [Odd(2, "U+200B", "ZERO WIDTH SPACE", False)]),
        ("a\u00adb", [Odd(1, "U+00AD", "SOFT HYPHEN", False)]),
        ("\u202egood", [Odd(0, "U+202E", "RIGHT-TO-LEFT OVERRIDE", False)]),
        ("p\u0430ypal", [Odd(1, "U+0430", "CYRILLIC SMALL LETTER A", True)]),
        ("прив\u0065т", [Odd(4, "U+0065", "LATIN SMALL LETTER E", True)]),
        ("go\u0336od", [Odd(2, "U+0336", "COMBINING LONG STROKE OVERLAY", True)]),
        ("\uff47ood", [Odd(0, "U+FF47", "FULLWIDTH LATIN SMALL LETTER G", True)]),
        ("\U0001d41food", [Odd(0, "U+1D41F", "MATHEMATICAL BOLD SMALL F", True)]),
        ("a\tb", [Odd(1, "U+0009", "control character", False)]),
        ("do\u00a0it", [Odd(2, "U+00A0", "NO-BREAK SPACE", False)]),
        ("\u3164", [Odd(0, "U+3164", "HANGUL FILLER", False)]),
        ("go\u200dod", [Odd(2, "U+200D", "ZERO WIDTH JOINER", False)]),
        ("👍\u200d", [Odd(1, "U+200D", "ZERO WIDTH JOINER", False)]),
        ("\u200d", [Odd(0, "U+200D", "ZERO WIDTH JOINER", False)]),
        ("سلام\u200c", [Odd(4, "U+200C", "ZERO WIDTH NON-JOINER", False)]),
        ("the fi\u0261ht", [Odd(6, "U+0261", "LATIN SMALL LETTER SCRIPT G", True)]),
    ],
)
def test_odd_characters_are_found(word: str, found: list[Odd]) -> None:
    assert odd_characters(word) == found


def test_the_old_word_tells_what_a_letter_looks_like() -> None:
    assert odd_characters("\u0430") == []
    assert [odd.at for odd in odd_characters("\u0430", instead_of="a")] == [0]
    assert [odd.at for odd in odd_characters("дa", instead_of="да")] == [1]
    assert [odd.at for odd in odd_characters("д\u0430", instead_of="да")] == []


@given(st.text(max_size=12), st.text(max_size=12))
def test_odd_characters_are_named_where_they_stand(word: str, old: str) -> None:
    found = odd_characters(word, old)
    assert [odd.at for odd in found] == sorted({odd.at for odd in found})
    for odd in found:
        assert odd.code == f"U+{ord(word[odd.at]):04X}"
        assert odd.name
    ascii_word = word.encode("ascii", "ignore").decode()
    assert [ascii_word[odd.at].isprintable() for odd in odd_characters(ascii_word)].count(True) == 0


@given(st.text(ascii_letters, min_size=2, max_size=10), st.data())
def test_every_hidden_or_exchanged_letter_is_found(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word)))
    hidden = data.draw(st.sampled_from("\u200b\u200c\u200d\u00ad\u2060\u202e\ufeff\u00a0\u2009\t\x00\ufe0f"))
    assert [odd.at for odd in odd_characters(word[:at] + hidden + word[at:])] == [at]
    for other in homoglyphs(word):
        (place,) = [i for i, (old, new) in enumerate(zip(word, other, strict=True)) if old != new]
        assert [odd.at for odd in odd_characters(other, word)] == [place]
