from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mohs.records import Outcome, Record
from mohs.text import Edit

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
texts = st.text(max_size=10)
several = st.lists(texts, min_size=1, max_size=2).map(tuple)
whole = st.integers(-(2**70), 2**70)
numbers = st.floats(allow_nan=False)
scores = st.lists(numbers, max_size=3).map(tuple)
records = st.builds(
    Record,
    attack=texts,
    example_id=texts,
    outcome=st.sampled_from(Outcome),
    label=whole,
    names=several,
    original=several,
    seed=whole,
    words=whole,
    positions=whole,
    perturbed=st.none() | several,
    edits=st.lists(st.builds(Edit, whole, texts, texts), max_size=3).map(tuple),
    scores_before=scores,
    scores_after=scores,
    queries=whole,
    measures=st.dictionaries(texts, numbers, max_size=3),
    beyond_window=whole,
    near_tie=st.booleans(),
    error=st.none() | texts,
    traceback=st.none() | texts,
)


def record(**changes: Any) -> Record:
    given: dict[str, Any] = {
        "attack": "random",
        "example_id": "1",
        "outcome": Outcome.FAILED,
        "label": 0,
        "names": ("text",),
        "original": ("a b",),
        "seed": 0,
        "words": 2,
    }
    return Record(**{**given, **changes})


@steady
@given(records)
def test_json_gives_the_record_back(record: Record) -> None:
    line = record.to_json()
    assert "\n" not in line
    back = Record.from_json(line)
    assert back == record
    assert type(back.outcome) is Outcome
    assert all(type(edit) is Edit for edit in back.edits)
    assert back.to_json() == line
    plain = asdict(record)
    plain["details"] = plain.pop("finding") or {}
    assert json.loads(line) == json.loads(json.dumps(plain))


def test_values_that_are_missing_take_their_defaults() -> None:
    row = json.loads(record().to_json())
    for name in ("edits", "measures", "scores_after", "perturbed", "near_tie", "error"):
        del row[name]
    assert Record.from_json(json.dumps(row)) == record()


def test_keys_of_a_newer_version_are_ignored() -> None:
    row = json.loads(record(queries=5).to_json())
    assert Record.from_json(json.dumps({**row, "invented": [1]})) == record(queries=5)


def test_nan_survives() -> None:
    back = Record.from_json(record(measures={"m": math.nan}).to_json())
    assert math.isnan(back.measures["m"])


def test_an_error_can_be_saved_whatever_it_quotes() -> None:
    broken = record(outcome=Outcome.ERROR, error="bad \ud800 é", traceback="\udc80\n")
    assert broken.error == "bad \\ud800 é"
    assert broken.traceback == "\\udc80\n"
    assert broken.to_json().encode()
    assert Record.from_json(broken.to_json()) == broken


def test_an_unknown_outcome_is_refused() -> None:
    line = record().to_json().replace('"failed"', '"won"')
    with pytest.raises(ValueError, match="'won' is not a valid Outcome"):
        Record.from_json(line)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("label", "1"),
        ("queries", None),
        ("example_id", 5),
        ("original", [5]),
        ("perturbed", [None]),
        ("scores_after", ["0.5"]),
        ("measures", []),
        ("measures", {"cosine": "x"}),
        ("error", 5),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any) -> None:
    row = {**json.loads(record().to_json()), name: value}
    with pytest.raises(TypeError, match=r"^its "):
        Record.from_json(json.dumps(row))
