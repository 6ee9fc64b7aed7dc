"""`mohs compare` as a user types it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.cli.conftest import Mohs


def test_compare(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    for victim, out in (("pocket", "plain"), ("masking(pocket)", "masked")):
        made = mohs("attack", "--n", 8, "--attack", "textfooler", "--victim", victim, "--out", out)
        assert made.returncode == 0, made.stderr
    ended = cold("compare", "plain", "masked", "--out", "examples.csv")
    assert ended.returncode == 0, ended.stderr
    assert "A  plain: pocket (baseline)" in ended.stdout
    assert "B  masked: masking(pocket)" in ended.stdout
    assert "B against A" in ended.stdout
    assert "Page: masked/compare.html" in ended.stdout
    assert "<html" in (tmp_path / "masked" / "compare.html").read_text("utf-8")
    with (tmp_path / "examples.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8

    machine = mohs("compare", "plain", "masked", "--json", "--no-page", "--judge", "none")
    assert machine.returncode == 0, machine.stderr
    found = json.loads(machine.stdout)
    assert found["page"] is None
    (one,) = found["against"]
    for row in one["rows"]:
        name = row["question"].replace(" ", "_")
        answers = [(line[f"A_{name}"], line[f"B_{name}"]) for line in rows]
        assert row["only_first"] == answers.count(("1", "0"))
        assert row["only_second"] == answers.count(("0", "1"))
        assert row["examples"] == sum("" not in pair for pair in answers)
