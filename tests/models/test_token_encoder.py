"""Token vectors: those of plain transformers, special tokens marked, and words of the bundled lexicon."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mohs.errors import BadInput, ServiceFailed
from mohs.models.token_encoder import PocketTokenEncoder, TokenEncoder, drawn, load_token_encoder
from mohs.models.victim import Fields
from mohs.text import pocket
from mohs.text.bertscore import bert_score
from mohs.text.questions import TokenVectors
from tests.models.conftest import corpus, save, small_model, tiny_tokenizer, transformers

ITEMS: list[Fields] = [("A good film.",), ("good",), ("very long " * 60,), ("",), *((text,) for text in corpus()[:4])]
ITEMS += [("a man plays", "he sings"), ("", "x"), (corpus()[0], corpus()[1])]


def encode(encoder: Any, items: list[Fields]) -> dict[Fields, TokenVectors]:
    found: dict[Fields, TokenVectors] = {}
    for batch in encoder.plan(items):
        found.update(zip(batch, encoder.collect(encoder.launch(batch)), strict=True))
    return found


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(f"{request.param}_folder")
    return found


def plainly(folder: Path, fields: Fields, layer: int) -> TokenVectors:
    """One text, no padding; the tokenizer says which tokens are special."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(*([f] for f in fields), truncation=True, max_length=64, return_tensors="pt")
    owners = tokenizer(*([f] for f in fields), truncation=True, max_length=64).encodings[0].sequence_ids
    if model.config.type_vocab_size < 2:
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states[layer][0].numpy()
    states = states / np.linalg.norm(states, axis=1, keepdims=True)
    return TokenVectors(states, np.array([owner is not None for owner in owners], np.float32))


@pytest.mark.parametrize("layer", [None, 0, 1, 2])
def test_states_of_a_layer(folder: Path, layer: int | None) -> None:
    found = encode(TokenEncoder(str(folder), layer=layer, device="cpu"), ITEMS)
    for item in ITEMS:
        wanted = plainly(folder, item, -1 if layer is None else layer)
        assert found[item].vectors.dtype == found[item].weights.dtype == np.float32
        assert found[item].vectors.shape == wanted.vectors.shape
        assert np.allclose(found[item].vectors, wanted.vectors, atol=1e-5)
        assert np.array_equal(found[item].weights, wanted.weights)
        assert np.allclose(np.linalg.norm(found[item].vectors, axis=1), 1, atol=1e-6)


def test_bert_score(folder: Path) -> None:
    found = encode(TokenEncoder(str(folder), device="cpu"), [("a good film",), ("a bad film",), ("",)])
    good, bad, empty = (found[text,] for text in ("a good film", "a bad film", ""))
    assert bert_score(good, good) == pytest.approx((1, 1, 1), abs=1e-6)
    assert bert_score(good, bad).f1 < 1 - 1e-4
    assert math.isnan(bert_score(good, empty).f1)


def test_idf(folder: Path) -> None:
    references: list[Fields] = [("the film",), ("the cat", "the day"), ("a day",)]
    encoder = TokenEncoder(str(folder), device="cpu", references=references)
    number = {word: encoder.composer.whole(f" {word}") for word in ("the", "zebra")}
    assert len(number["the"]) == 1
    assert len(number["zebra"]) > 1
    weights = encode(encoder, [("x the",)])["x the",].weights
    count = sum(any(number["the"][0] in ids for ids in encoder.composer.ids(fields)) for fields in references)
    assert weights[-2] == pytest.approx(math.log(4 / (count + 1)))
    assert weights[0] == weights[-1] == 0
    seen = {i for fields in references for ids in encoder.composer.ids(fields) for i in ids}
    rare = [i not in seen for i in encoder.composer.whole("zebra")]
    assert any(rare)
    for unseen, weight in zip(rare, encode(encoder, [("zebra",)])["zebra",].weights[1:-1], strict=True):
        assert not unseen or weight == pytest.approx(math.log(4))


