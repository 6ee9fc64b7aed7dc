"""The pocket victim."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from mohs.errors import BadInput
from mohs.models.bag import BagVictim, accuracy, pocket_victim, train_bag
from mohs.models.own import load_own
from mohs.text import Example
from mohs.text.dataset import Dataset
from mohs.text.questions import Labelled

NAMES = ["good", "bad", "film", "dull", "fun", "a", "filler", "the", "end"]
SMALL = {"good": 1.5, "bad": -2.0, "film": 0.25, "dull": -0.5, "fun": 1.0}


def small(**changed: float) -> BagVictim:
    return BagVictim("small", {**SMALL, **changed}, 0.125, ("negative", "positive"))


def log_odds(victim: BagVictim, *fields: str) -> float:
    ((negative, positive),) = victim.collect([fields])
    return math.log(positive / negative)


@pytest.fixture(scope="module")
def trained() -> BagVictim:
    return train_bag(Dataset("pocket:train"))


def test_definition() -> None:
    assert log_odds(small(), "Good, GOOD film!") == pytest.approx(0.125 + (1.5 + 1.5 + 0.25) / math.sqrt(3))
    assert log_odds(small(), "nothing known") == pytest.approx(0.125)
    assert log_odds(small(), "") == pytest.approx(0.125)
    assert log_odds(small(), "good", "bad") == pytest.approx(0.125 - 0.5 / math.sqrt(2))


def plain(victim: BagVictim, fields: tuple[str, ...]) -> float:
    """The probability of the second class, with all words added up at once."""
    words = re.findall(r"[a-z]+", " ".join(fields).lower())
    total = math.fsum(victim.word_scores.get(word, 0.0) for word in words)
    logit = victim.bias + total / math.sqrt(max(len(words), 1))
    return 1 / (1 + math.exp(-max(min(logit, 700.0), -700.0)))


@given(
    st.dictionaries(st.sampled_from(NAMES), st.floats(-3, 3) | st.floats(-1e-300, 1e-300), max_size=9),
    st.floats(1e10, 1e300),
    st.lists(st.lists(st.sampled_from([*NAMES, "GOOD", "Bad"]), max_size=60), min_size=1, max_size=30),
    st.data(),
)
def test_long_texts_add_up_to_the_last_bit(
    scores: dict[str, float], far: float, sentences: list[list[str]], data: st.DataObject
) -> None:
    """What is kept a sentence is exact, whatever the scores: the sum is rounded once, however it is put together."""
    victim = BagVictim("any", {**scores, "good": far, "bad": -far}, 0.125, ("negative", "positive"))
    found = Counter(word.lower() for words in sentences for word in words)
    sentences = [
        *sentences,
        ["good"] * found["bad"],
        ["bad"] * found["good"],
    ]  # what is far out goes, what is near stays
    parts = [" ".join([*words, "the end"]) + data.draw(st.sampled_from([". ", "! ", ". ", " "])) for words in sentences]
    fill = "filler " * 60  # long enough to be taken sentence by sentence
    whole, place = "".join(parts) + fill, data.draw(st.integers(0, len(parts)))
    texts = [(whole,), ("".join(parts[:place]), "".join(parts[place:]) + fill), (f"{whole}good",), (whole,)]
    assert [positive for _, positive in victim.collect(texts)] == [plain(victim, text) for text in texts]


def test_long_texts_that_cancel_out() -> None:
    victim = small(good=1e300, bad=-1e300, film=5e-324, fun=0.1)
    text = ("good film. " * 40 + "bad. " * 40 + "fun. " * 3,)
    ((_, positive),) = victim.collect([text])
    assert positive == plain(victim, text) != plain(victim, ("",))
    assert plain(small(good=0.0, bad=0.0, film=0.0, fun=0.1), text) == positive


def test_sentences_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohs.models.bag._MOST_SENTENCES", 8)
    victim, fresh = small(), small()
    texts: list[tuple[str, ...]] = [("Good film. " * 50 + f"bad film number {i}. " + "dull " * 250,) for i in range(30)]
    assert victim.collect(texts) == [fresh.collect([text])[0] for text in reversed(texts)][::-1]
    assert 0 < len(victim._weighed) <= 8
    assert all(len(sentence) < 1000 for sentence in victim._weighed)
    assert pickle.loads(pickle.dumps(victim)).collect(texts) == victim.collect(texts)


def test_far_out() -> None:
    assert small(good=1e6).collect([("good",)]) == [(0.0, 1.0)]
    assert small(good=-1e6).collect([("good",)])[0] == pytest.approx((1.0, 0.0))


@given(
    st.lists(st.sampled_from([*SMALL, "unknown"]), min_size=1, max_size=30),
    st.data(),
    st.sampled_from([*SMALL, "unknown"]),
)
def test_additive(words: list[str], data: st.DataObject, new: str) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:place], new, *words[place + 1 :]]
    difference = log_odds(small(), " ".join(changed)) - log_odds(small(), " ".join(words))
    wanted = (SMALL.get(new, 0.0) - SMALL.get(words[place], 0.0)) / math.sqrt(len(words))
    assert difference == pytest.approx(wanted, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from([*SMALL, "x"])).map(" ".join), min_size=1, max_size=8))
def test_companions_do_not_matter(texts: list[str]) -> None:
    victim = small()
    assert victim.exact
    assert victim.collect([(text,) for text in texts]) == [victim.collect([(text,)])[0] for text in texts]


def test_training_is_deterministic(trained: BagVictim) -> None:
    again = train_bag(Dataset("pocket:train"))
    assert again.fingerprint == trained.fingerprint
    assert again.word_scores == trained.word_scores


def test_shipped_victim(trained: BagVictim) -> None:
    shipped = pocket_victim()
    texts = [example.text.fields for example in Dataset("pocket")]
    assert set(shipped.word_scores) == set(trained.word_scores)
    assert np.abs(np.array(shipped.collect(texts)) - np.array(trained.collect(texts))).max() < 1e-6


def test_accuracy(trained: BagVictim) -> None:
    right, of = accuracy(pocket_victim(), Dataset("pocket"))
    assert of >= 100
    assert right / of >= 0.85
    flipped = BagVictim("f", {w: -s for w, s in trained.word_scores.items()}, -trained.bias, trained.labels)
    assert accuracy(flipped, Dataset("pocket"))[0] <= of - right


def test_save_and_load(tmp_path: Path) -> None:
    victim = small()
    victim.save(tmp_path / "m", {"note": "a test"})
    back = load_own(str(tmp_path / "m"))
    assert back.fingerprint == victim.fingerprint
    assert back.labels == victim.labels
    assert back.name == f"mohs:{tmp_path / 'm'}"
    assert back.collect([("good bad film",)]) == victim.collect([("good bad film",)])
    assert json.loads((tmp_path / "m/config.json").read_text())["note"] == "a test"
    assert small(good=1.25).fingerprint != victim.fingerprint


def test_no_words(tmp_path: Path) -> None:
    empty = BagVictim("empty", {}, 0.5, ("a", "b"))
    empty.save(tmp_path, {})
    assert load_own(str(tmp_path)).fingerprint == empty.fingerprint


def test_broken_folders(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no readable config\.json"):
        load_own(str(tmp_path / "none"))

    def damaged(name: str, file: str, data: bytes | None) -> str:
        folder = tmp_path / name
        small().save(folder, {})
        if data is None:
            (folder / file).unlink()
        else:
            (folder / file).write_bytes(data)
        return str(folder)

    for name, data in (("junk", b"junk"), ("list", b"[]"), ("other", b'{"architecture": "x"}')):
        with pytest.raises(BadInput, match=r"no readable config\.json|unknown architecture"):
            load_own(damaged(f"config-{name}", "config.json", data))
    config = {"architecture": "pocket-bag-of-words"}
    for labels in (["a"], ["a", "b", "c"], 3):
        data = json.dumps({**config, "labels": labels}).encode()
        with pytest.raises(BadInput, match="not a complete model folder"):
            load_own(damaged(f"labels-{labels}", "config.json", data))
    with pytest.raises(BadInput, match="not a complete model folder"):
        load_own(damaged("labels", "config.json", json.dumps(config).encode()))
    for number, data_or_none in enumerate((None, b"junk", b"")):
        with pytest.raises(BadInput, match=r"not a complete model folder .*; train it again"):
            load_own(damaged(f"weights-{number}", "model.safetensors", data_or_none))
    for number, data_or_none in enumerate((None, b"one\nword\nmissing", b"\xff")):
        with pytest.raises(BadInput, match="not a complete model folder"):
            load_own(damaged(f"words-{number}", "words.txt", data_or_none))


def test_not_finite(tmp_path: Path) -> None:
    small().save(tmp_path, {})
    values = np.array([0.0, 1.0, float("nan"), 0.0, 0.0])
    save_file({"scores": values, "bias": np.zeros(1)}, tmp_path / "model.safetensors")
    with pytest.raises(BadInput, match="not finite"):
        load_own(str(tmp_path))


@pytest.mark.parametrize("labels", [[], [0], [0, 1, 2], [1, 2]])
def test_training_needs_two_classes(labels: list[int]) -> None:
    with pytest.raises(BadInput, match="labelled 0 and 1"):
        train_bag([Example.of("good film", label, id=str(label)) for label in labels])


def test_the_inside_of_a_bag_agrees_with_finite_differences() -> None:
    victim = BagVictim("toy", {"good": 1.5, "bad": -2.0, "film": 0.1}, 0.2, ("no", "yes"))
    inside: Any = victim.gradients()
    fields = ("a Good, bad film",)
    for label in (0, 1):
        (slope,) = inside.collect(inside.launch([Labelled(fields, label)]))
        assert slope.log_prob == pytest.approx(math.log(victim.collect([fields])[0][label]))
        assert [fields[0][start:end] for _, start, end in slope.spans] == ["a", "Good", "bad", "film"]
        assert slope.embedding[:, 0].tolist() == pytest.approx([0, 1.5, -2, 0.1])
        moved = BagVictim("toy", {**victim.word_scores, "good": 1.5 + 1e-5}, 0.2, ("no", "yes"))
        change = math.log(moved.collect([fields])[0][label]) - math.log(victim.collect([fields])[0][label])
        assert slope.gradient[1, 0] == pytest.approx(change / 1e-5, rel=1e-3)
    known, unknown = inside.vectors(["GOOD", "zzz"])
    assert known is not None
    assert known.tolist() == [1.5]
    assert unknown is None
