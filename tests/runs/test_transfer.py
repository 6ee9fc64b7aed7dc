"""Transfer of adversarial texts, against victims whose answers are known."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import mohs
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores
from mohs.records import Outcome, Record, RunStore
from tests.cli.conftest import Mohs
from tests.toys import WordCount, bundled

WEIGHTS = {"good": 2.0, "great": 3.0, "bad": -2.0, "awful": -3.0, "fine": 1.0, "nice": 1.5, "poor": -1.0}
ROWS = [
    ("It was a good film.", 1),
    ("A bad and awful story.", 0),
    ("The music was great.", 1),
    ("A poor meal, a bad evening.", 0),
    ("A fine day, a good day.", 1),
    ("What a bad idea.", 0),
]
ALWAYS = dict.fromkeys(["it", "a", "the", "what"], 0.3)  # no ties, which go to the first class
OTHER = WordCount({**WEIGHTS, **ALWAYS, "good": -1.0, "wonderful": 2.0, "terrible": 1.0})


class Turned(WordCount):
    """The classes in the other order."""

    labels = ("positive", "negative")

    def scores(self, fields: Fields) -> Scores:
        return super().scores(fields)[::-1]


class Picky(WordCount):
    """Cannot read one text."""

    bad: Fields | None = None

    def scores(self, fields: Fields) -> Scores:
        if fields == self.bad:
            raise ValueError("no such\nword")
        return super().scores(fields)


@pytest.fixture(scope="module")
def run() -> mohs.Run:
    found = mohs.attack(WordCount(WEIGHTS), ROWS, ["textfooler", "random"], **bundled())
    assert sum(record.outcome is Outcome.SUCCESS for record in found.records()) >= 4
    return found


def said(victim: WordCount, fields: Fields) -> int:
    scores = victim.scores(fields)
    return int(scores[1] > scores[0])


def test_the_victim_of_the_run_is_fooled_by_every_success(run: mohs.Run) -> None:
    found = mohs.transfer(run, WordCount(WEIGHTS))
    for one in found.attacks:
        assert one.transfer.hits == one.transfer.total == one.right.total == one.successes
        assert one.same.hits == one.successes
    assert "This is the victim of the run itself" in found.notes[-1]


def test_figures_are_those_of_counting_by_hand(run: mohs.Run) -> None:
    found = mohs.transfer(run, OTHER)
    hits = [record for record in run.records() if record.outcome is Outcome.SUCCESS]
    for one in found.attacks:
        mine = [record for record in hits if record.attack == one.attack]
        right = [record for record in mine if said(OTHER, record.original) == record.label]
        fooled = [record for record in right if record.perturbed and said(OTHER, record.perturbed) != record.label]
        assert (one.successes, one.right.hits, one.transfer.total) == (len(mine), len(right), len(right))
        assert one.transfer.hits == len(fooled)
        assert one.transfer.of == "successes whose original it reads right"
    assert 0 < sum(one.transfer.hits for one in found.attacks) < sum(one.successes for one in found.attacks)
    assert found.accuracy.hits == sum(said(OTHER, (text,)) == label for text, label in ROWS)
    assert found.accuracy.total == len(ROWS)
    assert [pair.example_id for pair in found.pairs] == [record.example_id for record in hits]
    for pair, record in zip(found.pairs, hits, strict=True):
        assert (pair.original, pair.adversarial) == (record.original, record.perturbed)
        assert pair.scores_original == OTHER.scores(record.original)


def test_classes_in_another_order_are_told_by_name(run: mohs.Run) -> None:
    found, turned = mohs.transfer(run, OTHER), mohs.transfer(run, Turned(OTHER.weights))
    assert [one.to_json() for one in turned.attacks] == [one.to_json() for one in found.attacks]
    assert turned.accuracy == found.accuracy
    assert "order their classes differently" in turned.notes[0]
    named = mohs.transfer(run, Turned(OTHER.weights), labels=["a", "b"])
    assert "compared by number" in named.notes[0]
    assert named.accuracy.hits == len(ROWS) - found.accuracy.hits


def test_a_text_that_the_victim_cannot_read_counts_as_neither(run: mohs.Run, tmp_path: Path) -> None:
    whole = mohs.transfer(run, WordCount(WEIGHTS))
    victim = Picky(WEIGHTS)
    victim.bad = whole.pairs[0].adversarial
    found = mohs.transfer(run, victim)
    first, before = found.attacks[0], whole.attacks[0]
    assert (first.errors, first.transfer.total) == (1, before.transfer.total - 1)
    assert found.pairs[0].error == "ValueError: no such word"
    rows = [json.loads(line) for line in found.write(tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(found.pairs)
    assert rows[0]["scores_adversarial"] is None
    assert rows[1]["fooled"] is True
    with pytest.raises(mohs.errors.MohsError, match="cannot be written"):
        found.write(tmp_path / "nowhere" / "pairs.jsonl")


def test_what_cannot_be_compared_is_refused(run: mohs.Run) -> None:
    with pytest.raises(BadInput, match="has 3 classes, but the run's victim has 2"):
        mohs.transfer(run, lambda texts: [[0.2, 0.3, 0.5] for _ in texts])
    other = mohs.radius(WordCount(WEIGHTS), ROWS, max_r=1, **bundled())
    with pytest.raises(BadInput, match="is a run of `mohs radius`; transfer is for runs of `mohs attack`"):
        mohs.transfer(other, OTHER)


def test_a_manifest_that_does_not_fit_is_named(tmp_path: Path) -> None:
    mohs.attack(WordCount(WEIGHTS), ROWS, ["random"], out=tmp_path / "run", **bundled()).close()
    manifest = tmp_path / "run" / "manifest.yaml"
    manifest.write_text(re.sub(r"(?m)^  goals:\n    .*", "  goals: 5", manifest.read_text("utf-8")), "utf-8")
    with closing(sqlite3.connect(tmp_path / "run" / "journal.sqlite")) as journal, journal:
        journal.execute("DELETE FROM tally WHERE name = 'manifest'")  # as in a folder made by hand
    with pytest.raises(BadInput, match=r"manifest\.yaml does not fit its run \(AttributeError"):
        mohs.transfer(tmp_path / "run", OTHER)


def test_a_label_that_no_class_has_is_refused() -> None:
    store = RunStore.open(None, {"command": "attack", "tasks": ["a"], "config": {}}, {"examples": 1})
    store.add(0, Record("a", "7", Outcome.FAILED, 9, ("text",), ("good",), 0, 1, scores_before=(0.1, 0.9)))
    with mohs.Run(store) as run, pytest.raises(BadInput, match="of example 7 has the label 9, but there are 2 classes"):
        mohs.transfer(run, OTHER)


def test_the_command(tmp_path: Path, mohs: Mohs) -> None:
    mohs("attack", "--n", 6, "--out", "run")
    (tmp_path / "mine.py").write_text(
        "def always(texts):\n    return [[0.9, 0.1] for _ in texts]\n\n\n"
        "def picky(texts):\n    if any('lovely' in text for text in texts):\n        raise ValueError('no')\n"
        "    return [[0.9, 0.1] for _ in texts]\n"
    )
    shown = mohs("transfer", "run", "--victim", "pocket")
    assert shown.returncode == 0
    assert "of successes whose original it reads right" in shown.stdout
    found = json.loads(mohs("transfer", "run", "--victim", "python:mine:always", "--json").stdout)
    assert found["transfer"][0]["transfer"]["hits"] == 0
    pairs = [json.loads(line) for line in (tmp_path / found["out"]).read_text("utf-8").splitlines()]
    assert len(pairs) == found["transfer"][0]["successes"] > 0
    assert found["transfer"][0]["right"]["hits"] == sum(pair["label"] == 0 for pair in pairs)
    ended = mohs("transfer", "run", "--victim", "python:mine:picky", "--out", "mine.jsonl")
    assert ended.returncode == 3
    assert "texts, which count as neither" in ended.stderr
    assert (tmp_path / "mine.jsonl").exists()
