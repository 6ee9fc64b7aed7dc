"""The table of figures on terminals of any width."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from mohs.records import Outcome, Record
from mohs.report.attack.figures import Summary, summarise
from mohs.report.attack.table import goal_named, lines, rows_of, summary_tables
from mohs.report.rates import Mean

HIT = Record(
    "a", "0", Outcome.SUCCESS, 1, ("text",), ("x",), seed=0, words=4, queries=10, scores_before=(0.2, 0.8),
    scores_after=(0.7, 0.3), measures={"part of speech": 1.0},
)  # fmt: skip


def summaries(*attacks: str, **measures: float) -> list[Summary]:
    return summarise([replace(HIT, attack=attack, measures=measures) for attack in attacks for _ in range(300)])


def printed(found: list[Summary], width: int) -> tuple[int, str]:
    tables, note = summary_tables(found, width)
    console = Console(file=StringIO(), width=width)
    console.print(*tables, note)
    assert isinstance(console.file, StringIO)
    return len(tables), console.file.getvalue()


@pytest.mark.parametrize(("width", "tables"), [(60, 5), (80, 3), (118, 2), (400, 1)])
def test_no_figure_is_broken_or_lost(width: int, tables: int) -> None:
    found = summaries("textfooler:released", "deepwordbug:paper", "x" * 70, "checklist", "genetic", words=2.5)
    count, shown = printed(found, width)
    assert count == tables
    assert shown.count("100.0% (300/300) [98.7, 100.0]") == 2 * 5  # accuracy before and success, on one line each
    assert shown.count("2.500 [-]") == 5
    assert all(len(line) <= width for line in shown.splitlines())
    assert "…" not in shown
    assert shown.count("x") >= 70
    said = " ".join(shown.split())  # beside the figures, or below
    assert "of examples scored" in said


def test_figures_of_a_later_attack_stand_in_their_place() -> None:
    first, second = summaries("a", alpha=1), summaries("b", beta=2)
    order = rows_of([*first, *second])
    assert order.index("queries") < order.index("beta") < order.index("skipped")
    assert sorted(order) == sorted({*rows_of(first), *rows_of(second)})
    reduced = summarise([HIT], lambda attack: "reduced:1")
    order = rows_of([*reduced, *first])
    assert {order.index("words left"), order.index("accuracy under attack")} == {1, 2}


def test_a_measure_is_shown_once() -> None:
    (summary,) = summaries("a")
    mean, other = Mean(0.9, 0.8, 1.0, 3, "successes"), Mean(0.5, 0.4, 0.6, 3, "successes")
    measures = {
        "sentence similarity": mean,
        "sentence similarity SentenceSimilarity(window=None)": mean,
        "sentence similarity SentenceSimilarity(window=15)": other,
        "share of words changed": mean,
        "words changed": other,
    }
    rows = [(name, value) for name, value, _ in lines(replace(summary, measures=measures))]
    assert [name for name, _ in rows if "sentence" in name] == [
        "sentence similarity",
        "sentence similarity (window=15)",
    ]
    assert [value for name, value in rows if name == "words changed"] == ["0.0 [-]"]  # the attack's own
    assert "share of words changed" not in dict(rows)


def test_the_note_tells_success_from_accuracy_where_they_differ() -> None:
    said = "any wrong class lowers the accuracy"
    assert said not in summary_tables(summaries("a"), 80)[1]
    assert said in summary_tables(summarise([HIT], lambda attack: "targeted:0"), 80)[1]
    reduced = summary_tables(summarise([HIT], lambda attack: "reduced:1"), 80)[1]
    assert said not in reduced
    assert "words left: mean over examples attacked" in reduced


def test_a_goal_by_the_name_of_its_class() -> None:
    assert goal_named("targeted:1", ["bad", "good"]) == "targeted:1 (good)"
    assert goal_named("targeted:0, reduced:1 for b", ["bad"]) == "targeted:0 (bad), reduced:1 for b"
    assert goal_named("targeted:2", ["bad", "good"]) == "targeted:2"
    assert goal_named("untargeted", ["bad", "good"]) == "untargeted"


def test_a_measure_of_one_member_of_a_battery_says_over_how_many_successes_it_is() -> None:
    first = [replace(record, by="one", measures={"similarity": 0.8}) for record in [HIT] * 3]
    second = [replace(record, by="two", measures={}) for record in [HIT] * 2]
    (summary,) = summarise(first + second)
    rows = {name: (value, of) for name, value, of in lines(summary)}
    assert rows["similarity"][0].endswith(" (3 of 5)")
    assert rows["similarity"][1] == "mean over the successes that have it"
    assert rows["by one"][0] == "3"
    assert summary.to_json()["measures"]["similarity"]["total"] == 3
    (whole,) = summarise(first)
    assert "(" not in {name: value for name, value, _ in lines(whole)}["similarity"]
