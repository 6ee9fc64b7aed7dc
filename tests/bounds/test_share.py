"""PR at several radii, and intervals that hold together."""

from __future__ import annotations

import math
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.bounds import Points, Share, clopper_pearson
from mohs.bounds.distinct import Distinct
from mohs.bounds.sampling import independent
from mohs.bounds.share import checked, together
from mohs.errors import BadInput
from mohs.space import Space
from mohs.text import Text
from tests.toys import Instant, now

FEW = Share("2", 0.025, 0.05, "clopper-pearson", 40)
EXAMPLES = 7


def missed(p: float, n: int, delta: float) -> float:
    """The probability that Clopper-Pearson's interval does not hold p, exactly."""
    intervals = [clopper_pearson(hits, n, delta) for hits in range(n + 1)]
    return sum(
        comb(n, hits) * p**hits * (1 - p) ** (n - hits)
        for hits, (low, high) in enumerate(intervals)
        if not low <= p <= high
    )


@pytest.mark.parametrize("p", [0.3, 0.9, 0.97])
def test_all_intervals_hold_at_once_as_often_as_promised_and_without_division_they_do_not(p: float) -> None:
    examples, delta = 25, 0.05
    share = Share("1", 0.1, delta, "clopper-pearson", 60)
    (divided,) = together([share], examples)
    assert divided.delta == pytest.approx(delta / examples)
    assert 1 - (1 - missed(p, 60, divided.delta)) ** examples <= delta
    assert 1 - (1 - missed(p, 60, share.delta)) ** examples > delta


def test_the_number_of_draws_is_that_of_the_divided_delta() -> None:
    (divided,) = together([Share("25%", method="hoeffding")], 1000)
    assert (Share(method="hoeffding").draws, divided.draws) == (4794, 10320)
    assert (Share().draws, Share(method="sequential").draws) == (3188, 3692)


def shares_of(**options: Any) -> list[list[dict[str, Any]]]:
    with mohs.radius("pocket", "pocket", n=EXAMPLES, **options) as run:
        return [row["share"] for row in run.radii()]


def test_delta_is_divided_among_examples_and_radii(tmp_path: Path) -> None:
    several = [FEW, Share("25%", FEW.epsilon, FEW.delta, FEW.method, FEW.n)]
    found = shares_of(share=several, together=True, out=tmp_path / "run")
    alone = shares_of(share=several)
    drawn = 0
    for example, other in zip(found, alone, strict=True):
        assert [share["r"] for share in example] == [share["r"] for share in other]
        for share, single in zip(example, other, strict=True):
            assert share["hold"] == single["hold"], "the same texts are drawn"
            if share["method"] != "counted":
                drawn += 1
                assert (share["low"], share["high"]) == clopper_pearson(share["hold"], 40, 0.05 / (2 * EXAMPLES))
                assert (single["low"], single["high"]) == clopper_pearson(share["hold"], 40, 0.05)
    assert drawn > EXAMPLES
    config = mohs.Run.open(tmp_path / "run").manifest["config"]
    assert (config["r"], config["delta"], config["together"]) == (["2", "25%"], 0.05, True)


def test_one_share_of_a_list_is_as_one_alone() -> None:
    assert shares_of(share=[FEW]) == shares_of(share=FEW)


def test_a_run_in_two_parts_divides_by_all_examples(tmp_path: Path) -> None:
    def stop(record: Any, finished: int, total: int) -> None:
        if finished == 3:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"share": FEW, "together": True, "out": tmp_path / "run"}
    with pytest.raises(KeyboardInterrupt):
        shares_of(progress=stop, **options)
    assert shares_of(**options) == shares_of(share=FEW, together=True)
    with pytest.raises(BadInput, match="together"):
        shares_of(share=FEW, out=tmp_path / "run")


