"""How the figures of defences are shown: page, terminal, notebook, JSON and rows."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import mohs
from mohs.defending.page import defended_page
from mohs.defending.result import Defended
from mohs.defending.show import ways
from tests.defending.toys import ROWS, WEIGHTS, Dropped, Lower, run, victim
from tests.report.made import EVIL, Parsed, needs_nothing_else
from tests.toys import WordCount, bundled


@pytest.fixture(scope="module")
def found() -> Defended:
    return mohs.defend(run(), [Dropped(), Lower()], keys=3, draws=3, victim=victim(), again=bundled())


def shown(found: Defended, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    found.show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_page(found: Defended, tmp_path: Path) -> None:
    page = Parsed(found.page(tmp_path / "p.html").read_text("utf-8"))
    assert needs_nothing_else(page)
    for way in ways(found):
        assert way in page.text
    assert "flatters" in ways(found)[0]
    for row in (
        "clean accuracy",
        "(1) reverted",
        "(1) success left",
        "(2) adaptive success",
        "(3) over fresh draws",
        "(3) averaging",
    ):
        assert page.text.count(row) >= 2  # one table an attack
    assert page.text.count("undefended") >= 4
    assert "Lower() draws nothing" in page.text
    assert "2 defences against 2 attacks; the ways to judge are furthest apart for " in page.text
    assert len([tag for tag, _ in page.tags if tag == "svg"]) == 2


def test_page_escapes() -> None:
    class Evil(WordCount):
        name = f"evil {EVIL}"

    rows = [(f"{text} {EVIL}", label) for text, label in ROWS]
    with mohs.attack(Evil(WEIGHTS), rows, "random", labels=[EVIL, "b"]) as own:
        html = defended_page(mohs.defend(own, Dropped(), victim=Evil(WEIGHTS), keys=2, draws=1))
    assert needs_nothing_else(Parsed(html))
    assert "<script>alert" not in html
    assert EVIL in Parsed(html).text


@pytest.mark.parametrize("width", [60, 80, 200])
def test_terminal(found: Defended, width: int) -> None:
    said = shown(found, width)
    assert all(len(line) <= width for line in said.splitlines())
    flat = " ".join(said.split())
    assert all(way in flat for way in ways(found))
    assert "standard deviation over 3 keys" in flat
    for one in found.parts[0].defences:
        assert one.defence in said
    assert "of examples scored" in flat
    assert "±" in said


def test_notebook_and_json(found: Defended) -> None:
    html = found._repr_html_()
    assert html.count("<table>") == 2 * 3
    told = json.loads(json.dumps(found.to_json()))
    first = told["attacks"][0]
    assert first["attack"] == "textfooler:paper"
    dropped, lower = first["defences"]
    assert len(dropped["clean_accuracy"]["keys"]) == 3
    assert dropped["finished"]["success_left"]["of"] == "examples attacked"
    assert dropped["adaptive"]["success_over_fresh_draws"]["mean"] is not None
    assert lower["adaptive"]["success_over_fresh_draws"] is None
    assert first["undefended"]["success"]["hits"] > 0
    assert len(told["ways"]) == 3


def test_rows_as_csv(found: Defended, tmp_path: Path) -> None:
    with found.write(tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(ROWS) * (3 + 1)
    assert {row["defence"] for row in rows} == {"Dropped()", "Lower()"}


def test_only_the_ways_that_were_gone_are_told() -> None:
    judged = mohs.defend(run(), [Dropped()], keys=1, adaptive_keys=0, victim=victim(), again=bundled())
    (one,) = ways(judged)
    assert one.startswith("(1) ")
    assert "(3)" not in shown(judged, 80)


def test_a_narrow_terminal_says_what_cost_is(found: Defended) -> None:
    said = " ".join(shown(found, 80).split())
    assert "cost: forwards per example attacked, as a multiple of the undefended" in said
