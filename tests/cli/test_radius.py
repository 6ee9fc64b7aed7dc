"""`mohs radius` and `mohs verify`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Mohs


def test_radius_and_verify(tmp_path: Path, mohs: Mohs) -> None:
    ended = mohs("radius", "--n", 12, "--pac", "--draws", 50, "--out", "run")
    assert ended.returncode == 0, ended.stderr
    assert "In run: report.html, certificates.jsonl" in ended.stdout
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
    assert mohs("radius", "--n", 12, "--pac", "--draws", 50, "--out", "run").stdout == ended.stdout
    assert mohs("radius", "--config", "run/manifest.yaml", "--out", "run").stdout == ended.stdout
    lines = (tmp_path / "run" / "certificates.jsonl").read_text().splitlines()
    assert lines
    checked = mohs("verify", "run/certificates.jsonl")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.strip() == f"{len(lines)} of {len(lines)} certificates hold."
    found = json.loads(mohs("verify", "run/certificates.jsonl", "--json").stdout)
    assert [row["sound"] for row in found] == [True] * len(lines)
    row = json.loads(lines[0])
    row["label"] = 1 - row["label"]
    (tmp_path / "wrong.json").write_text(json.dumps(row))
    broken = mohs("verify", "wrong.json")
    assert broken.returncode == 1
    assert "It does not hold" in broken.stdout
    assert json.loads(mohs("report", "run", "--json", "--no-page").stdout)


def test_messages(tmp_path: Path, mohs: Mohs) -> None:
    cases = [
        (["radius", "--r", "many", "--pac"], "The radius 'many' is neither a whole number nor a share such as 25%."),
        (["radius", "--pac", "--interval", "guess"], "Unknown method 'guess'; use clopper-pearson"),
        (["radius", "--constraint", "similarity>=0.9"], "judges whole texts"),
        (["radius", "--time-limit", "0"], "The time limit is 0.0; it must be above 0."),
        (["radius", "--attack", "bae"], "has no fixed space; use pdp or textfooler."),
        (["verify", "none.jsonl"], "none.jsonl cannot be read"),
    ]
    for arguments, sentence in cases:
        ended = mohs(*arguments)
        assert ended.returncode == 2, ended.stderr
        assert sentence in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1
