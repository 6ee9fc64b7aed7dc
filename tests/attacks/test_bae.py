"""BAE in its four modes, step by step."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import mohs
from mohs.attacks.bae import Bae
from mohs.records import Outcome, Record
from tests.attacks.fills import Angles, Fills, Parts
from tests.toys import WordCount

WEIGHTS = {
    "good": 3.0,
    "truly": 1.0,
    "nice": 1.5,
    "decent": 0.5,
    "really": -1.0,
    "bad": -5.0,
    "vile": -5.0,
    "worst": -6.0,
    "dull": -1.0,
}
LM = Fills(
    {
        "a truly _ film": "nice decent",
        "a truly _good film": "dull",
        "a truly good_ film": "okay",
        "a _ good film": "never",  # of the original text: not what is asked after the first step
        "a _ decent film": "really",
        "a _truly dull good film": "bad",
        "a truly dull_ decent film": "never",
        "a truly _decent film": "dull",
        "a truly decent_ film": "okay",
        "a _ dull decent film": "really",
        "a _truly dull decent film": "vile",
    }
)
TEXT = "a truly good film"


def attack(
    method: Bae, text: str = TEXT, lm: Fills = LM, angles: dict[str, float] | None = None, **options: Any
) -> tuple[Record, list[str]]:
    victim = WordCount(WEIGHTS)
    services = {"masked_lm": lm, "encoder": Angles(angles or {}), "tagger": options.pop("tagger", Parts({}))}
    method = replace(method, stopwords=frozenset({"a"}))
    with mohs.attack(victim, [(text, 1)], [method], at_once=1, **services, **options) as run:
        record = next(run.records())
    assert record.error is None, record.error
    return record, [fields[0] for fields in victim.asked]


def test_replacing() -> None:
    record, asked = attack(Bae())
    # By deletion: good (4 -> 1), truly (4 -> 3), film. Of nice (2.5) and decent (1.5) the latter is kept.
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a really decent film",))
    assert record.queries == 1 + 3 + 2 + 1
    assert {"a good film", "a truly film", "a truly good"} <= set(asked)
    assert "a never decent film" not in asked
    assert [edit.source for edit in record.edits] == ["masked lm", "masked lm"]


def test_inserting() -> None:
    record, _ = attack(Bae.insert())
    # dull before good (4 -> 3), okay behind it does nothing; then bad before truly (3 -> -2).
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a bad truly dull good film",))
    assert record.queries == 1 + 3 + 2 + 1
    assert [(e.position, e.new, e.source) for e in record.edits] == [
        (1, "bad truly", "inserted"),
        (2, "dull good", "inserted"),
    ]


def test_replacing_or_inserting() -> None:
    record, asked = attack(Bae.either())
    # decent (1.5) beats dull before good (3): then only truly is left, and really fools.
    assert record.perturbed == ("a really decent film",)
    assert {"a truly dull good film", "a truly good okay film"} <= set(asked)
    assert record.queries == 1 + 3 + 4 + 1


def test_replacing_and_inserting() -> None:
    record, asked = attack(Bae.both())
    # good -> decent (1.5), then dull before it (0.5), then truly -> really.
    assert record.perturbed == ("a really dull decent film",)
    assert record.queries == 1 + 3 + 2 + 2 + 1
    assert asked.index("a truly decent film") < asked.index("a truly dull decent film")
    assert "a vile truly dull decent film" not in asked


def test_what_does_not_help_is_not_kept() -> None:
    record, _ = attack(Bae(), lm=Fills({"a truly good _": "movie", "a _ good film": "good"}))
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, (TEXT,))
    assert record.queries == 6


def test_part_of_speech_holds_for_replacements_only() -> None:
    tagger = Parts({"good": "ADJ", "nice": "ADJ", "dull": "VERB", "film": "NOUN", "runs": "VERB", "okay": "ADP"})
    lm = Fills({"a truly _ film": "nice decent", "a truly _good film": "dull", "a truly nice _": "runs"})
    _, asked = attack(Bae.either(), lm=lm, tagger=tagger)
    assert "a truly nice film" in asked
    assert "a truly decent film" not in asked
    assert "a truly dull good film" in asked
    assert "a truly nice runs" in asked  # verb for noun


LONG = "a truly good film " + "so " * 11  # 15 words


def winner(method: Bae, text: str, words: str, angles: dict[str, float]) -> str:
    """The word that takes the place of good."""
    record, _ = attack(method, text, Fills({text.replace("good", "_"): words}), angles)
    assert record.outcome is Outcome.SUCCESS
    return record.edits[0].new


@pytest.mark.parametrize(
    ("method", "text"), [(Bae(), TEXT), (Bae(), LONG), (Bae.textattack(), LONG)], ids=["short", "long", "textattack"]
)
def test_of_those_that_fool_the_most_similar_is_taken(method: Bae, text: str) -> None:
    assert winner(method, text, "vile bad nice", {"vile": 5.0, "bad": 4.0}) == "bad"
    assert winner(method, text, "vile bad nice", {"vile": 4.0, "bad": 5.0}) == "vile"
    assert winner(method, text, "worst vile bad", {"vile": 4.0, "bad": 5.0, "worst": 4.0}) == "worst"  # it is stronger
    assert winner(method, text, "vile bad worst", {}) == "worst"
    assert winner(method, text, "vile bad", {}) == "bad"  # equally strong, so the first by its letters


def test_under_fifteen_words_the_strongest_is_taken_in_textattack() -> None:
    angles = {"vile": 4.0, "bad": 5.0, "worst": 6.0}
    short = LONG.removesuffix("so ")  # 14 words
    assert winner(Bae.textattack(), LONG, "vile bad worst", angles) == "vile"
    assert winner(Bae.textattack(), short, "vile bad worst", angles) == "worst"
    assert winner(Bae.textattack(), short, "vile bad", angles) == "bad"
    assert winner(Bae(), short, "vile bad worst", angles) == "vile"


@pytest.mark.parametrize(
    ("method", "text", "angle", "passes"),
    [
        (Bae(), LONG, 11.4, True),  # 0.2 radians
        (Bae(), LONG, 11.5, False),
        (Bae(), TEXT, 51.5, True),  # 0.9 radians
        (Bae(), TEXT, 51.6, False),
        (Bae.textattack(), LONG, 20.5, True),  # the same number, as a cosine
        (Bae.textattack(), LONG, 20.6, False),
        (Bae.textattack(), TEXT, 170, True),
    ],
)
def test_how_similar_a_step_must_be(method: Bae, text: str, angle: float, passes: bool) -> None:
    lm = Fills({text.replace("good", "_"): "bad"})
    record, asked = attack(method, text, lm, {"bad": angle})
    assert (text.replace("good", "bad") in asked) is passes
    assert record.outcome is (Outcome.SUCCESS if passes else Outcome.FAILED)


@pytest.mark.parametrize(
    ("method", "final"), [(Bae(), "a really decent film "), (Bae.textattack(), "a truly decent film ")]
)
def test_similar_to_the_step_before_or_to_the_original(method: Bae, final: str) -> None:
    first = LONG.replace("good", "decent")
    lm = Fills({LONG.replace("good", "_"): "decent", first.replace("truly", "_"): "really"})
    record, _ = attack(method, LONG, lm, {"decent": 11.0, "really": 11.0})
    assert record.perturbed is not None
    assert record.perturbed[0].startswith(final)


@pytest.mark.parametrize(
    ("budget", "best"), [(4, "truly good"), (5, "truly nice"), (6, "truly decent"), (7, "really decent")]
)
def test_the_budget_is_kept(budget: int, best: str) -> None:
    record, _ = attack(Bae(), budget=budget)
    assert record.perturbed == (f"a {best} film",)
    assert record.queries == budget


class Near:
    """Vectors of a few words."""

    name = fingerprint = "near"

    def cosines(self, word: str, others: list[str]) -> list[float]:
        return [{"nice": 0.5, "decent": 0.499}.get(other, math.nan) for other in others]


def test_cos50_is_textattacks_with_a_cosine_of_words() -> None:
    assert replace(Bae.primed(), constraints=Bae.textattack().constraints) == Bae.textattack()
    assert Bae.primed().constraints[1:] == Bae.textattack().constraints
    lm = Fills({"a truly _ film": "nice decent", "a _ nice film": "really"})
    record, asked = attack(Bae.primed(), lm=lm, vectors=Near())
    assert "a truly decent film" not in asked  # 0.499
    assert "a really nice film" in asked  # really has no vector and passes
    assert record.perturbed == ("a really nice film",)
