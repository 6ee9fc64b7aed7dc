"""`sklearn:PATH`."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mohs.errors import BadInput, VictimError
from mohs.models.sklearn import load_sklearn

TEXTS = ["good film", "great fun", "bad film", "awful bore", "good fun", "bad bore"]
LABELS = ["pos", "pos", "neg", "neg", "pos", "neg"]


def saved(folder: Path, last: Any, labels: list[str] | None = None) -> tuple[Path, Any]:
    model = make_pipeline(TfidfVectorizer(), last).fit(TEXTS, labels or LABELS)
    joblib.dump(model, folder / "model.joblib")
    return folder / "model.joblib", model


def test_probabilities(tmp_path: Path) -> None:
    path, model = saved(tmp_path, LogisticRegression())
    victim = load_sklearn(str(path), trust_pickle=True)
    assert victim.labels == ("neg", "pos")
    assert not victim.hard
    assert victim.collect([("good film",), ("bore",)]) == list(map(tuple, model.predict_proba(["good film", "bore"])))


def test_labels_only(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, LinearSVC())
    victim = load_sklearn(str(path), trust_pickle=True)
    assert victim.hard
    assert victim.collect([("good fun",), ("awful bore",)]) == [(0, 1), (1, 0)]


def test_without_classes(tmp_path: Path) -> None:
    path, model = saved(tmp_path, KMeans(2, n_init=1, random_state=0))
    with pytest.raises(BadInput, match="gives labels only; name its classes"):
        load_sklearn(str(path), trust_pickle=True)
    victim = load_sklearn(str(path), trust_pickle=True, labels=["a", "b"])
    number = int(model.predict(["good film"])[0])
    assert victim.collect([("good film",)]) == [(1 - number, number)]


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_trust(tmp_path: Path) -> None:
    path = tmp_path / "trap.pkl"
    path.write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(BadInput, match="if you trust this file, add --trust-pickle"):
        load_sklearn(str(path))
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(BadInput, match="neither predict_proba nor predict"):
        load_sklearn(str(path), trust_pickle=True)
    assert (tmp_path / "sprung").exists()  # the trap works: trust is what kept it shut


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        load_sklearn(str(tmp_path / "none"), trust_pickle=True)
    (tmp_path / "junk").write_bytes(b"junk")
    with pytest.raises(BadInput, match="cannot be opened"):
        load_sklearn(str(tmp_path / "junk"), trust_pickle=True)
    path, _ = saved(tmp_path, LogisticRegression())
    with pytest.raises(BadInput, match=r"has 2 classes \(neg, pos\), but --labels names 3"):
        load_sklearn(str(path), trust_pickle=True, labels=["a", "b", "c"])


def test_pairs_are_one_sentence(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, LogisticRegression())
    with pytest.raises(VictimError, match=r"^sklearn:.* raised AttributeError"):
        load_sklearn(str(path), trust_pickle=True).collect([("a", "b")])


def test_fingerprint_is_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, _ = saved(tmp_path, LogisticRegression())
    two, _ = saved(tmp_path / "other", LogisticRegression(C=2.0))
    copy = tmp_path / "copy"
    copy.write_bytes(one.read_bytes())
    prints = [load_sklearn(str(path), trust_pickle=True).fingerprint for path in (one, two, copy)]
    assert prints[0] == prints[2] != prints[1]
