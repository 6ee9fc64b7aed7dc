from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.text import Text
from mohs.text.alignment import align, stretches


@pytest.mark.parametrize(
    ("old", "new", "words", "replaced", "added"),
    [
        ("a good film.", "a good film and so on.", ["a", "good", "film and so on"], [], [3]),
        ("a good film", "So: a good film", ["So: a", "good", "film"], [], [0]),
        ("a good film", "a very good film", ["a very", "good", "film"], [], [1]),
        ("I do not like it", "I dislike it", ["I", "dislike", "", "", "it"], [1, 2, 3], []),
        ("a fine film", "a truly great film", ["a", "truly great", "film"], [1], []),
        ("it is fine here", "it was great here", ["it", "was", "great", "here"], [1, 2], []),
        ("good film", "", ["", ""], [0, 1], []),
        ("", "good film", [], [], [0]),
        ("film, good", "film; good", ["film", "good"], [], []),
    ],
)
def test_by_hand(old: str, new: str, words: list[str], replaced: list[int], added: list[int]) -> None:
    found = align(Text(old).words, new)
    assert list(found.new) == words
    assert sorted(found.replaced) == replaced
    assert list(found.added) == added


def test_words_are_rather_put_beside_a_word_that_is_not_fixed() -> None:
    assert align(["USER", "hello"], "USER oh hello").new == ("USER oh", "hello")
    assert align(["USER", "hello"], "USER oh hello", fixed={0}).new == ("USER", "oh hello")
    assert align(["USER", "hello"], "USER oh hello", fixed={0, 1}).new == ("USER oh", "hello")
    assert align(["hello", "USER"], "hello USER oh", fixed={1}).new == ("hello", "USER oh")  # nowhere else


WORDS = st.lists(st.sampled_from("abc"), max_size=5)


@given(old=WORDS, new=WORDS)
def test_the_words_between_single_spaces_come_out_again(old: list[str], new: list[str]) -> None:
    found = align(old, " ".join(new))
    if old:
        assert " ".join(filter(None, found.new)) == " ".join(new)
    assert all(
        found.new[place] == old[place] for place in range(len(old)) if not found.added and place not in found.replaced
    )


@given(old=WORDS, new=WORDS)
def test_as_many_words_stay_as_in_any_common_subsequence(old: list[str], new: list[str]) -> None:
    def inside(part: tuple[str, ...]) -> bool:
        left = iter(new)
        return all(word in left for word in part)

    longest = max(size for size in range(len(old) + 1) for part in itertools.combinations(old, size) if inside(part))
    moved = sum(end - start for start, end, _, _ in stretches(old, new))
    assert len(old) - moved == longest
    assert len(old) - len(align(old, " ".join(new)).replaced) == longest
