"""The features of white-box victims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mohs.defences import defended
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.features import features_of, table_of
from mohs.models.hf import HfVictim
from mohs.models.victim import Fields, answers_of
from mohs.models.wrapper import Wrapper
from mohs.tasks.services import load_books
from tests.models.conftest import bert, bert_folder, roberta, roberta_folder  # noqa: F401
from tests.models.test_neural import NAMES, victim_of

TEXTS: list[Fields] = [("good film",), ("bad",), ("Good FILM the dull fun",), ("good " * 40,), ("a", "the")]


@pytest.mark.parametrize("name", NAMES)
def test_the_last_layer_of_a_network_over_words_turns_them_into_its_scores(name: str) -> None:
    victim = victim_of(name)
    table = torch.from_numpy(table_of(features_of(victim), TEXTS))
    with torch.inference_mode():
        scores = victim.model.decide(table).softmax(1)
    known = answers_of(victim, TEXTS)
    np.testing.assert_allclose(scores, [known[text] for text in TEXTS], atol=1e-6)


def test_a_repeated_text_is_asked_once_and_keeps_its_place() -> None:
    victim = victim_of("bow")
    table = table_of(features_of(victim), [TEXTS[0], TEXTS[1], TEXTS[0]])
    assert (table[0] == table[2]).all()
    assert (table[0] != table[1]).any()


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_an_encoder_gives_the_first_token_of_its_last_layer(name: str, request: pytest.FixtureRequest) -> None:
    victim: HfVictim = request.getfixturevalue(name)
    texts: list[Fields] = [("a good day",), ("bad",), ("the king was a good man in a fine film",)]
    found = table_of(features_of(victim), texts)
    model: Any = victim._model
    for row, (text,) in zip(found, texts, strict=True):
        ids = victim._tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            states = model(**ids, output_hidden_states=True).hidden_states[-1]
        np.testing.assert_allclose(row, states[0, 0], atol=1e-5)


def test_a_wrapper_that_changes_nothing_shows_the_features_inside() -> None:
    victim = victim_of("cnn")
    plain, wrapped = (table_of(features_of(one), TEXTS[:2]) for one in (victim, Wrapper(victim)))
    assert (plain == wrapped).all()


def test_victims_without_features() -> None:
    with pytest.raises(BadInput, match="pocket shows no features of its last layer"):
        features_of(pocket_victim())
    inside = victim_of("cnn")
    with pytest.raises(BadInput, match=r"masking\(cnn\) shows no features"):
        features_of(defended("masking(mohs:x)", lambda name: inside, load_books))
