"""The bootstrap over judges and items: by hand, by brute force, and how often it holds in simulations."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from mohs.studies.ratings import Ratings
from mohs.studies.resampled import _statistics, resampled
from mohs.studies.validity import Rule, validity
from tests.studies.test_validity import ALL_JUDGE_ALL, CHANGES, FIVE, POOL, Design, planted, studies

MEDIAN = Rule("median", at_least=5)
ALTERED = Rule("share", answer=2, below=0.5)
SIMULATIONS = 150


def ratings(n: int = 40, judges: int = 5, named: bool = True) -> Ratings:
    random = np.random.default_rng(3)
    rows = [(f"i{i}", f"j{j}", float(random.integers(1, 8))) for i in range(n) for j in random.permutation(12)[:judges]]
    return Ratings.of(rows, named)


@pytest.mark.parametrize("rule", [FIVE, MEDIAN, ALTERED], ids=["mean", "median", "share"])
def test_the_statistics_of_a_draw_by_repeating_judgements(rule: Rule) -> None:
    random = np.random.default_rng(1)
    values, items, times = [], [], []
    for item in range(200):
        scores = sorted(random.integers(1, 5, int(random.integers(1, 7))).tolist())
        values += scores
        items += [item] * len(scores)
        times += random.integers(0, 4, len(scores)).tolist()
    found, known = _statistics(np.array(values, float), np.array(items), np.array(times, float), rule)
    for item in range(200):
        own = [i for i, one in enumerate(items) if one == item]
        repeated = [values[i] for i in own for _ in range(times[i])]
        assert known[item] == bool(repeated)
        if repeated:
            by_rule = {
                "mean": np.mean(repeated),
                "median": np.median(repeated),
                "share": np.mean(np.array(repeated) == rule.answer),
            }
            assert found[item] == pytest.approx(float(by_rule[rule.statistic]))


def test_attacks_of_one_change_are_as_valid_as_a_change() -> None:
    found = resampled(ratings(), FIVE, {1: 1_000_000})
    assert found is not None
    assert found.attacks == pytest.approx(found.valid, abs=1e-9)
    assert found.to_json() == {"valid": list(found.valid), "valid_attacks": list(found.attacks or ())}


def test_the_same_study_gives_the_same_interval() -> None:
    assert resampled(ratings(), FIVE, CHANGES_OF_500) == resampled(ratings(), FIVE, CHANGES_OF_500)


def test_without_names_items_alone_are_drawn() -> None:
    """Then it is the bootstrap of a share: its interval is nearly that of Wilson."""
    given = ratings(400, named=False)
    found, wilson = resampled(given, FIVE), validity(given, FIVE).interval
    assert found is not None
    assert wilson is not None
    assert found.valid == pytest.approx(wilson, abs=0.012)
    assert found.attacks is None
    named = resampled(ratings(400), FIVE)
    assert named is not None
    assert named.valid[1] - named.valid[0] > found.valid[1] - found.valid[0]


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (ratings(5), FIVE),
        (ratings(), Rule("consensus", least_agreeing=3)),
        (ratings(), Rule("mean", at_least=1)),  # every item, in every draw
        (Ratings.of([]), FIVE),
    ],
    ids=["few items", "consensus", "all valid", "nothing"],
)
def test_where_there_is_none(given: Ratings, rule: Rule) -> None:
    assert resampled(given, rule) is None


CHANGES_OF_500 = {i: round(500 * share) for i, share in CHANGES.items()}


@pytest.mark.parametrize("design", [POOL, ALL_JUDGE_ALL], ids=["pool", "all judge all"])
def test_the_bootstrap_holds_as_often_as_it_says(design: Design) -> None:
    random = np.random.default_rng([9, *design])
    p = planted(design, 4.05, 0.6, FIVE, random)
    truth = sum(share * p**i for i, share in CHANGES.items())
    held = attacks = 0
    for given in islice(studies(design, 4.05, 0.6, random), SIMULATIONS):
        counts = random.multinomial(500, list(CHANGES.values())).tolist()
        found = resampled(given, FIVE, dict(zip(CHANGES, counts, strict=True)))
        assert found is not None
        assert found.attacks is not None
        held += found.valid[0] <= p <= found.valid[1]
        attacks += found.attacks[0] <= truth <= found.attacks[1]
    assert all(0.91 <= count / SIMULATIONS <= 0.995 for count in (held, attacks)), (held, attacks)
