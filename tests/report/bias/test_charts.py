"""Where the charts of bias put their marks."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mohs.bias.statistics import PairBias
from mohs.report.bias.charts import MOST_PAIRS, by_distance, forest, histograms
from mohs.report.bias.figures import by_pair

numbers = st.floats(-1, 1, allow_nan=False)


def one(bias: float, low: float = math.nan, high: float = math.nan, k: int = 0, **changes: object) -> PairBias:
    values = {
        "old": "he",
        "new": "she",
        "k": k,
        "sentences": 3,
        "neighbours": 3,
        "bias": bias,
        "low": low,
        "high": high,
    }
    return PairBias(**(values | {"p": 0.1, "holm": 0.1, "exact": True, "bins": {0: 3}} | changes))  # type: ignore[arg-type]


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=5))
def test_every_dot_lies_inside_the_chart_and_on_its_side_of_zero(values: list[tuple[float, float, float]]) -> None:
    rows = [("he|she", one(b, min(b, low), max(b, high)), one(-b)) for b, low, high in values]
    chart = forest(rows)
    assert chart is not None
    for row, (b, _, _) in zip(chart["rows"], values, strict=True):
        first, second = row["dots"]
        assert 148 <= first["low"] <= first["x"] <= first["high"] <= 388
        assert second["low"] is None
        assert (first["x"] - chart["zero"]) * b >= 0
        assert (second["x"] - chart["zero"]) * b <= 0


def test_both_sets_share_a_scale_and_long_lists_and_names_are_cut() -> None:
    near, far = [("a" * 40, one(0.01), None)], [("b", one(0.5), None)]
    chart = forest(near, far)
    assert chart is not None
    assert chart["ticks"] == (forest(far, near) or {})["ticks"]
    assert len(chart["rows"][0]["name"]) == 19
    assert chart["rows"][0]["whole"] == "a" * 40
    assert chart["rows"][0]["dots"][1] is None
    assert len((forest(near * 30) or {})["rows"]) == MOST_PAIRS
    assert forest([]) is None


def test_lines_rise_where_the_bias_does() -> None:
    found = [one(0.0), one(0.1, 0.05, 0.2, k=1), one(0.3, k=2)]
    chart = by_distance(by_pair(found))
    assert chart is not None
    (line,) = chart["lines"]
    heights = [y for _, y in line["dots"]]
    assert heights[0] == chart["zero"]
    assert heights == sorted(heights, reverse=True)
    assert line["bars"].count("M") == 1  # a distance with one sentence has no whisker
    assert [tick for _, tick in chart["x"]] == ["0", "1", "2"]
    assert by_distance(by_pair(found[:1])) is None
    assert by_distance({}) is None


def test_a_bar_stands_where_its_differences_are() -> None:
    (chart,) = histograms(by_pair([one(0.03, bins={-50: 1, -1: 2, 0: 4, 49: 1}, neighbours=8)]))
    (panel,) = chart["panels"]
    xs = [bar["x"] for bar in panel["bars"]]
    assert xs[0] == 14  # -1, the least that a difference can be
    assert xs[2] == 200  # from 0 on
    assert xs[3] + panel["bars"][3]["wide"] <= 386
    assert [bar["tall"] for bar in panel["bars"]] == [10, 20, 40, 10]
    assert panel["mean"] == round(200 + 0.03 * 186, 1)
    assert panel["said"] == "8 texts, mean +0.0300"
    assert [tick for _, tick in chart["ticks"]] == ["-1", "-0.5", "0", "0.5", "1"]
