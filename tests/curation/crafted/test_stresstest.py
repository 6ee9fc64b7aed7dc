"""StressTest's numerical reasoning, checked by arithmetic of its own."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.curation.crafted.example import Order
from mohs.curation.crafted.stresstest import counted, pairs, stresstest
from mohs.errors import BadInput
from mohs.studies.reading import Fault

SENTENCE = "The shop sold {} books in May."
SAID = re.compile(r"The shop sold (?:(more than|less than) )?([\d,]+) books in May\.")


def values(text: str) -> set[int]:
    """The whole numbers up to 10,000 for which a text is true."""
    match = SAID.fullmatch(text)
    assert match is not None, text
    number = int(match[2].replace(",", ""))
    if match[1] == "more than":
        return set(range(number + 1, 10_001))
    return set(range(number)) if match[1] else {number}


def relation(premise: str, hypothesis: str) -> str:
    """What follows of what, by the numbers for which both are true."""
    first, second = values(premise), values(hypothesis)
    assert first
    if first <= second:
        return "entailment"
    return "neutral" if first & second else "contradiction"


@given(st.integers(2, 999), st.integers(0, 1000))
def test_labels_follow_from_arithmetic(number: int, seed: int) -> None:
    found = counted(SENTENCE.format(number))
    assert found is not None
    made = pairs(found, Random(seed))
    assert list(made) == ["entailment", "contradiction", "neutral"]
    for label, (premise, hypothesis) in made.items():
        assert relation(premise, hypothesis) == label, (premise, hypothesis)
    assert made["entailment"][0] == made["contradiction"][0] == SENTENCE.format(number)
    assert made["neutral"] == made["entailment"][::-1]


@given(st.integers(2, 9_999), st.integers(0, 1000))
def test_only_the_first_digit_changes(number: int, seed: int) -> None:
    found = counted(SENTENCE.format(f"{number:,}"))
    assert found is not None
    for _, text in list(pairs(found, Random(seed)).values())[:2]:
        match = SAID.fullmatch(text)
        assert match is not None
        assert match[2][1:] == f"{number:,}"[1:]
        if match[2] != f"{number:,}":
            assert match[2][0] in "12345678"
            assert match[2] != "1"  # 1 books


def test_half_of_the_contradictions_have_another_number() -> None:
    found = counted(SENTENCE.format(50))
    assert found is not None
    made = Counter(SAID.fullmatch(pairs(found, Random(seed))["contradiction"][1])[1] for seed in range(2000))  # type: ignore[index]
    assert made[None] == pytest.approx(1000, abs=90)
    assert made["more than"] == pytest.approx(500, abs=80)
    assert made["less than"] == pytest.approx(500, abs=80)
    entailed = Counter(SAID.fullmatch(pairs(found, Random(seed))["entailment"][1])[1] for seed in range(2000))  # type: ignore[index]
    assert entailed["more than"] == pytest.approx(2000 * 4 / 7, abs=90)  # 1 to 4 of 1 to 8 without 5


def bounded(sentence: str) -> str:
    found = counted(sentence)
    return "" if found is None else found.with_number("7", "less than")


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("44 people voted.", "Less than 7 people voted."),
        ("$20 million was paid.", "Less than $7 million was paid."),
        ("The fare is $ 20, as it was.", "The fare is less than $ 7, as it was."),
        ("He owes £20.", "He owes less than £7."),
        ("Prices rose 66% in May.", "Prices rose less than 7% in May."),
        ("May 5 was hot, with 12 fires.", "May 5 was hot, with less than 7 fires."),
        ("They have 10,000 members.", "They have less than 7 members."),
        ("In 1995 it had 12 rooms.", "In 1995 it had less than 7 rooms."),
        ("Boeing 747 jets took 30 minutes.", "Boeing 747 jets took less than 7 minutes."),
    ],
)
def test_numbers_that_count_something(sentence: str, found: str) -> None:
    assert bounded(sentence) == found


@pytest.mark.parametrize(
    "sentence",
    [
        "It was built in 1995.", "The score was 3 to 1.", "He is on page 12 of it.", "The first 5 men left.",
        "She has 1 cats.", "It costs $2.50.", "The 2 men left.", "He did not wear 2 shirts.", "He didn’t see 2 cats.",
        "Has he 2 cats?", "If he has 2 cats, he is happy.", "At least 2 cats ran.", "About 200 people came.",
        "As many as 20 people came.", "It cost $5 to $10 a day.", "10 or 12 people came.", "It grew over 5 years.",
        "One of 20 people fell.", "It takes 24 hours' notice.", "It takes 24 hours’ notice.", "He must pay 50 dollars.",
        "They want 50 dollars.", "She asked him for 50 dollars.", "They were ordered to pay 50 dollars.",
        "It had to be built in 20 parts.", "They are seeking 50 men.", "They tried to steal 50 dollars.",
        "The road is 20 miles (32 kilometres) long.", '"They have 20 cats.', "Section 5 says so.",
        "A 20-mile road has 3rd rank.", "It is 5 times as long.", "There are 5 other cats.", "No number here.",
        "He may have 20 cats.", "An estimated 5 men came.",
    ],
)  # fmt: skip
def test_what_is_left_out(sentence: str) -> None:
    assert counted(sentence) is None


def order(folder: Path, texts: list[str], **more: object) -> Order:
    (folder / "data.jsonl").write_text("".join(json.dumps({"premise": text}) + "\n" for text in texts))
    return Order(str(folder / "data.jsonl"), "nli", **more)  # type: ignore[arg-type]


def test_every_sentence_of_a_file_once(tmp_path: Path) -> None:
    texts = ["It rains. We saw 40 cats. We saw 50 dogs.", "We saw 40 cats.", "No."]
    found = list(stresstest(order(tmp_path, texts, licence="mine")))
    assert [(one.id, one.label, one.method) for one in found[:3]] == [
        (f"1.2.{label}", label, f"stresstest: numerical: {label}")
        for label in ("entailment", "contradiction", "neutral")
    ]
    assert [one.fields[0] for one in found[3:5]] == ["We saw 50 dogs."] * 2
    assert len(found) == 6
    assert {one.licence for one in found} == {"mine"}


def test_the_seed_and_the_sentence_alone_decide(tmp_path: Path) -> None:
    texts = [f"We saw {number} cats." for number in range(10, 30)]
    found = {one.fields for one in stresstest(order(tmp_path, texts, seed=3))}
    assert {one.fields for one in stresstest(order(tmp_path, texts[::-1], seed=3))} == found
    assert {one.fields for one in stresstest(order(tmp_path, texts[:5], seed=3))} < found
    assert {one.fields for one in stresstest(order(tmp_path, texts, seed=4))} != found


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="its format is for tasks of the kind nli, not sentiment; leave it out"):
        list(stresstest(Order("any", "sentiment")))
    with pytest.raises(Fault, match=r"options\.each is unknown"):
        list(stresstest(Order("any", "nli", options={"each": 1})))
    with pytest.raises(BadInput, match=r"There is no file .*none\.csv; correct its name"):
        list(stresstest(Order(str(tmp_path / "none.csv"), "nli")))
    with pytest.raises(BadInput, match=r"data\.jsonl, row 1: there is no column words; the columns are premise; name"):
        list(stresstest(order(tmp_path, ["A."], fields=("words",))))
