"""From what the user typed to a victim."""

from __future__ import annotations

from pathlib import Path

import joblib
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mohs.errors import BadInput
from mohs.models.bag import BagVictim, pocket_victim
from mohs.models.function import FunctionVictim
from mohs.models.hf import HfVictim
from mohs.models.http import HttpVictim
from mohs.models.load import load_victim


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(["good", "bad"], [1, 0])
    joblib.dump(model, tmp_path / "model.pkl")
    return tmp_path / "model.pkl"


def test_every_kind(bert_folder: Path, pipeline: Path, tmp_path: Path) -> None:
    pocket_victim().save(tmp_path / "own", {})
    assert load_victim("pocket") is pocket_victim()
    assert isinstance(load_victim(f"mohs:{tmp_path / 'own'}"), BagVictim)
    hf = load_victim(f"hf:{bert_folder}", device="cpu", labels=["a", "b", "c"], options={"tokens": "64"})
    assert isinstance(hf, HfVictim)
    assert hf.labels == ("a", "b", "c")
    assert hf._tokens == 64
    function = load_victim("python:builtins:len", labels=["a", "b"], options={"output": "labels", "batch": "5"})
    assert isinstance(function, FunctionVictim)
    assert function.hard
    assert function._batch == 5
    assert load_victim(f"sklearn:{pipeline}", trust_pickle=True, options={"batch": "9"}).labels == ("0", "1")
    web = load_victim("https://host/path", options={"timeout": "2.5", "output": "logits", "header": "A: b"})
    assert isinstance(web, HttpVictim)
    assert web.name == "https://host/path"
    assert web.output == "logits"
    assert web._client.timeout.read == 2.5


@pytest.mark.parametrize("spec", ["", "bert", "hf:", "python:", "sklearn:", "mohs:", "ftp://host", "http:", "Pocket"])
def test_unknown_kinds(spec: str) -> None:
    with pytest.raises(BadInput, match=f"Unknown victim '{spec}'; use one of pocket, hf:PATH_OR_ID"):
        load_victim(spec)


def test_trust_is_asked_for(pipeline: Path) -> None:
    with pytest.raises(BadInput, match="add --trust-pickle"):
        load_victim(f"sklearn:{pipeline}")


@pytest.mark.parametrize(
    ("spec", "options", "sentence"),
    [
        ("pocket", {"batch": "3"}, "pocket takes no victim options, but batch was given."),
        ("mohs:x", {"a": "3", "b": "4"}, "mohs:x takes no victim options, but a, b was given."),
        (
            "python:builtins:len",
            {"size": "3"},
            "python:builtins:len has no option 'size'; it takes output, batch, rejects.",
        ),
        ("hf:./x", {"labels": "3"}, "hf:./x has no option 'labels'; it takes dtype, tokens."),
        ("hf:./x", {"device": "cpu"}, "hf:./x has no option 'device'; it takes dtype, tokens."),
        ("sklearn:x", {"trust_pickle": "1"}, "sklearn:x has no option 'trust_pickle'; it takes batch."),
        ("http://h", {"transport": "x"}, "http://h has no option 'transport'; it takes output, batch, concurrency, "),
        ("python:builtins:len", {"batch": "many"}, "Victim option batch=many does not fit; the default is 256."),
        ("python:builtins:len", {"batch": "0"}, "Victim option batch=0 does not fit; it must be at least 1."),
        ("sklearn:x", {"batch": "2.5"}, "Victim option batch=2.5 does not fit; the default is 1024."),
        ("http://h", {"timeout": "soon"}, "Victim option timeout=soon does not fit; the default is 30.0."),
        ("http://h", {"rate": "nan"}, "Victim option rate=nan does not fit; it must be at least 0."),
        ("http://h", {"output": "x"}, "Unknown output 'x'; use probabilities, logits, labels."),
        ("python:builtins:len", {"output": "x"}, "Unknown output 'x'; use probabilities, logits, labels."),
        ("hf:./x", {"dtype": "fp8"}, "Unknown dtype 'fp8'; use fp32 or bf16."),
        ("hf:./x", {"tokens": "-1"}, "Victim option tokens=-1 does not fit; it must be at least 0."),
    ],
)
def test_options(spec: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_victim(spec, options=options, device="cpu")
    assert str(caught.value).startswith(sentence)
