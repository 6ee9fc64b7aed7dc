"""Whole runs of `mohs certify`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import typer

import mohs
from mohs.bounds.prover import margin_of
from mohs.certifying import fixed
from mohs.certifying import task as tasks
from mohs.certifying.fixed import fixed_bound
from mohs.certifying.smoothed import Smoothed
from mohs.cli.run_progress import finished
from mohs.defences import RanMask, Versions
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.models.load import victim_from
from mohs.models.victim import answers_of, traits_of
from mohs.runs.run import Run
from mohs.space import Space
from mohs.text import Text
from tests.toys import WordCount, table

ROWS = [("a good film", 1), ("a bad film", 0), ("a good plot and a fine film", 1), ("a fine plot", 0)]
SOURCE = table(good="fine poor", bad="poor", film="movie", fine="good", plot="story")
SMALL: dict[str, Any] = {"draws": 200, "alpha": 0.01}


def lines(run: Run) -> list[str]:
    return [record.to_json() for record in run.records()]


def test_the_closed_form_bounds_every_text_of_a_space() -> None:
    model = victim_from("pocket")
    text = Text("a good film with a dull plot")
    space = Space(text, {1: ("fine", "bad"), 2: ("movie",), 5: ("boring", "great"), 6: ("story",)})
    found = fixed_bound(model, space, 1, Random(0))
    assert found is not None
    name, lower = found
    assert name == "closed form"
    for budget in (1, 2, 3, None):
        texts = [point.fields for point in space.points(4 if budget is None else budget)]
        answers = answers_of(model, list(dict.fromkeys(texts)))
        least = min(margin_of(scores, 1) for scores in answers.values())
        assert lower(budget) == pytest.approx(least - traits_of(model).tolerance, abs=1e-9)


@pytest.mark.parametrize("victim", ["pocket", "safer(pocket)", "ranmask(pocket, rate=0.9)"])
def test_certified_robust_clean(victim: str) -> None:
    options: dict[str, Any] = {} if victim == "pocket" else SMALL
    with mohs.certify(victim, "pocket", n=12, budget="1,2", **options) as run:
        assert run.view().alarm == ""
        clean = run.view().figures()["summary"]["clean"]
        for found in run.certified():
            assert found.certified.hits <= found.robust.hits <= clean["hits"]
        for record in run.records():
            if record.finding is not None:
                assert not record.finding.contradiction
                bounds = [one.bound for one in record.finding.budgets if one.bound is not None]
                assert bounds == sorted(bounds, reverse=True)  # more words, less is certain


def test_all_texts_of_a_small_space_are_asked() -> None:
    with mohs.certify("pocket", ROWS, source=SOURCE, stopwords=()) as run:
        for record in run.records():
            for one in record.finding.budgets:
                assert one.every
                assert one.fooled != one.certified  # the closed form and enumeration agree


def test_a_bound_that_is_wrong_is_reported_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "fixed_bound", lambda *_: ("rigged", lambda budget: 1.0))
    with mohs.certify("pocket", "pocket", n=8, out=tmp_path / "run") as run:
        fooled = [record for record in run.records() if record.perturbed is not None]
        assert fooled
        assert all(record.finding.contradiction for record in fooled)
        view = run.view()
        sentence = f"{len(fooled)} examples are certified and yet fooled ({fooled[0].example_id}"
        assert view.alarm.startswith(sentence)
        assert view.notes[0] == view.alarm
        page = view.page()
        assert sentence in page
        assert "CONTRADICTION" in page
        assert view.columns(fooled[0])["contradiction"] is True
        with pytest.raises(typer.Exit) as left:
            finished(run, view, False, False, "")
        assert left.value.exit_code == 1
        printed = capsys.readouterr()
        assert sentence in printed.err
        assert "CONTRADICTIONS" in printed.out


def test_a_wrong_loss_of_smoothing_is_found_by_fresh_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word decides, and it is mostly shown: with another word there most versions have the other label."""
    monkeypatch.setattr(Smoothed, "loss", lambda *_: 0.0)
    victim = Versions(WordCount({"good": 8, "poor": -8}), RanMask(rate=0.3, n=8), "ranmask(word count)")
    with mohs.certify(victim, [("a good film", 1)], source=table(good="poor"), published=True) as run:
        (record,) = run.records()
        assert "certified and yet fooled" in run.view().alarm
    (found,) = record.finding.budgets
    assert found.contradiction
    assert found.votes.label < 500 < record.finding.votes.label


@pytest.mark.parametrize("victim", ["pocket", "safer(pocket)"])
def test_workers_and_the_schedule_change_nothing(victim: str) -> None:
    options: dict[str, Any] = {"n": 8, "budget": "1,all", **(SMALL if victim != "pocket" else {})}
    with mohs.certify(victim, "pocket", **options) as one:
        told = lines(one)
    others: list[dict[str, Any]] = [{"workers": 2}, {"at_once": 1}]
    for more in others:
        with mohs.certify(victim, "pocket", **more, **options) as other:
            assert lines(other) == told


def test_a_killed_run_resumes_with_equal_records(tmp_path: Path) -> None:
    code = """
import os, signal, sys, mohs
def progress(record, done, total):
    if done == 3: os.kill(os.getpid(), signal.SIGKILL)
drawn = {"draws": 200, "alpha": 0.01}
mohs.certify("safer(pocket)", "pocket", n=8, at_once=1, out=sys.argv[1], progress=progress, **drawn)
"""
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    with Run.open(tmp_path / "run") as run:
        assert len(run) == 3
    with (
        mohs.certify("safer(pocket)", "pocket", n=8, out=tmp_path / "run", **SMALL) as again,
        mohs.certify("safer(pocket)", "pocket", n=8, **SMALL) as whole,
    ):
        assert lines(again) == lines(whole)
        assert again.view().figures() == whole.view().figures()


