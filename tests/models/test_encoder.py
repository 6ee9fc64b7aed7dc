"""Sentence encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mohs.errors import BadInput, ServiceFailed
from mohs.models.encoder import HfEncoder, PocketEncoder, checked, load_encoder, unit
from mohs.text import pocket
from mohs.text.questions import Vector
from tests.models.conftest import corpus, save, small_model, tiny_tokenizer, transformers

TEXTS = ["A good film.", "good", "very long " * 60, "Hello, world", *corpus()[:6], ""]


def encode(encoder: PocketEncoder | HfEncoder, texts: list[str]) -> dict[str, Vector]:
    found: dict[str, Vector] = {}
    for batch in encoder.plan([(text,) for text in texts]):
        ticket: Any = encoder.launch(batch)
        found.update((text, answer) for (text,), answer in zip(batch, encoder.collect(ticket), strict=True))
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
    encoder = HfEncoder(str(folder), device="cpu")
    found = encode(encoder, TEXTS)
    for text in TEXTS:
        assert np.linalg.norm(found[text]) == pytest.approx(1, abs=1e-6)
        assert np.allclose(found[text], plainly(folder, text), atol=1e-5)
    assert abs(float(found["good"] @ found["Hello, world"])) < 0.999


def test_batches_hold_one_length(folder: Path) -> None:
    encoder = HfEncoder(str(folder), device="cpu", tokens=64)
    for batch in encoder.plan([(text,) for text in TEXTS]):
        assert len({len(encoder._rows[item][0]) for item in batch}) == 1


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
    assert not np.array_equal(full, half)
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
    assert np.array_equal(found["Good film"], found["film good"])
    for text in ("Good film", "good", "the"):
        assert np.linalg.norm(found[text]) == pytest.approx(1, abs=1e-6)
    assert not found[""].any()
    assert not found["zzxqj"].any()


def test_pocket_gives_function_words_a_quarter() -> None:
    lexicon = pocket.lexicon()
    mean = lexicon.vectors[lexicon.index["the"]] / 4 + lexicon.vectors[lexicon.index["film"]]
    assert np.allclose(encode(PocketEncoder(), ["the film"])["the film"], unit(mean), atol=1e-6)


def test_checked() -> None:
    good = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(checked("e", good, 2), good)
    assert np.array_equal(checked("e", good.tolist(), 2, 3), good)
    broken: list[tuple[Any, str]] = [
        (good[:1], r"e gave numbers of shape \(1, 3\) for 2 texts; one row per text is expected\."),
        (good[0], r"e gave numbers of shape \(3,\) for 2 texts; one row per text is expected\."),
        (good[:, :2], r"e gave vectors of 2 numbers; 3 are expected\."),
        (good * np.nan, r"e gave a vector that is not finite; use another encoder\."),
        (good - np.inf, r"e gave a vector that is not finite; use another encoder\."),
        ([["x", "y", "z"]] * 2, r"e gave something that is not a table of numbers \(the type is <U1\)\."),
        (None, r"e gave something that is not a table of numbers \(the type is object\)\."),
    ]
    for answers, message in broken:
        with pytest.raises(ServiceFailed, match=f"^{message}$"):
            checked("e", answers, 2, 3)


def test_load(bert_folder: Path) -> None:
    assert isinstance(load_encoder("pocket"), PocketEncoder)
    assert isinstance(load_encoder(f"hf:{bert_folder}", "cpu"), HfEncoder)
    with pytest.raises(BadInput, match="Unknown encoder 'word2vec'; use pocket, use or hf:PATH_OR_ID"):
        load_encoder("word2vec")
    with pytest.raises(BadInput, match=r"There is no folder \./none"):
        load_encoder("hf:./none", "cpu")
