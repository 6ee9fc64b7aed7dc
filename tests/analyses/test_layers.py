"""Layer by layer: groups of words, against cosines that numpy gives from the same hidden states."""

from __future__ import annotations

import numpy as np
import pytest

from mohs.analyses.layers import ATTACK, GROUPS, MASK, NEAREST, RANDOM, UNCHANGED, Replacing, drawn_cases, layer_figures
from mohs.analyses.substitutions import Case, columns_of
from mohs.models.hf import HfVictim
from mohs.models.word_layers import WordLayers, cosines
from tests.analyses.toys import VECTORS, Vectors, attack_run, success
from tests.models.conftest import small_model, tiny_tokenizer

REPLACING = Replacing(Vectors(), 3)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def layers() -> WordLayers:
    tokenizer = tiny_tokenizer("wordpiece")
    return WordLayers(HfVictim(small_model("bert", tokenizer), tokenizer, device="cpu"))


def cases_of(*changes: tuple[str | tuple[str, str], dict[int, str]]) -> list[Case]:
    run = attack_run([success(number, text, words) for number, (text, words) in enumerate(changes)])
    (column,), _ = columns_of(run, 11)
    return list(column.cases)


CASES = cases_of(
    ("a good film and a plot", {1: "bad", 5: "story"}),
    ("what a good movie", {3: "film"}),
    (("a dog runs", "the good dog"), {4: "fine"}),
)


def test_the_five_groups_by_hand(layers: WordLayers) -> None:
    told: list[int] = []
    found = layer_figures(CASES, layers, REPLACING, told.append)
    assert told == [1, 1, 1]
    assert found.pairs == 3
    assert [curve.group for curve in found.curves] == list(GROUPS)
    assert {curve.group: curve.words for curve in found.curves} == {
        UNCHANGED: 4 + 3 + 5,
        ATTACK: 4,
        RANDOM: 4,
        MASK: 4,
        NEAREST: 3,  # plot has no vector
    }
    wanted: dict[str, list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]] = {group: [] for group in GROUPS}
    for case in CASES:
        before, after = layers.of_words(case.original), layers.of_words(case.final)
        changed = {one.position for one in case.substitutions}
        nearest = {at: word for at, word in REPLACING.nearest(case).items() if word}
        variants = {
            ATTACK: after,
            RANDOM: layers.of_words(case.original.replace_all(REPLACING.random(case))),
            NEAREST: layers.of_words(case.original.replace_all(nearest)),
            MASK: layers.of_words(case.original, changed),
        }
        for position in range(len(case.original)):
            if position not in changed:
                wanted[UNCHANGED].append(cosines(before[position], after[position]))
            for group, variant in variants.items():
                if position in (nearest if group == NEAREST else changed):
                    wanted[group].append(cosines(before[position], variant[position]))
    for curve in found.curves:
        table = np.array(wanted[curve.group])
        np.testing.assert_allclose(np.array(curve.quartiles).T, np.quantile(table, (0.25, 0.5, 0.75), axis=0))
        assert curve.to_json()["layers"][0]["median"] == pytest.approx(np.median(table[:, 0]))


def test_the_random_word_is_another_word_and_depends_on_the_seed_alone() -> None:
    seen = set()
    for seed in range(40):
        words = Replacing(Vectors(), seed).random(CASES[0])  # type: ignore[arg-type]
        assert words == Replacing(Vectors(), seed).random(CASES[0])  # type: ignore[arg-type]
        assert words[1] != "good"
        seen.add(words[1])
    assert seen == set(VECTORS) - {"good"}


def test_the_nearest_neighbour_is_that_of_the_original_word() -> None:
    assert REPLACING.nearest(CASES[0]) == {1: "fine"}  # plot has no vector
    assert REPLACING.nearest(CASES[1]) == {3: "film"}


def test_a_model_without_a_mask_has_four_groups(layers: WordLayers) -> None:
    mask, layers.mask = layers.mask, None
    try:
        found = layer_figures(CASES, layers, REPLACING, lambda _: None)
    finally:
        layers.mask = mask
    assert [curve.group for curve in found.curves] == [group for group in GROUPS if group != MASK]


def test_pairs_are_drawn_once_and_keep_their_order() -> None:
    cases = cases_of(*[(f"a good film {n}", {1: "bad"}) for n in range(20)])
    drawn = drawn_cases(cases, 5, 1)
    assert drawn == drawn_cases(cases, 5, 1)
    assert len({case.record.example_id for case in drawn}) == 5
    places = [cases.index(case) for case in drawn]
    assert places == sorted(places)
    assert drawn != drawn_cases(cases, 5, 2)
    assert drawn_cases(cases, 20, 1) == cases
