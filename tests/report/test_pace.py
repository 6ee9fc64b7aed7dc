"""Time taken, rate and time left, with a clock that the test moves."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.report.pace import Pace, duration, speed


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_rate_falls_and_the_time_left_grows_while_nothing_is_finished() -> None:
    """The case that was seen: 4 of 40 at once, then nothing for minutes."""
    clock = Clock()
    pace = Pace(clock)
    pace.step(0, 40)
    clock.now += 1
    pace.step(4, 40)
    assert pace.told() == "0:01, 4.0/s, about 0:09 left"
    clock.now += 59
    assert pace.told() == "1:00, 4.0/min, about 9:00 left"
    clock.now += 60
    assert pace.told() == "2:00, 2.0/min, about 18:00 left"


def test_what_was_finished_before_does_not_count() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.told() == "0:00"
    pace.step(90, 100)
    clock.now += 10
    assert pace.told() == "0:10"
    pace.step(95, 100)
    assert pace.told() == "0:10, 30.0/min, about 0:10 left"


@given(st.integers(1, 1000), st.integers(1, 1000), st.floats(0.5, 1e6))
def test_rate_and_time_left_agree(done: int, left: int, seconds: float) -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.step(0, done + left)
    clock.now += seconds
    pace.step(done, done + left)
    found = re.fullmatch(r"\S+, ([\d,.]+)/(s|min|h), about (\S+) left", pace.told())
    assert found is not None
    unit = {"s": 1, "min": 60, "h": 3600}[found[2]]
    shown = sum(int(part) * 60**power for power, part in enumerate(reversed(found[3].split(":"))))
    rate = float(found[1].replace(",", ""))
    low, high = (left * unit / (rate + 0.06), left * unit / max(rate - 0.06, 1e-9))
    assert low - 1 <= shown <= high + 1


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (7.4, "0:07"), (750, "12:30"), (11100, "3:05:00")])
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_speeds() -> None:
    assert [speed(12, 1), speed(1, 2), speed(1, 1200), speed(4000, 2)] == ["12.0/s", "30.0/min", "3.0/h", "2,000.0/s"]
