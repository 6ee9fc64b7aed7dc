"""The smoothed classifier: draws, exact bounds on shares, and its certificate against all texts of a real space."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from mohs.certifying.smoothed import Smoothed, Votes, lower_bound, reads
from mohs.defences.smoothing import RanMask, Safer
from mohs.defences.versions import Versions
from mohs.models.function import FunctionVictim
from mohs.models.victim import Victim
from mohs.space import Space
from mohs.text import Text
from mohs.text.vectors import read_vectors


@pytest.mark.parametrize("p", [0.5, 0.73, 0.97])
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("alpha", [0.001, 0.05])
def test_the_lower_bound_is_too_high_with_probability_alpha_at_most(p: float, n: int, alpha: float) -> None:
    misses = sum(
        math.comb(n, hits) * p**hits * (1 - p) ** (n - hits) for hits in range(n + 1) if lower_bound(hits, n, alpha) > p
    )
    assert misses <= alpha * (1 + 1e-9)
    assert lower_bound(n, n, alpha) == pytest.approx(alpha ** (1 / n))


def test_a_tie_goes_to_the_label() -> None:
    assert Votes((5, 5, 2)).winner(1) == 1
    assert Votes((5, 5, 2)).winner(2) == 0
    found = Votes((30, 70)).finding(1, 0.01)
    assert found.low < 0.7 < found.high
    assert found.winner == 1


def at_random(seed: int, share: float) -> Victim:
    """A lookup table: each text has a class at random."""

    def answer(texts: list[str]) -> list[list[float]]:
        found = [Random(f"{seed}/{text}").random() < share for text in texts]
        return [[1.0 - one, float(one)] for one in found]

    return FunctionVictim(answer)


def safer(seed: int = 0, share: float = 0.9) -> Smoothed:
    defence = Safer(k=3, cosine=0.5, books={"vectors": read_vectors("pocket")})
    return Smoothed(Versions(at_random(seed, share), defence, "safer"))


def exact(smoothed: Smoothed, text: Text) -> float:
    """The share of the positive class over all versions of a text."""
    assert isinstance(smoothed.defence, Safer)
    sets = smoothed.defence.sets(text)
    versions = [text.replace_all(dict(zip(sets, words, strict=True))).fields for words in product(*sets.values())]
    scores = smoothed.victim.victim.collect(smoothed.victim.victim.launch(versions))
    return sum(one[1] for one in scores) / len(versions)


@pytest.mark.parametrize("seed", range(6))
def test_a_certificate_of_safer_holds_for_every_text_of_its_space(seed: int) -> None:
    text = Text("a good film")
    smoothed = safer(seed)
    space = Space(text, smoothed.choices(text, (0, 1, 2)))
    assert set(space.choices) == {1, 2}
    share = exact(smoothed, text)
    for budget in (1, 2, None):
        floor = share - smoothed.loss(space, budget, share)
        falls = [exact(smoothed, other) for other in space.points(2 if budget is None else budget)]
        assert min(falls) >= floor - 1e-12
    assert smoothed.loss(space, 1, share) < smoothed.loss(space, None, share) < 1


def test_votes_come_near_the_exact_share() -> None:
    smoothed, text = safer(3), Text("a good film")
    votes = smoothed.votes(text.fields, 20_000, 2, Random(0))
    assert votes.draws == 20_000
    assert votes.counts[1] / votes.draws == pytest.approx(exact(smoothed, text), abs=0.012)  # three deviations


def test_equal_versions_are_asked_once_and_in_large_batches() -> None:
    asked: list[int] = []

    def answer(texts: list[str]) -> list[list[float]]:
        asked.append(len(texts))
        assert max(Counter(texts).values()) == 1
        return [[0.0, 1.0] for _ in texts]

    victim = Versions(FunctionVictim(answer, batch=4096), RanMask(rate=0.7), "ranmask")
    text = "one two three four five six seven eight nine ten eleven twelve"
    assert Smoothed(victim).votes((text,), 5000, 2, Random(0)).counts == (0, 5000)
    assert len(asked) == 1


def test_ranmask_counts_all_words_and_at_most_those_that_can_change() -> None:
    smoothed = Smoothed(Versions(at_random(0, 0.9), RanMask(rate=0.8), "ranmask"))
    space = Space(Text("a b c d e f g h i j"), {0: ("x",), 3: ("y",)})
    assert smoothed.loss(space, 1, 1.0) == pytest.approx(0.2)
    assert smoothed.loss(space, 2, 1.0) == smoothed.loss(space, 9, 1.0) == pytest.approx(1 - 28 / 45)


def test_a_word_that_is_read_as_two_costs_everything() -> None:
    text = Text("a good film")
    assert reads(text, 1, "fine")
    assert not reads(text, 1, "very fine")
    assert safer().loss(Space(text, {1: ("very fine",)}), 1, 1.0) == 1


def share_of(check: Callable[[int], bool], n: int) -> float:
    return sum(map(check, range(n))) / n


def test_certificates_are_wrong_no_more_often_than_alpha() -> None:
    """A class with a share of one half must not be certified: with alpha 0.05, at most 5% of 400 tries are."""

    def certified(seed: int) -> bool:
        random = Random(seed)
        hits = sum(random.random() < 0.5 for _ in range(200))
        return Votes((200 - hits, hits)).finding(1, 0.05).low > 0.5

    assert share_of(certified, 400) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_the_smallest_overlap_of_all_words_counts() -> None:
    smoothed, text = safer(), Text("a good film")
    words = smoothed.choices(text, (1,))[1]
    single = [smoothed.loss(Space(text, {1: (word,)}), 1, 1.0) for word in words]
    assert len(set(single)) > 1
    for order in (words, words[::-1], words[1:] + words[:1]):
        assert smoothed.loss(Space(text, {1: order}), 1, 1.0) == max(single)
