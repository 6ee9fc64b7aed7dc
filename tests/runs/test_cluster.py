"""What is refused before Ray is needed. Runs on a cluster are in test_crew.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput
from mohs.runs import cluster
from tests.cli.conftest import Mohs


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"on": "slurm"}, "--on 'slurm' is no cluster; use ray:HOST:PORT, ray:auto, or ray for one on this machine."),
        ({"on": "ray:nowhere"}, "--on 'ray:nowhere' is no cluster"),
        ({"on": "ray:"}, "--on 'ray:' is no cluster"),
        (
            {"on": "ray:a:1", "cache": "c.sqlite"},
            "--cache c.sqlite is a file of one machine, and --on ray:a:1 uses sev",
        ),
    ],
)
def test_refusals(options: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput) as caught:
        mohs.attack("none", "none", ["random"], **options)  # before the victim is looked for
    assert str(caught.value).startswith(told)


def test_ray_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"^--on ray needs Ray: pip install 'mohs\[ray\]'\.$"):
        mohs.attack("none", "none", ["random"], on="ray")


@pytest.mark.parametrize("key", ["on", '"on"'])  # YAML reads the first as true
def test_a_config_joins_no_cluster_by_itself(key: str, tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "c.yaml").write_text(f"{key}: ray:10.0.0.1:6379\n")
    refused = mohs("attack", "--config", "c.yaml", "--n", 1)
    assert refused.returncode == 2
    assert "c.yaml names code to run (ray:10.0.0.1:6379); if you trust it, add --trust-config" in refused.stderr
