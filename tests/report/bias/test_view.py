"""What bias runs show machines and on a terminal: one, or two side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mohs.bias.statistics import pair_biases
from mohs.errors import BadInput
from mohs.records import Outcome
from mohs.report.bias.figures import (
    bias_figures,
)
from mohs.report.template import written
from mohs.report.terminal import print_run
from tests.report.bias.made import ACTOR, HE, page_of, records
from tests.report.made import Parsed, biased, kept, measured, needs_nothing_else, searched, unfit


def test_another_threshold_needs_no_new_measurement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with biased(records()) as run, biased(records(), epsilon=0.01) as before:
        found = bias_figures(run, 0.06)
        assert list(found.filtered) == pair_biases(records(), epsilon=0.06) == run.biases(epsilon=0.06)
        assert {(one.old, one.new) for one in found.filtered} == {HE, ACTOR}
        for page in (
            run.report(tmp_path / "a.html", epsilon=0.06),
            written(run.view(against=before, epsilon=0.06).page(), tmp_path / "b"),
        ):
            assert "(k = 0) is below 0.06" in Parsed(page.read_text("utf-8")).text
        print_run(run, run.view(epsilon=0.06), as_json=False, verbose=False)
        assert "(k = 0) is below 0.06" in capsys.readouterr().out
        for epsilon, said in ((None, 1), (0.06, 0)):
            print_run(run, run.view(against=before, epsilon=epsilon), as_json=False, verbose=False)
            shown = " ".join(capsys.readouterr().out.split())
            assert shown.count("use different thresholds (0.01 before and 0.005 after); --filter-epsilon") == said
        with pytest.raises(BadInput, match="epsilon is 0"):
            bias_figures(run, 0.0)


def test_k_0_shows_no_filtered_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is chosen by what is measured there, so its bias is no finding."""
    only = [measured(number, HE, [[0.001]]) for number in range(8)]
    with biased(only, k=0) as run:
        print_run(run, run.view(), as_json=False, verbose=False)
        assert "own difference" not in capsys.readouterr().out
        page = Parsed(run.report(tmp_path / "a.html").read_text("utf-8"))
        assert "Filtered" not in page.text
        assert bias_figures(run).filtered == ()
        assert bias_figures(run).whole


