"""`mohs audit` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Mohs


def test_audit(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    made = mohs("attack", "--n", 8, "--attack", "textfooler", "--attack", "random", "--out", "run")
    assert made.returncode == 0, made.stderr
    ended = cold("audit", "run", "--require", "word-cosine>=0.5", "--require", "grammar-errors<=0")
    assert ended.returncode == 0, ended.stderr
    assert "success before filtering" in ended.stdout
    assert "with word-cosine>=0.5" in ended.stdout
    assert "Page: run/audit.html" in ended.stdout
    assert "<html" in (tmp_path / "run" / "audit.html").read_text("utf-8")
    hits = len((tmp_path / "run" / "adversarial.jsonl").read_text("utf-8").splitlines())
    assert len((tmp_path / "run" / "audit.jsonl").read_text("utf-8").splitlines()) == hits

    machine = mohs("audit", "run", "--json", "--no-page", "--absolute", "grammar-errors<=3")
    assert machine.returncode == 0, machine.stderr
    found = json.loads(machine.stdout)
    assert found["page"] is None
    assert [row["attack"] for row in found["attacks"]] == ["textfooler:paper", "random:baseline"]
    assert sum(row["adversarial_examples"] for row in found["attacks"]) == hits
    for row in found["attacks"]:
        assert row["required"][0]["require"] == "word-cosine>=0.9"
        assert row["absolute"][0]["rate"]["total"] == row["success"]["total"]
        assert row["all_required"]["hits"] <= min(part["rate"]["hits"] for part in row["required"])
    # TextFooler's own threshold holds for what it found.
    assert (
        found["attacks"][0]["success_by_threshold"]["word cosine"][50]["hits"] == found["attacks"][0]["success"]["hits"]
    )


def test_several_runs_and_mistakes(tmp_path: Path, mohs: Mohs) -> None:
    for k in (4, 30):
        assert mohs("attack", "--n", 8, "--source", f"neighbours:k={k}", "--out", f"k{k}").returncode == 0
    found = json.loads(mohs("audit", "k30", "k4", "--json", "--page", "p.html").stdout)
    (group,) = found["success_by_synonyms"]
    assert [point["k"] for point in group["points"]] == [4, 30]
    assert (tmp_path / "p.html").exists()
    assert not (tmp_path / "k30" / "audit.html").exists()

    assert mohs("audit").returncode == 2
    for arguments, said in (
        (("nowhere",), "is not a run"),
        (("k4", "--require", "nothing>=1"), "Unknown measure 'nothing'"),
        (("k4", "--absolute", "similarity>=1"), "judges the final text alone"),
        (("k4", "--require", "perplexity<=1"), "--lm hf:PATH_OR_ID"),
    ):
        ended = mohs("audit", *arguments)
        assert ended.returncode == 2
        assert said in ended.stderr
        assert ended.stderr.count("\n") == 1


def test_the_classes_of_the_catalogue(mohs: Mohs) -> None:
    shown = mohs("attacks", "--classes")
    assert "deepwordbug:paper" in shown.stdout
    rows = {row["attack"]: row for row in json.loads(mohs("attacks", "--classes", "--json").stdout)}
    assert rows["textfooler:paper"]["constrains"]["grammar"] == ["part of speech>=1"]
    assert rows["textfooler:paper"]["claimed"] == ["semantics", "grammar", "suspicion"]
    assert rows["pwws:paper"]["claimed"] is None
