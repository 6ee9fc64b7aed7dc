"""PR over all examples of a radius run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mohs.report.radius.figures import (
    summarise_radius,
)
from mohs.report.radius.shares import Decided, share_headline, share_notes
from mohs.report.terminal import print_run
from tests.report.radius.made import SHARE, bounded, misread, mixed, parsed, run_of, share, summary_of


def test_shares_above_thresholds_by_their_lower_ends() -> None:
    (found,) = summary_of(*mixed()).shares
    assert (found.total, found.counted, found.estimated, found.draws) == (7, 1, 6, 4794)
    assert [(one.threshold, one.low.hits, one.value.hits) for one in found.above] == [
        (0.5, 5, 6), (0.9, 3, 4), (0.99, 2, 2)
    ]  # fmt: skip
    assert found.mean.value == pytest.approx(5.769 / 7)
    assert (found.median, found.least) == (0.92, 0.4)
    said = " ".join(share_notes([found]))
    assert "(r: 25% of the words that may change, rounded down, at least one, here 2)" in said
    assert "For 1 of 7 examples every text was queried" in said
    assert "(clopper-pearson; epsilon 0.025, delta 0.005)" in said
    assert "with probability 1 - delta = 0.995" in said
    assert "any of the 6 misses is at most 6 * delta, here 0.03; with --together" in said
    three = [bounded(n, 0, 1, share=share(0.5, 0.4, 0.6)) for n in range(3)]
    many = summarise_radius(three, {"pac": True, "delta": 0.4})
    assert "at most 3 * delta, which is above 1;" in share_notes(many.shares)[-1]


def test_intervals_that_hold_together_say_what_delta_was_divided_by() -> None:
    two = [share(0.5, 0.4, 0.6, r=1), share(0.3, 0.2, 0.4)]
    config = {"pac": True, **SHARE, "r": ["1", "25%"], "together": True}
    found = summarise_radius([bounded(0, 0, 1, share=two), misread(1)], config, 10)
    assert [one.among for one in found.shares] == [20, 20], "two for each example that the run will have"
    assert share_notes(found.shares)[-1] == (
        "All intervals hold at once with probability 1 - delta = 0.995: each uses delta / 20 = 0.00025 "
        "(union bound over all examples and radii of the run)."
    )


def test_several_radii_have_figures_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    records = [
        bounded(n, 0, 1, share=[share(1 - n / 10, 0.4, 1.0, r=1), share(0.9 - n / 10, 0.3, 1.0, r=2)]) for n in range(6)
    ]
    config = {"r": ["1", "25%"]}
    with run_of(*records, **config) as run:
        one, two = summarise_radius(run.records(), run.manifest["config"]).shares
        print_run(run, run.view(), as_json=False, verbose=False, diffs=1)
    assert (one.r, one.least_r, one.median, two.r, two.most_r, two.median) == ("1", 1, 0.75, "25%", 2, 0.65)
    assert share_headline([one, two]).startswith("PR at r = 25% is above 0.9")
    assert "(r: 1; r: 25% of the words" in share_notes([one, two])[0]
    assert "For 12 it is estimated" in " ".join(share_notes([one, two]))
    said = capsys.readouterr().out
    assert re.search(r"^1 +0\.7500 \S+ \S+ +0\.7500 +0\.5000$", said, re.M)
    assert re.search(r"^25% +0\.6500 \S+ \S+ +0\.6500 +0\.4000$", said, re.M)
    assert re.search(r"^1 +0\.9 +0\.0% \(0/6\) \S+ \S+ +16\.7% \(1/6\)", said, re.M)
    assert "PR 1.0000 (r 1), 0.9000 (r 2)" in said
    page = parsed(run_of(*records, **config), tmp_path)
    charts = [attrs["aria-label"] or "" for tag, attrs in page.tags if tag == "svg" and "aria-label" in attrs]
    assert "r = 25%: 6 examples, least 0.4000, median 0.6500, mean 0.6500, greatest 0.9000." in charts[1]
    assert page.data()["rows"][0]["pr"] == 0.9, "sorted by the radius asked for last"
    assert page.data()["rows"][0]["shown"]["pr"] == "r 1: 1.0000 [0.4000, 1.0000]; r 2: 0.9000 [0.3000, 1.0000]"
    assert "r = 1, 25%; epsilon 0.025, delta 0.005 for each interval" in page.text


def test_counted_shares_have_no_interval_to_explain() -> None:
    found = summary_of(bounded(0, 0, 1, share=share(0.5, 0.5, 0.5, method="counted"))).shares
    assert "interval" not in " ".join(share_notes(found))


def test_what_was_to_be_decided_is_told_in_numbers() -> None:
    records = [
        bounded(0, 0, 1, share=share(0.97, 0.91, 1.0)),
        bounded(1, 0, 1, share=share(0.5, 0.2, 0.9)),  # 0.9 is not above 0.9
        bounded(2, 0, 1, share=share(0.9, 0.88, 0.93)),
        bounded(3, 0, 1, share=share(1.0, 1.0, 1.0, method="counted")),
        bounded(4, 0, 1, share=share(0.9, 0.9, 0.9, method="counted")),
    ]
    (found,) = summarise_radius(records, {"pac": True, **SHARE, "decide": 0.9}).shares
    assert found.decided == Decided(0.9, yes=2, no=2, undecided=1)
    assert share_headline([found]) == (
        "PR above 0.9 at r = 25%? Yes for 2, no for 2, undecided for 1 of 5 examples with a PR."
    )
    assert found.to_json()["decided"] == {"level": 0.9, "yes": 2, "no": 2, "undecided": 1}
    said = " ".join(share_notes([found]))
    assert "Drawing stopped once the interval lay on one side of 0.9, so the estimates are rough and biased" in said
    (plain,) = summarise_radius(records, {"pac": True, **SHARE}).shares
    assert plain.decided is None
    assert "one side" not in " ".join(share_notes([plain]))


def test_words_drawn_one_by_one_are_not_said_to_be_uniform() -> None:
    records = [bounded(0, 0, 1, share=share(0.97, 0.91, 1.0, draw="independent"))]
    (found,) = summarise_radius(records, {"pac": True, **SHARE, "draw": "independent"}).shares
    said = " ".join(share_notes([found]))
    assert "this is not uniform over the texts with at most r substitutions, and a text may have more" in said
    assert "texts drawn word by word (clopper-pearson" in said
    assert "uniformly" not in said
