"""The page of an analysis: complete, escaped, and with the right geometry."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mohs.studies.analysis import analyse_study
from mohs.studies.charts import BOTTOM, TOP, bucket_chart, cell_chart, change_chart, threshold_chart
from mohs.studies.design import read_design
from mohs.studies.group_figures import Point
from mohs.studies.item import Item, Judgement, Kind
from mohs.studies.page import analysis_page
from mohs.studies.ratings import Ratings
from mohs.studies.relations import buckets, cells
from mohs.studies.study import Study
from mohs.studies.validity import Rule, Validity, valid_attacks, validity
from tests.studies.judged import runs, study_of
from tests.studies.toys import controls

HALF = validity(Ratings.of((f"i{n}", f"j{n}", 7.0 * (n % 2)) for n in range(100)), Rule("mean", at_least=5))


class Checked(HTMLParser):
    """Elements that are opened and closed in order; `void` ones are never closed."""

    void = frozenset({"meta", "br", "wbr", "input", "link", "img", "hr"})
    alone = frozenset({"line", "rect", "circle", "path"})  # of SVG, which end themselves

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_has_all_parts_and_loads_nothing(tmp_path: Path) -> None:
    with study_of(tmp_path / "study", run=runs(80, ("textfooler:paper", "pwws:textattack")), n=80) as study:
        page = analysis_page(analyse_study(study))
    checked = Checked(page)
    assert checked.open == []
    for said in (
        "People find ",
        "Valid at each threshold",
        "Valid attacks by Eq. 6.2, textfooler:",
        "Valid by word cosine",
        "Valid by similarity",
        "Valid by both at once",
        "Somewhat Disagree: ",
        "<h2>Annotators</h2>",
        "Valid attacks are computed from single changes",
    ):
        assert said in page, said
    assert "script" not in checked.tags
    assert not re.search(r"""(src|href)=["']?http""", page)
    assert "nan" not in re.findall(r'd="[^"]*"', page)


def test_real_or_altered_has_its_table(tmp_path: Path) -> None:
    design = replace(read_design("real-or-altered"), judges=2)
    items = [Item(f"i{n}", "origin", (f"text {n}",), "attack", expected=(1 + n % 2,)) for n in range(4)]
    with Study.create(tmp_path / "study", design, items) as study:
        rows = [Judgement(f"i{n}", who, 1 + (n == 1)) for n in range(4) for who in ("a", "b")]
        study.add(rows, Kind.IMPORTED)
        page = analysis_page(analyse_study(study))
    assert "People take 50.0% (1/2)" in page.replace("<wbr>", "")
    assert '<td data-of="guessed real">4 (100.0%)</td>' in page  # of the real ones
    assert '<td data-of="guessed altered">2 (50.0%)</td>' in page