def test_processes_divide_by_all_examples() -> None:
    assert shares_of(share=FEW, together=True, workers=2) == shares_of(share=FEW, together=True)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([Share("1"), Share("2", epsilon=0.1)], "differ in more than r"),
        ([Share("1"), Share("1")], "The radius 1 is given twice; give it once"),
        (Share("0"), "The radius is 0; it must be at least 1"),
        (Share("0%"), "The radius is 0%; it must be"),
        (Share("101%"), "The radius is 101%; it must be"),
        (Share(epsilon=0.0001), "need 196,995,960 texts per example"),
    ],
)
def test_what_cannot_be_measured_is_refused(asked: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        checked(asked)


def test_what_is_refused_only_once_delta_is_divided() -> None:
    share = Share(epsilon=0.001, delta=0.005, method="hoeffding")
    assert checked(share) == (share,)
    with pytest.raises(BadInput, match="use a larger epsilon, or set the number of draws"):
        together([share], 1000)
    with pytest.raises(BadInput, match="--together needs intervals, and there are none; add --pac"):
        mohs.radius("pocket", "pocket", n=1, together=True)


class Coins:
    """Points whose texts keep the label with probability p, whatever they say."""

    tolerance = 0.0

    def __init__(self, p: float, random: np.random.Generator) -> None:
        self.space = Space(Text(" ".join("a" * 12)), dict.fromkeys(range(12), ("b", "c", "d")))
        self.distinct, self.sizes, self.places = Distinct(self.space), [3] * 12, list(range(12))
        self.p, self.random, self.asked = p, random, 0

    async def margins(self, places: Any, picks: Any, label: int) -> Any:
        self.asked += len(places)
        return np.where(self.random.random(len(places)) < self.p, 1.0, -1.0)


TRIALS = 400
SOON = Share("3", epsilon=0.1, delta=0.05, method="sequential", decide=0.9)


@pytest.mark.parametrize("p", [0.88, 0.9, 0.93])
def test_what_is_decided_is_wrong_no_more_often_than_delta(p: float) -> None:
    """Looked at every ten draws, and stopped because of what was seen."""
    random = np.random.default_rng(1)
    wrong = missed = 0
    for trial in range(TRIALS):
        coins: Any = Coins(p, random)
        found = now(SOON(coins, 0, 12, f"{trial}"))
        assert found.n == coins.asked, "nothing is asked beyond the stop"
        assert found.n % 10 == 0 or found.n == SOON.draws
        wrong += found.above(0.9) not in (None, p > 0.9)
        missed += not found.low <= p <= found.high
    most = SOON.delta * TRIALS + 3 * math.sqrt(SOON.delta * (1 - SOON.delta) * TRIALS)
    assert max(wrong, missed) <= most


def test_a_fixed_interval_that_is_stopped_so_misses_too_often() -> None:
    random, p, missed = np.random.default_rng(1), 0.9, 0
    for _ in range(TRIALS):
        hits, n = 0, 0
        while n < SOON.draws:
            hits, n = hits + int(random.binomial(10, p)), n + 10
            found = clopper_pearson(hits, n, SOON.delta)
            if found.above(0.9) is not None:
                break
        missed += not found.low <= p <= found.high
    assert missed > SOON.delta * TRIALS + 3 * math.sqrt(SOON.delta * (1 - SOON.delta) * TRIALS)


def test_deciding_stops_early_and_says_so() -> None:
    def asked(p: float, **more: Any) -> Any:
        coins: Any = Coins(p, np.random.default_rng(2))
        return now(Share("3", method="sequential", **more)(coins, 0, 12, "seed"))

    assert (asked(1.0).n, asked(1.0, decide=0.9).n) == (180, 90)
    assert asked(1.0, decide=0.9).above(0.9) is True
    assert asked(0.5, decide=0.9).n < 50 < asked(0.5).n
    assert asked(0.5, decide=0.9).above(0.9) is False
    assert asked(0.9, decide=0.9).above(0.9) is None, "narrow enough, and 0.9 is still inside"
    assert asked(0.9, decide=0.9).high - asked(0.9, decide=0.9).low <= 0.05


def test_the_command_decides() -> None:
    with mohs.radius("pocket", "pocket", n=EXAMPLES, max_r=0, pac=True, decide=0.9) as run:
        config, rows = run.manifest["config"], run.radii()
        figures = run.view().figures()["radius"]["shares"][0]
    assert (config["interval"], config["decide"], config["draw"]) == ("sequential", 0.9, None)
    counts = figures["decided"]
    assert counts["yes"] + counts["no"] + counts["undecided"] == len(rows)
    assert counts["yes"] == sum(row["share"]["low"] > 0.9 for row in rows) > 0
    assert any(row["share"]["n"] <= 150 for row in rows if row["share"]["method"] == "sequential")


def test_a_run_that_decides_is_another_run(tmp_path: Path) -> None:
    given: dict[str, Any] = {"n": 2, "max_r": 0, "pac": True, "interval": "sequential", "out": tmp_path / "run"}
    mohs.radius("pocket", "pocket", **given).close()
    with pytest.raises(BadInput, match="decide"):
        mohs.radius("pocket", "pocket", decide=0.9, **given)
    with pytest.raises(BadInput, match="draw"):
        mohs.radius("pocket", "pocket", draw="independent", **given)
    mohs.radius("pocket", "pocket", draw="uniform", **given).close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decide": 0.9}, "--decide is an option of --pac"),
        ({"draw": "independent"}, "--draw is an option of --pac"),
        ({"pac": True, "decide": 90}, "The level to decide about is 90; it must lie between 0 and 1"),
        ({"pac": True, "decide": 0.9, "interval": "hoeffding"}, "hoeffding cannot stop early to decide about a level"),
        ({"pac": True, "draw": "evenly"}, "Texts cannot be drawn 'evenly'; use uniform or independent"),
    ],
)
def test_decisions_and_draws_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        mohs.radius("pocket", "pocket", n=1, **options)


