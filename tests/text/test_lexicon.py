from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest

from mohs.text.lexicon import ADJECTIVE, ADVERB, NOUN, VERB, Lexicon


@pytest.fixture
def small(tmp_path: Path) -> Lexicon:
    codes = np.array([[127, 0], [102, 76], [0, 127], [-127, 0]], np.int8)
    words = ["good", "great", "café", "bad"]
    content = io.BytesIO()
    np.savez(
        content,
        name=np.frombuffer(b"small", np.uint8),
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        codes=codes,
        scales=1 / np.linalg.norm(codes.astype(np.float32), axis=1),
        pos=np.array([NOUN | ADJECTIVE, ADJECTIVE, NOUN, ADVERB], np.uint8),
        counts=np.array([1, 2, 1, 0]),
        neighbours=np.array([1, 0, 2, 1], np.uint16),
        cosines=np.array([204, 204, 153, 153], np.uint8),
    )
    file = tmp_path / "small.npz"
    file.write_bytes(content.getvalue())
    return Lexicon.read(file)


def test_reading_gives_what_was_written(small: Lexicon) -> None:
    assert small.name == "small"
    assert small.words == ("good", "great", "café", "bad")
    assert small.index["café"] == 2
    assert small.vectors.dtype == np.float32
    assert np.linalg.norm(small.vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_neighbours_are_closest_first(small: Lexicon) -> None:
    near = small.near("great", 5, 0.0)
    assert [word for word, _ in near] == ["good", "café"]
    assert [cosine for _, cosine in near] == pytest.approx([0.8, 0.6])
    assert [word for word, _ in small.near("good", 5, 0.0)] == ["great"]
    assert [word for word, _ in small.near("café", 5, 0.0)] == ["great"]
    assert small.near("bad", 5, 0.0) == []


def test_neighbours_are_limited_by_number_and_cosine(small: Lexicon) -> None:
    assert [word for word, _ in small.near("great", 1, 0.0)] == ["good"]
    assert small.near("great", 0, 0.0) == []
    assert [word for word, _ in small.near("great", 5, 0.7)] == ["good"]
    assert small.near("great", 5, 0.9) == []
    assert small.near("unknown", 5, 0.0) == []
    assert small.near("Great", 5, 0.0) == []


def test_cosine_of_two_words(small: Lexicon) -> None:
    assert small.cosine("good", "great") == pytest.approx(0.8, abs=0.01)
    assert small.cosine("good", "bad") == pytest.approx(-1)
    assert small.cosine("good", "café") == pytest.approx(0)
    assert math.isnan(small.cosine("good", "unknown"))
    assert math.isnan(small.cosine("unknown", "good"))


def test_parts_of_speech_are_bits(small: Lexicon) -> None:
    assert small.parts_of_speech("good") == NOUN | ADJECTIVE
    assert small.parts_of_speech("bad") == ADVERB
    assert small.parts_of_speech("unknown") == 0
    assert len({NOUN, VERB, ADJECTIVE, ADVERB}) == 4


def test_mean_skips_unknown_words(small: Lexicon) -> None:
    assert small.mean(["good", "café", "unknown"]) == pytest.approx([0.5, 0.5])
    assert small.mean(["good", "good", "café"]) == pytest.approx([2 / 3, 1 / 3])
    assert small.mean(["unknown"]).tolist() == [0, 0]
    assert small.mean([]).dtype == np.float32
