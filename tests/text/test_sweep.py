"""Sweeps, and the keys by which texts are told apart."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given, settings

from mohs.text import Text
from mohs.text.sweep import Keys, Sweep, picked
from mohs.text.text import is_word

WORDS = ("good", "a", "don't", "well-made", "two words", "", "x-", "-", "'s", "[UNK]", "42", "e\u0301", "\u200d", "👍")
GAPS = ("", " ", "  ", ", ", "-", " - ", "'", " '", "\u200d", " (", "👍", "_", "\u0301")


def drawn(data: st.DataObject) -> Text:
    fields = []
    for _ in range(data.draw(st.integers(1, 2))):
        words = data.draw(st.lists(st.sampled_from(WORDS), max_size=4))
        gaps = data.draw(st.lists(st.sampled_from(GAPS), min_size=len(words) + 1, max_size=len(words) + 1))
        fields.append(gaps[0] + "".join(word + gap for word, gap in zip(words, gaps[1:], strict=True)))
    return Text(*fields)


def changed(text: Text, data: st.DataObject) -> Text:
    """A text that some search might make of another."""
    for _ in range(data.draw(st.integers(0, 3))):
        if not len(text):
            return text
        position = data.draw(st.integers(0, len(text) - 1))
        word = data.draw(st.sampled_from(WORDS))
        match data.draw(st.integers(0, 3)):
            case 0:
                text = text.replace(position, word)
            case 1:
                text = text.drop(position)
            case 2:
                text = text.insert(position, word)
            case _:
                text = text.replace_all({position: word, 0: data.draw(st.sampled_from(WORDS))})
    return text


@settings(max_examples=1500, deadline=None)
@given(data=st.data())
def test_keys_are_equal_just_if_the_strings_are(data: st.DataObject) -> None:
    x = drawn(data)
    keys = Keys(x)
    texts = [changed(x, data) for _ in range(4)]
    texts += [Text(*text.fields) for text in texts]
    if len(x):
        position = data.draw(st.integers(0, len(x) - 1))
        sweep = Sweep.at(x, position, WORDS)
        assert keys(sweep) == keys(list(sweep))
        texts += sweep
    for one, key in zip(texts, keys(texts), strict=True):
        for other, another in zip(texts, keys(texts), strict=True):
            assert (key == another) == (one.fields == other.fields)


@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_what_is_clean_is_what_its_strings_give(data: st.DataObject) -> None:
    text = changed(drawn(data), data)
    again = Text(*text.fields)
    if text.clean:
        assert (text.words, text.gaps, text.bounds) == (again.words, again.gaps, again.bounds)


def test_long_texts_have_short_keys() -> None:
    x = Text("word " * 100)
    (key,) = Keys(x)([x.replace(3, "other")])
    assert isinstance(key, bytes)
    assert Keys(x)(Sweep.at(x, 3, ["other", "word"])) == [key, Keys(x).of(x)]


def test_texts_are_made_when_they_are_looked_at() -> None:
    x = Text("a good film")
    sweep = Sweep.at(x, 1, ("bad", "fine", "dull"))
    assert len(sweep) == 3
    assert sweep[1] is sweep[1]
    assert [str(text) for text in sweep] == ["a bad film", "a fine film", "a dull film"]
    assert [str(text) for text in sweep[1:]] == ["a fine film", "a dull film"]
    assert [str(text) for text in picked(sweep, [2, 0])] == ["a dull film", "a bad film"]
    assert isinstance(picked(sweep, []), Sweep)
    assert picked([x], [0]) == [x]
    several = Sweep(x, (0, 2), ("the", "movie"))
    assert [str(text) for text in several] == ["the good film", "a good movie"]


def test_what_is_one_word() -> None:
    assert [word for word in WORDS if is_word(word)] == ["good", "a", "don't", "well-made", "42", "e\u0301"]
