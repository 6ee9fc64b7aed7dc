"""Sentence encoders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from mohs.errors import BadInput, ServiceFailed
from mohs.models.encoder import HfEncoder, PocketEncoder, Vector, cosine, load_encoder, unit
from mohs.text import pocket
from tests.models.conftest import corpus, save, small_model, tiny_tokenizer, transformers

TEXTS = ["A good film.", "good", "very long " * 60, "Hello, world", *corpus()[:6], ""]


def encode(encoder: PocketEncoder | HfEncoder, texts: list[str]) -> dict[str, Vector]:
    found: dict[str, Vector] = {}
    for batch in encoder.plan(list(texts)):
        found.update(zip(batch, encoder.collect(encoder.launch(batch)), strict=True))
    return found


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(f"{request.param}_folder")
    return found


def plainly(folder: Path, text: str) -> np.ndarray:
    """One text, no padding: the mean of the last states, at unit length."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer([text], truncation=True, max_length=64, return_tensors="pt")
    with torch.inference_mode():
        mean = model(**inputs).last_hidden_state[0].mean(0).numpy()
    return np.asarray(mean / np.linalg.norm(mean))


def test_mean_pooling(folder: Path) -> None:
    encoder = HfEncoder(str(folder), device="cpu", batch=4)
    found = encode(encoder, TEXTS)
    for text in TEXTS:
        assert np.linalg.norm(found[text]) == pytest.approx(1, abs=1e-6)
        assert np.allclose(found[text], plainly(folder, text), atol=1e-5)
    assert abs(cosine(found["good"], found["Hello, world"])) < 0.999


def test_batches(folder: Path) -> None:
    encoder = HfEncoder(str(folder), device="cpu", batch=4)
    sizes = [[len(text) for text in batch] for batch in encoder.plan(list(TEXTS))]
    assert [len(row) for row in sizes] == [4, 4, 3]
    assert [size for row in sizes for size in row] == sorted(map(len, TEXTS), reverse=True)


def test_nan_is_refused(tmp_path: Path) -> None:
    model = small_model("bert", tiny_tokenizer("wordpiece")).bert
    model.embeddings.LayerNorm.bias.data[3] = float("nan")
    encoder = HfEncoder(str(save(tmp_path, "bert", tiny_tokenizer("wordpiece"), model)), device="cpu")
    with pytest.raises(ServiceFailed, match="gave a vector that is not finite; use another encoder"):
        encode(encoder, ["a"])


def test_half_precision_weights(tmp_path: Path) -> None:
    model = small_model("bert", tiny_tokenizer("wordpiece")).bert
    save(tmp_path / "full", "bert", tiny_tokenizer("wordpiece"), model)
    save(tmp_path / "half", "bert", tiny_tokenizer("wordpiece"), model.half())
    encoders = [HfEncoder(str(tmp_path / name), device="cpu") for name in ("full", "half")]
    assert {encoder._model.dtype for encoder in encoders} == {torch.float32}
    full, half = (encode(encoder, ["good"])["good"] for encoder in encoders)
    assert full != half
    assert np.allclose(full, half, atol=1e-2)
    assert np.linalg.norm(half) == pytest.approx(1, abs=1e-6)


def test_fingerprints(bert_folder: Path, roberta_folder: Path) -> None:
    one, again, other = (HfEncoder(str(f), device="cpu") for f in (bert_folder, bert_folder, roberta_folder))
    assert one.fingerprint == again.fingerprint != other.fingerprint


def test_pocket() -> None:
    encoder = PocketEncoder()
    found = encode(encoder, ["Good film", "film good", "good", "the", "", "zzxqj"])
    lexicon = pocket.lexicon()
    vectors = [lexicon.vectors[lexicon.index[word]].astype(np.float64) for word in ("good", "film")]
    mean = vectors[0] + vectors[1]
    assert np.allclose(found["Good film"], mean / np.linalg.norm(mean), atol=1e-5)
    assert found["Good film"] == found["film good"]
    for text in ("Good film", "good", "the"):
        assert np.linalg.norm(found[text]) == pytest.approx(1, abs=1e-6)
    assert not any(found[""])
    assert not any(found["zzxqj"])


def test_pocket_gives_function_words_a_quarter() -> None:
    lexicon = pocket.lexicon()
    mean = lexicon.vectors[lexicon.index["the"]] / 4 + lexicon.vectors[lexicon.index["film"]]
    assert np.allclose(encode(PocketEncoder(), ["the film"])["the film"], unit(mean), atol=1e-6)


def test_cosine() -> None:
    one, other = unit(np.array([1.0, 1.0])), unit(np.array([1.0, 0.0]))
    assert cosine(one, other) == pytest.approx(0.5**0.5)
    assert cosine(one, one) == 1.0
    assert cosine((0.0, 0.0), (0.0, 0.0)) == 1.0
    assert cosine((0.0, 0.0), one) == 0.0


def test_load(bert_folder: Path) -> None:
    assert isinstance(load_encoder("pocket"), PocketEncoder)
    assert isinstance(load_encoder(f"hf:{bert_folder}", "cpu"), HfEncoder)
    with pytest.raises(BadInput, match="Unknown encoder 'word2vec'; use pocket or hf:PATH_OR_ID"):
        load_encoder("word2vec")
    with pytest.raises(BadInput, match=r"There is no folder \./none"):
        load_encoder("hf:./none", "cpu")
