"""Validity: the rules, the figures by hand and by brute force, and how often the intervals hold in simulations.

A simulated study has items of planted quality, judges with a bias of their own, noise, and answers on a scale. What an
interval should hold is what a very large study would find, in which every item has other judges.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.report.rates import Rate
from mohs.studies.ratings import Crossed, Estimate, Ratings, mean_score
from mohs.studies.validity import Rule, Validity, curve, fair_success, valid_attacks, validity, verdicts

STUDIES = 1000
FIVE = Rule("mean", at_least=5)

Rows = list[tuple[str, str, float]]


# Rules


@pytest.mark.parametrize(
    ("rule", "values", "expected", "held"),
    [
        (Rule("mean", at_least=5), [4, 5, 6], None, True),
        (Rule("mean", at_least=5), [4, 5, 5], None, False),
        (Rule("mean", above=5), [4, 5, 6], None, False),
        (Rule("mean", above=5), [5, 5, 6], None, True),
        (Rule("mean", at_most=2), [1, 2, 3], None, True),
        (Rule("mean", at_most=2), [2, 2, 3], None, False),
        (Rule("mean", below=2), [1, 2, 3], None, False),
        (Rule("mean", at_least=0.3), [0.1, 0.2, 0.6], None, True),  # their mean is 0.29999999999999993 in binary
        (Rule("mean", at_least=2, below=4), [3], None, True),
        (Rule("mean", at_least=2, below=4), [4], None, False),
        (Rule("median", at_least=4), [1, 4, 5], None, True),
        (Rule("median", at_least=4), [1, 3, 4, 4], None, False),
        (Rule("share", answer=1, below=0.5), [1, 0, 0], None, True),
        (Rule("share", answer=1, below=0.5), [1, 0], None, False),
        (Rule("share", at_least=0.6), [2, 2, 1], 2, True),
        (Rule("share", at_least=0.6), [2, 2, 1], 1, False),
        (Rule("share", at_least=0.6), [2, 2, 1], None, None),
        (Rule("consensus", least_agreeing=4), [1, 1, 1, 1, 0], 1, True),
        (Rule("consensus", least_agreeing=4), [1, 1, 1, 1, 0], 0, False),
        (Rule("consensus", least_agreeing=4), [1, 1, 1, 1, 0], None, True),
        (Rule("consensus", least_agreeing=4), [1, 1, 1, 0, 0], 1, False),
        (Rule("consensus", least_agreeing=2), [1, 1, 0, 0], 1, False),  # a tie is no majority
        (Rule("mean", at_least=5), [], None, None),
        (Rule("mean", at_least=5, least_judges=3), [7, 7], None, None),
        (Rule("mean", at_least=5, least_judges=3), [7, 7, 7], None, True),
    ],
)
def test_a_rule_by_hand(rule: Rule, values: list[float], expected: float | None, held: bool | None) -> None:
    assert rule.holds(values, expected) is held


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"statistic": "mode", "at_least": 1}, "'mode'"),
        ({"statistic": "mean"}, "at_most, at_least"),
        ({"statistic": "median", "at_least": 1, "least_agreeing": 3}, "at_most, at_least"),
        ({"statistic": "consensus"}, "least_agreeing"),
        ({"statistic": "consensus", "least_agreeing": 3, "at_least": 1}, "no other bound"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Rule(**wrong)


def test_a_judge_who_scores_an_item_twice_is_refused() -> None:
    rows = [("a", "x", 1.0), ("b", "x", 1.0), ("a", "x", 2.0)]
    with pytest.raises(BadInput, match="'x' scored item 'a' more than once"):
        Ratings.of(rows)
    assert Ratings.of(rows, named=False).n_items == 2
    with pytest.raises(BadInput, match="not a number"):
        Ratings.of([("a", "x", float("nan"))])


def test_ratings_by_item_and_judge() -> None:
    ratings = Ratings.of([("b", "x", 1), ("a", "x", 2), ("b", "y", 3)])
    assert list(ratings.by_item.items()) == [("b", [1.0, 3.0]), ("a", [2.0])]
    assert ratings.by_judge == {"x": [1.0, 2.0], "y": [3.0]}
    assert (ratings.n_items, ratings.n_judges) == (2, 2)
    assert ratings.without({"x"}) == Ratings.of([("b", "y", 3)])
    assert Ratings.of([], named=False).n_judges is None


# Figures


def some_rows(n: int = 30, k: int = 4, m: int = 9, seed: int = 0) -> Rows:
    random = np.random.default_rng(seed)
    return [
        (f"i{i}", f"j{j}", float(random.integers(1, 8)))
        for i in range(n)
        for j in random.choice(m, random.integers(1, k + 1), replace=False)
    ]


def test_without_names_the_interval_is_wilsons() -> None:
    ratings = Ratings.of(some_rows(), named=False)
    found = validity(ratings, FIVE)
    held = [bool(np.mean(values) >= 5) for values in ratings.by_item.values()]
    rate = Rate(sum(held), len(held), "items")
    assert (found.value, found.valid, found.items) == (rate.value, rate.hits, rate.total)
    assert (found.low, found.high) == pytest.approx(rate.interval)
    assert found.judges_unknown
    assert found.judges is None


def test_judges_of_one_item_each_add_nothing() -> None:
    rows = [(item, f"{item}-{judge}", value) for item, judge, value in some_rows()]
    named, unnamed = validity(Ratings.of(rows), FIVE), validity(Ratings.of(rows, named=False), FIVE)
    assert (named.low, named.high) == (unnamed.low, unnamed.high)
    assert not named.judges_unknown


def test_judges_who_differ_widen_the_interval() -> None:
    random = np.random.default_rng(1)
    rows = [(f"i{i}", f"j{j}", 3.0 + (j % 2) + random.normal(0, 0.5)) for i in range(60) for j in range(4)]
    rule = Rule("mean", at_least=3.5)
    named, unnamed = validity(Ratings.of(rows), rule), validity(Ratings.of(rows, named=False), rule)
    assert named.value == unnamed.value
    assert named.low is not None
    assert named.high is not None
    assert unnamed.low is not None
    assert unnamed.high is not None
    assert named.high - named.low > 2 * (unnamed.high - unnamed.low)
    assert named.units < 15 < 60 == pytest.approx(unnamed.units)


@pytest.mark.parametrize("all_valid", [False, True])
def test_none_or_all_of_the_items_leave_doubt(all_valid: bool) -> None:
    found = validity(Ratings.of((f"i{i}", f"j{j}", 7.0 * all_valid) for i in range(20) for j in range(3)), FIVE)
    assert found.value == float(all_valid)
    assert found.low is not None
    assert found.high is not None
    assert (found.high == 1.0 and 0.5 < found.low < 0.9) if all_valid else (found.low == 0.0 and 0.1 < found.high < 0.5)


def test_items_without_a_verdict_are_counted_apart() -> None:
    rows = [("a", "x", 6.0), ("a", "y", 6.0), ("b", "x", 7.0), ("c", "x", 1.0), ("c", "y", 2.0)]
    found = validity(Ratings.of(rows), replace(FIVE, least_judges=2))
    assert (found.value, found.items, found.undecided) == (0.5, 2, 1)
    assert verdicts(Ratings.of(rows), replace(FIVE, least_judges=2)) == {"a": True, "b": None, "c": False}
    agreed = Rule("consensus", least_agreeing=2)
    assert verdicts(Ratings.of(rows), agreed, {"a": 6.0, "b": 7.0}) == {"a": True, "b": False, "c": None}
    assert validity(Ratings.of(rows), agreed, {"a": 6.0, "b": 7.0}).value == 0.5
    assert validity(Ratings.of([]), FIVE).value is None
    assert validity(Ratings.of(rows), replace(FIVE, least_judges=3)).low is None


@pytest.mark.parametrize(
    "rule",
    [
        FIVE,
        Rule("median", at_most=3),
        Rule("share", answer=4, above=0.2),
        Rule("consensus", least_agreeing=2),
    ],
    ids=lambda rule: rule.statistic,
)
def test_what_judges_add_by_brute_force(rule: Rule) -> None:
    """Each judge's answers replaced by those of the others, one by one; products of different items of one judge.

    From these goes what the products of all judgements of different items are on average.
    """
    rows = some_rows(n=25)
    ratings = Ratings.of(rows)
    n = ratings.n_items
    panels = {item: [(j, v) for i, j, v in rows if i == item] for item in ratings.by_item}
    held = {item: bool(rule.holds([v for _, v in panel])) for item, panel in panels.items()}
    p = sum(held.values()) / n
    moved: dict[str, dict[str, float]] = {}
    for item, panel in panels.items():
        for place, (judge, _) in enumerate(panel):
            others = [v for other, (_, v) in enumerate(panel) if other != place]
            rest = [rule.holds([*others[:place], v, *others[place:]]) for v in others]
            moved.setdefault(judge, {})[item] = held[item] - (float(np.mean(np.array(rest, float))) if rest else p)
    across = sum(
        x * y / n**2
        for one in moved.values()
        for two in moved.values()
        for i, x in one.items()
        for other, y in two.items()
        if i != other
    )
    whole = float(n * (n - 1))  # the judgements of an item weigh 1 together
    products = expected = doubled = 0.0
    for by_item in moved.values():
        for i in by_item:
            for other in by_item:
                if i == other:
                    continue
                k, size = len(panels[i]), len(panels[other])
                both = len({j for j, _ in panels[i]} & {j for j, _ in panels[other]})
                products += by_item[i] * by_item[other] / n**2
                expected += 1 / (k * size)
                doubled += (1 + (both - 1) / ((k - 1) * (size - 1)) if both > 1 else 1) / (k * size)
    shrunk = (sum(held.values()) + 2) / (n + 4)
    products -= expected * across / whole  # what two judgements have in common whoever gives them
    variance = shrunk * (1 - shrunk) / n + max(0.0, products * expected / doubled) * n / (n - 1)
    found = validity(ratings, rule)
    assert found.valid == sum(held.values())
    assert found.units == pytest.approx(shrunk * (1 - shrunk) / variance)


@settings(max_examples=30, deadline=None)
@given(st.permutations(some_rows(n=8)), st.sampled_from([FIVE, Rule("median", at_least=4)]))
def test_the_order_of_judgements_and_the_names_do_not_matter(rows: Rows, rule: Rule) -> None:
    first = validity(Ratings.of(some_rows(n=8)), rule)
    again = validity(Ratings.of((f"x{item}", f"{judge}y", value) for item, judge, value in rows), rule)
    assert (again.value, again.judges) == (first.value, first.judges)
    assert (again.low, again.high) == pytest.approx((first.low, first.high))


def test_the_curve_falls_with_the_threshold() -> None:
    found = curve(Ratings.of(some_rows()), FIVE, [1, 3, 5, 6, 8])
    shares = [point.value for _, point in found]
    assert [threshold for threshold, _ in found] == [1, 3, 5, 6, 8]
    assert shares[0] == 1.0
    assert shares[-1] == 0.0
    assert shares == sorted(shares, key=lambda share: -(share or 0.0))
    assert found[2][1] == validity(Ratings.of(some_rows()), FIVE)


def test_to_json_is_json() -> None:
    for named in (True, False):
        found = validity(Ratings.of(some_rows(), named), FIVE).to_json()
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert found["judges_unknown"] is not named


# Valid attacks and fair success


@cache
def share(valid: int, items: int) -> Validity:
    """So many valid items of so many, by judges of one item each."""
    rows = ((f"i{i}", f"j{i}", 7.0 if i < valid else 1.0) for i in range(items))
    return validity(Ratings.of(rows), FIVE)


def test_valid_attacks_by_hand() -> None:
    changes = {1: 50, 2: 30, 4: 20}
    found = valid_attacks(share(20, 100), changes)
    assert found.value == pytest.approx(0.5 * 0.2 + 0.3 * 0.04 + 0.2 * 0.0016)
    assert found == valid_attacks(share(20, 100), [1] * 50 + [4] * 20 + [2] * 30)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.11232 < found.high < 0.3


def test_attacks_of_one_perturbation_are_as_valid_as_a_perturbation() -> None:
    p = share(20, 100)
    found = valid_attacks(p, {1: 10})
    assert (found.value, found.low, found.high) == pytest.approx((p.value, p.low, p.high), abs=1e-3)
    assert valid_attacks(p, {0: 5}).value == 1.0  # nothing was changed, so nothing is wrong
    assert valid_attacks(p, {}).value is None
    assert valid_attacks(validity(Ratings.of([]), FIVE), {1: 3}).value is None


def test_few_attacks_widen_the_interval() -> None:
    wide, narrow = (valid_attacks(share(50, 100), {1: times, 6: times}) for times in (4, 4000))
    assert wide.value == narrow.value
    assert wide.low is not None
    assert wide.high is not None
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


@pytest.mark.parametrize(("valid", "successes", "attacked"), [(12, 40, 100), (0, 40, 100), (40, 40, 100), (30, 30, 30)])
def test_fair_success_of_successes_all_judged_is_wilsons(valid: int, successes: int, attacked: int) -> None:
    found, rate = fair_success(successes, attacked, share(valid, successes)), Rate(valid, attacked, "attacked")
    assert found.value == pytest.approx(rate.value)
    assert (found.low, found.high) == pytest.approx(rate.interval)


def test_fair_success_of_a_sample() -> None:
    some, every = fair_success(400, 1000, share(25, 50)), fair_success(400, 1000, share(200, 400))
    assert some.value == every.value == pytest.approx(0.2)
    assert some.low is not None
    assert every.low is not None
    assert some.low < every.low
    none = fair_success(0, 50, validity(Ratings.of([]), FIVE))
    assert (none.value, none.low, none.high) == pytest.approx((0.0, *(Rate(0, 50, "").interval or ())))
    assert fair_success(5, 50, validity(Ratings.of([]), FIVE)).value is None
    assert fair_success(0, 0, share(1, 2)).value is None


# Simulations

Design = tuple[int, int]  # judges an item, judges in all
POOL: Design = (5, 30)
ALL_JUDGE_ALL: Design = (10, 10)
CHANGES = {1: 0.2, 2: 0.25, 3: 0.2, 4: 0.15, 6: 0.1, 9: 0.1}


def answers(quality: Any, bias: Any, random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Answers from 1 to 7."""
    return np.clip(np.round(quality + bias + random.normal(0, 1, shape)), 1, 7)