def test_a_victim_of_labels_can_be_smoothed() -> None:
    def labels(texts: list[str]) -> list[int]:
        return [int("good" in text) for text in texts]

    victim = victim_from(labels, labels=("n", "p"), options={"output": "labels"})
    smoothed = Versions(victim, RanMask(rate=0.9, n=8), "ranmask(labels)")
    with mohs.certify(smoothed, [("a bad film about nothing at all in the end", 0)], **SMALL) as run:
        (record,) = run.records()
    assert record.finding.budgets[0].certified  # "good" is hardly ever shown


def test_the_export_has_a_column_for_each_budget() -> None:
    with mohs.certify("pocket", "pocket", n=4, budget="1,all") as run:
        rows = [run.view().columns(record) for record in run.records()]
    names = [f"{name}_{budget}" for budget in ("1", "all") for name in ("certified", "fooled", "bound")]
    assert all(list(row) == ["method", "contradiction", *names] for row in rows)
    assert any(row["fooled_all"] for row in rows)


@pytest.mark.parametrize(
    ("victim", "options", "message"),
    [
        ("safer(pocket)", {"source": "wordnet"}, "--source would give the attack another space than the certificate"),
        ("safer(pocket)", {"constraints": ["word-cosine>=0.9"]}, "--constraint would give the attack another space"),
        ("pocket", {"attacks": "bae"}, "its space would differ from that of the certificate; use greedy"),
        ("pocket", {"attacks": "input-reduction"}, "has another goal than changing the label"),
        ("pocket", {"attacks": ()}, "No attack was given"),
        ("pocket", {"attacks": ["greedy", "greedy"]}, "The attack greedy:plain is given twice"),
        ("pocket", {"budget": "0"}, "--budget 0 is no number of words; give numbers from 1 on, or all"),
        ("pocket", {"budget": "1,1"}, "--budget names a number twice"),
        ("pocket", {"constraints": ["similarity>=0.9"]}, "measures whole texts, but a certificate is about the words"),
        ("pocket", {"draws": 10}, r"--draws is for victims that draw versions, and .* draws none"),
        ("pocket", {"published": True}, "--published is for safer"),
        ("safer(pocket)", {"vectors": "pocket"}, "--vectors would give the attack another space"),
        ("safer(pocket)", {"attacks": "textfooler", "budget": "x"}, "--budget x is no number of words"),
        ("safer(pocket)", {"alpha": 0.7}, "--alpha 0.7 is no probability of error"),
        ("ranmask(pocket)", {}, "hides 30% of the words, .* nothing can be certified; hide more, such as rate=0.9"),
        ("ranmask(pocket, rate=0.9)", {"budget": "all"}, "certifies a number of changed words, not all of them"),
        ("ensemble(pocket)", {}, r"has no certificate: .* certify safer\(ensemble\(pocket\)\)"),
        (WordCount({"good": 1.0}), {}, r"word count has no certificate: mohs knows no bound for it; certify safer\("),
    ],
)
def test_bad_input(victim: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        mohs.certify(victim, ROWS, **options)


def test_a_victim_that_rejects_is_refused() -> None:
    def predict(texts: list[str]) -> list[list[float]]:
        return [[0.2, 0.7, 0.1] for _ in texts]

    with pytest.raises(BadInput, match="can reject texts, but a certificate is about labels only"):
        mohs.certify(predict, ROWS, victim_options={"rejects": "yes"}, labels=["n", "p"])


@pytest.mark.parametrize("victim", ["safer(pocket)", "pocket"])
def test_attacks_of_all_kinds_search_the_space_of_the_certificate(victim: str) -> None:
    options: dict[str, Any] = {"draws": 50} if victim != "pocket" else {}
    attacks = ["standard", "deepwordbug", "random", "beam", "sememe-pso", "pdp", "checklist"]
    with mohs.certify(victim, ROWS[:2], attacks=attacks, every=0, **options) as run:
        assert [record.error for record in run.records()] == [None, None]


def test_the_bound_of_a_network_has_a_name_and_a_default_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    def lower(budget: int | None) -> float:
        return 0.5 - (9 if budget is None else budget)

    monkeypatch.setattr(fixed, "_network", lambda model, space, label: ("lirpa", lower))
    with mohs.certify(WordCount({"good": 1.0, "fine": 2.0}), [("a good film", 1)], source=SOURCE) as run:
        (record,) = run.records()
    assert record.finding.method == "lirpa"
    assert [(one.budget, one.bound, one.certified) for one in record.finding.budgets] == [(1, -0.5, False)]


def test_fresh_draws_ask_the_weights_that_verdicts_are_made_with() -> None:
    def always(label: int) -> FunctionVictim:
        return FunctionVictim(lambda texts: [[1.0 - label, float(label)] for _ in texts], name=f"always {label}")

    fast: Any = always(0)
    fast.verdict = always(1)
    victim = Versions(fast, RanMask(rate=0.9, n=4), "ranmask(fast)")
    with mohs.certify(victim, [("a good film that all of us have seen", 1)], **SMALL) as run:
        (record,) = run.records()
    assert record.finding.votes.label == record.finding.votes.draws == 200
    assert not record.finding.contradiction
