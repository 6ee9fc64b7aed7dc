"""SCPN, AdvFever and paraphrases as attacks: what they ask, and which text they take."""

from __future__ import annotations

from typing import Any

import pytest

import mohs
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.text.parses import Parse
from mohs.text.questions import Rephrasing
from tests.space.parsed import parsed
from tests.toy_paraphraser import ToyParaphraser
from tests.toys import WordCount

LEFT, PARSE = parsed("He/PRP/nsubj/2 left/VBD/ROOT=leave/0 us/PRP/dobj/2 in/IN/prep/2 May/NNP/pobj/4 _././punct/2")
CLAIM = "Chinatown is a film."


class Parses(ToyParaphraser):
    """A parser that knows one sentence, and nothing of others."""

    name = fingerprint = "one sentence"

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return [sorted(items)]

    def collect(self, ticket: list[Any]) -> list[Any]:
        found: list[Parse] = [PARSE if item == LEFT else () for item in ticket]
        return found


class Says(ToyParaphraser):
    """A paraphraser with some answers by heart."""

    def __init__(self, *answers: str) -> None:
        self.said = answers

    def answers(self, item: Rephrasing) -> tuple[str, ...]:
        return self.said[: item.k]


def attacked(attack: Any, text: Any, weights: dict[str, float], **services: Any) -> Record:
    victim = WordCount(weights)
    with mohs.attack(victim, [text], [attack], no_judge=True, **services) as run:
        (record,) = run.records()
    return record


def test_scpn_takes_the_rewrite_that_succeeds() -> None:
    # "did" turns the label, and of all rewrites only the question has it.
    record = attacked("scpn", (LEFT, 1), {"us": 1.0, "did": -3.0}, parser=Parses())
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("Why did he leave us in May?",)
    assert all("SBARQ(WHADVP SQ .)" in edit.source for edit in record.edits)
    assert record.queries == 1 + 5  # the text; without its subject, listed, a clause, a question, the phrase in front


def test_of_several_that_succeed_the_nearest_is_taken() -> None:
    # "In May, he left us." changes more words than "That he left us in May."
    record = attacked("scpn:rules", (LEFT, 1), {"he": 1.0, "that": -3.0, "in": 0.0, "why": -9.0}, parser=Parses())
    assert record.perturbed == ("That he left us in May.",)


def test_adv_fever_says_the_claim_otherwise() -> None:
    record = attacked("adv-fever", (CLAIM, 1), {"film": 1.0, "exists": -1.5})
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("There exists a film called Chinatown.",)
    assert record.queries == 1 + 6


def test_of_a_pair_the_hypothesis_is_rewritten() -> None:
    pair = mohs.Example("0", mohs.Text(CLAIM, "Fargo is a town."), 1, ("premise", "hypothesis"), ("hypothesis",))
    record = attacked("adv-fever", pair, {"film": 1.0, "exists": -3.0})
    assert record.perturbed is not None
    assert record.perturbed[0] == CLAIM
    assert record.perturbed[1] == "There exists a town called Fargo."


def test_a_paraphrase_must_be_similar() -> None:
    text = "a good film with great actors"
    answers = Says("the bad bank of the river", "a great film with good actors", "a nice film with great actors")
    record = attacked("paraphrase", (text, 1), {"good": 1.0, "great": 1.0, "bad": -9.0}, paraphraser=answers)
    assert record.outcome is Outcome.FAILED  # the first would succeed, and means something else
    assert record.perturbed == ("a nice film with great actors",)
    assert record.measures["sentence cosine"] >= 0.8
    free = mohs.attacks.Paraphrase(constraints=())
    record = attacked(free, (text, 1), {"good": 1.0, "great": 1.0, "bad": -9.0}, paraphraser=answers)
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("the bad bank of the river",)


def test_words_to_keep_stay_where_they_are() -> None:
    record = attacked("adv-fever", (CLAIM, 1), {"film": 1.0, "exists": -9.0})
    assert record.outcome is Outcome.SUCCESS
    with mohs.attack(WordCount({"film": 1.0, "exists": -9.0}), [(CLAIM, 1)], ["adv-fever"], keep=["is"]) as run:
        (kept,) = run.records()
    assert kept.outcome is Outcome.FAILED
    assert kept.queries == 1 + 2  # "There is a film called ..." and "There is a film, it is called ..."


def test_without_a_paraphraser_there_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="This needs a paraphraser, and none is given; use --paraphraser hf:PATH_OR_ID"):
        mohs.attack("pocket", [("a good film", 1)], ["scpn:paper"])


def test_word_attacks_can_take_them_as_a_source_too() -> None:
    found = mohs.attack("pocket", "pocket", ["rewriting"], n=2, source="fever+tautology", no_judge=True)
    with found as run:
        assert {record.error for record in run.records()} == {None}
