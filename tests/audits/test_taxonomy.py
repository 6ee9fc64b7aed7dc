"""The table of constraint classes, beside the table of Morris et al. 2020, appendix A.1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks.catalogue import CATALOGUE, find_attack
from mohs.audits.taxonomy import CLAIMED, cells, constrained, of_run, whole_catalogue
from mohs.space import Family
from tests.audits.toys import record, run_of

MORPHOLOGY, SEMANTICS, GRAMMAR, SUSPICION = Family
# As printed: the meaning that is preserved, the syntactic constraint, and non-suspicion.
PRINTED = {
    "genetic": ("semantics", True, True),
    "kuleshov": ("semantics", True, True),
    "textfooler": ("semantics", True, True),
    "hotflip": ("morphology", False, True),
    "deepwordbug": ("morphology", False, True),
    "textbugger": ("morphology", False, True),
    "textbugger-white": ("morphology", False, True),
}


def row(spec: str) -> Any:
    return constrained(*find_attack(spec))


def test_claims_are_those_of_the_paper() -> None:
    assert CLAIMED.keys() == PRINTED.keys()
    for name, (meaning, syntax, quiet) in PRINTED.items():
        claimed = CLAIMED[name]
        assert ("morphology" if MORPHOLOGY in claimed else "semantics") == meaning
        assert (MORPHOLOGY in claimed) != (SEMANTICS in claimed)
        assert (GRAMMAR in claimed, SUSPICION in claimed) == (syntax, quiet)


@pytest.mark.parametrize(
    ("attack", "families"),
    [
        ("textfooler:paper", {SEMANTICS, GRAMMAR}),  # neighbours, similarity; part of speech
        ("textfooler:adjusted", {SEMANTICS, GRAMMAR}),  # with a grammar checker
        ("genetic:no-lm", {SEMANTICS, MORPHOLOGY}),  # neighbours; a fifth of the words
        ("genetic:paper", {SEMANTICS, MORPHOLOGY, SUSPICION}),  # and the language model's rank
        ("kuleshov:paper", {SEMANTICS, MORPHOLOGY, SUSPICION}),
        ("deepwordbug:paper", {MORPHOLOGY}),
        ("bae:paper", {SEMANTICS, GRAMMAR, SUSPICION}),
        ("pwws:paper", {SEMANTICS}),
        ("pwws:released", {SEMANTICS, GRAMMAR}),
        ("pruthi:paper", {MORPHOLOGY}),
    ],
)
def test_what_an_attack_constrains(attack: str, families: set[Family]) -> None:
    assert set(row(attack).by) == families


def test_the_reasons_are_named() -> None:
    found = row("textfooler:paper").by
    assert found[GRAMMAR] == ("part of speech>=1",)
    assert found[SEMANTICS] == ("source Neighbours()", "sentence similarity>=0.841")


def test_a_part_of_a_source_promises_nothing_for_the_whole() -> None:
    found = row("textbugger:textattack")
    assert all(said.endswith("(part of the source)") for said in found.by[MORPHOLOGY])
    assert cells(found)[0] == "semantics, morphology (part)!"  # the paper says morphology


def test_differences_from_the_paper_are_marked() -> None:
    assert cells(row("textfooler:paper")) == ("semantics", "yes", "no!")
    assert cells(row("deepwordbug:paper")) == ("morphology", "no", "no!")
    assert cells(row("genetic:paper")) == ("semantics, morphology", "no!", "yes")
    assert cells(row("hotflip:paper")) == ("semantics!", "yes!", "no!")  # the catalogue has its word flips
    assert cells(row("pwws:paper")) == ("semantics", "no", "no")  # not in the paper


def test_the_whole_catalogue_is_there() -> None:
    names = [found.attack for found in whole_catalogue()]
    assert names == [f"{name}:{preset}" for name, presets in CATALOGUE.items() for preset in presets]


def test_a_run_says_its_own_settings() -> None:
    name = "pwws:paper+neighbours:k=8+grammar-errors<=0"
    run = run_of(
        [record(0, "aa bb", {0: "a"}, name)],
        attacks=["pwws:paper"],
        tasks=[name],
        source="neighbours:k=8",
        constraints=["grammar-errors<=0"],
    )
    ((found,),) = of_run(run).values()
    assert found.attack == name
    assert found.by == {SEMANTICS: ("source Neighbours(k=8)",), GRAMMAR: ("grammar errors introduced<=0",)}


def test_the_members_of_a_battery_are_rows() -> None:
    run = run_of([record(0, "aa bb", {0: "a"}, "standard")])
    rows = of_run(run)["standard"]
    assert [found.attack for found in rows] == ["textfooler:paper", "textbugger:textattack", "faster-genetic:no-lm"]


@pytest.mark.parametrize("name", ["evil.py:Attack", "MyAttack(k=3)", "nobody"])
def test_an_attack_from_outside_is_not_run_and_not_known(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('the file of a manifest was run')")
    monkeypatch.chdir(tmp_path)
    run = run_of([record(0, "aa bb", {0: "a"}, name)])
    ((found,),) = of_run(run).values()
    assert not found.known
    assert cells(found) == ("?", "?", "?")
    assert found.to_json()["constrains"] is None


def test_constraints_given_as_objects_are_not_guessed() -> None:
    run = run_of([record(0, "aa bb", {0: "a"})], constraints=["Constraint(measure=Mine())"])
    ((found,),) = of_run(run).values()
    assert not found.known


def test_python_gives_the_table_too() -> None:
    assert mohs.audits.whole_catalogue()[0].attack == "textfooler:paper"
