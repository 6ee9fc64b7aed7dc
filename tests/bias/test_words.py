"""Groups of words: each word against the mean of its group, checked by asking every text by hand."""

from __future__ import annotations

from math import fsum
from typing import Any

import pytest

from mohs.bias import Pairs, label_counts, pair_biases, word_biases
from mohs.bias.pairs import grouped
from mohs.errors import BadInput
from mohs.text import Example
from tests.bias.toys import chance, measure

FAITHS = {"faith": ("jew", "sikh", "hindu")}
TABLES = {"sikh": [("ate", 5.0), ("sang", 4.0)], "jew": [("ran", 5.0)], "ran": [("home", 5.0), ("far", 4.0)]}


def pairs(groups: Any = FAITHS) -> Pairs:
    from pathlib import Path

    return grouped(Path("faiths.json"), {name: list(words) for name, words in groups.items()}, (), "faiths")


def test_any_two_words_of_a_group_are_a_pair_in_both_directions() -> None:
    found = measure("the sikh ran", TABLES, pairs=pairs(), k=0).finding.pairs
    assert [(pair.old, pair.new, pair.back) for pair in found] == [("jew", "sikh", True), ("sikh", "hindu", False)]
    assert pairs().undoable == set(pairs().pairs)
    assert len(pairs().pairs) == 3


@pytest.mark.parametrize("k", [0, 1, 2])
def test_a_word_lies_as_far_from_the_mean_of_its_group_as_all_texts_say(k: int) -> None:
    texts = ["the sikh ran", "a jew ran far", "the hindu sat"]
    records = [measure(text, TABLES, pairs=pairs(), k=k) for text in texts]
    neighbours = {
        # at distance 0, and what one and two steps lead to (the word of the group stays, its fellows are not inserted)
        0: {"the sikh ran": ["the {} ran"], "a jew ran far": ["a {} ran far"], "the hindu sat": ["the {} sat"]},
        1: {
            "the sikh ran": ["the {} ate", "the {} sang"],
            "a jew ran far": ["a {} ran home"],  # ran itself is no replacement
            "the hindu sat": [],
        },
        2: {
            "the sikh ran": ["the {} ate", "the {} sang"],  # from each to the other
            "a jew ran far": ["a {} ran far"],
            "the hindu sat": [],
        },
    }[k]
    every = [form for text in texts for form in neighbours[text]]
    wanted = {
        word: fsum(
            chance((form.format(word),)) - fsum(chance((form.format(other),)) for other in FAITHS["faith"]) / 3
            for form in every
        )
        / len(every)
        for word in FAITHS["faith"]
    }
    found = {one.new: one for one in word_biases(records, FAITHS) if one.k == k}
    assert {word: one.bias for word, one in found.items()} == pytest.approx(wanted, abs=1e-8)
    assert {one.old for one in found.values()} == {"faith"}
    assert {one.sentences for one in found.values()} == {sum(bool(neighbours[text]) for text in texts)}
    assert {one.neighbours for one in found.values()} == {len(every)}
    assert fsum(one.bias for one in found.values()) == pytest.approx(0, abs=1e-9)


def test_a_sentence_with_two_words_of_a_group_is_one_unit_and_each_keeps_out_the_other() -> None:
    record = measure("the sikh and the jew", TABLES, pairs=pairs(), k=0)
    found = {one.new: one for one in word_biases([record], FAITHS)}
    first = [chance((f"the {word} and the jew",)) for word in ("sikh", "hindu")]
    second = [chance((f"the sikh and the {word}",)) for word in ("jew", "hindu")]
    assert found["sikh"].bias == pytest.approx(first[0] - sum(first) / 2, abs=1e-8)
    assert found["hindu"].bias == pytest.approx((first[1] - first[0] + second[1] - second[0]) / 4, abs=1e-8)
    assert {one.sentences for one in found.values()} == {1}
    assert found["hindu"].neighbours == 2


def test_a_sampled_level_weighs_by_its_estimated_size() -> None:
    tables = {
        word: [(other, 5.0 - at / 10) for at, other in enumerate("abcdef") if other != word] for word in ("", *"abcdef")
    }
    record = measure("a sikh b c", {**tables, "sikh": tables["a"]}, pairs=pairs(), k=2, most=5, breadth=3)
    levels = record.finding.pairs[0].levels
    assert not levels[2].exact
    assert levels[2].size != levels[2].n
    each = {(one.old, one.new): one for one in pair_biases([record]) if one.k == 2}
    found = {one.new: one for one in word_biases([record], FAITHS) if one.k == 2}
    jew, hindu = -each["jew", "sikh"].bias, each["sikh", "hindu"].bias
    assert found["sikh"].bias == pytest.approx(-(jew + hindu) / 3)
    assert found["hindu"].bias == pytest.approx(hindu - (jew + hindu) / 3)
    assert found["sikh"].size == each["jew", "sikh"].size


def test_words_of_other_groups_do_not_count() -> None:
    groups = {"faith": ("jew", "sikh"), "food": ("rice", "bread")}
    record = measure("the sikh ate rice", TABLES, pairs=pairs(groups), k=0)
    found = {(one.old, one.new): one.bias for one in word_biases([record], groups)}
    assert set(found) == {("faith", "jew"), ("faith", "sikh"), ("food", "rice"), ("food", "bread")}
    gap = chance(("the sikh ate rice",)) - chance(("the jew ate rice",))
    assert found["faith", "sikh"] == pytest.approx(gap / 2, abs=1e-8)


def test_training_examples_with_a_word_are_counted_once_by_label() -> None:
    texts = [("Straight to video", 0), ("a straight , straight story", 1), ("straightforward", 1), ("gay", 1)]
    examples = [Example.of(text, label, id=str(number)) for number, (text, label) in enumerate(texts)]
    found = label_counts(examples, ["straight", "Gay", "sikh"])
    assert found == {"straight": {0: 1, 1: 1}, "gay": {1: 1}, "sikh": {}}


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("mohs.bias.pairs.combinations")
    city = [f"w{number}" for number in range(500)]
    with pytest.raises(BadInput, match=r"makes 124,750 pairs, and at most 100,000 are allowed; shorten the group\.$"):
        pairs({"city": city})
    with pytest.raises(BadInput, match=r"makes 124,753 pairs, .* name fewer groups, as in faiths\.json:faith, or"):
        pairs({**FAITHS, "city": city})
