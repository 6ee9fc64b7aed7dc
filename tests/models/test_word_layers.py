"""Word vectors in every layer are those of the tokenizer's own tokens in the model's own hidden states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mohs.models.hf import HfVictim
from mohs.models.word_layers import WordLayers, cosines, word_layers
from mohs.text import Text
from tests.models.conftest import small_model, tiny_tokenizer, wordpiece

TEXTS = [
    Text("A good film, and a very bad one."),
    Text("unbelievably well-made!"),
    Text("It was a good day.", "The day was bad."),
]


def by_hand(victim: HfVictim, text: Text) -> list[Any]:
    """The mean hidden states of each word's tokens, from the tokenizer's own call."""
    given = victim._tokenizer(*text.fields, return_offsets_mapping=True, return_tensors="pt")
    offsets, sequence = given.pop("offset_mapping")[0].tolist(), given.sequence_ids(0)
    with torch.inference_mode():
        states = victim._model(**given, output_hidden_states=True).hidden_states
    table = torch.stack([state[0] for state in states]).numpy()
    found: list[Any] = []
    for position, (field, start, end) in enumerate(text.spans()):
        own = [
            n
            for n, (first, last) in enumerate(offsets)
            if sequence[n] == field and first < end and last > start and first < last
        ]
        assert own, position
        found.append(table[:, own].mean(1))
    return found


@pytest.mark.parametrize("text", TEXTS, ids=["plain", "pieces", "pair"])
def test_a_word_is_the_mean_of_its_tokens_in_every_layer(victim: HfVictim, text: Text) -> None:
    found = WordLayers(victim).of_words(text)
    wanted = by_hand(victim, text)
    assert list(found) == list(range(len(text)))
    for position, table in enumerate(wanted):
        assert found[position].shape == (3, 32)  # the input embedding and two layers
        np.testing.assert_allclose(found[position], table, atol=1e-5)


def test_a_masked_word_is_one_mask_token(bert: HfVictim) -> None:
    text = Text("It was unbelievably good, well-made and bad.")
    assert len(bert._tokenizer("unbelievably", add_special_tokens=False)["input_ids"]) > 1
    masked = WordLayers(bert).of_words(text, {2, 3})
    other = text.replace_all({2: "[MASK]", 3: "[MASK]"})
    given = bert._tokenizer(other.fields[0], return_tensors="pt")
    with torch.inference_mode():
        states = bert._model(**given, output_hidden_states=True).hidden_states
    table = torch.stack([state[0] for state in states]).numpy()
    places = [n for n, token in enumerate(given["input_ids"][0].tolist()) if token == bert._tokenizer.mask_token_id]
    assert len(places) == 2
    for position, place in zip((2, 3), places, strict=True):
        np.testing.assert_allclose(masked[position], table[:, place], atol=1e-5)
    np.testing.assert_allclose(masked[0], table[:, 1], atol=1e-5)  # words around it are those of the masked text
    assert list(masked) == list(range(len(text)))


def test_words_that_the_window_cuts_are_left_out(bert: HfVictim) -> None:
    text = Text(" ".join(["good"] * 100))
    found = WordLayers(bert).of_words(text)
    pieces = len(bert._tokenizer("good", add_special_tokens=False)["input_ids"])
    assert list(found) == list(range(62 // pieces))  # of 64 tokens two are special
    pair = WordLayers(bert).of_words(Text(" ".join(["bad"] * 80), "a good film"))
    assert 80 in pair
    assert 79 not in pair


def test_a_model_without_a_mask_token_says_so() -> None:
    tokenizer = wordpiece(True)
    tokenizer.mask_token = None
    layers = word_layers(HfVictim(small_model("bert", tokenizer), tokenizer, device="cpu"))
    assert isinstance(layers, WordLayers)
    assert layers.mask is None


def test_other_victims_have_no_layers() -> None:
    from mohs.models.load import victim_from

    assert "is no Hugging Face model" in str(word_layers(victim_from("pocket")))


def test_a_model_that_shows_no_states_is_named() -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    victim = HfVictim(small_model("bert", tokenizer), tokenizer, device="cpu")

    def silent(**given: Any) -> Any:
        raise TypeError("unexpected keyword output_hidden_states")

    victim._model = silent
    assert "shows no hidden states (TypeError: unexpected keyword" in str(word_layers(victim))


def test_cosines_by_layer() -> None:
    one = np.array([[1, 0], [1, 1], [0, 0]], np.float32)
    other = np.array([[2, 0], [1, -1], [1, 0]], np.float32)
    found = cosines(one, other)
    assert found[0] == 1
    assert found[1] == pytest.approx(0)
    assert np.isnan(found[2])
