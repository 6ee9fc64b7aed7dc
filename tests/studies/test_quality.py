"""What looks wrong about an annotator's work, and what the figures are without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mohs.studies.analysis import analyse_study
from mohs.studies.desk import Desk
from mohs.studies.item import Judgement, Kind
from mohs.studies.quality import Work, quality
from mohs.studies.study import Study
from tests.studies.toys import Clock, controls, design, items

Build = Callable[..., Study]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    made: list[Study] = []

    def study(of: list[Judgement], kind: Kind = Kind.IMPORTED, main: int = 6, **more: Any) -> Study:
        wanted = design(**more)
        found = Study.create(tmp_path / str(len(made)), wanted, [*items(main), *controls(wanted)])
        found.add(of, kind)
        made.append(found)
        return found

    yield study
    for one in made:
        one.close()


def by_name(study: Study) -> dict[str, Work]:
    return {one.annotator.name: one for one in quality(study).work}


def test_controls_answered_wrong(build: Build) -> None:
    """Control 0 expects 1, control 1 expects 3; for the opposite statement answers are turned round."""
    study = build(
        [
            Judgement("control 0", "good", 1),
            Judgement("control 1", "good", 3),
            Judgement("control 0", "turned", 3, statement=1),
            Judgement("control 1", "turned", 1, statement=1),
            Judgement("control 0", "bad", 3),
            Judgement("control 1", "bad", 2),
        ]
    )
    found = by_name(study)
    assert (found["good"].controls, found["good"].wrong, found["good"].flags) == (2, 0, ())
    assert (found["turned"].wrong, found["turned"].flags) == (0, ())
    assert found["bad"].wrong == 2
    assert found["bad"].flags == ("2 of 2 controls answered wrong; 0 may be.",)


def test_a_design_may_forgive_a_wrong_control(build: Build) -> None:
    rows = [Judgement("control 0", "one", 3), Judgement("control 0", "two", 3), Judgement("control 1", "two", 1)]
    found = by_name(build(rows, most_wrong_controls=1))
    assert found["one"].flags == ()
    assert found["two"].flags == ("2 of 2 controls answered wrong; 1 may be.",)


def test_models_are_not_flagged_for_controls(build: Build) -> None:
    rows = [Judgement("control 0", "gpt", 3)]
    assert by_name(build(rows, Kind.MODEL))["gpt"].flags == ()


def test_a_batch_answered_too_fast(build: Build) -> None:
    """Three items make a batch, for which 40 seconds are expected, with a control or without; for two items 27 are."""
    rows = [
        *(Judgement(f"attack/{n}", "fast", 1, seconds=5.0, batch=1) for n in range(3)),
        Judgement("control 0", "fast", 1, seconds=5.0, batch=1),
        *(Judgement(f"attack/{n}", "slow", 1, seconds=20.0, batch=1) for n in range(3)),
        *(Judgement(f"attack/{n}", "rest", 1, seconds=13.5, batch=1) for n in range(2)),
        *(Judgement(f"attack/{n}", "hasty", 1, seconds=13.0, batch=1) for n in range(2)),
        *(Judgement(f"attack/{n}", "unknown", 1, seconds=None, batch=1) for n in range(3)),
    ]
    found = by_name(build(rows, least_seconds=40.0))
    assert found["fast"].flags == ("Batch 1: 4 items in 20 s; 40 s are expected at least.",)
    assert found["fast"].fastest == 20.0
    assert found["fast"].seconds == 5.0
    assert found["slow"].flags == ()
    assert found["rest"].flags == ()
    assert found["hasty"].flags == ("Batch 1: 2 items in 26 s; 27 s are expected at least.",)
    assert (found["unknown"].flags, found["unknown"].fastest) == ((), None)


def test_many_fast_batches_are_one_sentence(build: Build) -> None:
    rows = [Judgement(f"attack/{n}", "fast", 1, seconds=4.0 if n == 3 else 5.0, batch=n // 3) for n in range(6)]
    found = by_name(build(rows, least_seconds=40.0))["fast"]
    assert found.flags == (
        "2 of 2 batches too fast, most of all batch 1: 3 items in 14 s; 40 s are expected at least.",
    )


def test_without_the_flagged_nothing_may_be_left(build: Build) -> None:
    rows = [Judgement(f"attack/{n}", "bad", 3) for n in range(6)] + [Judgement("control 0", "bad", 3)]
    found = analyse_study(build(rows, judges=1), measures=False).sensitivity
    assert str(found).endswith(
        "Without them, the share of valid items, which is 0.0%, is not known and the mean of same, which is 3.00, is "
        "not known."
    )


def test_agreement_and_time_are_of_people_who_count(build: Build) -> None:
    rows = [
        *(Judgement(f"attack/{n}", who, 1 + n % 3, seconds=7.0) for who in ("a", "b") for n in range(6)),
        *(Judgement(f"attack/{n}", "odd", 3 - n % 3, seconds=90.0) for n in range(6)),
    ]
    study = build(rows, judges=5)
    study.add([Judgement(f"attack/{n}", "gpt", 3, seconds=0.1) for n in range(6)], Kind.MODEL)
    before = quality(study).agreement[0]
    study.set_aside("odd")
    after = quality(study)
    assert before.value is not None
    assert before.value < 0.5
    assert after.agreement[0].value == pytest.approx(1.0)
    assert after.agreement[0].items == 6
    assert after.seconds == 7.0
    assert {one.annotator.name for one in after.work} == {"a", "b", "odd", "gpt"}


def test_figures_without_the_flagged(build: Build) -> None:
    rows = [Judgement(f"attack/{n}", who, 1, seconds=5.0) for who in ("a", "b") for n in range(6)]
    rows += [Judgement(f"attack/{n}", "bad", 3, seconds=5.0) for n in range(6)]
    rows += [Judgement("control 0", "bad", 3), Judgement("control 0", "a", 1)]
    found = analyse_study(build(rows, judges=3), measures=False).sensitivity
    assert found.flagged == ("bad",)
    assert found.judgements == 6
    (valid, mean) = found.figures
    assert (valid.all.value, valid.rest.value) == (0.0, 1.0)  # a mean of 5/3, and of 1, against 1.5
    assert mean.all.value == pytest.approx(5 / 3)
    assert mean.rest.value == 1.0
    assert str(found) == (
        "1 annotator is flagged (bad), with 6 judgements. Without them, the share of valid items goes from 0.0% to "
        "100.0% and the mean of same goes from 1.67 to 1.00."
    )


def test_nobody_is_flagged(build: Build) -> None:
    found = analyse_study(build([Judgement("attack/0", "a", 1)]), measures=False).sensitivity
    assert str(found) == "No annotator is flagged."
    assert found.to_json()["flagged"] == []


def test_a_batch_counts_when_it_is_finished(tmp_path: Path) -> None:
    wanted, clock = design(least_seconds=1000.0, controls=()), Clock()
    with Study.create(tmp_path / "study", wanted, items(3)) as study:
        (link,) = study.invite(n=1)
        who = study.annotator(link.token)
        assert who is not None
        desk = Desk(study, clock=clock)
        standing = desk.agree(who.number)
        flags = []
        while standing.task is not None:
            clock.now += 4
            desk.answer(who.number, standing.task.number, 1)
            standing = desk.at(who.number)
            flags.append(by_name(study)[link.name].flags)
    # a batch of 3 items without controls is a whole one
    assert flags == [(), (), ("Batch 1: 3 items in 12 s; 1000 s are expected at least.",)]
