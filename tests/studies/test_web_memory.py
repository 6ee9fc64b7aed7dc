"""What the server keeps in memory: sign-ins, and the figures of the organiser's page."""

from __future__ import annotations

from typing import Any

from mohs.studies.study import Invitation
from mohs.studies.web.board import Lately
from mohs.studies.web.sessions import HOURS, Sessions
from tests.studies.toys import Clock


def test_a_sign_in_ends_after_some_hours() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    secret = sessions.start()
    clock.now += HOURS * 3600 - 1
    assert sessions.runs(secret)
    clock.now += 2
    assert not sessions.runs(secret)


def test_links_are_kept_for_the_one_who_made_them_and_shown_once() -> None:
    sessions = Sessions(Clock())
    one, other = sessions.start(), sessions.start()
    link = Invitation("ada", "secret")
    sessions.keep(one, [link])
    assert sessions.shown(other) == []
    assert sessions.shown(one) == [link]
    assert sessions.shown(one) == []


def test_the_board_is_made_anew_only_now_and_then() -> None:
    clock, made = Clock(), []

    def make() -> Any:
        made.append(clock.now)
        return made[-1]

    lately: Any = Lately(make, 2.0, clock)
    assert [lately.get(), lately.get()] == [1000.0, 1000.0]
    clock.now += 1
    assert [lately.get(), lately.get(anew=True)] == [1000.0, 1001.0]
    clock.now += 2
    assert lately.get() == 1003.0
    clock.now -= 500
    assert lately.get() == 503.0, "the clock was set back"


def test_a_board_that_takes_long_is_made_less_often() -> None:
    clock, count = Clock(), 0

    def make() -> Any:
        nonlocal count
        count += 1
        clock.now += 10
        return count

    lately: Any = Lately(make, 2.0, clock)
    assert lately.get() == 1
    clock.now += 49
    assert lately.get() == 1
    clock.now += 1
    assert lately.get() == 2
