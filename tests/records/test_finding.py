"""Findings: written to JSON and read back, whatever they are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mohs
from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import LevelFinding, Shown
from mohs.bounds.finding import RadiusFinding, ShareFinding
from mohs.records import Outcome, Record
from mohs.records.finding import finding_from_json, finding_to_json
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import Patch

numbers = st.floats(-10, 10, allow_nan=False)
counts = st.integers(0, 9)
scores = st.tuples(numbers, numbers)
patches = st.builds(Patch, counts, st.text(max_size=5), st.text(max_size=5), numbers)
second_order = st.builds(
    SecondOrderFinding, patches, scores, st.none() | scores, st.none() | counts, st.none() | counts
)
shown = st.builds(Shown, st.tuples(st.text(max_size=5)), st.tuples(st.text(max_size=5)), numbers, numbers)
levels = st.builds(
    LevelFinding, counts, counts, numbers, numbers, st.booleans(), st.dictionaries(st.integers(-50, 49), counts),
    st.lists(shown, max_size=2).map(tuple),
)  # fmt: skip
pairs = st.builds(PairFinding, st.text(), st.text(), counts, st.booleans(), st.lists(levels, max_size=2).map(tuple))
bias = st.builds(BiasFinding, st.lists(pairs, max_size=2).map(tuple))
shares = st.builds(ShareFinding, counts, counts, counts, counts, numbers, numbers, numbers, st.text())
radius = st.builds(
    RadiusFinding,
    lower=counts, upper=st.none() | counts, exact=st.booleans(), whole=st.booleans(), by=st.text(), stopped=st.text(),
    sizes=st.lists(counts).map(tuple), pruned=st.lists(counts).map(tuple), margins=st.lists(numbers).map(tuple),
    attacks=st.dictionaries(st.text(), st.none() | counts),
    share=st.none() | shares | st.lists(shares, min_size=2, max_size=3).map(tuple),
    certificate=st.none() | st.just({"format": "x", "levels": [[1, 2]]}),
)  # fmt: skip


@given(second_order | bias | radius)
def test_there_and_back(finding: Any) -> None:
    row = json.loads(json.dumps(finding_to_json(finding)))
    assert finding_from_json(type(finding), row) == finding


@given(second_order | bias | radius)
def test_a_record_keeps_its_finding(finding: Any) -> None:
    record = Record("a", "1", Outcome.MEASURED, 0, ("text",), ("x",), 0, 1, finding=finding)
    read = Record.from_json(record.to_json(), type(finding))
    assert read == record
    assert Record.from_json(record.to_json()).to_json() == record.to_json()  # also by those who do not know its kind


def test_what_is_none_or_false_by_default_is_left_out() -> None:
    plain = SecondOrderFinding(Patch(0, "a", "b", 0.5), (0.5, 0.5))
    assert finding_to_json(plain) == {
        "patch": {"position": 0, "old": "a", "new": "b", "gap": 0.5},
        "patched_before": [0.5, 0.5],
    }
    assert list(finding_to_json(PairFinding("he", "she", 1))) == ["old", "new", "position", "levels"]
    assert list(finding_to_json(PairFinding("he", "she", 1, True))) == ["old", "new", "position", "back", "levels"]
    assert "upper" in finding_to_json(RadiusFinding(0, None, False, False, "x", "", ()))


def test_keys_of_another_version() -> None:
    """What is unknown is ignored; what 0.1.0's first runs did not have yet has a default."""
    row = {"lower": 1, "upper": 2, "exact": True, "whole": False, "by": "enumeration", "stopped": "", "sizes": [3]}
    found = finding_from_json(RadiusFinding, {**row, "margins": [0.5], "attacks": {}, "newer": 1})
    assert (found.pruned, found.shares, found.kind, found.reason) == ((), (), "exact", "")


@dataclass(frozen=True)
class Inner:
    value: int


class Pair(NamedTuple):
    one: int
    two: str


@dataclass(frozen=True)
class Outer:
    inner: Inner
    several: tuple[Inner, ...]
    by_number: dict[int, Pair]
    path: Any = None


def test_nested_values() -> None:
    made = Outer(Inner(1), (Inner(2), Inner(3)), {4: Pair(5, "x")})
    assert finding_from_json(Outer, json.loads(json.dumps(finding_to_json(made)))) == made


@pytest.mark.parametrize("case", ["second-order", "bias", "radius"])
def test_old_folders_have_typed_findings(case: str) -> None:
    with mohs.Run.open(Path(__file__).parents[1] / "before" / case) as run:
        kinds = {type(record.finding).__name__ for record in run.records() if record.finding is not None}
    assert len(kinds) == 1
    assert kinds <= {"SecondOrderFinding", "BiasFinding", "RadiusFinding"}
