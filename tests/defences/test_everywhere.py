"""A defended victim works wherever a victim does: in every verb, with a cache, with other schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mohs
from mohs.defences import Masking, Mean, Versions
from mohs.models.victim import Victim
from tests.before.cases import ROWS, victim
from tests.toys import Wordlike, bundled


def defended() -> Victim:
    """A defence around a mean with a defended victim in it."""
    inner = Versions(victim(), Masking(n=2, rate=0.2), "inner")
    return Versions(Mean(victim(), inner), Masking(n=3, rate=0.2), "outer")


def records(run: mohs.Run) -> list[str]:
    with run:
        return [record.to_json() for record in run.records()]


def test_second_order() -> None:
    how: dict[str, Any] = {"masked_lm": Wordlike(), "k": 1, "vectors": bundled()["vectors"]}
    found = records(mohs.second_order_attack(defended(), ROWS[:2], "so-beam", at_once=1, **how))
    assert found == records(mohs.second_order_attack(defended(), ROWS[:2], "so-beam", **how))
    assert not any('"outcome": "error"' in line for line in found)


def test_bias() -> None:
    with mohs.token_bias(defended(), ROWS, "gender", masked_lm=Wordlike(), k=1, most=50, breadth=3) as run:
        assert {str(record.outcome) for record in run.records()} <= {"measured", "skipped"}
        assert run.biases()


def test_radius_verifies() -> None:
    with mohs.radius(defended(), ROWS[:3], max_r=1) as run:
        assert [row for row in run.radii() if "certificate" in row]


def test_cache_and_transfer(tmp_path: Path) -> None:
    plain = records(mohs.attack(defended(), ROWS, "random", **bundled()))
    for _ in range(2):
        assert records(mohs.attack(defended(), ROWS, "random", cache=tmp_path / "cache", **bundled())) == plain
    with mohs.attack(victim(), ROWS, "random", **bundled()) as run:
        found = mohs.transfer(run, defended())
    assert sum(one.right.total for one in found.attacks) > 0
    assert found.errors == 0
