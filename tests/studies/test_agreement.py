"""Agreement: against statsmodels, published examples, brute force over pairs, and simulations of the intervals."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as published

from mohs.studies.agreement import (
    beside_others,
    consensus,
    fleiss_kappa,
    human_accuracy,
    krippendorff_alpha,
    within_one,
)
from mohs.studies.ratings import Ratings, wilson

LEVELS: tuple[Literal["nominal", "ordinal", "interval"], ...] = ("nominal", "ordinal", "interval")
# Krippendorff, Computing Krippendorff's alpha-reliability (2011), section C: four observers, twelve units
OBSERVED = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}
# Fleiss' table as Wikipedia has it: ten items by fourteen judges in five categories, kappa 0.210
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

tables = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=1, max_size=8)


def of_table(panels: list[list[int]]) -> Ratings:
    return Ratings.of((f"i{i}", f"j{j}", value) for i, panel in enumerate(panels) for j, value in enumerate(panel))


def of_counts(counts: list[list[int]]) -> Ratings:
    return of_table([[category for category, times in enumerate(row) for _ in range(times)] for row in counts])


def test_kappa_of_the_published_table() -> None:
    found = fleiss_kappa(of_counts(FLEISS))
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert found.value == pytest.approx(published(np.array(FLEISS)))
    assert (found.items, found.judges) == (10, 14)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.21 < found.high


@settings(deadline=None)
@given(st.integers(2, 5).flatmap(lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=1)))
def test_kappa_is_statsmodels_where_all_items_have_as_many_judges(panels: list[list[int]]) -> None:
    found = fleiss_kappa(of_table(panels)).value
    counts = np.array([[panel.count(category) for category in range(4)] for panel in panels])
    if len({value for panel in panels for value in panel}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(published(counts))


def test_kappa_with_uneven_panels_by_hand() -> None:
    found = fleiss_kappa(of_table([[1, 1], [1, 2, 2], [2, 2, 2, 2], [1]]))
    agreeing = (1 + 1 / 3 + 1) / 3
    chance = ((1 + 1 / 3) / 3) ** 2 + ((2 / 3 + 1) / 3) ** 2
    assert found.value == pytest.approx((agreeing - chance) / (1 - chance))
    assert found.items == 3  # one judge agrees with nobody
    assert found.low is None  # of three items
    assert fleiss_kappa(of_table([[1]])).value is None


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level: Literal["nominal", "ordinal", "interval"], alpha: float) -> None:
    rows = [
        (f"u{unit}", observer, float(value))
        for observer, line in OBSERVED.items()
        for unit, value in enumerate(line.split())
        if value != "."
    ]
    found = krippendorff_alpha(Ratings.of(rows), level)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.items == 11  # the twelfth has one value
    assert found.low is not None
    assert found.high is not None
    assert found.low < alpha < found.high <= 1


@settings(deadline=None)
@given(tables, st.sampled_from(LEVELS))
def test_alpha_by_brute_force(panels: list[list[int]], level: Literal["nominal", "ordinal", "interval"]) -> None:
    """Observed: pairs of judgements of one item; expected: all pairs of judgements."""
    several = [panel for panel in panels if len(panel) > 1]
    pool = [value for panel in several for value in panel]
    times = Counter(pool)

    def far(a: int, b: int) -> float:
        if level == "nominal":
            return a != b
        if level == "interval":
            return (a - b) ** 2
        a, b = min(a, b), max(a, b)
        return (sum(times[g] for g in range(a, b + 1)) - (times[a] + times[b]) / 2) ** 2

    found = krippendorff_alpha(of_table(panels), level).value
    if len(times) < 2:
        assert found is None
        return
    seen = sum(far(a, b) / (len(p) - 1) for p in several for i, a in enumerate(p) for j, b in enumerate(p) if i != j)
    chance = sum(far(a, b) for a, b in product(pool, pool)) / (len(pool) - 1)
    assert found == pytest.approx(1 - seen / chance)


@settings(deadline=None, max_examples=50)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_judgements_does_not_matter(panels: list[list[int]], random: Any) -> None:
    rows = [(f"i{i}", f"j{j}", float(value)) for i, panel in enumerate(panels) for j, value in enumerate(panel)]
    shuffled = random.sample(rows, len(rows))
    for figure in (fleiss_kappa, krippendorff_alpha, within_one):
        first, again = figure(Ratings.of(rows)), figure(Ratings.of(shuffled))
        for name in ("value", "low", "high"):
            assert getattr(again, name) == pytest.approx(getattr(first, name), abs=1e-9)
    accuracy, once_more = human_accuracy(Ratings.of(rows)), human_accuracy(Ratings.of(shuffled))
    assert once_more.without_own.value == pytest.approx(accuracy.without_own.value)


@settings(deadline=None)
@given(tables)
def test_human_accuracy_by_brute_force(panels: list[list[int]]) -> None:
    """Every judge of every item, and every label that may be the majority's, once each."""

    def right(value: int, voters: list[int]) -> float:
        most = max(voters.count(label) for label in voters)
        tied = [label for label in set(voters) if voters.count(label) == most]
        return float(np.mean([value == label for label in tied]))

    several = [panel for panel in panels if len(panel) > 1]
    found = human_accuracy(of_table(panels))
    if not several:
        assert found.with_own.value is None
        assert found.without_own.value is None
        return
    own = [np.mean([right(value, panel) for value in panel]) for panel in several]
    others = [np.mean([right(v, panel[:i] + panel[i + 1 :]) for i, v in enumerate(panel)]) for panel in several]
    assert found.with_own.value == pytest.approx(np.mean(own))
    assert found.with_own.value == pytest.approx(np.mean([max(map(p.count, p)) / len(p) for p in several]))
    assert found.without_own.value == pytest.approx(np.mean(others))
    assert found.with_own.value is not None
    assert found.without_own.value is not None
    assert found.without_own.value <= found.with_own.value + 1e-9


