"""PR at several radii, and intervals that hold together."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.bounds import Share, clopper_pearson
from mohs.bounds.share import checked, together
from mohs.errors import BadInput

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
