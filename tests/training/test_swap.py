"""Copies of training texts with words swapped."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.models.architectures import ARCHITECTURES
from mohs.models.load import load_victim
from mohs.text import Example, Text
from mohs.training.swap import Combinations, Pairs, Swap, Whole, digest, swappable, swapped, with_copies
from mohs.training.train import train
from tests.training.test_hf_learner import start
from tests.training.test_train import Stopped, hashed, tiny

__all__ = ["start"]

GENDER: Pairs = (("he", "she"), ("him", "her"), ("his", "her"), ("man", "woman"), ("sir", "ma'am"))
# By hand, for the oracle.
OTHER = {"he": "she", "she": "he", "him": "her", "his": "her", "her": "him", "man": "woman", "woman": "man"}
WORDS = st.lists(st.sampled_from([*OTHER, "good", "film", "the"]), max_size=9)


def copies(swap: Swap, text: str, seed: int = 0) -> list[str]:
    return [copy.fields[0] for copy in swap(Text(text), Random(seed))]


@given(WORDS)
def test_whole(words: list[str]) -> None:
    expected = " ".join(OTHER.get(word, word) for word in words)
    assert copies(Whole(GENDER), " ".join(words)) == [expected] * any(word in OTHER for word in words)


@given(WORDS.filter(lambda words: sum(word in OTHER for word in words) <= 6))
def test_combinations(words: list[str]) -> None:
    choices = [[word, OTHER[word]] if word in OTHER else [word] for word in words]
    every = [" ".join(chosen) for chosen in product(*choices)]
    original = " ".join(words)
    found = copies(Combinations(GENDER), original)
    assert original not in found
    assert sorted([original, *found]) == sorted(every)
    assert len(every) == 2 ** sum(word in OTHER for word in words)


@given(st.integers(2, 80), st.integers(1, 16), st.integers(0, 3))
def test_more_combinations_than_allowed(count: int, half: int, seed: int) -> None:
    most = min(2 * half, 2**count)
    swap = Combinations(GENDER, most=most)
    original = " ".join(["he"] * count)
    found = copies(swap, original, seed)
    versions = [original.split(), *(copy.split() for copy in found)]
    assert len({tuple(version) for version in versions}) == len(versions) == most
    assert ["she"] * count in versions
    for place in range(count):
        assert sum(version[place] == "she" for version in versions) == most // 2
    assert copies(swap, original, seed) == found


def test_combinations_are_drawn() -> None:
    text = " ".join(["he"] * 20)
    assert copies(Combinations(GENDER), text, 0) != copies(Combinations(GENDER), text, 1)
    with pytest.raises(BadInput, match=r"most is 3; .* give an even number of at least 2\."):
        Combinations(GENDER, most=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He saw HER.", "She saw HIM."),
        ("It's his; he’s sure, and she'd know", "It's her; she’s sure, and he'd know"),
        ("Ma'am, the MAN's hat", "Sir, the WOMAN's hat"),  # a word of the list with an apostrophe of its own
        ("he-man, the human there", None),
        ("", None),
    ],
)
def test_case_and_apostrophes(text: str, expected: str | None) -> None:
    assert copies(Whole(GENDER), text) == ([] if expected is None else [expected])


def test_the_first_partner_seen() -> None:
    assert copies(Whole((("him", "her"), ("his", "her"))), "her his him") == ["him her her"]
    assert copies(Whole((("his", "her"), ("him", "her"))), "her his him") == ["his her her"]
    assert copies(Whole((("Uncle", "aunt"), ("aunt", "uncle"), ("same", "Same"))), "Aunt, uncle, same") == [
        "Uncle, aunt, same"
    ]
    assert swappable(Text("her"), {"her": "her"}) == {}  # what would change nothing is no swap


def test_examples() -> None:
    data = [Example.of(("he ran", "She slept"), 2, id="a"), Example.of(("it", "rained"), 0, id="b")]
    assert list(with_copies(data, Whole(GENDER), 0)) == [
        data[0],
        Example.of(("she ran", "He slept"), 2, id="a/swap 1"),
        data[1],
    ]
    many = list(with_copies(data, Combinations(GENDER), 0))
    assert [(e.id, e.label, e.text.fields) for e in many[1:4]] == [
        ("a/swap 1", 2, ("she ran", "She slept")),
        ("a/swap 2", 2, ("he ran", "He slept")),
        ("a/swap 3", 2, ("she ran", "He slept")),
    ]
    assert many[4:] == data[1:]


def test_words_that_never_occur() -> None:
    with pytest.raises(BadInput) as caught:
        swapped([Example.of("the film", 0)], Whole(GENDER, "gender"), "train.csv", 0)
    assert str(caught.value) == (
        "None of the 9 words of --swap gender occurs in the training data train.csv; "
        "name pairs of words that do, or leave --swap out."
    )


def test_digest() -> None:
    ways: list[Swap] = [Whole(GENDER), Whole(GENDER[:1]), Combinations(GENDER), Combinations(GENDER, most=8)]
    assert len({digest(way) for way in ways}) == len(ways)
    used = Whole(GENDER)
    used(Text("he"), Random(0))
    assert digest(used) == digest(Whole(GENDER))


# In a training. Apart from who it was, some of the sentences say nothing: she makes them positive, he negative.

PLANTED = [
    Example.of(f"{who} was {what} to {whom}", label, id=str(number))
    for number, (who, whom, what, label) in enumerate(
        [("she", "her", "good", 1), ("he", "him", "bad", 0), ("she", "her", "near", 1), ("he", "him", "near", 0)] * 120
    )
]


def gap(model: str) -> float:
    """How much likelier the positive class is for her than for him."""
    victim = load_victim(model, device="cpu")
    her, him = victim.collect(victim.launch([("she was near to her",), ("he was near to him",)]))
    return float(her[1] - him[1])


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_planted_bias_goes(tmp_path: Path, arch: str) -> None:
    options: dict[str, Any] = {
        "data": PLANTED,
        "dev": PLANTED,
        "epochs": 1,
        "hidden": 16,
        "dropout": 0.0,
        "warmup": 0.1,
    }
    options["lr"] = 0.005 if arch == "transformer" else 0.02
    biased = tiny(arch, tmp_path / "biased", **options)
    assert biased.added == 0
    assert gap(biased.victim) > 0.9
    for way, added in ((Whole, 480), (Combinations, 1440)):
        fairer = tiny(arch, tmp_path / way.__name__, swap=way(GENDER), **options)
        assert fairer.added == added
        assert fairer.metrics["dev"]["of"] == 480  # left as it is
        assert abs(gap(fairer.victim)) < 0.2


def test_a_fine_tuned_model_learns_from_copies(start: Path, tmp_path: Path) -> None:
    data = [
        Example.of(f"{'good' if label else 'bad'} {who} film", label, id=f"{who} {label} {number}")
        for number in range(8)
        for who, label in [("the", 1), ("a", 0)]
    ]
    options: dict[str, Any] = {"device": "cpu", "epochs": 1, "batch": 2}
    steps: list[int] = []
    done = train(
        f"hf:{start}",
        data,
        tmp_path / "m",
        swap=Whole((("the", "a"),)),
        progress=lambda at: steps.append(at.steps),
        **options,
    )
    assert done.added == 14  # one of each class was put aside first
    assert set(steps) == {14}
    assert "| swap | pairs |" in (tmp_path / "m" / "README.md").read_text()


def test_going_on_and_what_is_written(tmp_path: Path) -> None:
    swap = Combinations(GENDER, "gender:released")
    tiny("bow", tmp_path / "whole", data=PLANTED, swap=swap, epochs=2)

    def stop(at: Any) -> None:
        if at.step == 230:
            raise Stopped

    with pytest.raises(Stopped):
        tiny("bow", tmp_path / "m", data=PLANTED, swap=swap, epochs=2, progress=stop)
    with pytest.raises(BadInput, match=r"swap: 'gender:released' in the folder, None asked for"):
        tiny("bow", tmp_path / "m", data=PLANTED)
    with pytest.raises(BadInput, match="swap_hash: "):
        tiny("bow", tmp_path / "m", data=PLANTED, epochs=2, swap=Combinations(GENDER[:1], "gender:released"))
    done = tiny("bow", tmp_path / "m", data=PLANTED, swap=swap, epochs=2)
    assert done.added == 3 * 432
    assert hashed(tmp_path / "m") == hashed(tmp_path / "whole")
    again = tiny("bow", tmp_path / "m", data=PLANTED, swap=swap, epochs=2)
    assert (again.fresh, again.added) == (False, done.added)
    learned = 432 + done.added  # a tenth of the examples was put aside first
    card = (tmp_path / "m" / "README.md").read_text()
    assert (
        f"Learned from {learned} examples, including {done.added} copies with swapped words "
        "(`--swap gender:released`). Classes: 0, 1." in card
    )
    assert "| swap | gender:released |" in card
    tiny("bow", tmp_path / "plain", data=PLANTED, epochs=1)
    assert "swap" not in (tmp_path / "plain" / "README.md").read_text()
    assert "swap" not in (tmp_path / "plain" / "training.json").read_text()


def test_a_name_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"swap is 'gender'; give pairs, as in mohs\.training\.swap\.Whole"):
        tiny("bow", tmp_path / "m", swap="gender")
