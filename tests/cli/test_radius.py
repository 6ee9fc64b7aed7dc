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
    hold = f"{len(lines)} of {len(lines)} certificates hold."
    assert mohs("verify", "run").stdout.startswith(f"{hold}\nWords by neighbours:k=5,min_cosine=0.5: ")
    assert mohs("verify", "run", "--rebuild").stdout.startswith(hold)
    checked = mohs("verify", "run/certificates.jsonl")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith(hold)
    found = json.loads(mohs("verify", "run/certificates.jsonl", "--json").stdout)
    assert [row["sound"] for row in found] == [True] * len(lines)
    row = json.loads(lines[0])
    row["label"] = 1 - row["label"]
    (tmp_path / "wrong.json").write_text(json.dumps(row))
    broken = mohs("verify", "wrong.json")
    assert broken.returncode == 1
    assert "The label does not hold: " in broken.stdout
    old = {name: value for name, value in json.loads(lines[0]).items() if name != "space"}
    old["levels"] = [{**level, "size": 1} for level in old["levels"]]
    (tmp_path / "old.json").write_text(json.dumps({**old, "format": "mohs-certificate-2"}))
    downgraded = mohs("verify", "old.json")
    assert downgraded.returncode == 3
    assert "0 of 1 certificates hold." in downgraded.stdout
    assert "does not say how its space was built" in downgraded.stdout
    assert mohs("verify", "old.json", "--accept-old").returncode == 0
    assert json.loads(mohs("report", "run", "--json", "--no-page").stdout)
    (tmp_path / "coin.py").write_text("def coin(texts):\n    return [[0.6, 0.4] for _ in texts]\n")
    another = mohs("verify", "run", "--victim", "python:coin:coin")
    assert another.returncode == 2
    assert another.stderr == "mohs: run is about pocket, but the victim is python:coin:coin; set it with --victim.\n"


def test_several_radii_together_and_the_same_again_from_the_manifest(tmp_path: Path, mohs: Mohs) -> None:
    asked = ["--pac", "--r", 1, "--r", "25%", "--together", "--interval", "sequential", "--max-r", 0]
    ended = mohs("radius", "--n", 6, *asked, "--out", "run")
    assert ended.returncode == 0, ended.stderr
    assert "delta / 12" in " ".join(ended.stdout.split())
    assert mohs("radius", "--config", "run/manifest.yaml", "--out", "run").stdout == ended.stdout
    shown = json.loads(mohs("report", "run", "--json", "--no-page").stdout)["radius"]["shares"]
    assert [share["r"] for share in shown] == ["1", "25%"]


def test_messages(tmp_path: Path, mohs: Mohs) -> None:
    cases = [
        (["radius", "--r", "many", "--pac"], "The radius 'many' is neither a whole number nor a share such as 25%."),
        (["radius", "--pac", "--interval", "guess"], "Unknown method 'guess'; use clopper-pearson"),
        (
            ["radius", "--pac", "--r", "0"],
            "The radius is 0; it must be at least 1, or a share above 0% and up to 100%.",
        ),
        (["radius", "--epsilon", "0.1"], "--epsilon is an option of --pac; add --pac."),
        (["radius", "--attack", "pdp", "--attack", "pdp:paper"], "The attack pdp:paper is given twice; give it once."),
        (["radius", "--attack", "input-reduction"], "has another goal than changing the label; use pdp or textfooler."),
        (
            ["radius", "--constraint", "similarity>=0.9"],
            "measures whole texts, but a radius needs a constraint on single words",
        ),
        (["radius", "--time-limit", "0"], "The time limit is 0.0; it must be above 0."),
        (["radius", "--attack", "bae"], "has no fixed space; use pdp or textfooler."),
        (["verify", "none.jsonl"], "none.jsonl cannot be read"),
    ]
    for arguments, sentence in cases:
        ended = mohs(*arguments)
        assert ended.returncode == 2, ended.stderr
        assert sentence in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1
