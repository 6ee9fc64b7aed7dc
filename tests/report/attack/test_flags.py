"""Signs that an evaluation is unreliable."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binom

import mohs
from mohs.records import Outcome, Record
from mohs.report.attack.figures import summarise
from mohs.report.attack.flags import flags
from mohs.report.flags import at_least


def record(number: int, outcome: Outcome, attack: str = "a", **facts: Any) -> Record:
    before = facts.pop("scores_before", (0.1, 0.9))
    return Record(
        attack=attack,
        example_id=str(number),
        outcome=outcome,
        label=facts.pop("label", 1),
        names=("text",),
        original=("x",),
        seed=0,
        words=1,
        positions=facts.pop("positions", 1),
        scores_before=before,
        **facts,
    )


def raised(records: list[Record], planned: int | None = None, **facts: Any) -> list[str]:
    return flags(facts, summarise(records), len(records), len(records) if planned is None else planned)


GOOD = [
    record(
        i,
        Outcome.SUCCESS if i < 5 else Outcome.FAILED,
        label=int(i < 12),
        scores_before=(0.1, 0.9) if i < 12 else (0.9, 0.1),
    )
    for i in range(20)
]


def test_nothing_to_say() -> None:
    assert raised(GOOD, repeats_itself=True, classes=2, boxes={"a": "black"}) == []


@pytest.mark.parametrize(
    ("records", "facts", "sign"),
    [
        (GOOD, {"planned": 30}, "not finished: 20 of 30"),
        (GOOD, {"repeats_itself": False}, "two answers to the same text"),
        ([record(i, Outcome.SKIPPED, scores_before=(0.9, 0.1)) for i in range(19)], {}, "worse than chance"),
        (GOOD[3:] + [record(i, Outcome.FAILED, positions=0) for i in range(3)], {}, "no word to replace in 3 of 20"),
        (GOOD[3:] + [record(i, Outcome.EXHAUSTED) for i in range(3)], {}, "ran out of queries on 3 of 20"),
        (
            GOOD[3:] + [record(i, Outcome.FAILED, near_tie=True) for i in range(3)],
            {},
            "3 verdicts have a margin under 1e-4",
        ),
    ],
)
def test_each_sign(records: list[Record], facts: dict[str, Any], sign: str) -> None:
    (found,) = raised(records, **facts)
    assert sign in found


def test_a_tenth_is_not_often() -> None:
    assert raised(GOOD[2:] + [record(i, Outcome.FAILED, positions=0) for i in range(2)]) == []


def test_black_beats_white() -> None:
    better = [record(i, Outcome.SUCCESS if i < 9 else Outcome.FAILED, attack="b") for i in range(20)]
    (sign,) = raised(GOOD + better, boxes={"a": "white", "b": "black"})
    assert sign.startswith("b, which sees only scores, fooled the victim more often (45%) than a, which sees")
    assert raised(GOOD + better, boxes={"a": "black", "b": "white"}) == []
    assert raised(GOOD + better, boxes={"a": "black", "b": "black"}) == []


def test_an_attack_that_keeps_the_label_says_so_and_is_compared_with_none() -> None:
    better = [record(i, Outcome.SUCCESS if i < 9 else Outcome.FAILED, attack="b") for i in range(20)]
    summaries = summarise(GOOD + better, {"a": "untargeted", "b": "reduced:2"}.__getitem__)
    (sign,) = flags({"boxes": {"a": "white", "b": "black"}}, summaries, 40, 40)
    assert sign.startswith("b shortens texts and keeps their label (reduced:2): its successes do not fool the victim")
    summaries = summarise(GOOD + better, {"a": "reduced:2", "b": "untargeted"}.__getitem__)
    assert len(flags({"boxes": {"a": "white", "b": "black"}}, summaries, 40, 40)) == 1


def test_a_random_victim_is_noticed() -> None:
    calls = iter(range(10**6))

    def moody(texts: list[str]) -> list[list[float]]:
        rows = []
        for _ in texts:
            share = 0.3 + 0.01 * (next(calls) % 7)
            rows.append([share, 1 - share])
        return rows

    with mohs.attack(moody, [("a good film", 1)], "random") as run:
        assert run.manifest["facts"]["repeats_itself"] is False
        assert any("two answers" in flag for flag in flags(run.manifest["facts"], run.summary(), 1, 1))


def test_one_label_alone() -> None:
    alike = [record(i, Outcome.FAILED) for i in range(20)]
    assert raised(alike) == [
        "All 20 examples have the same label: if the file is sorted, draw rows at random with --sample."
    ]
    assert raised(alike[:19]) == []


def right(hits: int, total: int, classes: int = 3) -> list[Record]:
    """A victim that has `hits` of `total` right, of classes that are equally frequent."""
    found = []
    for number in range(total):
        label = number % classes
        said = label if number < hits else (label + 1) % classes
        found.append(
            record(number, Outcome.FAILED, label=label, scores_before=tuple(0.9 * (c == said) for c in range(classes)))
        )
    return found


def test_a_victim_near_chance() -> None:
    (found,) = raised(right(41, 100), classes=3)
    assert found.startswith(
        "The victim read 41 of 100 examples right, which is not clearly better than always the most frequent class "
        "(34%; p = 0.086, one-sided binomial test)"
    )
    (found,) = raised(right(41, 99), classes=3)
    assert "guessing among 3 classes (33%; p =" in found
    assert raised(right(60, 100), classes=3) == []
    assert raised(right(7, 12), classes=3) == []  # too few to say anything
    constant = [record(i, Outcome.FAILED, label=int(i < 90)) for i in range(100)]
    (found,) = raised(constant, classes=2)
    assert "90 of 100 examples right, which is not clearly better than always the most frequent class (90%;" in found


def test_a_victim_that_reads_one_label_is_measured_against_guessing() -> None:
    found = raised([record(i, Outcome.FAILED) for i in range(30)], classes=2)
    assert len(found) == 1
    assert "same label" in found[0]


@pytest.mark.parametrize("share", [0.05, 1 / 3, 0.9])
def test_the_binomial_tail_is_that_of_scipy(share: float) -> None:
    for total in (1, 20, 1000):
        for hits in {0, 1, total // 3, total - 1, total}:
            assert at_least(hits, total, share) == pytest.approx(binom.sf(hits - 1, total, share), rel=1e-9, abs=1e-300)
