"""CLARE: three kinds of actions, ranked once or anew at every step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import mohs
from mohs.attacks.clare import Clare, GreedyClare
from mohs.attacks.method import needs
from mohs.records import Outcome, Record
from tests.attacks.fills import Angles, Fills, Parts
from tests.toys import AFTER, WordCount

WEIGHTS = {
    "good": 3.0, "film": 1.0, "nice": 2.0, "fine": 1.0, "movie": 0.5, "dull": -1.0, "flick": 0.5, "gem": 2.5,
    "mess": -4.0, "poor": -1.5, "drab": -1.0, "tape": 1.0,
}  # fmt: skip
TEXT = "the good film ran"  # 4
TAGS = Parts({"the": "DET", "good": "ADJ", "nice": "ADJ", "film": "NOUN", "ran": "VERB"})
LM = Fills(
    {
        "the _ film ran": "nice:0.001 mess:0.0004",  # 3; not probable enough
        "the good _ ran": "movie flick",  # 3.5 both
        "the good film _": "went",
        "_ good film ran": "this",  # the is a stopword and stays
        "_the good film ran": "mess",  # words are put in behind, not before
        "the_ good film ran": "dull:0.000001",  # 3: to insert no probability is needed
        "the good_ film ran": "enough",
        "the good film_ ran": "never",
        "the good film ran_": "poor",  # 2.5
        "the _ ran": "gem:0.006 mess:0.004",  # 2.5; not probable enough
        "_ film ran": "fine",  # 2
        "the good _": "mess",  # noun and verb are no pair: 0 and would fool
    }
)


def attack(
    method: Any, text: Any = TEXT, lm: Fills = LM, label: int = 1, weights: dict[str, float] = WEIGHTS, **options: Any
) -> tuple[Record, list[str]]:
    victim = WordCount(weights)
    services: dict[str, Any] = {"masked_lm": lm, "encoder": Angles({}), "tagger": TAGS}
    with mohs.attack(victim, [mohs.Example.of(text, label)], [method], at_once=1, **{**services, **options}) as run:
        record = next(run.records())
    assert record.error is None, record.error
    return record, [fields[-1] for fields in victim.asked[:-AFTER]]


FIRST = {
    "the nice film ran", "the good movie ran", "the good flick ran", "the good film went", "the dull good film ran",
    "the good enough film ran", "the good film never ran", "the good film ran poor", "the gem ran", "fine film ran",
}  # fmt: skip


def test_every_action_at_every_position_is_tried_on_the_original() -> None:
    record, asked = attack(Clare())
    start = len(asked) - 1 - asked[::-1].index(TEXT)  # the last time: before, the victim is tried out
    assert set(asked[start + 1 : start + 1 + len(FIRST)]) == FIRST
    # Noted: fine for the good (2), gem for good film (2.5), poor behind ran (2.5), flick or movie for film (3.5).
    # fine is applied and takes good along; nothing is offered for the rest in the new text.
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, ("fine film ran",))
    assert record.queries == 1 + len(FIRST)


def test_noted_actions_are_filled_in_anew() -> None:
    lm = Fills({**LM.answers, "fine film ran_": "poor drab mess", "fine _ ran": "movie", "fine film_ ran": "mess"})
    record, asked = attack(Clare(), lm=lm)
    # The second action is an insertion behind ran: of poor, drab and mess in the new text mess is the strongest.
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("fine film ran mess",))
    assert record.queries == 1 + len(FIRST) + 3
    assert "fine movie ran" not in asked
    edits = [(edit.position, edit.old, edit.new, edit.source) for edit in record.edits]
    assert edits == [(0, "the", "fine", "merged"), (1, "good", "", "merged"), (3, "ran", "ran mess", "inserted")]


def test_one_action_a_position() -> None:
    """A position has only its best action noted, and a word that a merge took is not changed again."""
    lm = Fills({"the good_ film ran": "dull", "the _ film ran": "nice", "the dull_ film ran": "mess"})
    record, _ = attack(Clare(), lm=lm)
    assert record.perturbed == ("the nice film ran",)  # as strong as dull behind good; of equals replacing comes first
    lm = Fills({"_ film ran": "fine", "the _ film ran": "nice", "fine_ film ran": "mess", "_ ran": "mess"})
    record, _ = attack(Clare(), lm=lm)
    assert record.perturbed == ("fine film ran",)


def test_an_action_that_does_not_help_any_more_is_not_applied() -> None:
    lm = Fills({"the _ film ran": "nice", "the good _ ran": "movie", "the nice _ ran": "good tape"})
    record, asked = attack(Clare(), lm=lm)
    assert "the nice tape ran" in asked  # tape weighs as much as film
    assert record.perturbed == ("the nice film ran",)


@pytest.mark.parametrize("method", [Clare(), GreedyClare()])
def test_it_ends_when_the_victim_is_fooled(method: Any) -> None:
    record, _ = attack(
        method, lm=Fills({"the _ film ran": "mess", "the good _ ran": "movie", "the mess _ ran": "drab"})
    )
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("the mess film ran",))


def test_greedy_tries_everything_anew_at_every_step() -> None:
    lm = Fills(
        {
            "the _ film ran": "nice",  # 3
            "the _good film ran": "dull",  # 3
            "the good_ film ran": "mess",  # is behind a word
            "_the good film ran": "mess",  # is before a stopword
            "the good _ ran": "movie",  # 3.5
            "_ film ran": "fine",  # 2: the strongest
            "fine _ ran": "movie",  # 1.5
            "fine film _ran": "poor",  # 0.5: chosen, but does not fool
            "fine _ poor ran": "flick drab",  # 0 and -1.5: both fool
        }
    )
    record, asked = attack(GreedyClare(), lm=lm)
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("fine drab poor ran",))
    assert record.queries == 1 + 4 + 2 + 2
    first = {"the nice film ran", "the dull good film ran", "the good movie ran", "fine film ran"}
    second = {"fine movie ran", "fine film poor ran"}
    start = len(asked) - 1 - asked[::-1].index(TEXT)  # the last time: before, the victim is tried out
    assert set(asked[start + 1 : start + 5]) == first
    assert set(asked[start + 5 : start + 7]) == second


def test_greedy_goes_on_where_nothing_helps() -> None:
    lm = Fills({"the good film _": "good", "the _ film good": "mess"})
    record, _ = attack(GreedyClare(), lm=lm)
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("the mess film good",))
    record, _ = attack(GreedyClare(), lm=Fills({"the good film _": "good"}))
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, (TEXT,))
    record, _ = attack(Clare(), lm=lm)
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, (TEXT,))


LONG = TEXT + " so" * 11  # 15 words


@pytest.mark.parametrize(
    ("method", "text", "angle", "passes"),
    [
        (Clare(), LONG, 17.1, True),  # 0.3 radians
        (Clare(), LONG, 17.2, False),
        (Clare(), TEXT, 17.2, False),
        (GreedyClare(), LONG, 45.5, True),  # a cosine of 0.7
        (GreedyClare(), LONG, 45.6, False),
        (GreedyClare(), TEXT, 170, True),
    ],
)
def test_how_similar_a_step_must_be(method: Any, text: str, angle: float, passes: bool) -> None:
    lm = Fills({text.replace("good", "_"): "mess"})
    record, _ = attack(method, text, lm, encoder=Angles({"mess": angle}))
    assert record.outcome is (Outcome.SUCCESS if passes else Outcome.FAILED)


@pytest.mark.parametrize("method", [Clare(), GreedyClare()])
def test_a_merge_is_compared_in_the_window_too(method: Any) -> None:
    text = LONG + " so" * 20
    seen: list[str] = []

    class Listening(Angles):
        def answer(self, item: Any) -> Any:
            seen.append((item if isinstance(item, str) else " ".join(item)).strip())
            return super().answer(item)

    lm = Fills({text.replace("the good", "_"): "mess"})
    record, _ = attack(method, text, lm, encoder=Listening({}))
    assert record.outcome is Outcome.SUCCESS
    assert {LONG, LONG.replace("the good", "mess")} <= set(seen)


@pytest.mark.parametrize(("method", "changed"), [(Clare(), 2), (GreedyClare(), 1)])
def test_similar_to_the_step_before_or_to_the_original(method: Any, changed: int) -> None:
    lm = Fills({LONG.replace("good", "_"): "nice", LONG.replace("good", "nice").replace("film", "_"): "movie"})
    lm = Fills({**lm.answers, LONG.replace("film", "_"): "movie"})
    angle = 17.0 if changed == 2 else 45.0
    record, _ = attack(method, LONG, lm, encoder=Angles({"nice": angle, "movie": angle}))
    assert len(record.edits) == changed


def test_pairs_change_only_the_second_text() -> None:
    lm = Fills({"the _ film ran": "nice", "the _ ran": "mess", "_ film ran": "mess"})
    for method in (Clare(), GreedyClare()):
        record, _ = attack(method, ("film the", TEXT), lm)
        assert record.perturbed is not None
        assert record.perturbed[0] == "film the"
        assert record.outcome is Outcome.SUCCESS


def test_a_users_own_stopwords_are_left_alone_altogether() -> None:
    record, asked = attack(replace(Clare(), stopwords=frozenset({"good", "ran"})))
    assert record.outcome is Outcome.FAILED
    assert set(asked) & FIRST == {
        "the good movie ran",
        "the good flick ran",
        "the dull good film ran",
        "the good film never ran",
    }


@pytest.mark.parametrize("budget", range(1, 16))
def test_the_budget_is_kept_and_the_best_so_far_given_back(budget: int) -> None:
    lm = Fills({**LM.answers, "fine film ran_": "poor drab mess"})
    for method in (Clare(), GreedyClare()):
        record, asked = attack(method, lm=lm, budget=budget)
        assert record.queries <= budget
        victim = WordCount(WEIGHTS)
        assert record.perturbed is not None
        if isinstance(method, Clare) and 1 < budget <= 11:  # within the first round: the strongest of those asked
            seen = {text for text in asked if text in FIRST}
            assert victim.scores(record.perturbed) == min((victim.scores((text,)) for text in seen), key=lambda s: s[1])


def test_what_it_needs() -> None:
    assert needs(Clare()) == needs(GreedyClare()) == ("masked_lm", "encoder", "tagger")
