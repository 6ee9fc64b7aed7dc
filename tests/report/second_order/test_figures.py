"""The figures of second-order runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mohs.records import Outcome
from mohs.report.second_order.figures import predictions, second_order_lines, summarise_second_order
from tests.report.made import searched
from tests.report.second_order.made import mixed, vulnerable


def test_denominators_are_named_and_leave_out_what_says_nothing() -> None:
    (found,) = summarise_second_order(mixed())
    assert (found.with_pair.hits, found.with_pair.total, found.with_pair.of) == (5, 7, "examples whose pairs are known")
    assert (found.vulnerable.hits, found.vulnerable.total) == (3, 5)
    assert found.vulnerable.of == "examples with a patch pair"
    assert found.outcomes == {"success": 3, "failed": 1, "exhausted": 1, "skipped": 2, "error": 1}
    assert found.l0.value == pytest.approx(2 / 3)
    assert found.l0.total == 3
    assert found.l0_counts == {0: 1, 1: 2}
    assert found.steps.value == 2
    assert (found.queries.value, found.queries.total) == (5, 5)
    assert (found.perplexity_before, found.perplexity, found.perplexities) == (101, 201, 2)
    assert found.unchanged == 1


def test_machines_get_rates_with_intervals() -> None:
    (found,) = summarise_second_order(mixed())
    row = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert row["vulnerable"]["value"] == 0.6
    assert row["vulnerable"]["interval"] == list(found.vulnerable.interval or ())
    assert row["with_pair"]["of"] == "examples whose pairs are known"
    assert row["vulnerable"]["bounds"] == [3 / 6, 4 / 6]


def test_the_four_predictions() -> None:
    assert predictions(vulnerable(), ["bad", "good"]) == [
        ("original", ("film", "good", 0.8), ("movie", "good", 0.7)),
        ("vulnerable", ("film", "good", 0.9), ("movie", "bad", 0.6)),
    ]
    assert [first[1] for _, first, _ in predictions(vulnerable(), [])] == ["class 1", "class 1"]
    (only,) = predictions(mixed()[3], ["bad", "good"])
    assert only[0] == "original"
    assert predictions(searched(0, Outcome.SKIPPED), []) == []


def test_an_error_after_a_pair_was_found_still_shows_the_pair() -> None:
    late = replace(mixed()[3], outcome=Outcome.ERROR, error="It broke.")
    (found,) = summarise_second_order([*mixed(), late])
    assert (found.with_pair.hits, found.with_pair.total, found.with_pair.errors) == (6, 8, 1)
    assert (found.vulnerable.hits, found.vulnerable.total, found.vulnerable.bounds) == (3, 5, (3 / 7, 5 / 7))
    shown = {name: value for name, value, _ in second_order_lines(found)}
    assert shown["found, of all examples"].startswith("45.0% (3.6/8) ")  # the error as three of five
    assert shown["found, of all examples"].endswith(" {33.3, 55.6}")
