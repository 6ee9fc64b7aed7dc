"""The table of a CNN against its convolutions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.models import cnn_table
from mohs.models.architectures import ARCHITECTURES, Classifier, Shape
from mohs.models.cnn_table import CnnTable
from mohs.models.neural import NeuralVictim
from mohs.models.vocabulary import Vocabulary

WORDS = tuple("abcdefghijklmnopqrst")
texts = st.lists(st.sampled_from([*WORDS, "unseen"]), max_size=25).map(" ".join)


def classifier(name: str = "cnn", words: int = len(WORDS) + 3) -> Classifier:
    torch.manual_seed(3)
    return Classifier(Shape(name, words, dim=7, hidden=9, classes=3, dropout=0.5, max_words=20)).eval()


def padded(rows: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [-1] * (longest - len(row)) for row in rows], dtype=torch.int32)


rows_of_words = st.lists(st.lists(st.integers(0, len(WORDS) + 2), min_size=5, max_size=30), min_size=1, max_size=40)


@settings(max_examples=60)
@given(rows=rows_of_words)
def test_it_says_what_the_convolutions_say(rows: list[list[int]]) -> None:
    model = classifier()
    with torch.inference_mode():
        found = CnnTable(model)(padded(rows))
        for logits, row in zip(found, rows, strict=True):
            assert logits.tolist() == pytest.approx(model(torch.tensor([row]))[0].tolist(), abs=2e-6)


@settings(max_examples=60)
@given(rows=rows_of_words)
def test_companions_and_what_follows_a_text_do_not_matter(rows: list[list[int]]) -> None:
    table = CnnTable(classifier())
    with torch.inference_mode():
        together = table(padded(rows * 4))
        for logits, row in zip(together, rows, strict=False):
            assert torch.equal(logits, table(padded([row] * 4))[0])


def test_what_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CnnTable.fits(classifier())
    assert not any(CnnTable.fits(classifier(name)) for name in ARCHITECTURES if name != "cnn")
    assert not CnnTable.fits(classifier().to("meta"))
    numbers = (len(WORDS) + 4) * 12 * 9
    monkeypatch.setattr(cnn_table, "_MOST_NUMBERS", numbers)
    assert CnnTable.fits(classifier())
    monkeypatch.setattr(cnn_table, "_MOST_NUMBERS", numbers - 1)
    assert not CnnTable.fits(classifier())


@settings(max_examples=30)
@given(asked=st.lists(st.tuples(texts), min_size=1, max_size=30, unique=True))
def test_a_victim_without_a_table_agrees(asked: list[tuple[str, ...]]) -> None:
    shape = Shape("cnn", len(WORDS) + 3, dim=7, hidden=9, classes=3, dropout=0.5, max_words=20)
    vocabulary = Vocabulary(WORDS, 20, 5)
    looked_up, convolved = (
        NeuralVictim("cnn", shape, vocabulary, classifier(), tuple("xyz"), device="cpu") for _ in "12"
    )
    assert looked_up.exact
    convolved._cnn_table = None
    found = [
        {
            item: scores
            for batch in victim.plan(asked)
            for item, scores in zip(batch, victim.collect(victim.launch(batch)), strict=True)
        }
        for victim in (looked_up, convolved)
    ]
    for item in asked:
        assert found[0][item] == pytest.approx(found[1][item], abs=2e-6)
