"""The figures of bias runs, and which of them can be compared."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from mohs.bias.statistics import pair_biases
from mohs.errors import BadInput
from mohs.records import Outcome
from mohs.report.bias.figures import (
    bias_figures,
    bias_flags,
    bias_headline,
    chance,
    different_data,
    signed,
)
from mohs.report.terminal import print_run
from tests.report.bias.made import HE, records
from tests.report.made import biased, measured


def test_the_figures_are_those_of_the_statistics_on_both_sets() -> None:
    with biased(records()) as run:
        found = bias_figures(run)
    assert list(found.whole) == pair_biases(records())
    assert list(found.filtered) == pair_biases(records(), epsilon=0.005)
    assert {(one.old, one.new) for one in found.filtered} == {HE}
    assert found.label == "good"
    assert found.outcomes == {"measured": 10, "exhausted": 0, "skipped": 1, "error": 0}


def test_one_sentence_says_what_is_beyond_chance() -> None:
    with biased(records()) as run, biased(records(0.0)[8:]) as quiet, biased(records()[:8]) as single:
        assert bias_headline(bias_figures(run)) == (
            "At k = 2, 1 of 1 pairs tested shifts P(good) beyond chance: he|she +0.1000."
        )
        assert bias_headline(bias_figures(quiet)) == (
            "At k = 2, no pair has the 8 sentences that a test needs; the largest bias is actor|actress -0.0300."
        )
        assert "the one pair shifts P(good)" in bias_headline(bias_figures(single))


def test_few_sentences_and_a_spent_budget_are_pointed_out() -> None:
    cut = measured(11, HE, [[0.1]], outcome=Outcome.EXHAUSTED)
    with biased([*records(), cut]) as run:
        budget, few = bias_flags({}, bias_figures(run), 12, 12)
    broken = measured(12, HE, [[0.1]], outcome=Outcome.ERROR, error="It broke.")
    with biased([*records(), broken]) as run:
        errors, _ = bias_flags({}, bias_figures(run), 12, 12)
    assert errors.startswith("1 of 12 examples ended in an error and are in no figure")
    assert budget.startswith("The query budget ended 1 of 12 measurements early")
    assert few.startswith("1 of 2 pairs occur in fewer than 8 sentences, too few for a test")


@pytest.mark.parametrize("sentences", [7, 8])
def test_where_that_limit_comes_from(sentences: int) -> None:
    (found,) = pair_biases(measured(n, HE, [[0.1 + n / 100]]) for n in range(sentences))
    assert (found.p < 0.05) == (sentences >= 8)


def test_numbers() -> None:
    assert (signed(-0.00001), signed(0.01234), signed(-0.5)) == ("+0.0000", "+0.0123", "-0.5000")
    assert (chance(0.0004), chance(0.0312)) == ("<0.001", "0.031")


def test_pairs_are_told_by_what_they_are_where_that_is_known() -> None:
    with (
        biased(records(), {"pairs_hash": "a"}, pairs="mine.csv") as run,
        biased(records(), {"pairs_hash": "a"}, pairs="here/mine.csv") as same,
        biased(records(), {"pairs_hash": "b"}, pairs="mine.csv") as other,
    ):
        assert print_run(run, run.view(against=same), as_json=True, verbose=False) == ""
        with pytest.raises(BadInput, match=r"the other pairs mine\.csv; measure both with the same --pairs"):
            print_run(run, run.view(against=other), as_json=True, verbose=False)


def test_runs_over_other_sentences_say_so() -> None:
    with biased(records(), masked_lm="a") as run, biased(records(), masked_lm="b", data="other.csv") as other:
        (said,) = different_data(run, other)
        assert said.startswith(
            "The runs differ in more than the victim (different data, masked_lm b before and a after)"
        )
        assert different_data(run, run) == []


def test_records_are_read_once_for_the_pairs_and_the_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of 183 words makes records that take long to read."""
    with biased(records()) as run:
        reading = Mock(side_effect=run.records)
        monkeypatch.setattr(run, "records", reading)
        found = bias_figures(run, epsilon=0.005)
    assert reading.call_count == 2  # once more for the filtered set
    assert sum(found.outcomes.values()) == len(records())
