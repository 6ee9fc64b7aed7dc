"""Fake answers of the right type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.curation.crafted.fakes import fake_answer, other_number
from mohs.curation.crafted.sentences import said
from mohs.text.parses import ParsedToken
from tests.curation.crafted.parses import parse_of


@pytest.mark.parametrize(
    ("answer", "question", "fake"),
    [
        ("1342/CD/ROOT/0/DATE", "When?", "1317"),
        ("March/NNP/ROOT/0/DATE 1998/CD/nummod/0/DATE", "When?", "September 1973"),
        ("7/CD/nummod/1/DATE November/NNP/ROOT/1/DATE 1867/CD/nummod/1/DATE", "When?", "18 May 1842"),
        ("20/CD/nummod/1/DATE May/NNP/ROOT/1/DATE", "When?", "9 November"),
        ("Sunday/NNP/ROOT/0/DATE", "When is it?", "1962"),
        ("About/RB/advmod/1 4,500/CD/ROOT/1", "How many?", "about 9,500"),
        ("71/CD/compound/1 million/CD/ROOT/1", "How many?", "21 thousand"),
        ("three/CD/nummod/1 times/NNS/ROOT/1", "How often?", "fifteen times"),
        ("fifteen/CD/nummod/1 times/NNS/ROOT/1", "How often?", "forty times"),
        ("$/$/nmod/1 850/CD/ROOT/1", "How much?", "$ 350"),
        ("1805/CD/ROOT/0", "What number?", "1730"),
        ("Ann/NNP/compound/1/PERSON Lee/NNP/ROOT/1/PERSON", "Which girl?", "Martin Keller"),
        ("Rome/NNP/ROOT/0/GPE", "What city?", "Zurich"),
        ("NASA/NNP/ROOT/0/ORG", "Which agency?", "Northwind Industries"),
        ("NASA/NNP/ROOT/0", "Which agency?", "QXR"),
        ("sailors/NNS/ROOT/0", "Who came?", "Martin Keller"),
        ("chloroplasts/NNS/ROOT/0", "Where is it?", "Zurich"),
        ("glass/NN/ROOT/0", "What is it?", "granite"),
        ("a/DT/det/1 ticket/NN/ROOT/1 to/IN/prep/1 Rome/NNP/pobj/2", "What is it?", "a lantern"),
        ("the/DT/det/1 ships/NNS/ROOT/1", "What came?", "the lanterns"),
        ("the/DT/det/1 Nile/NNP/ROOT/1", "What river?", "Harbour Square"),
        ("green/JJ/ROOT/0", "What colour?", "purple"),
        ("to/TO/aux/1 run/VB/ROOT/1 fast/RB/advmod/1", "Why did he?", "comets"),
        ("running/VBG/ROOT/0", "What is it?", "swimming"),
    ],
)
def test_by_its_kind(answer: str, question: str, fake: str) -> None:
    assert fake_answer(parse_of(answer), question) == fake


@pytest.mark.parametrize("answer", ["Zurich/NNP/ROOT/0/GPE", "granite/NN/ROOT/0", "purple/JJ/ROOT/0"])
def test_a_fake_is_never_the_answer(answer: str) -> None:
    assert fake_answer(parse_of(answer), "What?") == "comets"


@given(st.integers(0, 10**7), st.sampled_from(["DATE", ""]))
def test_a_fake_number_is_another_number(value: int, entity: str) -> None:
    token = ParsedToken(str(value), 0, len(str(value)), 0, "ROOT", "NUM", "CD", str(value), entity)
    assert int(fake_answer((token,), "How many?")) != value
    assert int(other_number(token)) != value
    assert len(other_number(token)) == len(str(value)) or 1000 < value < 1075


def test_no_answer() -> None:
    assert fake_answer((), "What?") == "comets"
    assert said(()) == ""
