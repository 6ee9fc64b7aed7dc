"""Comparisons of real runs: attacks with fair success, certificates and second-order searches."""

from __future__ import annotations

from typing import Any

import pytest

import mohs
from mohs.comparisons.questions import CERTIFIED, CLEAN, ROBUST, SUCCESS, UNDER
from mohs.errors import BadInput

DRAWS: dict[str, Any] = {"draws": 60, "alpha": 0.05}

FILMS = [
    mohs.Example(f"f{number}", mohs.Text(text), number % 2)
    for number, text in enumerate(
        ["an awful film", "a good film", "a bad dull story", "a great story", "dull and bad", "a fine good film"] * 2
    )
]


def test_attacks_with_a_judge() -> None:
    runs = [mohs.attack(victim, "pocket", n=12, attacks="textfooler") for victim in ("pocket", "masking(pocket)")]
    found = mohs.compare(*runs)
    fair = found.against[0].fair["textfooler:paper"]
    own = [run.summary()[0] for run in runs]
    row = found.against[0].row("textfooler:paper", SUCCESS)
    assert row is not None
    assert fair.total == row.pairs.known
    assert fair.interval is not None
    assert fair.interval[0] <= (fair.difference or 0) <= fair.interval[1]
    if all(one.success.total == fair.total and one.fair for one in own):
        assert [one.fair.expected for one in own if one.fair] == pytest.approx([fair.first, fair.second])
    under = found.against[0].row("textfooler:paper", UNDER)
    assert under is not None
    shares = [one.accuracy_under_attack.value for one in own if one.accuracy_under_attack]
    assert [under.first, under.second] == pytest.approx(shares)
    assert "fair success" in found._repr_html_()


def test_a_judge_that_was_an_object_must_be_named() -> None:
    run = [mohs.attack(victim, FILMS, attacks="random", budget=20) for victim in ("pocket", "masking(pocket)")]
    run[0].manifest["facts"]["judge"] = "my judge"
    run[1].manifest["facts"]["judge"] = "my judge"
    assert any("was given as an object" in note for note in mohs.compare(*run).notes)
    run[1].manifest["facts"]["judge"] = "pocket"
    assert any("several judges (my judge, pocket)" in note for note in mohs.compare(*run).notes)
    assert mohs.compare(*run, judge="pocket").against[0].fair


def test_certificates() -> None:
    runs = [
        mohs.certify("pocket", "pocket", n=8, budget="1,2", attacks="random"),
        mohs.certify("ranmask(pocket, rate=0.9)", "pocket", n=8, budget="1,2", attacks="random", **DRAWS),
    ]
    found = mohs.compare(*runs)
    assert found.groups == ["1 word", "2 words"]
    for side, run in zip(found.sides, runs, strict=True):
        for group, own in zip(found.groups, run.certified(), strict=True):
            rates = found.rates(side, group)
            assert (rates[ROBUST].counted, rates[CERTIFIED].counted) == (own.robust.counted, own.certified.counted)
        assert side.clean_rate("").hits == run.view().figures()["summary"]["clean"]["hits"]
    assert found.against[0].row("", CLEAN) is not None
    assert not found.against[0].fair
    own_space = mohs.certify("safer(pocket)", "pocket", n=8, budget="1,2", attacks="random", **DRAWS)
    with pytest.raises(BadInput, match="run B and run A differ in source"):
        mohs.compare(runs[0], own_space)