def planted(design: Design, quality: float, bias: float, rule: Rule, random: np.random.Generator) -> float:
    """How probably the rule holds for another item with another panel."""
    shape = (200_000, design[0])
    scores = answers(random.normal(quality, 1.2, (shape[0], 1)), random.normal(0, bias, shape), random, shape)
    return float(rule.verdicts(scores, np.full(shape[0], np.nan)).mean())


def studies(
    design: Design, quality: float, bias: float, random: np.random.Generator, n: int = 100
) -> Iterator[Ratings]:
    """Many studies of n items, which judges of the pool are drawn for."""
    k, m = design
    items = tuple(f"i{i}" for i in range(n) for _ in range(k))
    names = [f"j{j}" for j in range(m)]
    for _ in range(STUDIES):
        who = random.random((n, m)).argsort(1)[:, :k]
        scores = answers(random.normal(quality, 1.2, (n, 1)), random.normal(0, bias, m)[who], random, (n, k))
        yield Ratings(items, tuple(names[j] for j in who.ravel().tolist()), tuple(scores.ravel().tolist()))


def covered(found: list[Any], truth: float) -> float:
    """How often the interval holds the truth."""
    return float(np.mean([one.low <= truth <= one.high for one in found]))


@pytest.mark.parametrize("design", [POOL, ALL_JUDGE_ALL], ids=["pool", "all judge all"])
@pytest.mark.parametrize(("about", "quality"), [(0.05, 2.8), (0.25, 4.05), (0.7, 5.6)])
def test_the_interval_of_validity_holds_as_often_as_it_says(about: float, quality: float, design: Design) -> None:
    random = np.random.default_rng([5, int(100 * about), *design])
    truth = planted(design, quality, 0.6, FIVE, random)
    assert truth == pytest.approx(about, abs=0.03)
    found = [validity(ratings, FIVE) for ratings in studies(design, quality, 0.6, random)]
    assert np.mean([one.value for one in found]) == pytest.approx(truth, abs=0.006)
    assert 0.93 <= covered(found, truth) <= 0.985


