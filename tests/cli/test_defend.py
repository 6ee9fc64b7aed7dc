"""`mohs defend` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Mohs


def test_defend(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    assert mohs("attack", "--n", "4", "--attack", "random", "--out", "run").returncode == 0
    asked = ("defend", "run", "--defence", "masking(n=2)", "--keys", 2, "--draws", 2, "--average", 2)
    ended = cold(*asked, "--out", "rows.csv")
    assert ended.returncode == 0, ended.stderr
    assert "(2) adaptive success" in ended.stdout
    assert "Page: run/defend.html" in ended.stdout
    assert (tmp_path / "rows.csv").exists()
    told = json.loads(mohs(*asked, "--json").stdout)
    assert told["attacks"][0]["victim"] == "pocket"
    manifests = [path.read_text("utf-8") for path in sorted((tmp_path / "run" / "defended").glob("*/manifest.yaml"))]
    assert "victim: masking(pocket, n=2, key=0)" in manifests[0]
    assert "victim: mean(masking(pocket, n=2, key=0), masking(pocket, n=2, key=1))" in manifests[1]
