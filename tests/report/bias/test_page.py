"""The pages of bias runs: one, and two side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import Shown
from mohs.bias.statistics import pair_biases
from mohs.errors import BadInput
from mohs.report.bias.figures import (
    bias_figures,
    both,
    chance,
    compared,
    signed,
)
from mohs.report.template import written
from mohs.report.terminal import print_run
from tests.report.bias.made import ACTOR, HE, page_of, records
from tests.report.made import EVIL, Parsed, biased, measured, needs_nothing_else


def test_the_page_has_every_figure_of_both_sets(tmp_path: Path) -> None:
    found = page_of(biased(records()), tmp_path)
    for one in (*pair_biases(records()), *pair_biases(records(), epsilon=0.005)):
        assert signed(one.bias) in found.text
        assert (f"[{signed(one.low)}, {signed(one.high)}]" if one.sentences >= 6 else "no interval") in found.text
        assert f"p {chance(one.p)}, Holm {chance(one.holm)}" in found.text
    assert found.text.count("24 texts, sampled") == 3  # in both tables and beside a histogram
    assert "8 texts, exact" in found.text
    assert "treat the source sentence as the unit" in found.text
    assert "A bias above 0 means that P(good) is higher with the second word of the pair" in found.text
    assert "10 measured, 1 without a matching pair, 0 errors" in found.text
    assert "+0.1000 *" in found.text
    assert needs_nothing_else(found)
    assert found.scripts == []


def test_the_charts_say_what_they_show(tmp_path: Path) -> None:
    found = page_of(biased(records()), tmp_path)
    charts = [attrs["aria-label"] or "" for tag, attrs in found.tags if tag == "svg" and attrs.get("role") == "img"]
    forests = [chart for chart in charts if "bias by pair" in chart]
    assert len(forests) == 2
    assert "he|she: +0.0010 [+0.0008, +0.0012], then +0.1000 [+0.0980, +0.1020]." in forests[0]
    assert "actor|actress" in forests[0]
    assert "actor|actress" not in forests[1]
    (lines,) = [chart for chart in charts if chart.startswith("Bias against distance")]
    assert "actor|actress: k 0 -0.0500; k 1 -0.0400; k 2 -0.0300." in lines
    bars = [chart for chart in charts if chart.startswith("Differences of single texts")]
    assert len(bars) == 2
    assert "k 2: 24 texts, sampled, mean +0.1000" in bars[0]


def test_examples_mark_the_pair_and_what_the_neighbour_brought_in(tmp_path: Path) -> None:
    found = page_of(biased(records()), tmp_path)
    assert found.text.count("the he|she waits") == 5  # of eight sentences at distance 0
    assert found.text.count("the he|she sits0") == 10  # at each of the other distances the first of five sentences
    assert [attrs["title"] for tag, attrs in found.tags if tag == "ins" and "title" in attrs] == ["was waits"] * 14
    assert "0.500 → 0.600 (+0.100)" in found.text
    assert len(found.with_class("examples")) == 2


def test_texts_and_names_never_become_markup(tmp_path: Path) -> None:
    nasty = measured(0, HE, [[0.1], [0.2]], original=(EVIL,), example_id=EVIL)
    first, second = nasty.finding.pairs[0].levels
    second = replace(
        second,
        examples=(
            Shown(text=(f"he {EVIL}",), patched=(f"she {EVIL}",), before=0.1, after=0.3),
            Shown(text=("one two",), patched=("more words than that",), before=0.1, after=0.3),
        ),
    )
    nasty = replace(nasty, finding=BiasFinding((PairFinding(EVIL, f"{EVIL}2", 1, levels=(first, second)),)))
    config: dict[str, Any] = {"labels": [EVIL, EVIL], "victim": EVIL, "data": EVIL, "pairs": EVIL, "masked_lm": EVIL}
    with biased([nasty], **config) as run:
        pages = [run.report(tmp_path / "a.html"), written(run.view(against=run).page(), tmp_path / "b.html")]
    for path in pages:
        found = Parsed(path.read_text("utf-8"))
        assert "script" not in [tag for tag, _ in found.tags]
        assert needs_nothing_else(found)
        assert "alert(1)" in found.text


def test_the_sentences_alone_have_a_page(tmp_path: Path) -> None:
    found = page_of(biased([measured(n, HE, [[0.1]]) for n in range(3)], k=0), tmp_path)
    assert "At k = 0" in found.text
    assert "Filtered set" not in found.text
    assert "Bias against distance" not in found.text


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    with biased(records()) as run:
        first = run.report(tmp_path / "a.html").read_bytes()
        assert run.report(tmp_path / "b.html").read_bytes() == first


def test_a_pair_that_only_one_run_has_is_not_lost(tmp_path: Path) -> None:
    mine, theirs = pair_biases(records()[:8]), pair_biases(records()[8:])
    rows = both(theirs, mine)
    assert [(pair, k) for pair, k, _, _ in rows] == [(pair, k) for pair in (HE, ACTOR) for k in range(3)]
    assert all((before is None) == (pair == HE) for pair, _, before, _ in rows)
    with biased(records()[:8]) as run, biased(records()[8:]) as other:
        assert compared(bias_figures(other), bias_figures(run)).startswith("No pair was measured in both runs")
        written(run.view(against=other).page(), tmp_path / "x.html")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": 0}, "has label 1 and the other has 0; measure both with the same --label"),
        ({"k": 1}, "has k 2 and the other has 1; measure both with the same -k"),
        ({"pairs": "religion"}, "the pairs gender and the other the other pairs religion"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with biased(records()) as run, biased(records(), **changes) as other:
        for refused in (
            lambda: written(run.view(against=other).page(), tmp_path / "x.html"),
            lambda: print_run(run, run.view(against=other), as_json=True, verbose=False),
        ):
            with pytest.raises(BadInput, match=said):
                refused()
    assert list(tmp_path.iterdir()) == []