def test_a_bootstrap_over_judges_and_items_would_move_the_share() -> None:
    """Why it gives no figure, but an interval beside one: a panel that is drawn anew has fewer different judges."""
    random = np.random.default_rng([5, 5, *POOL])
    truth = planted(POOL, 2.8, 0.6, FIVE, random)
    own, drawn = [], []
    for ratings in islice(studies(POOL, 2.8, 0.6, random), 100):
        scores = np.array(ratings.values).reshape(100, POOL[0])
        who = np.array([int(name[1:]) for name in ratings.judges]).reshape(scores.shape)
        items = random.multinomial(100, np.full(100, 1 / 100), 50)
        judges = random.multinomial(POOL[1], np.full(POOL[1], 1 / POOL[1]), 50)[:, who]
        times = judges.sum(2)
        held = (judges * scores).sum(2) >= 5 * np.maximum(times, 1)
        drawn.append(float(((items * held).sum(1) / (items * (times > 0)).sum(1)).mean()))
        own.append(validity(ratings, FIVE).value or 0.0)
    assert truth == pytest.approx(0.055, abs=0.0005)
    assert np.mean(own) == pytest.approx(truth, abs=0.006)
    assert np.mean(drawn) == pytest.approx(0.07, abs=0.001)


def test_without_names_the_interval_is_too_narrow() -> None:
    """So that the simulation can fail, and the warning of `judges_unknown` is deserved."""
    random = np.random.default_rng(6)
    truth = planted(ALL_JUDGE_ALL, 4.05, 0.6, FIVE, random)
    found = [validity(replace(one, named=False), FIVE) for one in studies(ALL_JUDGE_ALL, 4.05, 0.6, random)]
    assert covered(found, truth) < 0.87


