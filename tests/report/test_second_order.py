"""Second-order runs: figures, terminal and page."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mohs.records import Outcome, Record
from mohs.report.second_order.figures import predictions, second_order_lines, summarise_second_order
from mohs.report.second_order.view import SecondOrderView, two_level
from mohs.report.template import write_page
from mohs.report.terminal import print_run
from mohs.run import Run
from mohs.text import Edit
from tests.report.made import EVIL, Parsed, kept, needs_nothing_else, searched

PATCH = {"position": 3, "old": "film", "new": "movie", "gap": 0.4}


def vulnerable(number: int = 0, **changes: Any) -> Record:
    details = {
        "patch": PATCH,
        "patched_before": [0.3, 0.7],
        "patched_after": [0.6, 0.4],
        "steps": 2,
        "size": 9,
    }
    found = {
        "perturbed": ("A good, dull Film.",),
        "edits": (Edit(2, "good", "dull", "masked"),),
        "scores_after": (0.1, 0.9),
        "details": details,
        "measures": {"perplexity-before": 100.0 + number, "perplexity": 200.0 + number},
    }
    return searched(number, **(found | changes))


def mixed() -> list[Record]:
    pair = {"patch": PATCH, "patched_before": [0.3, 0.7]}
    return [
        vulnerable(0),
        vulnerable(1, edits=(), perturbed=("A good, good Film.",), measures={}, queries=3),
        vulnerable(2, queries=7),
        searched(3, Outcome.FAILED, details=pair),
        searched(4, Outcome.EXHAUSTED, details=pair),
        searched(5, Outcome.SKIPPED, queries=0),
        searched(6, Outcome.SKIPPED, queries=0),
        searched(7, Outcome.ERROR, error="It broke.", traceback="Traceback ..."),
    ]


def run_of(*records: Record, **config: Any) -> Run:
    asked: dict[str, Any] = {"attacks": ["so-beam"], "k": 2, "beam": 20}
    return kept("second-order", list(records), **(asked | config))


def parsed(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(write_page(run, folder / "report.html").read_text("utf-8"))


def test_denominators_are_named_and_leave_out_what_says_nothing() -> None:
    (found,) = summarise_second_order(mixed())
    assert (found.with_pair.hits, found.with_pair.total, found.with_pair.of) == (5, 7, "examples judged")
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
    assert row["with_pair"]["of"] == "examples judged"


def test_the_four_predictions() -> None:
    assert predictions(vulnerable(), ["bad", "good"]) == [
        ("original", ("film", "good", 0.8), ("movie", "good", 0.7)),
        ("vulnerable", ("film", "good", 0.9), ("movie", "bad", 0.6)),
    ]
    (only,) = predictions(mixed()[3], ["bad", "good"])
    assert only[0] == "original"
    assert predictions(searched(0, Outcome.SKIPPED), []) == []


def test_two_levels_on_the_terminal() -> None:
    shown = two_level(vulnerable(original=("A good, good Film.", "Seen \x1b[2J")))
    assert shown.plain == "  A good, good→dull [Film|movie].\n  Seen \ufffd[2J"
    styles = {shown.plain[span.start : span.end]: span.style for span in shown.spans}
    assert styles["good"] != styles["dull"] != styles["[Film|movie]"]


def test_the_terminal_shows_table_and_diffs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    with run_of(*mixed()) as run:
        errors = print_run(run, as_json=False, verbose=False, diffs=1)
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
        print_run(run, as_json=True, verbose=False, page="x.html")
    found = json.loads(capsys.readouterr().out)
    assert found["summary"][0]["vulnerable"]["hits"] == 3
    assert (found["finished"], found["page"]) == (8, "x.html")


def test_a_narrow_terminal_names_the_denominators_below() -> None:
    console = Console(width=70, file=StringIO())
    with run_of(*mixed()) as run:
        SecondOrderView(run).show(console, 0)
    below = console.file.getvalue().split("near ties")[-1] if isinstance(console.file, StringIO) else ""
    assert "found, queries: of examples with a patch pair" in " ".join(below.split())


def test_the_page_has_the_same_figures_and_the_texts_in_two_levels(tmp_path: Path) -> None:
    found = parsed(run_of(*mixed(), synonyms="neighbours", budget=100), tmp_path)
    assert "so-beam found a vulnerable example near 3 of 5 examples with a patch pair." in found.text
    for name, value, note in second_order_lines(summarise_second_order(mixed())[0]):
        assert name in found.text
        assert value in found.text
        assert note in found.text
    data = found.data()
    row = data["rows"][0]
    assert row["text"] == [["A good, ", ["good", "dull", "masked"], " ", {"old": "Film", "new": "movie"}, "."]]
    assert row["patch"] == "film|movie"
    assert row["predictions"][1] == ["vulnerable", ["film", "good", 0.9], ["movie", "bad", 0.6]]
    assert (row["changed"], row["steps"], row["queries"]) == (1, 2, 5)
    assert data["only"] == ["success"]
    assert "predictions" not in data["rows"][5]
    assert "no pair 2" in found.text
    charts = [attrs["aria-label"] or "" for tag, attrs in found.tags if tag == "svg"]
    assert "vulnerable 60.0% (3/5)" in charts[0]
    assert "1 with 0; 2 with 1;" in charts[1]
    assert needs_nothing_else(found)


def test_an_edit_at_the_place_of_the_pair_is_shown_before_it(tmp_path: Path) -> None:
    odd = vulnerable(edits=(Edit(3, "Film", "Show", "masked"),))
    (row,) = parsed(run_of(odd), tmp_path).data()["rows"]
    assert row["text"] == [["A good, good ", ["Film", "Show", "masked"], {"old": "Show", "new": "movie"}, "."]]


def test_texts_never_become_markup(tmp_path: Path) -> None:
    nasty = vulnerable(
        attack=EVIL,
        example_id=EVIL,
        original=(f"{EVIL} film",),
        edits=(Edit(0, "script", EVIL, "masked"),),
        error=EVIL,
        details={"patch": {"position": 1, "old": EVIL, "new": EVIL}, "patched_before": [0, 1], "patched_after": [1, 0]},
    )
    config = {"labels": [EVIL, EVIL], "victim": EVIL, "data": EVIL, "synonyms": EVIL, "masked_lm": EVIL}
    found = parsed(run_of(nasty, **config), tmp_path)
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert needs_nothing_else(found)
    assert not set("<>&\u2028\u2029") & set(found.scripts[0])
    assert "alert(1)" not in found.scripts[1]
    assert found.data()["rows"][0]["text"][0][3] == {"old": "script", "new": EVIL}


def test_all_skipped_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = [searched(n, Outcome.SKIPPED) for n in range(3)]
    said = "No patch pair fits any of the 3 examples, so there was nothing to search."
    found = parsed(run_of(*skipped), tmp_path)
    assert said in found.text
    assert [tag for tag, _ in found.tags].count("svg") == 0
    assert "only" not in found.data()
    with run_of(*skipped) as run:
        assert print_run(run, as_json=False, verbose=False) == ""
    assert said in " ".join(capsys.readouterr().out.split())


def test_nothing_yet_and_only_errors(tmp_path: Path) -> None:
    assert "Nothing has been searched yet." in parsed(run_of(), tmp_path).text
    assert "Every search ended in an error." in parsed(run_of(mixed()[-1]), tmp_path).text


def test_a_small_budget_is_pointed_out(tmp_path: Path) -> None:
    said = parsed(run_of(*mixed()), tmp_path).text
    assert "so-beam ran out of queries on 1 of 5 examples with a patch pair: a larger --budget may find more." in said
    assert "ran out of queries" not in parsed(run_of(vulnerable()), tmp_path).text
