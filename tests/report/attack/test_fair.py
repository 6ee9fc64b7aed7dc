"""Fair success in the figures, the terminal, the page and the exports of attack runs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import mohs
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.attack.table import summary_tables
from mohs.report.attack.view import AttackView
from mohs.report.verdicts import Verdicts
from mohs.runs.run import Run
from mohs.space import FAIR, Acceptable
from mohs.text import Edit
from tests.report.attack.test_page import record, run_of
from tests.report.made import Parsed


def changed(number: int, old: str, new: str, **more: Any) -> Record:
    text = "The {} was made by a small team."
    edits = (Edit(1, old, new, "wordnet"),)
    return record(number, original=(text.format(old),), perturbed=(text.format(new),), edits=edits, words=7, **more)


GOOD = changed(0, "film", "movie")
BAD = changed(1, "film", "cheese")
STRANGE = changed(2, "film", "fi1mm")
LONGER = record(
    3, original=("A film.",), perturbed=("A really good film.",), edits=(Edit(1, "film", "really good film", "x"),)
)


def test_each_success_has_the_judges_probability_and_they_add_up() -> None:
    with run_of(GOOD, BAD, changed(4, "film", "cheese", outcome=Outcome.FAILED)) as run:
        view = run.view()
        assert isinstance(view, AttackView)
        good, bad = view.accepted(GOOD), view.accepted(BAD)
        assert good is not None
        assert bad is not None
        assert good > 0.4 > 0.2 > bad
        (summary,) = run.summary()
        assert summary.fair is not None
        assert summary.fair.expected == pytest.approx(good + bad)
        assert summary.fair.total == summary.success.total == 3
        assert summary.fair.value == pytest.approx((good + bad) / 3)
        row = summary.to_json()["fair"]
        assert row["value"] == summary.fair.value
        assert row["interval"] == summary.fair.interval


def test_what_the_judge_cannot_judge_is_counted_apart() -> None:
    with run_of(GOOD, LONGER) as run:
        (summary,) = run.summary()
    assert summary.fair is not None
    assert (summary.fair.judged, summary.fair.unjudged) == (1, 1)
    assert summary.fair.interval is not None
    assert summary.fair.interval[1] > 0.9
    said = "not judged: successes on which the judge has no opinion, only in the upper end of fair success"
    assert said in summary_tables([summary], 80)[1]


def test_without_a_judge_there_is_no_fair_success(tmp_path: Path) -> None:
    with run_of(GOOD, BAD) as run:
        view = run.view(judge="none")
        assert isinstance(view, AttackView)
        assert view.summary()[0].fair is None
        assert "fair" not in view.figures()["summary"][0]
        assert view.columns(GOOD) == {}
        page = Parsed(view.page())
    assert "fair success" not in page.text
    assert "people would accept" not in page.text


def test_the_terminal_shows_what_people_would_accept_first() -> None:
    with run_of(BAD, GOOD) as run:
        console = Console(file=io.StringIO(), width=200)
        run.view().show(console, 1)
        printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "fair success" in printed
    assert "movie" in printed
    assert "cheese" not in printed
    assert "likely that people would accept it" in printed


def test_the_headline_names_both() -> None:
    with run_of(*[changed(n, "film", "movie") for n in range(10, 20)], BAD) as run:
        page = Parsed(run.view().page())
    assert "fooled the model on 11 of 11 examples it got right, about" in page.text
    with run_of(LONGER) as run:
        page = Parsed(run.view().page())
    assert "none of them could be judged" in page.text


def test_a_goal_that_keeps_the_label_has_no_fair_success() -> None:
    with run_of(GOOD, goal="reduced:1") as run:
        (summary,) = run.summary()
    assert summary.fair is None


def test_fair_searches_find_only_what_the_constraints_allow_and_both_are_shown(tmp_path: Path) -> None:
    with mohs.attack("pocket", "pocket", ["textfooler", "textfooler+fair"], n=30, out=tmp_path / "run") as run:
        loose, fair = run.summary()
        assert (loose.attack, fair.attack) == ("textfooler:paper", "textfooler:paper+fair")
        assert fair.success.hits < loose.success.hits
        hits = [r for r in run.records() if r.attack == fair.attack and r.outcome is Outcome.SUCCESS]
        verdicts = Verdicts(hits)
    assert hits
    for hit in hits:
        assert hit.measures["acceptable"] >= 0.5
        assert hit.measures["antonyms"] == 0
        assert hit.measures["grammar errors introduced"] <= 0
        value = verdicts.text(hit)
        assert value is not None
        assert value >= 0.45  # the search may have heard another tagger
    with Run.open(tmp_path / "run") as run:
        assert run.manifest["config"]["attacks"] == ["textfooler:paper", "textfooler:paper+fair"]


def test_a_battery_is_searched_both_ways_unless_told_otherwise() -> None:
    def names(**more: Any) -> list[str]:
        with mohs.attack("pocket", "pocket", "standard", n=1, **more) as run:
            return list(run.manifest["tasks"])

    assert names() == ["standard", "standard+fair"]
    assert names(fair=False) == ["standard"]
    assert names(fair=True) == ["standard+fair"]


def test_fair_is_refused_where_words_are_only_deleted() -> None:
    with pytest.raises(BadInput, match="input-reduction:paper deletes words to keep the label"):
        mohs.attack("pocket", "pocket", "input-reduction", n=1, fair=True)


def test_fair_is_what_the_documents_say() -> None:
    written = [(constraint.measure.name, constraint.at_least, constraint.at_most) for constraint in FAIR]
    assert [name for name, _, _ in written] == ["antonyms", "acceptable", "grammar errors introduced"]
    assert FAIR[1].measure == Acceptable()
    assert (FAIR[0].at_most, FAIR[1].at_least, FAIR[2].at_most) == (0, 0.5, 0)


def test_exports_say_what_people_would_accept(tmp_path: Path) -> None:
    with run_of(GOOD, BAD, changed(4, "film", "cheese", outcome=Outcome.FAILED)) as run:
        (path,) = run.view().files(tmp_path)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [row["accepted"] > 0.3 for row in rows] == [True, False]