@pytest.mark.parametrize("design", [POOL, ALL_JUDGE_ALL], ids=["pool", "all judge all"])
def test_valid_attacks_fair_success_and_means_hold_as_often_as_they_say(design: Design) -> None:
    random = np.random.default_rng([7, *design])
    p = planted(design, 4.05, 0.6, FIVE, random)
    mean = float(answers(random.normal(4.05, 1.2, 400_000), random.normal(0, 0.6, 400_000), random, (400_000,)).mean())
    kinds, shares = list(CHANGES), list(CHANGES.values())
    found: dict[str, list[Estimate]] = {"attacks": [], "fair": [], "mean": []}
    for ratings in studies(design, 4.05, 0.6, random):
        one = validity(ratings, FIVE)
        counts = random.multinomial(500, shares).tolist()
        found["attacks"].append(valid_attacks(one, dict(zip(kinds, counts, strict=True))))
        found["fair"].append(fair_success(int(random.binomial(300, 0.6)), 300, one))
        found["mean"].append(mean_score(ratings, 1, 7))
    truth = {"attacks": sum(share * p**i for i, share in CHANGES.items()), "fair": 0.6 * p, "mean": mean}
    held = {name: covered(estimates, truth[name]) for name, estimates in found.items()}
    assert all(0.93 <= share <= 0.985 for share in held.values()), held
    biased = float(np.mean([one.value for one in found["attacks"]])) - truth["attacks"]
    assert 0 < biased < 0.01  # Jensen: too high, and not by much


