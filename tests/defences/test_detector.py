"""Victims that reject what a detector finds suspicious."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mohs
from mohs.defences import Fgws, Rde, Rejecting, defended, rejecting
from mohs.defences.detector import threshold_of, with_rejection
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.function import FunctionVictim
from mohs.models.load import load_victim
from mohs.models.victim import Fields, answers_of, traits_of
from mohs.records import Outcome
from mohs.tasks.services import load_books
from mohs.text import Example
from mohs.text.dataset import Dataset, examples_from
from mohs.text.pocket import reviews
from tests.before.cases import ROWS
from tests.contracts.test_wrapper import VERBS, records
from tests.models.conftest import bert_folder  # noqa: F401
from tests.models.test_neural import saved, victim_of
from tests.toys import bundled

TRAIN = "pocket:train"
BOOKS = {"vectors": bundled()["vectors"]}
SMALL = {"dims": 3, "sample": 200}
FEW: list[dict[str, Any]] = [row for row, _ in zip(reviews("train"), range(300), strict=False)]
KNOWN = "good film the dull fun bad".split()  # to the toy networks, which have three classes
THREE = [
    Example.of(" ".join(Random(n).choices(KNOWN, k=3 + n % 8)), Random(n).randrange(3), id=str(n)) for n in range(300)
]
TEXTS: list[Fields] = [("A good film with a fine story.",), ("It was awful.",), ("A dull, dire flick.",)]


def of(spec: str, load: Any = load_victim) -> Any:
    return defended(spec, load, load_books)


def rde(victim: Any = None, **more: Any) -> Rejecting:
    return rejecting(victim or victim_of("cnn"), Rde(**SMALL), THREE, **more)


def fgws(**more: Any) -> Rejecting:
    return rejecting(pocket_victim(), Fgws(books=BOOKS), examples_from(FEW), **more)


@given(
    st.lists(st.lists(st.floats(0.001, 1), min_size=3, max_size=3), min_size=1, max_size=5),
    st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1e-12, -1e-12, 5e-324]), min_size=5, max_size=5),
)
def test_rejected_if_and_only_if_above_the_threshold(rows: list[list[float]], above: list[float]) -> None:
    table = np.array(rows)
    table /= table.sum(1, keepdims=True)
    z = np.array(above[: len(rows)])
    found = with_rejection(table, z)
    np.testing.assert_allclose(found.sum(1), 1)
    for row, scores, over in zip(table.tolist(), found.tolist(), z.tolist(), strict=True):
        best = scores.index(max(scores))
        assert (best == 3) == (over > 0)
        if over <= 0:
            assert best == row.index(max(row))
        np.testing.assert_allclose(np.array(scores[:3]) / (1 - scores[3]), row)


def test_less_suspicion_always_shows_in_the_scores() -> None:
    """Also far beyond the threshold, and in the six decimals that searches compare."""
    table = np.array([[0.7, 0.3]] * 5)
    wrong = with_rejection(table, np.array([200.0, 100, 3, 0.5, -2]))[:, 1]
    assert (np.diff(np.round(wrong, 6)) > 0).all()


@given(st.integers(1, 60), st.floats(0.02, 0.98), st.integers(0, 3))
def test_a_further_text_passes_the_threshold_as_rarely_as_asked(n: int, rate: float, seed: int) -> None:
    """Of n + 1 values each is left out once: at most a share `rate` of them exceeds the threshold of the others."""
    values = np.random.default_rng(seed).integers(0, 12, n + 1).astype(float)
    if n < math.ceil((1 - rate) / rate - 1e-9):
        with pytest.raises(BadInput, match=f"needs at least .* held-out texts, but there are {n}"):
            threshold_of(values[:n], rate)
        return
    above = sum(values[i] > threshold_of(np.delete(values, i), rate) for i in range(n + 1))
    assert above <= rate * (n + 1) + 1e-6


@pytest.mark.parametrize("make", [rde, fgws], ids=["rde", "fgws"])
def test_a_detector_is_a_victim_that_rejects(make: Any) -> None:
    victim = make()
    traits = traits_of(victim)
    assert (traits.rejects, traits.inside, traits.exact, traits.hard) == (True, None, False, False)
    answers, suspicions = victim.judged(TEXTS)
    found = answers_of(victim, TEXTS)
    for text, inside, suspicion in zip(TEXTS, answers.tolist(), suspicions.tolist(), strict=True):
        assert len(found[text]) == len(inside) + 1
        assert (np.argmax(found[text]) == len(inside)) == (suspicion > victim.fit.threshold)
        alone = answers_of(victim, [text])[text]
        assert alone == pytest.approx(found[text], abs=1e-5)
    held = victim.fit.arrays["held"]
    assert len(held) == 60
    assert (held > victim.fit.threshold).mean() <= 0.1


@pytest.mark.parametrize("make", [rde, fgws], ids=["rde", "fgws"])
def test_what_was_learnt_is_kept_and_is_the_same_if_learnt_anew(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make()
    monkeypatch.setattr("mohs.defences.detector.kept", lambda identity: None)
    again = make()
    monkeypatch.undo()
    assert {name: (value == first.fit.arrays[name]).all() for name, value in again.fit.arrays.items()} == dict.fromkeys(
        first.fit.arrays, True
    )

    def learn(*given: Any) -> Any:
        raise AssertionError("learnt again")

    for kind in (Rde, Fgws):
        monkeypatch.setattr(kind, "learnt", learn)
    other_rate = make(rate=0.3)
    assert other_rate.fit.threshold < first.fit.threshold or first.fit.threshold == 0
    assert other_rate.fingerprint != first.fingerprint == make().fingerprint
    for more in ({"seed": 1}, {"held": examples_from(FEW[:100])}):
        with pytest.raises(AssertionError, match="learnt again"):
            make(**more)


def test_a_damaged_file_is_learnt_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path))
    first = fgws()
    (kept,) = (tmp_path / "detectors").iterdir()
    for damage in (b"", b"nothing", kept.read_bytes()[:100]):
        kept.write_bytes(damage)
        assert answers_of(fgws(), TEXTS) == answers_of(first, TEXTS)
    assert [one.suffix for one in (tmp_path / "detectors").iterdir()] == [".npz"]
    monkeypatch.setenv("MOHS_CACHE", "/dev/null/nowhere")
    assert answers_of(fgws(), TEXTS) == answers_of(first, TEXTS)


def test_held_out_texts_are_not_learnt_from() -> None:
    from mohs.defences.fitting import Rows

    rows = Rows(examples_from(FEW), None, 0)
    texts, labels = rows.drawn(1000, 0)
    assert len(rows.held_texts()) == 60
    assert len(texts) == len(labels) == 240
    assert not set(texts) & set(rows.held_texts())
    other = Rows(examples_from(FEW), examples_from(FEW[:50]), 0)
    assert (len(other.drawn(1000, 0)[0]), len(other.held_texts())) == (300, 50)
    assert len(other.drawn(40, 3)[0]) == 40


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "radius"])
def test_every_verb_takes_a_victim_that_rejects(verb: str) -> None:
    rows = ROWS[:3]
    if verb == "attack":  # the verb's contract has a white-box attack among its attacks
        with mohs.attack(fgws(), rows, "textfooler", budget=100, **bundled()) as run:
            assert all(record.error is None for record in run.records())
    else:
        assert records(verb, fgws(), rows) == records(verb, fgws(), rows)


def test_a_radius_is_about_labels_only() -> None:
    with pytest.raises(BadInput, match="can reject texts, but a radius is about labels only"):
        mohs.radius(fgws(), ROWS, max_r=1)


def test_records_and_report_agree() -> None:
    victim = rde(rate=0.3)
    run = mohs.attack(victim, [(text, 0) for (text,) in TEXTS] + ROWS, "textfooler", **bundled(), no_judge=True)
    for record in run.records():
        if record.outcome is Outcome.REJECTED:
            assert record.scores_before[-1] == max(record.scores_before)
        if record.outcome is Outcome.SUCCESS:
            answers, suspicions = victim.judged([record.perturbed or ()])
            assert answers.argmax() != record.label
            assert suspicions[0] <= victim.fit.threshold
    (summary,) = run.summary()
    assert summary.false_alarms is not None
    assert summary.false_alarms.total == 9
    assert "detected" in run._repr_html_()
    assert f"({summary.detected}/{summary.success.total})" in run._repr_html_()


def test_around_an_encoder(bert_folder: Path) -> None:  # noqa: F811
    victim = rde(mohs.HfVictim(str(bert_folder), device="cpu"))
    with mohs.attack(victim, ROWS[:2], "random", budget=20) as run:
        assert all(record.error is None for record in run.records())


def test_written(tmp_path: Path) -> None:
    folder = saved(tmp_path / "cnn")
    train = tmp_path / "train.jsonl"
    train.write_text("".join(json.dumps({"text": one.text.fields[0], "label": one.label}) + "\n" for one in THREE))
    found = of(f"rde(mohs:{folder}, train={train}, dims=2, sample=300, rate=0.2, key=3)")
    assert isinstance(found, Rejecting)
    assert found.name == f"rde(mohs:{folder}, train={train}, dims=2, sample=300, rate=0.2, key=3)"
    assert found.fit.rate == 0.2
    inside = of(f"fgws(ensemble(pocket, n=2), train={TRAIN}, delta=80)")
    assert inside.fit.detector == Fgws(delta=80)
    assert inside.name.startswith("fgws(ensemble(pocket, n=2), train")


def test_columns_of_the_training_data(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("body,stars\n" + "".join(f"a good film {n},positive\na bad film {n},0\n" for n in range(30)))
    found = of(f"fgws(pocket, train={path}, text_field=body, label_field=stars)")
    assert len(found.fit.arrays["held"]) == 12


def test_bad_input(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    three = tmp_path / "three.jsonl"
    three.write_text("".join(f'{{"text": "word {n}", "label": {n % 3}}}\n' for n in range(30)))
    few = tmp_path / "few.jsonl"
    few.write_text("".join(f'{{"text": "word {n}", "label": {n % 2}}}\n' for n in range(30)))
    (tmp_path / "cnn").mkdir()
    folder = saved(tmp_path / "net")
    messages = {
        "rde(pocket)": r"learns from training data; name it as in rde\(V, train=FILE\)",
        f"rde(pocket, train={TRAIN})": "pocket shows no features of its last layer",
        f"fgws(pocket, train={TRAIN}, rate=1)": "rate=1 is the share of false alarms; it must lie between 0 and 1",
        f"fgws(pocket, train={TRAIN}, rate=0)": "rate=0 is the share",
        f"fgws(pocket, train={TRAIN}, rate=nan)": "rate=nan is the share",
        f"fgws(pocket, train={TRAIN}, rate=often)": "rate=often, which does not fit; give a number",
        f"fgws(pocket, train={empty})": "has no examples; give at least one row",
        f"fgws(pocket, train={TRAIN}, held={empty})": "has no examples; give at least one row",
        f"fgws(pocket, train={three})": "label 2 is not a class",
        f"fgws(pocket, train={few})": "needs at least 9 held-out texts, but there are 6; give more training data",
        f"rde(mohs:{folder}, train={few})": "rde has 1. training texts of class 0 .* needs at least 200",
        f"fgws(pocket, train={tmp_path}/none.jsonl)": "none.jsonl",
        f"fgws(pocket, train={TRAIN}, size=3)": "has no setting 'size'; it takes delta, k, words, key, train",
        f"fgws(pocket, train={TRAIN}, wordnet=x)": "has wordnet=x, but it does not ask wordnet",
        f"rde(fgws(pocket, train={TRAIN}), train={TRAIN})": "rejects texts already",
        f"ensemble(fgws(pocket, train={TRAIN}))": "put the detector outside",
        f"mean(pocket, fgws(pocket, train={TRAIN}))": "put the detector outside",
    }
    for spec, message in messages.items():
        with pytest.raises(BadInput, match=message) as caught:
            of(spec)
        assert "\n" not in str(caught.value)


def test_the_number_of_classes_is_asked_if_the_victim_does_not_name_them() -> None:
    victim = FunctionVictim(lambda texts: [[0.2, 0.8]] * len(texts), name="plain", fingerprint="plain")
    rows = examples_from([(f"word {n}", n % 3) for n in range(30)])
    with pytest.raises(BadInput, match=r"has a label 2, but plain has 2 classes \(0 to 1\)"):
        rejecting(victim, Fgws(books=BOOKS), rows)


def test_data_may_be_a_dataset() -> None:
    assert rejecting(pocket_victim(), Fgws(books=BOOKS), Dataset(TRAIN, n=100)).fit.arrays["held"].shape == (20,)
