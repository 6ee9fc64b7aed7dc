"""`mohs report` on bias runs, one and two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mohs.cli.main import app
from mohs.errors import BadInput
from tests.report.made import biased, kept, measured, searched

PAIR = ("he", "she")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, shift in (("before", 0.1), ("after", 0.01)):
        records = [measured(n, PAIR, [[0.001], [shift], [shift]]) for n in range(7)]
        biased(records, folder=tmp_path / name, victim=name).close()
    kept("attack", [searched()], folder=tmp_path / "attack", attacks=["a"]).close()
    return tmp_path


def report(*words: object) -> str:
    ended = CliRunner().invoke(app, ["report", *map(str, words)], catch_exceptions=False)
    assert ended.exit_code == 0
    return ended.stdout


def test_a_bias_run_gets_its_own_page(runs: Path) -> None:
    said = report(runs / "before")
    assert "he|she" in said
    assert "counterfactual bias" in (runs / "before" / "report.html").read_text("utf-8")


def test_against_writes_a_page_beside_the_run_s_own(runs: Path) -> None:
    said = report(runs / "after", "--against", runs / "before")
    page = runs / "after" / "against.html"
    assert str(page) in "".join(said.split("\n"))
    assert "the one pair is nearer to zero bias than before" in page.read_text("utf-8")
    assert not (runs / "after" / "report.html").exists()
    machine = json.loads(report(runs / "after", "--against", runs / "before", "--json", "--no-page"))
    assert machine["before"]["whole"][2]["bias"] == pytest.approx(0.1)
    assert machine["after"]["whole"][2]["bias"] == pytest.approx(0.01)


def test_attack_runs_have_no_other_to_stand_against(runs: Path) -> None:
    for pair in (("attack", "before"), ("before", "attack")):
        with pytest.raises(BadInput, match="attack is not a bias run: --against compares two runs of `mohs bias`"):
            report(runs / pair[0], "--against", runs / pair[1])
    assert not (runs / "before" / "against.html").exists()