def test_words_drawn_one_by_one_change_as_often_as_the_authors_code_changes_them() -> None:
    sizes, chance, n = [1, 4, 0, 2], 0.25, 40_000
    places, picks = independent(sizes, chance, n, np.random.default_rng(5))
    for place, size in enumerate(sizes):
        rows, columns = np.nonzero(places == place)
        expected = chance * size / (size + 1)
        assert len(rows) / n == pytest.approx(expected, abs=4 * math.sqrt(0.25 / n)), "put back, or drawn itself"
        counts = np.bincount(picks[rows, columns], minlength=size)
        assert len(counts) == size
        if size:
            assert counts / n == pytest.approx(expected / size, abs=4 * math.sqrt(0.25 / n))
    changed = (places >= 0).sum(1)
    assert changed.max() == 3
    together = 0.25**3 * (1 / 2) * (4 / 5) * (2 / 3)
    assert (changed == 3).mean() == pytest.approx(together, abs=4 * math.sqrt(together / n)), "independently"
    assert ((places < 0) == (picks < 0)).all()
    assert all(list(row[row >= 0]) == sorted(set(row[row >= 0])) for row in places[:200])
    assert not (independent(sizes, 0.0, 50, np.random.default_rng(5))[0] >= 0).any()
    everything = (independent(sizes, 1.0, n, np.random.default_rng(5))[0] >= 0).sum(1)
    assert (everything == 0).mean() == pytest.approx(1 / 2 / 5 / 3, abs=0.01), "with 100% every text is as likely"


def test_what_is_drawn_one_by_one_estimates_another_probability() -> None:
    """A text fails if its first word changes: a chance of 1/4 times 3/4, and not the share of such texts."""
    space = Space(Text(" ".join("a" * 12)), dict.fromkeys(range(12), ("b", "c", "d")))
    victim = Instant(lambda fields: (0.9, 0.1) if fields[0][0] == "a" else (0.1, 0.9))
    found = now(Share("25%", draw="independent")(Points(space, victim, victim), 0, 12, "seed"))
    assert found.low <= 1 - 0.25 * 0.75 <= found.high
    assert found.draw == "independent"
    uniform = now(Share("25%")(Points(space, victim, victim), 0, 12, "seed"))
    true = (1 + 33 + 55 * 9 + 165 * 27) / (1 + 36 + 66 * 9 + 220 * 27)  # of the other eleven words
    assert uniform.low <= true <= uniform.high < found.low
    assert uniform.draw is None
    assert now(Share("3", draw="independent")(Points(space, victim, victim), 0, 12, "seed")).hold == found.hold
