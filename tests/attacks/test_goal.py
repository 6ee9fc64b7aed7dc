"""Goals."""

from __future__ import annotations

import pytest

from mohs.attacks.goal import Below, Goal, Reduced, Targeted, Untargeted, keeps_label, parse_goal, predicted
from mohs.errors import BadInput


def test_the_first_of_equals_is_predicted() -> None:
    assert predicted((0.5, 0.5)) == 0
    assert predicted((0.2, 0.4, 0.4)) == 1


@pytest.mark.parametrize(
    ("goal", "scores", "met", "score", "margin"),
    [
        (Untargeted(0), (0.6, 0.4), False, 0.4, 0.2),
        (Untargeted(0), (0.4, 0.6), True, 0.6, 0.2),
        (Untargeted(0), (0.5, 0.5), False, 0.5, 0.0),
        (Untargeted(1), (0.5, 0.5), True, 0.5, 0.0),
        (Targeted(0, 2), (0.2, 0.5, 0.3), False, 0.3, 0.2),
        (Targeted(0, 2), (0.2, 0.3, 0.5), True, 0.5, 0.2),
        (Below(0, 0.7), (0.7, 0.3), False, 0.3, 0.0),
        (Below(0, 0.7), (0.6, 0.4), True, 0.4, 0.1),
        (Below(0, 0.5, 2), (0.36, 0.24, 0.4), False, 0.24, 0.1),  # 60% of what is not a rejection
        (Below(0, 0.5, 2), (0.24, 0.36, 0.4), False, 0.36, 0.1),  # far below, but rejected
        (Below(0, 0.5, 2), (0.28, 0.42, 0.3), True, 0.42, 0.1),
        (Below(0, 0.5, 2), (0.0, 0.0, 1.0), False, 0.0, 0.5),
        (Reduced(0, 1), (0.6, 0.4), True, 0.6, 0.2),
        (Reduced(0, 1), (0.4, 0.6), False, 0.4, 0.2),
    ],
)
def test_goals(goal: Goal, scores: tuple[float, ...], met: bool, score: float, margin: float) -> None:
    assert goal.met(scores) is met
    assert goal.score(scores) == score
    assert goal.margin(scores) == pytest.approx(margin)


@pytest.mark.parametrize(
    ("goal", "scores", "skips", "won"),
    [
        (Untargeted(0), (0.6, 0.3, 0.1), False, False),
        (Untargeted(0), (0.3, 0.6, 0.1), True, True),
        (Targeted(0, 2), (0.6, 0.3, 0.1), False, False),
        (Targeted(0, 2), (0.3, 0.6, 0.1), True, False),  # misread, but not as wanted
        (Targeted(0, 2), (0.3, 0.1, 0.6), True, True),
        (Below(0, 0.5), (0.6, 0.3, 0.1), False, False),
        (Below(0, 0.5), (0.4, 0.3, 0.3), True, True),
    ],
)
def test_how_long_a_text_is_matters_to_reduction_alone(
    goal: Goal, scores: tuple[float, ...], skips: bool, won: bool
) -> None:
    for left in (0, 1, 9):
        assert (goal.skips(scores, left), goal.won(scores, left)) == (skips, won)


@pytest.mark.parametrize(
    ("scores", "left", "skips", "won"),
    [
        ((0.6, 0.4), 3, False, False),
        ((0.6, 0.4), 2, True, True),
        ((0.6, 0.4), 1, True, True),
        ((0.4, 0.6), 3, True, False),  # misread
        ((0.4, 0.6), 2, True, False),
    ],
)
def test_reduction_wants_the_label_and_few_words(scores: tuple[float, ...], left: int, skips: bool, won: bool) -> None:
    goal = Reduced(0, 2)
    assert (goal.skips(scores, left), goal.won(scores, left)) == (skips, won)


def test_parsing() -> None:
    assert parse_goal("reduced:3", 1, 2) == Reduced(1, 3)
    assert [keeps_label(goal) for goal in ("reduced:3", "untargeted", "below:0.5")] == [True, False, False]
    assert parse_goal("untargeted", 1, 2) == Untargeted(1)
    assert parse_goal("targeted:2", 1, 3) == Targeted(1, 2)
    assert parse_goal("below:0.7", 1, 2) == Below(1, 0.7)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "targeted",
        "targeted:3",
        "targeted:-1",
        "below:0",
        "below:2",
        "below:x",
        "untargeted:1",
        "reduced",
        "reduced:0",
        "reduced:x",
    ],
)
def test_unknown_goals_are_refused(spec: str) -> None:
    with pytest.raises(BadInput, match="Unknown goal"):
        parse_goal(spec, 0, 3)


def test_a_refused_class_is_told_the_names_there_are() -> None:
    with pytest.raises(BadInput, match=r"targeted:CLASS with CLASS one of bad, fair, good \(or its number, 0 to 2\), "):
        parse_goal("targeted:great", 0, 3, ("bad", "fair", "good"))
    with pytest.raises(BadInput, match=r"targeted:N with N from 0 to 2, "):
        parse_goal("targeted:great", 0, 3)
    with pytest.raises(BadInput, match=r"k10, k11 and 8 more \(or its number, 0 to 19\), "):
        parse_goal("targeted:great", 0, 20, [f"k{number}" for number in range(20)])