@pytest.mark.parametrize("attacked", [110, 300, 1000])
def test_fair_success_is_not_too_sure_where_nearly_all_are_valid(attacked: int) -> None:
    """Thirty judged successes, most often all valid, say little about the others: the lower end must allow for that."""
    random = np.random.default_rng([10, attacked])
    for truly in (0.9, 0.97, 1.0):
        below = above = 0
        for _ in range(STUDIES):
            successes = int(random.binomial(attacked, 0.27))
            judged = min(successes, 30)
            found = fair_success(successes, attacked, share(int(random.binomial(judged, truly)), judged))
            assert found.low is not None
            assert found.high is not None
            below, above = below + (0.27 * truly < found.low), above + (0.27 * truly > found.high)
        assert max(below, above) / STUDIES <= 0.04, (truly, below, above)


def test_other_rules_hold_as_often_as_they_say() -> None:
    cases: list[tuple[Design, float, Rule]] = [
        ((3, 20), 4.0, Rule("median", at_least=4)),
        ((10, 10), 4.0, Rule("share", answer=4, below=0.35)),
        ((5, 20), 6.5, Rule("consensus", least_agreeing=4)),
    ]
    for design, quality, rule in cases:
        random = np.random.default_rng([8, *design])
        truth = planted(design, quality, 0.6, rule, random)
        found = [validity(ratings, rule) for ratings in studies(design, quality, 0.6, random)]
        assert 0.93 <= covered(found, truth) <= 0.99, rule


@pytest.mark.parametrize("design", [POOL, ALL_JUDGE_ALL, (4, 6)], ids=str)
def test_the_variance_of_a_mean_is_right_on_average(design: Design) -> None:
    """Scores that are item + judge + noise, without a scale: items 1, judges 0.5 and noise 0.7 of variance."""
    k, m, n = *design, 40
    random = np.random.default_rng([9, *design])
    means, variances = [], []
    for _ in range(STUDIES):
        who = random.random((n, m)).argsort(1)[:, :k]
        judges = random.normal(0, 0.5**0.5, m)[who]
        scores = (random.normal(0, 1, (n, 1)) + judges + random.normal(0, 0.7**0.5, (n, k))).ravel()
        rows = Crossed(np.repeat(np.arange(n), k), who.ravel(), np.repeat(np.arange(n), k))
        value, spread = rows.ratio(scores, np.ones(n * k))
        means.append(value)
        variances.append(spread.variance)
    assert np.mean(variances) == pytest.approx(1.0 / n + 0.5 / m + 0.7 / (n * k), rel=0.05 if k == m else 0.1)
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.12)
