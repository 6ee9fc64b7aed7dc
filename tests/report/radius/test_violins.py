"""Where the charts of PR put their marks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.report.radius.charts import scatter
from mohs.report.radius.figures import (
    summarise_radius,
)
from mohs.report.radius.violins import density, levels, violins
from tests.report.radius.made import bounded, share, summary_of


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_every_share_is_in_the_charts_and_inside_them(values: list[float]) -> None:
    found = summary_of(*(bounded(n, n % 4, None, share=share(value, 0, 1)) for n, value in enumerate(values))).shares
    dots = scatter(found[0])["dots"]
    assert sum(dot["count"] for dot in dots) == len(values)
    assert all(44 <= dot["x"] <= 388 and 12 <= dot["y"] <= 180 for dot in dots)
    (one,) = violins(found)["violins"]
    assert len(one["dots"]) == (len(values) if len(values) < 5 else 0)
    assert (one["outline"] is None) == (len(values) < 5 or min(values) == max(values))
    drawn = [float(number) for number in re.findall(r"[\d.]+", one["outline"] or "")]
    assert all(146 <= x <= 286 for x in drawn[::2])
    heights = [*drawn[1::2], *one["dots"], *one["ends"], one["median"], one["mean"]]
    assert all(12 <= y <= 180 for y in heights)
    if one["ends"]:
        assert max(heights) == one["ends"][0], "nothing lies below the least"
        assert min(heights) == one["ends"][1]
    (_, path), (_, surely) = levels(found)["lines"]
    falls = [float(y) for y in re.findall(r"V([\d.]+)", path)]
    assert len(falls) == len(set(values))
    assert falls == sorted(falls)
    assert falls[-1] == 180
    assert surely == "M44 12.0H44.0V180.0H388", "their lower ends are all nought"


@given(st.lists(st.floats(0, 1), min_size=5, max_size=40))
def test_a_density_has_all_its_weight_between_nought_and_one(values: list[float]) -> None:
    grid = [(n + 0.5) / 4000 for n in range(4000)]
    assert density(values, grid, 0.005).sum() / 4000 == pytest.approx(1, abs=1e-3)


def test_violins_are_widest_where_the_examples_are() -> None:
    values = [0.5, 0.6, *[0.95] * 20, *[0.96] * 20]
    found = summary_of(*(bounded(n, 0, None, share=share(value, 0, 1)) for n, value in enumerate(values))).shares
    outline = violins(found)["violins"][0]["outline"]
    points = [tuple(map(float, point.split())) for point in outline.strip("MZ").split("L")]
    x, y = max(points)
    assert x == 286, "as wide as may be"
    assert y == pytest.approx(180 - 168 * (0.955 - 0.4) / 0.6, abs=2)
    assert sorted(2 * 216 - x for x, _ in points) == pytest.approx(sorted(x for x, _ in points))


def test_equal_shares_are_a_line_and_radii_beyond_six_are_left_to_the_table() -> None:
    records = [bounded(n, 0, None, share=[share(1.0, 1.0, 1.0)] * 8) for n in range(9)]
    chart = violins(summarise_radius(records, {}).shares)
    assert (len(chart["violins"]), chart["left"]) == (6, 2)
    assert all(one["ends"] == [12.0, 12.0] and one["outline"] is None for one in chart["violins"])
    assert chart["y"][0][1] == "0.9"
