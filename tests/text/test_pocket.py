from __future__ import annotations

import numpy as np
import pytest

from mohs.errors import BadInput
from mohs.text import pocket
from mohs.text.dataset import Dataset
from mohs.text.lexicon import ADJECTIVE, NOUN, VERB
from mohs.text.stopwords import ENGLISH
from mohs.text.text import Text


def test_the_parts_hold_different_reviews_of_both_classes() -> None:
    parts = {split: list(pocket.reviews(split)) for split in ("train", "test")}
    assert all(len(rows) >= 100 for rows in parts.values())
    for rows in parts.values():
        assert {row["label"] for row in rows} in ({0, 1}, set(pocket.LABELS))
        assert all("split" not in row and row["text"].strip() for row in rows)
    train, test = ({row["text"] for row in parts[split]} for split in ("train", "test"))
    assert not train & test


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^The pocket corpus has no part 'dev'; use train or test\.$"):
        list(Dataset("pocket:dev"))


def test_the_corpus_is_a_dataset() -> None:
    assert list(Dataset("pocket", n=3)) == list(Dataset("pocket:test", n=3))
    count, highest, digest = Dataset("pocket").survey()
    assert count == len(list(pocket.reviews("test")))
    assert highest == 1
    assert Dataset("pocket:train", labels=pocket.LABELS).survey()[2] != digest
    assert Dataset("pocket", labels=pocket.LABELS).survey()[2] == digest


def test_the_lexicon_is_read_once() -> None:
    assert pocket.lexicon() is pocket.lexicon()


def test_the_lexicon_is_whole() -> None:
    lexicon = pocket.lexicon()
    size = len(lexicon.words)
    assert size == len(lexicon.index) == len(lexicon.codes) == len(lexicon.scales) == len(lexicon.pos)
    assert len(lexicon.starts) == size + 1
    assert lexicon.starts[-1] == len(lexicon.neighbours) == len(lexicon.cosines)
    assert int(lexicon.neighbours.max()) < size
    assert np.linalg.norm(lexicon.vectors, axis=1) == pytest.approx(1, abs=1e-3)
    assert all(Text(word).words == (word,) for word in lexicon.words)
    assert all(word == word.lower() for word in lexicon.words)


def test_neighbours_in_the_lexicon_are_in_order_and_true() -> None:
    lexicon = pocket.lexicon()
    inner = np.ones(len(lexicon.cosines) - 1, bool)
    inner[lexicon.starts[1:-1][(lexicon.starts[1:-1] > 0) & (lexicon.starts[1:-1] < len(lexicon.cosines))] - 1] = False
    assert np.all(np.diff(lexicon.cosines)[inner] <= 0)
    assert lexicon.cosines.min() >= 0.49
    for word in lexicon.words[::997]:
        for other, cosine in lexicon.near(word, 50, 0.0):
            assert other != word
            assert lexicon.cosine(word, other) == pytest.approx(cosine, abs=0.01)


def test_the_lexicon_knows_english() -> None:
    lexicon = pocket.lexicon()
    assert lexicon.near("film", 50, 0.5)
    assert lexicon.parts_of_speech("table") & NOUN
    assert lexicon.parts_of_speech("walks") & VERB
    assert lexicon.parts_of_speech("beautiful") == ADJECTIVE


def test_stopwords_are_single_lower_case_words() -> None:
    assert {"the", "and", "don't", "of"} <= ENGLISH
    assert not {"good", "film", "bad"} & ENGLISH
    assert all(word == word.lower() and " " not in word for word in ENGLISH)
