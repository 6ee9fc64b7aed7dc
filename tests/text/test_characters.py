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
    deletions,
    homoglyphs,
    insertions,
    keyboard,
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
