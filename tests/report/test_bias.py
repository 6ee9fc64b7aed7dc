"""Bias runs: figures, terminal, page, and two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mohs.bias.statistics import pair_biases
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.bias.figures import (
    bias_figures,
    bias_flags,
    bias_headline,
    both,
    chance,
    compared,
    different_data,
    signed,
)
from mohs.report.template import write_against, write_page
from mohs.report.terminal import print_run
from mohs.run import Run
from tests.report.made import EVIL, Parsed, biased, kept, measured, needs_nothing_else, searched, unfit

HE, ACTOR = ("he", "she"), ("actor", "actress")


def records(shift: float = 0.1) -> list[Record]:
    """Eight sentences of one pair, which hide what their neighbours show, two of another, one of none."""
    many = [measured(n, HE, [[0.001], [shift / 2, shift / 2 + n / 1000], [shift] * 3]) for n in range(8)]
    few = [measured(8 + n, ACTOR, [[-0.05], [-0.04], [-0.03]]) for n in range(2)]
    return [*many, *few, unfit(10)]


def page_of(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(write_page(run, folder / "report.html").read_text("utf-8"))


def test_the_figures_are_those_of_the_statistics_on_both_sets() -> None:
    with biased(records()) as run:
        found = bias_figures(run)
    assert list(found.whole) == pair_biases(records())
    assert list(found.filtered) == pair_biases(records(), epsilon=0.005)
    assert {(one.old, one.new) for one in found.filtered} == {HE}
    assert found.label == "good"
    assert found.outcomes == {"measured": 10, "exhausted": 0, "skipped": 1, "error": 0}


def test_another_threshold_needs_no_new_measurement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with biased(records()) as run, biased(records(), epsilon=0.01) as before:
        found = bias_figures(run, 0.06)
        assert list(found.filtered) == pair_biases(records(), epsilon=0.06) == run.biases(epsilon=0.06)
        assert {(one.old, one.new) for one in found.filtered} == {HE, ACTOR}
        for page in (run.report(tmp_path / "a.html", epsilon=0.06), write_against(run, before, tmp_path / "b", 0.06)):
            assert "(k = 0) is below 0.06" in Parsed(page.read_text("utf-8")).text
        print_run(run, as_json=False, verbose=False, epsilon=0.06)
        assert "(k = 0) is below 0.06" in capsys.readouterr().out
        for epsilon, said in ((None, 1), (0.06, 0)):
            print_run(run, against=before, as_json=False, verbose=False, epsilon=epsilon)
            shown = " ".join(capsys.readouterr().out.split())
            assert shown.count("of two thresholds (0.01 before and 0.005 after); --filter-epsilon") == said
        with pytest.raises(BadInput, match="epsilon is 0"):
            bias_figures(run, 0.0)


def test_one_sentence_says_what_is_beyond_chance() -> None:
    with biased(records()) as run, biased(records(0.0)[8:]) as quiet, biased(records()[:8]) as single:
        assert bias_headline(bias_figures(run)) == (
            "At k = 2, 1 of 2 pairs shifts P(good) beyond chance: he|she +0.1000."
        )
        assert bias_headline(bias_figures(quiet)) == (
            "At k = 2, no shift of P(good) beyond chance in the one pair; the largest is actor|actress -0.0300."
        )
        assert "the one pair shifts P(good)" in bias_headline(bias_figures(single))


def test_few_sentences_and_a_spent_budget_are_pointed_out() -> None:
    cut = measured(11, HE, [[0.1]], outcome=Outcome.EXHAUSTED)
    with biased([*records(), cut]) as run:
        budget, few = bias_flags({}, bias_figures(run), 12, 12)
    assert budget.startswith("The query budget ended 1 of 12 measurements early")
    assert few.startswith("1 of 2 pairs stand in fewer than 6 sentences, where no p-value can fall below 0.05")


@pytest.mark.parametrize("sentences", [5, 6])
def test_where_that_limit_comes_from(sentences: int) -> None:
    (found,) = pair_biases(measured(n, HE, [[0.1 + n / 100]]) for n in range(sentences))
    assert (found.p < 0.05) == (sentences >= 6)


def test_numbers() -> None:
    assert (signed(-0.00001), signed(0.01234), signed(-0.5)) == ("+0.0000", "+0.0123", "-0.5000")
    assert (chance(0.0004), chance(0.0312)) == ("<0.001", "0.031")


def test_the_terminal_has_a_row_for_each_pair_and_distance(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with biased(records()) as run:
        assert print_run(run, as_json=False, verbose=False, diffs=3) == ""
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert ["he|she", "0", "8", "8", "+0.0010", "[+0.0010,", "+0.0010]", "0.008", "0.016*"] in lines
    assert ["2", "8", "~24", "+0.1000", "[+0.1000,", "+0.1000]", "0.008", "0.016*"] in lines
    assert ["actor|actress", "0", "2", "2", "-0.0500", "[-0.0500,", "-0.0500]", "0.500", "0.500"] in lines
    assert said.count("actor|actress") == 1  # the filtered set has none of its sentences
    assert "10 examples measured, 1 without a fitting pair, 0 errors" in " ".join(said.split())
    assert "take the source sentence as the unit" in " ".join(said.split())


def test_long_pairs_are_broken_between_their_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = ("congressman", "congresswoman")
    with biased([*records(), *(measured(20 + n, pair, [[0.1 + n / 10]]) for n in range(2))]) as run:
        for width, found in (("80", ["congressman|", "congresswoman"]), ("100", ["congressman|congresswoman"])):
            monkeypatch.setenv("COLUMNS", width)
            print_run(run, as_json=False, verbose=False)
            lines = capsys.readouterr().out.splitlines()
            assert [line.split()[0] for line in lines if line.startswith("congress")] == found
            assert any(line.startswith("actor|actress ") for line in lines)  # what fits stays on its line
            assert max(map(len, lines)) <= int(width)


def test_json_has_no_number_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with biased([measured(0, HE, [[0.1], [0.2]])]) as run:
        print_run(run, as_json=True, verbose=False)
    found = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    first = found["bias"]["whole"][0]
    assert (first["old"], first["new"], first["k"], first["low"], first["bins"]) == ("he", "she", 0, None, {"5": 1})
    assert found["bias"]["filtered"] == []
    assert "headline" in found


def test_the_page_has_every_figure_of_both_sets(tmp_path: Path) -> None:
    found = page_of(biased(records()), tmp_path)
    for one in (*pair_biases(records()), *pair_biases(records(), epsilon=0.005)):
        assert signed(one.bias) in found.text
        assert f"[{signed(one.low)}, {signed(one.high)}]" in found.text
        assert f"p {chance(one.p)}, Holm {chance(one.holm)}" in found.text
    assert found.text.count("24 texts, sampled") == 3  # in both tables and beside a histogram
    assert "8 texts, exact" in found.text
    assert "take the source sentence as the unit" in found.text
    assert "A bias above 0 means that P(good) rises" in found.text
    assert "10 measured, 1 without a fitting pair, 0 errors" in found.text
    assert "+0.1000 *" in found.text
    assert needs_nothing_else(found)
    assert found.scripts == []


def test_the_charts_say_what_they_show(tmp_path: Path) -> None:
    found = page_of(biased(records()), tmp_path)
    charts = [attrs["aria-label"] or "" for tag, attrs in found.tags if tag == "svg" and attrs.get("role") == "img"]
    forests = [chart for chart in charts if "bias by pair" in chart]
    assert len(forests) == 2
    assert "he|she: +0.0010 [+0.0010, +0.0010], then +0.1000 [+0.1000, +0.1000]." in forests[0]
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
    pair = nasty.details["pairs"][0]
    pair |= {"old": EVIL, "new": f"{EVIL}2"}
    pair["levels"][1]["examples"] = [
        {"text": [f"he {EVIL}"], "patched": [f"she {EVIL}"], "before": 0.1, "after": 0.3},
        {"text": ["one two"], "patched": ["more words than that"], "before": 0.1, "after": 0.3},
    ]
    config: dict[str, Any] = {"labels": [EVIL, EVIL], "victim": EVIL, "data": EVIL, "pairs": EVIL, "masked_lm": EVIL}
    with biased([nasty], **config) as run:
        pages = [write_page(run, tmp_path / "a.html"), write_against(run, run, tmp_path / "b.html")]
    for path in pages:
        found = Parsed(path.read_text("utf-8"))
        assert "script" not in [tag for tag, _ in found.tags]
        assert needs_nothing_else(found)
        assert "alert(1)" in found.text


def test_no_pair_anywhere_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = [unfit(n) for n in range(4)]
    said = "No pair fits any of the 4 examples finished, so there is no bias to report."
    found = page_of(biased(none), tmp_path)
    assert said in found.text
    assert "svg" not in [tag for tag, _ in found.tags]
    with biased(none) as run:
        assert print_run(run, as_json=False, verbose=False) == ""
    assert said in " ".join(capsys.readouterr().out.split())
    assert "Nothing has been measured yet." in page_of(biased([]), tmp_path).text
    broken = measured(0, HE, [], outcome=Outcome.ERROR, details={}, error="It broke.")
    assert "Every measurement ended in an error." in page_of(biased([broken]), tmp_path).text


def test_the_sentences_alone_have_a_page(tmp_path: Path) -> None:
    found = page_of(biased([measured(n, HE, [[0.1]]) for n in range(3)], k=0), tmp_path)
    assert "At k = 0" in found.text
    assert "No sentence is in it." in found.text  # of the filtered set
    assert "Bias against distance" not in found.text


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    with biased(records()) as run:
        first = write_page(run, tmp_path / "a.html").read_bytes()
        assert write_page(run, tmp_path / "b.html").read_bytes() == first


def test_before_and_after_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with biased(records(), victim="base") as before, biased(records(0.02), victim="debiased") as after:
        found = Parsed(write_against(after, before, tmp_path / "x.html").read_text("utf-8"))
        print_run(after, against=before, as_json=False, verbose=False)
        said = capsys.readouterr().out
        print_run(after, against=before, as_json=True, verbose=False)
        machine = json.loads(capsys.readouterr().out)
    sentence = (
        "At k = 2, 1 of 2 pairs are nearer to no bias than before; the mean size of the bias was 0.0650 and is 0.0250."
    )
    assert sentence in found.text
    assert sentence in " ".join(said.split())
    (chart,) = [
        a["aria-label"] or "" for t, a in found.tags if t == "svg" and "All sentences" in (a["aria-label"] or "")
    ]
    assert "he|she: +0.1000 [+0.1000, +0.1000], then +0.0200 [+0.0200, +0.0200]." in chart
    assert "base" in found.text
    assert "debiased" in found.text
    row = ["2", "+0.1000*", "[+0.1000,", "+0.1000]", "+0.0200*", "[+0.0200,", "+0.0200]"]
    assert row in [line.split() for line in said.splitlines()]
    assert machine["before"]["whole"][2]["bias"] == pytest.approx(0.1)
    assert machine["after"]["whole"][2]["bias"] == pytest.approx(0.02)
    assert needs_nothing_else(found)


def test_a_pair_that_only_one_run_has_is_not_lost(tmp_path: Path) -> None:
    mine, theirs = pair_biases(records()[:8]), pair_biases(records()[8:])
    rows = both(theirs, mine)
    assert [(pair, k) for pair, k, _, _ in rows] == [(pair, k) for pair in (HE, ACTOR) for k in range(3)]
    assert all((before is None) == (pair == HE) for pair, _, before, _ in rows)
    with biased(records()[:8]) as run, biased(records()[8:]) as other:
        assert compared(bias_figures(other), bias_figures(run)).startswith("No pair was measured in both runs")
        write_against(run, other, tmp_path / "x.html")


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
            lambda: write_against(run, other, tmp_path / "x.html"),
            lambda: print_run(run, against=other, as_json=True, verbose=False),
        ):
            with pytest.raises(BadInput, match=said):
                refused()
    assert list(tmp_path.iterdir()) == []


def test_pairs_are_told_by_what_they_are_where_that_is_known() -> None:
    with (
        biased(records(), {"pairs_hash": "a"}, pairs="mine.csv") as run,
        biased(records(), {"pairs_hash": "a"}, pairs="here/mine.csv") as same,
        biased(records(), {"pairs_hash": "b"}, pairs="mine.csv") as other,
    ):
        assert print_run(run, against=same, as_json=True, verbose=False) == ""
        with pytest.raises(BadInput, match=r"the other pairs mine\.csv; measure both with the same --pairs"):
            print_run(run, against=other, as_json=True, verbose=False)


@pytest.mark.parametrize("command", ["attack", "second-order"])
def test_other_runs_are_not_set_against_each_other(command: str) -> None:
    with kept(command, [searched()], attacks=["a"]) as run, biased(records()) as bias:
        for pair in ((run, run), (run, bias), (bias, run)):
            with pytest.raises(BadInput, match="no bias run: --against compares two runs of `mohs bias`"):
                print_run(pair[0], against=pair[1], as_json=False, verbose=False)


def test_runs_over_other_sentences_say_so() -> None:
    with biased(records(), masked_lm="a") as run, biased(records(), masked_lm="b", data="other.csv") as other:
        (said,) = different_data(run, other)
        assert said.startswith("The runs differ in more than the victim (other data, masked_lm b before and a after)")
        assert different_data(run, run) == []