def test_the_terminal_has_a_row_for_each_pair_and_distance(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with biased(records()) as run:
        assert print_run(run, run.view(), as_json=False, verbose=False, diffs=3) == ""
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert ["he|she", "0", "8", "8", "+0.0010", "[+0.0008,", "+0.0012]", "0.008", "0.023*"] in lines
    assert ["2", "8", "~24", "+0.1000", "[+0.0980,", "+0.1020]", "0.008", "0.023*"] in lines
    assert ["actor|actress", "0", "2", "2", "-0.0500", "-", "-", "-"] in lines
    assert said.count("actor|actress") == 1  # the filtered set has none of its sentences
    assert "10 examples measured, 1 without a matching pair, 0 errors" in " ".join(said.split())
    assert "treat the source sentence as the unit" in " ".join(said.split())


def test_long_pairs_are_broken_between_their_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = ("congressman", "congresswoman")
    with biased([*records(), *(measured(20 + n, pair, [[0.1 + n / 10]]) for n in range(2))]) as run:
        for width, found in (("80", ["congressman|", "congresswoman"]), ("100", ["congressman|congresswoman"])):
            monkeypatch.setenv("COLUMNS", width)
            print_run(run, run.view(), as_json=False, verbose=False)
            lines = capsys.readouterr().out.splitlines()
            assert [line.split()[0] for line in lines if line.startswith("congress")] == found
            assert any(line.startswith("actor|actress ") for line in lines)  # what fits stays on its line
            assert max(map(len, lines)) <= int(width)


def test_json_has_no_number_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with biased([measured(0, HE, [[0.1], [0.2]])]) as run:
        print_run(run, run.view(), as_json=True, verbose=False)
    found = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    first = found["bias"]["whole"][0]
    assert (first["old"], first["new"], first["k"], first["low"], first["bins"]) == ("he", "she", 0, None, {"5": 1})
    assert found["bias"]["filtered"] == []
    assert "headline" in found


def test_no_pair_anywhere_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = [unfit(n) for n in range(4)]
    said = "No pair matches any of the 4 examples finished, so there is no bias to report."
    found = page_of(biased(none), tmp_path)
    assert said in found.text
    assert "svg" not in [tag for tag, _ in found.tags]
    with biased(none) as run:
        assert print_run(run, run.view(), as_json=False, verbose=False) == ""
    assert said in " ".join(capsys.readouterr().out.split())
    assert "Nothing has been measured yet." in page_of(biased([]), tmp_path).text
    broken = measured(0, HE, [], outcome=Outcome.ERROR, finding=None, error="It broke.")
    assert "Every measurement ended in an error." in page_of(biased([broken]), tmp_path).text


def test_before_and_after_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with biased(records(), victim="base") as before, biased(records(0.02), victim="debiased") as after:
        found = Parsed(written(after.view(against=before).page(), tmp_path / "x.html").read_text("utf-8"))
        print_run(after, after.view(against=before), as_json=False, verbose=False)
        said = capsys.readouterr().out
        print_run(after, after.view(against=before), as_json=True, verbose=False)
        machine = json.loads(capsys.readouterr().out)
    sentence = (
        "At k = 2, 1 of 2 pairs are nearer to zero bias than before; the mean absolute bias went from 0.0650 to 0.0250"
        "; 1 of 1 changes tested is beyond chance."
    )
    assert sentence in found.text
    assert sentence in " ".join(said.split())
    (chart,) = [
        a["aria-label"] or "" for t, a in found.tags if t == "svg" and "All sentences" in (a["aria-label"] or "")
    ]
    assert "he|she: +0.1000 [+0.0980, +0.1020], then +0.0200 [+0.0180, +0.0220]." in chart
    assert "base" in found.text
    assert "debiased" in found.text
    row = ["2", "+0.1000*", "[+0.0980,", "+0.1020]", "+0.0200*", "[+0.0180,", "+0.0220]"]
    assert row in [line.split() for line in said.splitlines()]
    assert machine["before"]["whole"][2]["bias"] == pytest.approx(0.1)
    assert machine["after"]["whole"][2]["bias"] == pytest.approx(0.02)
    assert ["2", "8", "-0.0800", "-", "0.008", "0.023*"] in [line.split() for line in said.splitlines()]
    assert "-0.0800 * no intervalp 0.008, Holm 0.023, 8 sentences" in found.text
    assert [(one["k"], one["sentences"], one["low"]) for one in machine["changes"][:3]] == [
        (0, 8, None), (1, 8, None), (2, 8, None)
    ]  # all sentences changed alike  # fmt: skip
    assert machine["changes"][2]["change"] == pytest.approx(-0.08)
    assert needs_nothing_else(found)


def test_changes_stand_in_the_order_of_the_table_above_and_a_common_warning_is_said_once() -> None:
    late = [replace(record, example_id=f"x{record.example_id}") for record in reversed(records())]
    with biased(late) as before, biased(late, victim="debiased") as after:
        found = after.view(against=before)
        shown, changes = found.figures()["after"]["whole"], found.figures()["changes"]
        assert [(one["old"], one["k"]) for one in changes] == [(one["old"], one["k"]) for one in shown]
        first = next(record.finding.pairs[0].old for record in late if record.finding and record.finding.pairs)
        assert first != shown[0]["old"], "the records have another order"
        (said,) = [note for note in found.notes if "occur in fewer than 8 sentences" in note]
        assert said.startswith("Before and after: 1 of 2 pairs")


@pytest.mark.parametrize("command", ["attack", "second-order"])
def test_other_runs_are_not_set_against_each_other(command: str) -> None:
    with kept(command, [searched()], attacks=["a"]) as run, biased(records()) as bias:
        for pair in ((run, run), (run, bias), (bias, run)):
            with pytest.raises(BadInput, match="not a bias run: --against compares two runs of `mohs bias`"):
                print_run(pair[0], pair[0].view(against=pair[1]), as_json=False, verbose=False)
