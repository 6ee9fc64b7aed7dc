"""A2T, on a victim whose gradient is written down."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.attacks.a2t import A2T
from mohs.records import Outcome, Record
from mohs.text import Text
from mohs.text.questions import Labelled, Slope
from tests.attacks.fills import Angles, Fills, Parts
from tests.toys import AFTER, CountSlopes, WordCount, table

WEIGHTS = {
    "good": 3.0,
    "truly": 1.0,
    "nice": 1.5,
    "really": -4.0,
    "decent": 0.5,
    "bad": -5.0,
    "vile": -6.0,
    "dire": -5.0,
    "worst": -9.0,
    "warm": 0.05,
}


class Open(WordCount):
    """Its gradient at each token, by word; a word of two rows is of two tokens, one without rows is of none."""

    def __init__(self, rows: dict[str, list[list[float]]]) -> None:
        super().__init__(WEIGHTS)
        self.slopes = rows

    def gradients(self) -> CountSlopes:
        return Slopes(self)


class Slopes(CountSlopes):
    victim: Open

    def slope(self, item: Labelled) -> Slope:
        assert item.label == 1
        text = Text(*item.fields)
        spans, rows = [], []
        for word, (field, start, end) in zip(text.words, text.spans(), strict=True):
            parts = self.victim.slopes.get(word, [])
            bounds = [start, *range(start + 1, start + len(parts)), end]
            spans += [(field, a, b) for a, b in pairwise(bounds)][: len(parts)]
            rows += parts
        gradient = np.array(rows, np.float32).reshape(-1, 2)
        return Slope(-0.1, tuple(spans), gradient, gradient)


# By the mean of a word's tokens: truly (1, -2) = 3, good (2.5, 0) = 2.5, film (0, 0.5) = 0.5; a has no token.
SLOPES: dict[str, list[list[float]]] = {"truly": [[1, -2]], "good": [[6, 9], [-1, -9]], "film": [[0, 0.5]]}
PLAIN = replace(
    A2T(),
    source=table(good="nice decent", truly="really", film="movie", a="the"),
    constraints=(),
    stopwords=frozenset(),
)


def attack(
    method: A2T, text: str = "a truly good film", slopes: Any = None, **options: Any
) -> tuple[Record, list[str]]:
    victim = Open(SLOPES if slopes is None else slopes)
    services: dict[str, Any] = {"encoder": Angles({}), "tagger": Parts({}), "masked_lm": Fills({})}
    with mohs.attack(victim, [(text, 1)], [method], at_once=1, **{**services, **options}) as run:
        record = next(run.records())
    assert record.error is None, record.error
    return record, [fields[0] for fields in victim.asked[:-AFTER]]


def test_words_are_changed_in_the_order_of_the_gradient() -> None:
    weak = replace(PLAIN, source=table(good="nice decent", truly="very", film="movie", a="the"))
    record, asked = attack(weak)
    assert record.outcome is Outcome.FAILED
    order = ["a very good film", "a very decent film", "a very decent movie", "the very decent film"]
    assert [text for text in asked[:-1] if text in order] == order  # very, decent are kept; movie does not help
    assert record.perturbed == ("a very decent film",)
    assert record.queries == 1 + 1 + 2 + 1 + 1


def test_a_tiny_gradient_orders_as_well() -> None:
    tiny = {word: [[value * 1e-9 for value in row] for row in rows] for word, rows in SLOPES.items()}
    assert attack(PLAIN, slopes=tiny) == attack(PLAIN)
    flat, _ = attack(PLAIN, slopes={})  # no slope at all: in the order of the text
    assert flat.outcome is Outcome.SUCCESS


def test_it_ends_at_the_first_word_that_fools() -> None:
    record, asked = attack(PLAIN)
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a really good film",))
    assert record.queries == 2
    assert "a truly nice film" not in asked


def test_of_those_that_fool_the_most_similar_is_taken() -> None:
    method = replace(PLAIN, source=table(good="vile bad"))
    assert attack(method, encoder=Angles({"vile": 20}))[0].perturbed == ("a truly bad film",)
    assert attack(method, encoder=Angles({"bad": 20}))[0].perturbed == ("a truly vile film",)


def test_of_equally_similar_ones_the_strongest_is_taken() -> None:
    method = replace(PLAIN, source=table(good="dire bad vile worst"))
    angles = Angles({"worst": 20})
    assert attack(method, encoder=angles)[0].perturbed == ("a truly vile film",)  # bad and dire are weaker
    assert attack(method, encoder=Angles({"vile": 20, "worst": 20}))[0].perturbed == ("a truly bad film",)  # as dire


def test_a_part_of_speech_is_kept_strictly() -> None:
    method = replace(A2T(), source=table(film="runs movie"))
    _, asked = attack(method, tagger=Parts({"runs": "VERB"}))
    assert "a truly good movie" in asked
    assert "a truly good runs" not in asked


@pytest.mark.parametrize(("angle", "passes"), [(25.8, True), (25.9, False)])
def test_the_cosine_to_the_original_is_at_least_nine_tenths(angle: float, passes: bool) -> None:
    record, _ = attack(replace(A2T(), source=table(truly="really")), encoder=Angles({"really": angle}))
    assert record.outcome is (Outcome.SUCCESS if passes else Outcome.FAILED)


@pytest.mark.parametrize(("words", "changed"), [(6, 4), (40, 4), (41, 5), (50, 5)])
def test_a_tenth_of_the_words_and_at_least_four(words: int, changed: int) -> None:
    record, _ = attack(replace(A2T(), source=table(warm="mild")), "warm " * words)
    assert [edit.position for edit in record.edits] == list(range(changed))


def test_the_masked_language_model_reads_the_text_as_it_stands() -> None:
    lm = Fills({"a _ good film": "very", "a very _ film": "bad", "a truly _ film": "nice"})
    record, asked = attack(replace(A2T.masked(), stopwords=frozenset({"a"})), masked_lm=lm)
    assert record.perturbed == ("a very bad film",)
    assert "a very nice film" not in asked
    assert A2T.masked().source.k == 20  # type: ignore[attr-defined]


def test_a_victim_that_shows_nothing_is_refused() -> None:
    with pytest.raises(mohs.errors.BadInput, match="gives no gradients"):
        mohs.attack(lambda texts: [[0.5, 0.5] for _ in texts], [("a film", 1)], [A2T()])


@pytest.mark.parametrize("budget", [1, 2, 3, 4])
def test_the_budget_is_kept(budget: int) -> None:
    weak = replace(PLAIN, source=table(good="nice decent", truly="very"))
    record, _ = attack(weak, budget=budget)
    best = {1: "truly good", 2: "very good", 3: "very nice", 4: "very decent"}
    assert record.perturbed == (f"a {best[budget]} film",)
    assert record.queries == budget
