"""Goals."""

from __future__ import annotations

import pytest

from mohs.attacks.goal import Below, Targeted, Untargeted, parse_goal, predicted
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
    ],
)
def test_goals(goal: Untargeted, scores: tuple[float, ...], met: bool, score: float, margin: float) -> None:
    assert goal.met(scores) is met
    assert goal.score(scores) == score
    assert goal.margin(scores) == pytest.approx(margin)


def test_parsing() -> None:
    assert parse_goal("untargeted", 1, 2) == Untargeted(1)
    assert parse_goal("targeted:2", 1, 3) == Targeted(1, 2)
    assert parse_goal("below:0.7", 1, 2) == Below(1, 0.7)


@pytest.mark.parametrize(
    "spec", ["", "targeted", "targeted:3", "targeted:-1", "below:0", "below:2", "below:x", "untargeted:1"]
)
def test_unknown_goals_are_refused(spec: str) -> None:
    with pytest.raises(BadInput, match="Unknown goal"):
        parse_goal(spec, 0, 3)
