"""HotFlip on a victim whose slopes are known: to a word count, the estimate of a replacement is exact in the logit."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.attacks.goal import Targeted, Untargeted
from mohs.attacks.hotflip import FirstOrder, HotFlip, OtherLexemes
from mohs.attacks.method import needs
from mohs.records import Outcome, Record
from mohs.space import Neighbours, SamePos, Services, Space
from mohs.text import Text
from mohs.text.questions import Slope
from mohs.text.vectors import read_vectors
from tests.toys import CountSlopes, WordCount, now, table

WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0, "quite": 0.5, "movie": 0.5}
SPACE = table(good="nice decent", truly="really quite", film="movie")
PLAIN = HotFlip(source=SPACE, constraints=(), stopwords=frozenset())


class Open:
    """A gradient service that answers at once."""

    def __init__(self, slope: Any, model: Any) -> None:
        self.slope, self.model = slope, model

    async def ask(self, items: Any) -> list[Slope]:
        return [self.slope(item) for item in items]


def attack(method: HotFlip, text: str = "a truly good film", **options: Any) -> tuple[Record, list[str]]:
    victim = WordCount(WEIGHTS)
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records()), list(dict.fromkeys(text for (text,) in victim.asked))[1:]


def estimates(goal: Any, text: str = "truly good film", parts: Any = None) -> dict[str, float]:
    victim = CountSlopes(WordCount(WEIGHTS))
    ask: Any = Services({"gradients": parts or Open(victim.slope, victim)}, None)  # type: ignore[arg-type]
    space = Space(Text("truly good film"), {0: ("really", "quite"), 1: ("nice", "decent"), 2: ("movie",)})
    return {str(t): value for t, value in now(FirstOrder()(Text(text), goal, space, ask)).items()}


def test_the_estimate_is_the_slope_times_the_way() -> None:
    slope = math.log(2) * (1 - 16 / 17)  # odds 2^4
    expected = {
        "really good film": 2.0,
        "quite good film": 0.5,
        "truly nice film": 1.5,
        "truly decent film": 2.5,
        "truly good movie": -0.5,
    }
    assert estimates(Untargeted(1)) == {t: pytest.approx(way * slope, rel=1e-4) for t, way in expected.items()}
    # Towards a chosen label the slope is that label's own.
    toward = math.log(2) * 16 / 17
    assert estimates(Targeted(1, 0)) == {t: pytest.approx(way * toward, rel=1e-4) for t, way in expected.items()}


def test_a_changed_word_is_left_alone() -> None:
    assert list(estimates(Untargeted(1), "truly nice film")) == [
        "really nice film",
        "quite nice film",
        "truly nice movie",
    ]


def test_a_word_of_several_tokens_moves_as_one() -> None:
    class Model:
        def vectors(self, words: Any) -> list[Any]:
            return [None if word == "quite" else np.array([2.0, 1.0], np.float32) for word in words]

    # truly is two tokens at (1, 0) and (3, 4), mean (2, 2); good one at (0, 0); film is beyond the window.
    spans = ((0, 0, 2), (0, 2, 5), (0, 6, 10))
    gradient, embedding = [[1, 2], [3, 4], [5, 6]], [[1, 0], [3, 4], [0, 0]]
    slope = Slope(-0.1, spans, np.array(gradient, np.float32), np.array(embedding, np.float32))
    found = estimates(Untargeted(1), parts=Open(lambda item: slope, Model()))
    # (1 + 3, 2 + 4) . ((2, 1) - (2, 2)) = -6, and (5, 6) . (2, 1) = 16; the loss is minus the log-probability
    assert found == {"really good film": 6.0, "truly nice film": -16.0, "truly decent film": -16.0}


def test_the_victim_is_asked_about_the_beam_only() -> None:
    record, asked = attack(replace(PLAIN, width=1))
    # decent takes 2.5 and is alone in the beam; then really takes 2, and 4 - 4.5 flips the label
    assert asked == ["a truly good film", "a truly decent film", "a really decent film"]
    assert (record.outcome, record.queries) == (Outcome.SUCCESS, 3)
    record, asked = attack(replace(PLAIN, width=3))
    assert set(asked[1:4]) == {"a truly decent film", "a really good film", "a truly nice film"}
    assert record.queries == 1 + 3 + 3


def test_no_more_than_so_many_flips() -> None:
    record, _ = attack(replace(PLAIN, flips=1))
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.FAILED, ("a truly decent film",), 6)


@pytest.mark.parametrize("width", [3, 5, 10])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_sums_are_kept(width: int, seed: int) -> None:
    """Two flips: the second beam holds the best sums over all ways from the first."""
    random = Random(seed)
    weights = {word: random.uniform(2, 4) for word in ("truly", "good", "film")}
    weights |= {word: random.uniform(0.1, 1.9) for word in "opnuqr"}
    space = {"truly": "op", "good": "nu", "film": "qr"}
    victim = WordCount(weights)
    method = replace(PLAIN, source=table(**{old: " ".join(new) for old, new in space.items()}), width=width)
    with mohs.attack(victim, [("truly good film", 1)], [method]) as run:
        assert next(run.records()).queries == 1 + min(width, 6) + width

    def steps(words: tuple[str, ...]) -> list[tuple[float, tuple[str, ...]]]:
        """Every further flip with its estimate: log 2 (1 - p) times the way."""
        slope = math.log(2) * (1 - victim.scores((" ".join(words),))[1])
        return [
            (slope * (weights[old] - weights[new]), (*words[:at], new, *words[at + 1 :]))
            for at, old in enumerate(words)
            for new in space.get(old, "")
        ]

    beam = sorted(steps(("truly", "good", "film")))[-width:]
    sums: dict[tuple[str, ...], float] = {}
    for so_far, words in beam:
        for gain, further in steps(words):
            sums[further] = max(so_far + gain, sums.get(further, 0.0))
    asked = {text for (text,) in victim.asked if sum(w in space for w in text.split()) == 1}
    assert asked - {"It was a good day."} == {" ".join(t) for t in sorted(sums, key=sums.__getitem__)[-width:]}


def test_a_sure_victim_still_has_slopes() -> None:
    weights = {"good": 20.0, "nice": 19.0, "decent": 18.5, "okay": 18.0}
    victim = WordCount(weights)  # 1 - p is 1e-6, and so are the estimates
    method = replace(PLAIN, source=table(good="okay nice decent"), width=1, flips=1)
    with mohs.attack(victim, [("good", 1)], [method]) as run:
        assert next(run.records()).perturbed == ("okay",)


def test_the_budget_cuts_the_beam_from_its_end() -> None:
    record, _ = attack(PLAIN, budget=2)
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.EXHAUSTED, ("a truly decent film",), 2)


def test_other_forms_of_a_word_are_left_out() -> None:
    ask: Any = Services({"vectors": read_vectors("pocket")}, None)  # type: ignore[arg-type]
    text = Text("films went Better")
    source = OtherLexemes(table(films="film movies movie", went="go gone came", better="good best nicer"))
    assert [list(offer) for offer in now(source(text, [0, 1, 2], ask))] == [["movies", "movie"], ["came"], ["Nicer"]]


def test_settings_are_those_of_the_paper() -> None:
    assert (HotFlip().width, HotFlip().flips) == (10, 2)
    assert HotFlip().source == OtherLexemes(Neighbours(k=50, min_cosine=0.8))
    (constraint,) = HotFlip().constraints
    assert (constraint.measure, constraint.at_least) == (SamePos(noun_is_verb=False), 1)
    assert "gradients" in needs(HotFlip())
