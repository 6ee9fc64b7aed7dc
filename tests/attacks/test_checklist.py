"""CheckList's perturbations as an attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mohs
from mohs.attacks.checklist import CheckList, CombinedCheckList
from mohs.records import Outcome, Record
from mohs.space import Constraint, Family, Services, Union
from mohs.space.checklist import Contractions, Expansions, Names, Numbers
from mohs.text import Text
from tests.toys import WordCount, table

SHORT = Union((Expansions(), Contractions()))


@dataclass(frozen=True)
class Letters:
    """How many characters a new word has."""

    name: ClassVar[str] = "letters"
    family: ClassVar[Family] = Family.GRAMMAR
    needs: ClassVar[tuple[str, ...]] = ()
    stepwise: ClassVar[bool] = False

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        return [float(len(word)) for word in new]

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        return [float(min(len(e.new) for e in original.edits(c))) for c in candidates]


def attack(method: Any, text: str, weights: dict[str, float], **options: Any) -> tuple[Record, list[str]]:
    victim = WordCount(weights)
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records()), list(dict.fromkeys(text for (text,) in victim.asked))[1:]


def test_contractions_change_all_together_and_each_kind_alone() -> None:
    record, asked = attack(
        CheckList(source=SHORT), "it isn't bad, don't worry, we are sure and I am glad", {"glad": 1.0}
    )
    assert asked == [
        "it isn't bad, don't worry, we are sure and I am glad",
        "it is not bad, do not worry, we are sure and I am glad",
        "it isn't bad, don't worry, we're sure and I'm glad",
    ]
    assert (record.outcome, record.edits) == (Outcome.FAILED, ())  # nothing helps, so the original stays


def test_a_name_changes_wherever_it_stands_and_the_strongest_wins() -> None:
    weights = {"emily": 1.0, "good": 1.0, "sarah": -1.0, "anna": -2.0, "emma": 0.5}
    record, asked = attack(CheckList(source=Names()), "Emily is good, EMILY and Emily", weights)
    # Each of the 48 others for Emily at both places, and for EMILY at its own.
    assert record.queries == 1 + 2 * 48
    assert "Sarah is good, EMILY and Sarah" in asked
    assert "Sarah is good, EMILY and Emily" not in asked
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("Anna is good, EMILY and Anna",))


def test_labels_alone_will_do() -> None:
    def labels(texts: list[str]) -> list[int]:
        return [int("7" not in text) for text in texts]

    options: dict[str, Any] = {"labels": ("no", "yes"), "victim_options": {"output": "labels"}}
    with mohs.attack(labels, [("8 of 10", 1)], [CheckList(source=Numbers())], **options) as run:
        assert next(run.records()).perturbed == ("7 of 10",)


def test_perturbations_combine_in_the_textattack_preset() -> None:
    weights = {"isn't": 2.0, "not": 0.5, "i": 1.0, "am": 1.0, "i'm": -0.5, "good": 0.25}
    text = "it isn't good, I am sure"
    # odds 4.25: written out 2.75, drawn together 1.75; both 0.25, and still positive
    record, asked = attack(CombinedCheckList(source=SHORT), text, weights)
    assert asked[1:] == ["it is not good, I am sure", "it isn't good, I'm sure", "it is not good, I'm sure"]
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, ("it is not good, I'm sure",))
    assert [(edit.old, edit.new, edit.source) for edit in record.edits] == [
        ("isn't", "is not", "expand"),
        ("I", "I'm", "contract"),
        ("am", "", "contract"),
    ]
    alone, _ = attack(CheckList(source=SHORT), text, weights)
    assert alone.perturbed == ("it isn't good, I'm sure",)


def test_cannot_is_drawn_together_by_itself() -> None:
    weights = {"cannot": 1.0, "can't": -1.0, "i": 0.5, "i'm": 0.5}
    for method in (CheckList(source=SHORT), CombinedCheckList(source=SHORT)):
        record, _ = attack(method, "I cannot go", weights)
        assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("I can't go",))


def test_a_contraction_of_which_a_half_is_refused_is_left_out() -> None:
    whole = Constraint(Letters(), at_least=1)  # refuses the emptied half
    for method in (CheckList, CombinedCheckList):
        record, asked = attack(method(source=SHORT, constraints=(whole,)), "I am sure it isn't", {"sure": 1.0})
        assert asked[1:] == ["I am sure it is not"]
        assert record.perturbed == ("I am sure it isn't",)


def test_numbers_move_as_far_as_in_the_recipe() -> None:
    def numbers(method: Any) -> list[int]:
        _, asked = attack(method, "100 good", {"good": 1.0})
        return [int(text.split()[0]) for text in asked[1:]]

    assert (min(numbers(CheckList())), max(numbers(CheckList()))) == (80, 120)
    assert (min(numbers(CombinedCheckList())), max(numbers(CombinedCheckList()))) == (16, 184)


def test_any_source_will_do() -> None:
    record, _ = attack(CheckList(source=table(good="bad fine")), "good good", {"good": 1.0, "bad": -1.0})
    assert record.perturbed == ("bad bad",)


def test_a_budget_is_kept() -> None:
    weights = {"emily": 1.0, "good": 1.0, "susan": -2.0}  # Susan is the last of the list
    for budget, outcome in (
        (1, Outcome.EXHAUSTED),
        (2, Outcome.EXHAUSTED),
        (48, Outcome.EXHAUSTED),
        (49, Outcome.SUCCESS),
    ):
        record, _ = attack(CheckList(source=Names()), "good Emily", weights, budget=budget)
        assert (record.outcome, record.queries) == (outcome, budget)
