"""What a second-order run shows machines and on a terminal."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from mohs.records import Outcome
from mohs.report.second_order.figures import second_order_lines, summarise_second_order
from mohs.report.second_order.view import SecondOrderView, two_level
from mohs.report.terminal import print_run
from tests.report.made import searched
from tests.report.second_order.made import mixed, parsed, run_of, vulnerable


def test_two_levels_on_the_terminal() -> None:
    shown = two_level(vulnerable(original=("A good, good Film.", "Seen \x1b[2J")))
    assert shown.plain == "  A good, good→dull [Film|movie].\n  Seen \ufffd[2J"
    styles = {shown.plain[span.start : span.end]: span.style for span in shown.spans}
    assert styles["good"] != styles["dull"] != styles["[Film|movie]"]


def test_the_terminal_shows_table_and_diffs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    with run_of(*mixed()) as run:
        errors = print_run(run, run.view(), as_json=False, verbose=False, diffs=1)
    said = capsys.readouterr().out
    assert "so-beam found a vulnerable example near 3 of 5 examples with a patch pair." in said
    for name, value, note in second_order_lines(summarise_second_order(mixed())[0]):
        assert name in said
        assert value in said
        assert note in said
    assert "A good, good→dull [Film|movie]." in said
    assert "film: good 90%  ≠  movie: bad 60%" in said
    assert "film: good 80%  =  movie: good 70%" in said
    assert errors.startswith("1 of 8 attempts ended in an error")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    with run_of(*mixed()) as run:
        print_run(run, run.view(), as_json=True, verbose=False, page="x.html")
    found = json.loads(capsys.readouterr().out)
    assert found["summary"][0]["vulnerable"]["hits"] == 3
    assert (found["finished"], found["page"]) == (8, "x.html")


def test_a_narrow_terminal_names_the_denominators_below() -> None:
    console = Console(width=70, file=StringIO())
    with run_of(*mixed()) as run:
        SecondOrderView(run).show(console, 0)
    below = console.file.getvalue().split("near ties")[-1] if isinstance(console.file, StringIO) else ""
    assert "found, fair success, queries: of examples with a patch pair" in " ".join(below.split())


def test_all_skipped_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = [searched(n, Outcome.SKIPPED) for n in range(3)]
    said = "No patch pair fits any of the 3 examples, so there was nothing to search."
    found = parsed(run_of(*skipped), tmp_path)
    assert said in found.text
    assert [tag for tag, _ in found.tags].count("svg") == 0
    assert "only" not in found.data()
    with run_of(*skipped) as run:
        assert print_run(run, run.view(), as_json=False, verbose=False) == ""
    assert said in " ".join(capsys.readouterr().out.split())


def test_fair_success_counts_pairs_that_people_would_accept() -> None:
    with run_of(*mixed()) as run:
        (summary,) = run.vulnerable()
        assert summary.fair is not None
        assert summary.fair.total == summary.vulnerable.total == 5
        assert summary.fair.judged + summary.fair.unjudged == 3
        assert 0 < summary.fair.expected < 3
        assert summary.to_json()["fair"]["value"] == summary.fair.value
        alone = run.view(judge="none").figures()["summary"][0]
        assert "fair" not in alone