def test_human_accuracy_by_hand() -> None:
    ratings = of_table([[1, 1, 1, 1, 0], [0, 0, 1, 1], [1]])
    found = human_accuracy(ratings, truth={"i0": 1, "i2": 0, "i9": 1})
    assert found.with_own.value == pytest.approx((4 / 5 + 1 / 2) / 2)
    assert found.without_own.value == pytest.approx((4 / 5 + 0) / 2)  # without one of two against two, the others win
    assert found.known is not None
    assert found.known.value == pytest.approx((4 / 5 + 0) / 2)
    assert found.known.items == 2
    assert json.loads(json.dumps(found.to_json())) == found.to_json()


def test_guesses_look_like_agreement_only_to_their_own_majority() -> None:
    random = np.random.default_rng(0)
    found = human_accuracy(of_table(random.integers(0, 2, (500, 5)).tolist()))
    assert found.with_own.value == pytest.approx(0.6875, abs=0.02)  # 5/5, 4/5 or 3/5 of the votes
    assert found.without_own.low is not None
    assert found.without_own.high is not None
    assert found.without_own.low < 0.5 < found.without_own.high


def test_within_one_by_hand() -> None:
    found = within_one(of_table([[1, 2, 3], [1, 1, 7], [4, 4, 4, 5]]))
    assert found.value == pytest.approx((3 + 0 + 4) / 3)
    assert found.panel == pytest.approx(10 / 3)
    assert found.low is None  # of three items
    assert within_one(Ratings.of([])).value is None
    assert within_one(of_table([[0, 1, 2, 3, 4]] * 6)).value == pytest.approx(3)  # exactly one point away counts


def test_consensus() -> None:
    assert consensus([1, 1, 1, 1, 0], 4) == 1
    assert consensus([1, 1, 1, 0, 0], 4) is None
    assert consensus([1, 1, 0, 0], 2) is None
    assert consensus([], 1) is None
    assert consensus([0, 0], 2) == 0


