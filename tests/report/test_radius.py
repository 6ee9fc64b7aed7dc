"""Radius runs: figures, charts, terminal and page."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import mohs
from mohs.records import Outcome, Record
from mohs.report.radius.charts import left_standing, scatter, withstood
from mohs.report.radius.figures import (
    KINDS,
    RadiusSummary,
    kind_of,
    radius_flags,
    radius_headline,
    radius_lines,
    reason_of,
    shown_steps,
    summarise_radius,
)
from mohs.report.radius.shares import share_headline, share_notes
from mohs.report.radius.view import RadiusView
from mohs.report.radius.violins import density, levels, violins
from mohs.report.table import rate
from mohs.report.template import write_page
from mohs.report.terminal import print_run
from mohs.run import Run
from mohs.text import Edit
from tests.report.made import EVIL, Parsed, kept, needs_nothing_else, searched

_OF_DETAILS = ("by", "stopped", "attacks", "share", "sizes", "pruned")
SHARE = {"r": "25%", "epsilon": 0.025, "delta": 0.005, "method": "clopper-pearson", "n": None}


def share(value: float, low: float, high: float, n: int = 4794, **changes: Any) -> dict[str, Any]:
    found = {"r": 2, "size": 9999, "n": n, "hold": round(value * n), "value": value, "low": low, "high": high}
    return found | {"method": "clopper-pearson"} | changes


def bounded(number: int, lower: int, upper: int | None, *, whole: bool = False, **changes: Any) -> Record:
    """A record of `mohs radius`; other details than the bounds, and fields of the record, by name."""
    details: dict[str, Any] = {
        "lower": lower,
        "upper": upper,
        "exact": whole or upper == lower + 1,
        "whole": whole,
        "by": "enumeration",
        "stopped": "",
        "sizes": [10 * r for r in range(1, lower + 1)],
        "margins": [0.1] * lower,
        "attacks": {},
    }
    if lower:
        details["certificate"] = {"format": "mohs-certificate-1"}
    details |= {key: changes.pop(key) for key in _OF_DETAILS if key in changes}
    found: dict[str, Any] = {"attack": "radius", "positions": 3, "details": details, "queries": 10 * number + 1}
    if upper is not None:
        found |= {
            "perturbed": ("A dull, good Film.",),
            "edits": (Edit(1, "good", "dull", "neighbours"),),
            "scores_after": (0.7, 0.3),
        }
    return searched(number, Outcome.MEASURED, **(found | changes))


def misread(number: int) -> Record:
    return searched(number, Outcome.SKIPPED, attack="radius", scores_before=(0.9, 0.1), queries=1)


def mixed() -> list[Record]:
    """Two exact (one withstands all), two bracketed, three open above, one misread, one error."""
    return [
        bounded(0, 0, 1, attacks={"a": 1, "b": 3}, share=share(0.6, 0.4, 0.8)),
        bounded(1, 3, None, whole=True, attacks={"a": None, "b": None}, share=share(1.0, 1.0, 1.0, method="counted")),
        bounded(2, 1, 3, attacks={"a": 3, "b": 3}, stopped="texts", share=share(0.95, 0.91, 0.99)),
        bounded(3, 2, 4, attacks={"a": None, "b": 4}, share=share(0.92, 0.89, 0.95)),
        bounded(4, 2, None, attacks={"a": None, "b": None}, share=share(0.999, 0.995, 1.0)),
        bounded(5, 1, None, attacks={"a": None, "b": None}, stopped="time", share=share(0.9, 0.9, 0.95)),
        bounded(6, 0, None, attacks={"a": None, "b": None}, stopped="ties", share=share(0.4, 0.3, 0.5)),
        misread(7),
        searched(8, Outcome.ERROR, attack="radius", error="It broke.", traceback="Traceback ..."),
    ]


def summary_of(*records: Record) -> RadiusSummary:
    return summarise_radius(records, {"pac": True, **SHARE}, len(records))


def run_of(*records: Record, **config: Any) -> Run:
    asked: dict[str, Any] = {
        "attacks": ["radius"], "attack": ["a", "b"], "source": "Neighbours(k=5)", "constraints": [], "max_r": 2,
        "most": 1000, "time_limit": 2.5, "pac": True, **SHARE,
    }  # fmt: skip
    return kept("radius", list(records), **(asked | config))


def parsed(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(write_page(run, folder / "report.html").read_text("utf-8"))


def test_what_is_known_of_each_example_and_why_no_more() -> None:
    records = mixed()
    assert [kind_of(record.details) for record in records[:7]] == [
        "exact", "whole", "bracketed", "bracketed", "unknown", "unknown", "unknown"
    ]  # fmt: skip
    assert [reason_of(record.details) for record in records[:7]] == ["", "", "texts", "max-r", "max-r", "time", "ties"]
    found = summary_of(*records)
    assert (found.right.hits, found.right.total, found.right.of) == (7, 8, "examples judged")
    assert found.outcomes == {"measured": 7, "skipped": 1, "error": 1}
    assert found.kinds == {"whole": 1, "exact": 1, "bracketed": 2, "unknown": 3}
    assert found.why["bracketed"] == {"max-r": 1, "texts": 1, "time": 0, "ties": 0, "unsteady": 0}
    assert found.why["unknown"] == {"max-r": 1, "texts": 0, "time": 1, "ties": 1, "unsteady": 0}
    assert found.lower.value == pytest.approx(9 / 7)
    assert found.upper.value == pytest.approx(8 / 3)
    assert (found.lower.total, found.upper.total) == (7, 3)
    assert (found.queries.value, found.median_queries) == (31, 31)
    assert found.texts == 10 + 20 + 30 + 10 + 10 + 20 + 10 + 20 + 10
    assert found.certificates == 5


def test_texts_of_levels_that_were_not_proven_or_not_asked_do_not_count() -> None:
    tied = bounded(0, 1, None, stopped="ties", sizes=[5, 70])
    closed = bounded(1, 3, 4, by="closed form", sizes=[1, 1, 1])
    found = summary_of(tied, closed)
    assert found.texts == 5
    assert found.forms == {"enumeration": 1, "closed form": 1}
    assert "texts of proven levels" not in dict(row[:2] for row in radius_lines(summary_of(closed)))


@given(st.lists(st.tuples(st.integers(0, 8), st.none() | st.integers(1, 20), st.booleans()), min_size=1, max_size=12))
def test_the_curve_is_that_of_counting(drawn: list[tuple[int, int | None, bool]]) -> None:
    bounds = [(low, None if gap is None or whole else low + gap, whole) for low, gap, whole in drawn]
    curve = summary_of(*(bounded(n, low, up, whole=all_) for n, (low, up, all_) in enumerate(bounds))).curve
    for r, step in enumerate(curve, 1):
        assert step.r == r
        assert step.proven.hits == sum(whole or low >= r for low, _, whole in bounds)
        assert step.possible.hits == sum(up is None or up > r for _, up, _ in bounds)
        assert step.proven.total == step.possible.total == len(bounds)
        assert step.proven.hits <= step.possible.hits
    last = curve[-1]
    assert last.proven.hits == sum(whole for *_, whole in bounds), "beyond it nothing changes"
    assert last.possible.hits == sum(up is None for _, up, _ in bounds)


def test_of_many_steps_the_round_ones_and_the_last_are_shown() -> None:
    curve = summary_of(bounded(0, 140, 143)).curve
    assert len(curve) == 143
    assert [step.r for step in shown_steps(curve)] == [1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 143]
    assert len(shown_steps(curve[:12])) == 12


def test_wins_ties_and_lone_successes() -> None:
    a, b = summary_of(*mixed()).attacks
    assert (a.success.hits, a.success.total, a.success.of) == (2, 7, "examples read right")
    assert a.edits.value == 2
    assert a.share.value == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert (a.wins, a.ties, a.alone) == (1, 1, 0)
    assert (b.success.hits, b.wins, b.ties, b.alone) == (3, 0, 1, 1)
    assert b.counts == {3: 2, 4: 1}
    three = summary_of(
        bounded(0, 0, 2, attacks={"a": 2, "b": 3, "c": 3}), bounded(1, 0, 2, attacks={"a": 5, "b": 2, "c": 2})
    )
    assert [(u.wins, u.ties, u.alone) for u in three.attacks] == [(1, 0, 0), (0, 1, 0), (0, 1, 0)]
    (only,) = summary_of(bounded(0, 0, 1, attacks={"a": 1})).attacks
    assert only.alone == 0, "with one attack there is nobody to be better than"


def test_upper_bounds_that_only_the_prover_found() -> None:
    records = [
        bounded(0, 1, 2, attacks={"a": 2}),
        bounded(1, 1, 2, attacks={"a": 3}),
        bounded(2, 0, 1, attacks={"a": None}),
        bounded(3, 2, None, attacks={"a": None}),
    ]
    assert summary_of(*records).prover_only == 2


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
    assert "For 1 of 7 examples all texts were asked" in said
    assert "(clopper-pearson; epsilon 0.025, delta 0.005)" in said
    assert "with probability 1 - delta = 0.995" in said
    assert "any of 6 misses has a probability of at most 6 * delta, here 0.03; with --together" in said
    three = [bounded(n, 0, 1, share=share(0.5, 0.4, 0.6)) for n in range(3)]
    many = summarise_radius(three, {"pac": True, "delta": 0.4})
    assert "at most 3 * delta, which is above 1;" in share_notes(many.shares)[-1]


def test_intervals_that_hold_together_say_what_delta_was_divided_by() -> None:
    two = [share(0.5, 0.4, 0.6, r=1), share(0.3, 0.2, 0.4)]
    config = {"pac": True, **SHARE, "r": ["1", "25%"], "together": True}
    found = summarise_radius([bounded(0, 0, 1, share=two), misread(1)], config, 10)
    assert [one.among for one in found.shares] == [20, 20], "two for each example that the run will have"
    assert share_notes(found.shares)[-1] == (
        "All intervals hold at once with probability 1 - delta = 0.995: each was made for delta / 20 = 0.00025 "
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
        print_run(run, as_json=False, verbose=False, diffs=1)
    assert (one.r, one.least_r, one.median, two.r, two.most_r, two.median) == ("1", 1, 0.75, "25%", 2, 0.65)
    assert share_headline([one, two]).startswith("PR at r = 25% lies above 0.9")
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


def test_time_limits_and_what_bounds_exclude_where_the_records_have_them() -> None:
    records = [
        bounded(0, 2, 3, by="enumeration and bounds", sizes=[10, 40, 90], pruned=[4, 30, 80]),
        bounded(1, 1, None, stopped="time", sizes=[5], pruned=[0]),
        bounded(2, 1, 2, sizes=[7]),
        bounded(3, 9, 10, by="closed form", sizes=[1] * 9),
    ]
    found = summarise_radius(records, {"time_limit": 5})
    assert (found.texts, found.excluded) == (62, 34)
    rows = {name: (value, note) for name, value, note in radius_lines(found)}
    assert rows["texts of proven levels"][0] == "62"
    assert rows["of these asked"][0] == "28"
    assert rows["of these excluded"][0] == "34"
    assert rows["by enumeration and bounds"][0] == "1"
    assert rows["ended in time"][0].startswith("75.0% (3/4)")
    older = dict(row[:2] for row in radius_lines(summarise_radius(records[2:3], {"time_limit": None})))
    assert not {"ended in time", "of these excluded"} & set(older)


def test_two_attacks_on_the_same_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, c = "pdp:released", "pdp:released-unreverted", "textfooler:paper"
    records = [
        bounded(0, 0, 1, attacks={a: 1, b: 2, c: 2}),
        bounded(1, 0, 1, attacks={a: 2, b: 2, c: None}),
        bounded(2, 0, 1, attacks={a: 3, b: None, c: 1}),
    ]
    duels = summary_of(*records).duels
    assert [(d.attack, d.other, d.fewer, d.equal, d.more) for d in duels] == [
        (a, b, 1, 1, 0), (a, c, 1, 0, 1), (b, c, 0, 1, 0)
    ]  # fmt: skip
    with run_of(*records) as run:
        print_run(run, as_json=False, verbose=False)
    said = capsys.readouterr().out
    assert re.search(rf"^{a} against {b} +1 +1 +0$", said, re.M)
    page = parsed(run_of(*records), tmp_path).text
    assert f"{a} against {b}" in page
    with run_of(*(bounded(n, 0, 1, attacks={a: 1, b: 2}) for n in range(2))) as run:
        print_run(run, as_json=False, verbose=False)
    assert "against" not in capsys.readouterr().out, "of two attacks #Win says it all"


def test_counted_shares_have_no_interval_to_explain() -> None:
    found = summary_of(bounded(0, 0, 1, share=share(0.5, 0.5, 0.5, method="counted"))).shares
    assert "interval" not in " ".join(share_notes(found))


def test_machines_get_rates_with_intervals_and_no_lists_of_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with run_of(*mixed()) as run:
        print_run(run, as_json=True, verbose=False, page="x.html")
    row = json.loads(capsys.readouterr().out)
    assert (row["finished"], row["page"]) == (9, "x.html")
    found = row["radius"]
    assert found["curve"][0]["proven"]["hits"] == 5
    assert found["curve"][0]["possible"]["interval"] == list(summary_of(*mixed()).curve[0].possible.interval or ())
    assert found["kinds"]["bracketed"]["value"] == pytest.approx(2 / 7)
    assert found["attacks"][0]["success"]["interval"] is not None
    (of_share,) = found["shares"]
    assert of_share["above"][1]["low"]["hits"] == 3
    assert "values" not in of_share
    json.dumps(summary_of().to_json(), allow_nan=False)


def test_the_headline_gives_both_ends_where_they_differ() -> None:
    assert radius_headline(summary_of(*mixed())) == (
        "Between 5 and 6 of 7 examples read right withstand any one substitution; the radius is exact for 2."
    )
    assert radius_headline(summary_of(bounded(0, 1, 2), bounded(1, 0, 1))) == (
        "1 of 2 examples read right provably withstand any one substitution; the radius is exact for all."
    )


def test_the_terminal_shows_tables_and_diffs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    with run_of(*mixed()) as run:
        errors = print_run(run, as_json=False, verbose=False, diffs=1)
    said = capsys.readouterr().out
    found = summary_of(*mixed())
    for name, value, note in radius_lines(found):
        assert all(part in said for part in (name, value, note))
    for step in found.curve:
        assert re.search(rf"^{step.r} +{re.escape(rate(step.proven))} +{re.escape(rate(step.possible))}$", said, re.M)
    assert re.search(r"^#Win +1 +0 *$", said, re.M)
    assert re.search(r"^25% +0\.9 +42\.9% \(3/7\) \S+ \S+ +57\.1% \(4/7\)", said, re.M)
    assert "`mohs verify RUN` checks the 5 certificates of this run." in said
    assert "e0: L 0, U 1, by enumeration, PR 0.6000 (r 2)\n  A good→dull, good Film." in said
    assert "e2:" not in said, "one diff was asked for"
    assert errors.startswith("1 of 9 attempts ended in an error")


def test_a_narrow_terminal_names_the_denominators_below() -> None:
    console = Console(width=70, file=StringIO())
    with run_of(*mixed()) as run:
        RadiusView(run).show(console, 0)
    said = " ".join(console.file.getvalue().split()) if isinstance(console.file, StringIO) else ""
    assert "read right: of examples judged (all but errors); all else: of, or over, examples read right" in said


def test_the_page_has_the_same_figures_and_every_example(tmp_path: Path) -> None:
    found = parsed(run_of(*mixed(), victim="my model"), tmp_path)
    summary = summary_of(*mixed())
    for name, value, note in radius_lines(summary):
        assert all(part in found.text for part in (name, value, note))
    charts = [attrs["aria-label"] or "" for tag, attrs in found.tags if tag == "svg" and "aria-label" in attrs]
    assert len(charts) == 5
    for step in summary.curve:
        assert f"r {step.r}: proven {rate(step.proven)}, possible {rate(step.possible)}." in charts[0]
    assert "a: 28.6% (2/7)" in charts[1]
    assert len(found.with_class("band")) == 2
    assert "mohs verify RUN --victim 'my model'" in found.text
    assert "5 certificates" in found.text
    data = found.data()
    rows = data["rows"]
    assert [row["outcome"] for row in rows[6:]] == ["unknown", "skipped", "error"]
    assert rows[0]["text"] == [["A ", ["good", "dull", "neighbours"], ", good Film."]]
    assert (rows[0]["lower"], rows[0]["upper"], rows[0]["by"], rows[0]["pr"]) == (0, 1, "enumeration", 0.6)
    assert rows[0]["said"] == "bad"
    assert rows[0]["shown"]["pr"] == "0.6000 [0.4000, 0.8000]"
    assert (rows[1]["shown"]["upper"], rows[1]["shown"]["pr"]) == ("none", "1.0000 (counted)")
    assert (rows[4]["shown"]["upper"], rows[4]["by"]) == ("?", "enumeration, ended by max-r")
    assert (rows[7]["lower"], rows[7]["pr"]) == (None, None), "what is not there is sorted to the end"
    assert {column["cell"] for column in data["columns"]} >= {"lower", "upper", "by", "pr"}
    assert "open above 3" in found.text
    assert "misread 1" in found.text
    assert data["called"]["unknown"] == KINDS["unknown"]
    assert needs_nothing_else(found)


def test_without_attacks_and_shares_their_parts_are_left_out(tmp_path: Path) -> None:
    found = parsed(run_of(bounded(0, 1, 2), bounded(1, 0, 1), attack=[], pac=False, time_limit=None), tmp_path)
    charts = [attrs for tag, attrs in found.tags if tag == "svg"]
    assert len(charts) == 1
    assert not found.with_class("band"), "nothing is open, so nothing is shaded"
    assert "Upper bounds by attack" not in found.text
    assert "PR" not in found.text
    assert "pr" not in {column["cell"] for column in found.data()["columns"]}


def test_texts_never_become_markup(tmp_path: Path) -> None:
    nasty = bounded(
        0, 0, 1, attacks={EVIL: 1, EVIL + "2": 1}, by=EVIL, share=share(0.5, 0.4, 0.6, method=EVIL),
        example_id=EVIL, original=(f"{EVIL} film",), edits=(Edit(0, "script", EVIL, EVIL),),
    )  # fmt: skip
    config = {
        "labels": [EVIL] * 2,
        "victim": EVIL,
        "data": EVIL,
        "attack": [EVIL],
        "source": EVIL,
        "constraints": [EVIL],
    }
    found = parsed(run_of(nasty, **config), tmp_path)
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert needs_nothing_else(found)
    assert not set("<>&\u2028\u2029") & set(found.scripts[0])
    assert "alert(1)" not in found.scripts[1]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], "Nothing has been measured yet."),
        ([mixed()[-1]], "Every example ended in an error."),
        (
            [misread(n) for n in range(3)],
            "The victim reads none of 3 examples right, so there is no radius to measure.",
        ),
        (
            [bounded(0, 0, None, whole=True, positions=0, share=share(1, 1, 1, n=1, r=0, size=1, method="counted"))],
            "No word can be replaced in any of 1 examples read right, so there was nothing to withstand.",
        ),
    ],
)
def test_empty_runs_are_one_sentence(
    records: list[Record], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = parsed(run_of(*records), tmp_path)
    assert said in found.text
    right = any(record.outcome is Outcome.MEASURED for record in records)
    assert ("svg" in [tag for tag, _ in found.tags]) == right
    with run_of(*records) as run:
        print_run(run, as_json=False, verbose=False)
    assert said in " ".join(capsys.readouterr().out.split())


def test_what_a_reader_must_know_first() -> None:
    empty = [bounded(n, 0, None, whole=True, positions=0) for n in range(2)]
    flags = radius_flags({}, summary_of(*empty, bounded(2, 2, None), bounded(3, 0, None, stopped="time")), 4, 4)
    assert flags == [
        "2 of 4 examples read right have no word to replace: they withstand because their space is empty.",
        "Nothing is known beyond L for 1 of 4 examples read right (--max-r was reached): "
        "a larger --max-r proves more, and --attack may find texts.",
        "Nothing is known beyond L for 1 of 4 examples read right (--time-limit was over): "
        "a larger --time-limit lets the prover ask more.",
    ]
    assert radius_flags({}, summary_of(bounded(0, 1, 2), bounded(1, 1, 5)), 2, 2) == []


def test_the_band_lies_between_the_two_curves() -> None:
    chart = withstood(summary_of(bounded(0, 0, 1), bounded(1, 1, None)))
    assert chart is not None
    # Of two: all at r = 0; one proven and possible at r = 1; at r = 2 none is proven, one possible.
    assert chart["proven"] == "M44.0 12.0V12.0H158.7V96.0H273.3V180.0H388.0"
    assert chart["possible"] == "M44.0 12.0V12.0H158.7V96.0H273.3V96.0H388.0"
    assert chart["band"] == chart["possible"] + "V180.0H273.3V96.0H158.7V12.0H44.0Z"
    assert chart["open"]
    assert withstood(summary_of()) is None


def test_what_each_attack_leaves_standing() -> None:
    found = summary_of(bounded(0, 0, 1, attacks={"a": 1, "b": 2}), bounded(1, 0, None, attacks={"a": None, "b": 2}))
    chart = left_standing(found.attacks)
    assert chart is not None
    assert chart["paths"] == {
        "a": "M44.0 12.0V12.0H158.7V96.0H273.3V96.0H388.0",
        "b": "M44.0 12.0V12.0H158.7V12.0H273.3V180.0H388.0",
    }
    assert left_standing(summary_of(bounded(0, 0, 1)).attacks) is None
    assert left_standing(summary_of(bounded(0, 0, None, attacks={"a": None})).attacks) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_every_share_is_in_the_charts_and_inside_them(values: list[float]) -> None:
    found = summary_of(*(bounded(n, n % 4, None, share=share(value, 0, 1)) for n, value in enumerate(values))).shares
    dots = scatter(found[0])["dots"]
    assert sum(dot["count"] for dot in dots) == len(values)
    assert all(44 <= dot["x"] <= 388 and 12 <= dot["y"] <= 180 for dot in dots)
    (one,) = violins(found)["violins"]
    assert len(one["dots"]) == (len(values) if len(values) < 5 else 0)
    assert (one["outline"] is None) == (len(values) < 5 or min(values) == max(values))
    drawn = [float(number) for number in re.findall(r"[\d.]+", one["outline"] or "")]
    assert all(146 <= x <= 286 for x in drawn[::2])
    heights = [*drawn[1::2], *one["dots"], *one["ends"], one["median"], one["mean"]]
    assert all(12 <= y <= 180 for y in heights)
    if one["ends"]:
        assert max(heights) == one["ends"][0], "nothing lies below the least"
        assert min(heights) == one["ends"][1]
    (_, path), (_, surely) = levels(found)["lines"]
    falls = [float(y) for y in re.findall(r"V([\d.]+)", path)]
    assert len(falls) == len(set(values))
    assert falls == sorted(falls)
    assert falls[-1] == 180
    assert surely == "M44 12.0H44.0V180.0H388", "their lower ends are all nought"


@given(st.lists(st.floats(0, 1), min_size=5, max_size=40))
def test_a_density_has_all_its_weight_between_nought_and_one(values: list[float]) -> None:
    grid = [(n + 0.5) / 4000 for n in range(4000)]
    assert density(values, grid, 0.005).sum() / 4000 == pytest.approx(1, abs=1e-3)


def test_violins_are_widest_where_the_examples_are() -> None:
    values = [0.5, 0.6, *[0.95] * 20, *[0.96] * 20]
    found = summary_of(*(bounded(n, 0, None, share=share(value, 0, 1)) for n, value in enumerate(values))).shares
    outline = violins(found)["violins"][0]["outline"]
    points = [tuple(map(float, point.split())) for point in outline.strip("MZ").split("L")]
    x, y = max(points)
    assert x == 286, "as wide as may be"
    assert y == pytest.approx(180 - 168 * (0.955 - 0.4) / 0.6, abs=2)
    assert sorted(2 * 216 - x for x, _ in points) == pytest.approx(sorted(x for x, _ in points))


def test_equal_shares_are_a_line_and_radii_beyond_six_are_left_to_the_table() -> None:
    records = [bounded(n, 0, None, share=[share(1.0, 1.0, 1.0)] * 8) for n in range(9)]
    chart = violins(summarise_radius(records, {}).shares)
    assert (len(chart["violins"]), chart["left"]) == (6, 2)
    assert all(one["ends"] == [12.0, 12.0] and one["outline"] is None for one in chart["violins"])
    assert chart["y"][0][1] == "0.9"


def test_a_real_run_ends_in_a_page_a_table_and_a_notebook(tmp_path: Path) -> None:
    with mohs.radius("pocket", "pocket", n=4, attacks="random", share=mohs.bounds.Share("1")) as run:
        page = Parsed(run.report(tmp_path / "r.html").read_text("utf-8"))
        cells = re.findall(r"<td>(.*?)</td>", run._repr_html_())
    assert len(page.data()["rows"]) == 4
    assert "too few for a violin" in page.text
    assert "as wide as examples are frequent" not in page.text
    assert "examples read right provably withstand any one substitution; the radius is exact for all." in page.text
    assert "radius exact" in cells
    assert "r = 1" in cells