def test_everything_is_escaped(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script>"
    design = replace(read_design("fragments"), controls=(), judges=2, title=f"t{nasty}", paper=nasty)
    question = replace(
        design.questions[0], answers=tuple(replace(a, label=a.label + nasty) for a in design.questions[0].answers)
    )
    design = replace(design, questions=(question,))
    items = [Item(f"{n}{nasty}", "meaning", (f"a{n}{nasty}", f"b{n}{nasty}"), f"g{nasty}") for n in range(8)]
    source: dict[str, Any] = {"victims": [nasty], "data": [nasty], "runs": [nasty], "table": nasty}
    with Study.create(tmp_path / "study", design, items, **source) as study:
        rows = [Judgement(item.key, who, 1 + n % 7) for n, item in enumerate(items) for who in (f"p{nasty}", "q")]
        study.add(rows, Kind.IMPORTED)
        study.add([replace(row, annotator=f"m{nasty}") for row in rows[::2]], Kind.MODEL)
        page = analysis_page(analyse_study(study))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.replace("<wbr>", "")
    assert "<script" not in page.replace("<wbr>", "")
    assert Checked(page).open == []


def test_flagged_annotators_come_first_with_the_reason(tmp_path: Path) -> None:
    design = replace(read_design("fragments"), judges=2)
    items = [*(Item(f"i{n}", "meaning", ("a", "b"), "attack") for n in range(3)), *controls(design)]
    with Study.create(tmp_path / "study", design, items) as study:
        rows = [Judgement(f"i{n}", who, 6, seconds=30.0) for n in range(3) for who in ("ada", "zed")]
        study.add([*rows, Judgement("control 0", "ada", 1), Judgement("control 0", "zed", 7)], Kind.IMPORTED)
        page = analysis_page(analyse_study(study, measures=False))
    assert "1 of 1 controls answered wrong; 0 may be." in page
    assert page.index('<th scope="row">zed</th>') < page.index('<th scope="row">ada</th>')
    assert "1 annotator is flagged (zed), with 3 judgements." in page


def test_many_annotators_are_folded_and_unnamed_ones_not_shown(tmp_path: Path) -> None:
    design = replace(read_design("fragments"), controls=(), judges=30)
    for named in (True, False):
        with Study.create(tmp_path / str(named), design, [Item("i", "meaning", ("a", "b"), "attack")]) as study:
            study.add([Judgement("i", f"j{n}", 5) for n in range(30)], Kind.IMPORTED, named=named)
            page = analysis_page(analyse_study(study, measures=False))
        assert ("30 annotators without a flag</summary>" in page) is named
        assert ("<h2>Annotators</h2>" in page) is named


def test_the_chart_of_eq_6_2_adds_up() -> None:
    changes = {1: 50, 2: 30, 4: 20}
    chart = change_chart(changes, HALF)
    assert chart is not None
    assert [column["label"] for column in chart["columns"]] == ["1", "2", "3", "4"]
    assert [column["share"] for column in chart["columns"]] == [0.5, 0.3, 0.0, 0.2]
    assert [column["power"] for column in chart["columns"]] == pytest.approx([0.5, 0.25, 0.125, 0.0625])
    assert chart["valid"] == pytest.approx(valid_attacks(HALF, changes).value)
    assert change_chart({}, HALF) is None


def test_many_changes_share_the_last_column() -> None:
    changes = dict.fromkeys(range(1, 31), 1)
    chart = change_chart(changes, HALF)
    assert chart is not None
    assert [column["label"] for column in chart["columns"]][-2:] == ["11", "12+"]
    assert chart["columns"][-1]["share"] == pytest.approx(19 / 30)
    assert chart["valid"] == pytest.approx(valid_attacks(HALF, changes).value)


def test_charts_of_nothing() -> None:
    nothing = validity(Ratings.of([]), Rule("mean", at_least=5))
    assert threshold_chart([("a", [Point(5.0, nothing, None)])], 5.0) is None
    assert threshold_chart([], None) is None
    assert bucket_chart([]) is None
    assert cell_chart(cells({"a": 0.5}, {"a": 0.5}, {"a": True})) is None  # one item is no share
    assert change_chart({1: 5}, nothing) is None


def test_points_lie_where_they_should() -> None:
    found = buckets({f"i{n}": 0.5 for n in range(20)} | {"x": 1.0}, {f"i{n}": n < 10 for n in range(20)} | {"x": True})
    chart = bucket_chart(found)
    assert chart is not None
    assert [point["faint"] for point in chart["points"]] == [False, True]
    assert chart["points"][0]["y"] == (TOP + BOTTOM) / 2
    assert chart["points"][1]["y"] == TOP
    points: list[Validity] = [HALF, HALF]
    lines = threshold_chart([("a", [Point(float(n), one, None) for n, one in enumerate(points)])], 1.0)
    assert lines is not None
    assert lines["lines"]["a"]["line"] == "M40.0 96.0L388.0 96.0"
    assert not lines["attacks"]