def test_nan_is_refused(tmp_path: Path) -> None:
    model = small_model("bert", tiny_tokenizer("wordpiece")).bert
    model.embeddings.LayerNorm.bias.data[3] = float("nan")
    encoder = TokenEncoder(str(save(tmp_path, "bert", tiny_tokenizer("wordpiece"), model)), device="cpu")
    with pytest.raises(ServiceFailed, match=r"^hf:.* gave a vector that is not finite; use another token encoder\.$"):
        encode(encoder, [("a",)])


def test_fingerprints(bert_folder: Path, roberta_folder: Path) -> None:
    def prints(folder: Path, **options: Any) -> str:
        return TokenEncoder(str(folder), device="cpu", **options).fingerprint

    base = prints(bert_folder)
    assert base == prints(bert_folder)
    others = [prints(roberta_folder), prints(bert_folder, layer=1), prints(bert_folder, references=[("a",)])]
    assert len({base, *others}) == 4


@pytest.mark.parametrize("layer", [-1, 3])
def test_there_is_no_such_layer(bert_folder: Path, layer: int) -> None:
    with pytest.raises(BadInput, match=rf"has no layer {layer}; layers are 0 \(the input\) to 2\."):
        TokenEncoder(str(bert_folder), layer=layer, device="cpu")


def test_pocket() -> None:
    items: list[Fields] = [("The Zzxqj film",), ("zzxqj",), ("",), ("good", "film")]
    found = encode(PocketTokenEncoder(), items)
    lexicon = pocket.lexicon()
    width = lexicon.vectors.shape[1]
    for item, words in zip(items, [["the", "zzxqj", "film"], ["zzxqj"], [], ["good", "film"]], strict=True):
        vectors, weights = found[item]
        assert vectors.shape == (len(words), width)
        assert vectors.dtype == np.float32
        assert np.array_equal(weights, np.ones(len(words), np.float32))
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        for word, vector in zip(words, vectors, strict=True):
            if word in lexicon.index:
                assert np.allclose(vector, lexicon.vectors[lexicon.index[word]], atol=0.01)
    assert np.array_equal(found["The Zzxqj film",].vectors[1], found["zzxqj",].vectors[0])


def test_pocket_bert_score() -> None:
    texts = ["a great film", "a terrific film", "a zzxqj film", "a qqkpf film", "the committee met on tuesday"]
    found = encode(PocketTokenEncoder(), [(text,) for text in texts])
    great, terrific, odd, other, apart = (found[text,] for text in texts)
    assert bert_score(odd, odd) == pytest.approx((1, 1, 1), abs=1e-6)
    assert bert_score(great, great).f1 > bert_score(great, terrific).f1 > bert_score(great, apart).f1
    assert bert_score(odd, other).f1 < 0.9


def test_drawn_vectors_hardly_match() -> None:
    words = [f"word{number}" for number in range(200)]
    table = np.array([drawn(word, 64) for word in words])
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    cosines = table @ table.T - np.eye(len(words))
    assert abs(cosines).max() < 0.6
    assert abs(cosines.mean()) < 0.01
    # The very numbers: they must be the same on every machine and in every release.
    assert drawn("zzxqj", 4).tolist() == [110.5, 15.5, -18.5, -56.5]
    assert drawn("half \ud800", 4).shape == (4,)


def test_load(bert_folder: Path) -> None:
    assert isinstance(load_token_encoder("pocket"), PocketTokenEncoder)
    found = load_token_encoder(f"hf:{bert_folder}", "cpu", layer=1)
    assert isinstance(found, TokenEncoder)
    assert found.fingerprint == TokenEncoder(str(bert_folder), layer=1, device="cpu").fingerprint
    with pytest.raises(BadInput, match="Unknown token encoder 'use'; use pocket or hf:PATH_OR_ID"):
        load_token_encoder("use")
    with pytest.raises(BadInput, match="has no layers, so there is no layer 3; use hf:PATH_OR_ID"):
        load_token_encoder("pocket", layer=3)