def test_intervals_of_kappa_alpha_and_accuracy_hold_as_often_as_they_say() -> None:
    """60 items by 5 judges on three points; the truth is that of very many items."""
    random = np.random.default_rng(3)

    def study(n: int) -> Any:
        return np.clip(np.round(2 + random.normal(0, 0.8, (n, 1)) + random.normal(0, 0.6, (n, 5))), 1, 3).astype(int)

    large = of_table(study(20_000).tolist())
    truth = [
        published(np.stack([(np.array(list(large.by_item.values())) == c).sum(1) for c in (1, 2, 3)], 1)),
        _value(krippendorff_alpha, large),
        _value(lambda ratings: human_accuracy(ratings).without_own, large),
        _value(within_one, large),
    ]
    held = np.zeros(4)
    for _ in range(500):
        ratings = of_table(study(60).tolist())
        found = [
            fleiss_kappa(ratings),
            krippendorff_alpha(ratings),
            human_accuracy(ratings).without_own,
            within_one(ratings),
        ]
        held += [
            one.low is not None and one.high is not None and one.low <= t <= one.high
            for one, t in zip(found, truth, strict=True)
        ]
    assert all(0.93 <= share / 500 <= 0.995 for share in held), held / 500


def test_one_against_the_others_by_hand() -> None:
    """On a scale 4 and 6 are two points apart; of 1, 1 and 0 the others of a 1 tie, and a single answer has none."""
    scale = beside_others(of_table([[6, 7], [5, 5], [1, 2], [3], [4, 6]]), scale=True)
    assert (scale.value, scale.items, scale.judges) == (6 / 8, 4, 2)
    labels = beside_others(of_table([[1, 1, 0], [1, 1, 1], [0, 1], [0, 0, 0], [1]]), scale=False)
    assert (labels.value, labels.items, labels.judges) == (6 / 9, 4, 3)
    assert beside_others(of_table([[1], [2]]), scale=True).value is None


def test_judges_who_judge_as_one_tell_no_more_than_one_item() -> None:
    """Each item's six judgements all agree, or all differ from the others: there are as many units as items."""
    ratings = of_table([[4] * 6] * 15 + [[1, 1, 1, 7, 7, 7]] * 5)
    found = beside_others(ratings, scale=True)
    assert found.value == 0.75
    assert found.interval == pytest.approx(wilson(0.75, 20 - 1, 20 - 1))


Crowd = tuple[int, int, float]  # judges an item, judges in all, how far they differ


@pytest.mark.parametrize(
    ("crowd", "least", "as_one"), [((5, 30, 0.0), 0.9, 0.88), ((10, 10, 0.4), 0.9, 0.55), ((3, 12, 0.4), 0.85, 0.8)]
)
def test_one_against_the_others_holds_about_as_often_as_it_says(crowd: Crowd, least: float, as_one: float) -> None:
    """100 items; judges lean to one side and are more or less careful. as_one: judgements taken for independent."""
    each, judges, care = crowd
    random = np.random.default_rng([5, *map(int, crowd)])

    def study(n: int, who: Any, judges: int) -> Ratings:
        lean, noise = random.normal(0, 0.6, judges)[who], np.exp(random.normal(0, care, judges))[who]
        scores = random.normal(4, 1.2, (n, 1)) + lean + noise * random.normal(0, 1, (n, each))
        values = np.clip(np.round(scores), 1, 7).ravel().tolist()
        names = [f"j{j}" for j in who.ravel()]
        return Ratings(tuple(f"i{i}" for i in range(n) for _ in range(each)), tuple(names), tuple(values))

    truth = _value(
        lambda ratings: beside_others(ratings, scale=True),
        study(10_000, np.arange(10_000 * each).reshape(-1, each), 10_000 * each),
    )
    held, independent = [], []
    for _ in range(300):
        found = beside_others(study(100, random.random((100, judges)).argsort(1)[:, :each], judges), scale=True)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= truth <= found.high)
        low, high = wilson(found.value, 100 * each)
        independent.append(low <= truth <= high)
    assert least <= np.mean(held) <= 0.98
    assert np.mean(independent) < as_one


def _value(figure: Any, ratings: Ratings) -> float:
    return float(figure(ratings).value)
