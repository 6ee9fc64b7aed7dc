"""What may differ between the runs of a comparison, and what may not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.comparisons.sameness import _apart
from mohs.comparisons.sides import letter_of
from mohs.errors import BadInput
from tests.comparisons.toys import ATTACK, SETTINGS, attempt, run_of

BEFORE = Path(__file__).parents[1] / "before"


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ({"seed": 8}, "run B and run A differ in seed (8 against 7)"),
        ({"goal": "targeted:1"}, "differ in goal (targeted:1 against untargeted)"),
        ({"budget": 100}, "differ in budget (100 against none)"),
        ({"source": "wordnet"}, "differ in source (wordnet against none)"),
        ({"constraints": ["edits<=3"]}, "differ in constraints (['edits<=3'] against none)"),
        ({"change": ["text"]}, "differ in change (['text'] against none)"),
        ({"services": {"encoder": "use 4"}}, "differ in their encoder (use 4 against pocket encoder 1)"),
        (
            {"settings": {ATTACK: SETTINGS.replace("0.5", "0.7")}},
            f"differ in the settings of {ATTACK} (min_cosine=0.7), against min_cosine=0.5),)",
        ),
    ],
)
def test_another_space_or_search_is_refused(identity: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        mohs.compare(run_of("fw"), run_of("fw", victim="hard", identity=identity))
    assert said in str(refused.value)
    assert str(refused.value).endswith("a comparison needs the same examples, space, search and seed in all runs.")


@pytest.mark.parametrize(
    "identity",
    [
        {"victim_origin": {"version": "2"}, "victim_options": {"batch": "8"}, "device": "cuda"},
        {"data": "copy.csv", "n": 5, "data_hash": "other", "encoding": "latin-1", "most_words": 9},
        {"services": {"encoder": "pocket encoder 1", "gradients": "hard", "lm": "gpt2"}},
        {"measures": ["edits"], "source": None, "constraints": [], "sample": None, "keep": None},
    ],
)
def test_another_victim_is_not_refused(identity: dict[str, Any]) -> None:
    mohs.compare(run_of("fw"), run_of("fw", victim="hard", identity=identity), judge="none")


def test_what_an_older_run_does_not_name_is_what_it_did() -> None:
    old = run_of("fw")
    mohs.compare(old, run_of("fw", victim="hard", identity={"change_placeholders": True}), judge="none")
    with pytest.raises(BadInput, match=r"differ in change placeholders \(none against True\)"):
        mohs.compare(old, run_of("fw", victim="hard", identity={"change_placeholders": False}))


def test_other_examples_are_refused() -> None:
    base = run_of("fwf")
    with pytest.raises(BadInput, match="run B has another text than run A for example e1: a comparison needs"):
        mohs.compare(base, run_of([attempt(0, "f"), attempt(1, "f", original=("x y",), words=2), attempt(2, "f")]))
    with pytest.raises(BadInput, match="run B has another label than run A for example e1"):
        mohs.compare(base, run_of([attempt(0, "f"), attempt(1, "f", label=0), attempt(2, "f")]))
    with pytest.raises(BadInput, match=r"run B lacks 2 of the 3 examples of run A, e1 for instance"):
        mohs.compare(base, run_of("f"))
    with pytest.raises(BadInput, match="run A lacks 1 example of run B, e3 for instance"):
        mohs.compare(base, run_of("fwff"))
    with pytest.raises(BadInput, match="lacks 3 of the 3 examples"):
        mohs.compare(base, run_of([attempt(9, "f")], identity={"examples": 3}))  # not finished, and nothing shared


def test_runs_without_an_attack_in_common_are_refused() -> None:
    one = run_of([attempt(0, "f", "pwws:paper")])
    with pytest.raises(BadInput, match=r"differ in their attacks \(pwws:paper against textfooler:paper\)"):
        mohs.compare(run_of("f"), one)


def test_attacks_that_only_some_runs_have_are_named() -> None:
    both = run_of([attempt(n, "f", name) for name in (ATTACK, "pwws:paper") for n in range(3)], victim="hard")
    found = mohs.compare(run_of("fff"), both, judge="none")
    assert found.groups == [ATTACK]
    assert "pwws:paper of run B: not in all runs, so not compared." in found.notes


def test_the_same_run_twice_and_too_few_are_refused(tmp_path: Path) -> None:
    run_of("fw", tmp_path / "a").close()
    run_of("fw", tmp_path / "b", victim="hard").close()
    with pytest.raises(BadInput, match=r"a is given twice; name two different runs"):
        mohs.compare(tmp_path / "a", tmp_path / "b", str(tmp_path / "b" / ".." / "a"))
    one = run_of("f")
    with pytest.raises(BadInput, match="A run is given twice"):
        mohs.compare(one, one)
    with pytest.raises(BadInput, match="at least two runs"):
        mohs.compare(one)
    with mohs.compare(tmp_path / "a", tmp_path / "b", judge="none") as found:
        assert [side.letter for side in found.sides] == ["A", "B"]


def test_two_runs_of_one_victim_are_compared_and_named() -> None:
    found = mohs.compare(run_of("fw"), run_of("ff"), judge="none")
    assert "run B and run A have the same victim, by its fingerprint." in found.notes


def test_runs_of_other_verbs(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("attack", "bias", "radius", "second-order", "attack-pairs")}
    for name, folder in folders.items():
        shutil.copytree(BEFORE / name, folder)
    with pytest.raises(BadInput, match="`mohs report AFTER --against BEFORE`"):
        mohs.compare(folders["attack"], folders["bias"])
    with pytest.raises(BadInput, match=r"is a run of `mohs radius` and .*attack one of `mohs attack`"):
        mohs.compare(folders["attack"], folders["radius"])
    with pytest.raises(BadInput, match=r"differ in|lacks|another"):
        mohs.compare(folders["attack"], folders["attack-pairs"])
    with pytest.raises(BadInput, match="--judge is for runs of `mohs attack`"):
        mohs.compare(folders["radius"], shutil.copytree(BEFORE / "radius", tmp_path / "again"), judge="pocket")


@pytest.mark.parametrize("case", ["attack", "attack-pairs", "second-order", "radius", "radius-pocket"])
def test_folders_of_older_versions_are_compared(case: str, tmp_path: Path) -> None:
    """With a copy of itself: nothing differs, and every figure is that of the run."""
    one, other = (shutil.copytree(BEFORE / case, tmp_path / name) for name in ("one", "other"))
    with mohs.compare(one, other, judge="none") as found:
        rows = found.against[0].rows
        assert len(rows) > 2
        assert all(row.paired.difference == 0 for row in rows if row.paired.pairs.known)
        assert not found.against[0].only
        assert found.page().read_text("utf-8").startswith("<!doctype html>")


def test_letters() -> None:
    assert [letter_of(number) for number in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


def test_short_values_are_told_whole() -> None:
    """One setting of a list would not say what differs."""
    assert _apart("1,2,all", "99") == ("1,2,all", "99")
