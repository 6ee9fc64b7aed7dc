"""Misspellings of one or two words, all of them asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mohs
from mohs.attacks.pruthi import Pruthi
from mohs.records import Outcome, Record
from mohs.text import Text, characters
from tests.toys import WordCount, now, services, table

WEIGHTS = {"good": 3.0, "fine": 2.0, "film": 1.0, "goood": 1.0, "god": 0.5, "gold": 2.5, "fne": 0.5, "fine0": -9.0}
SPACE = table(good="goood god gold", fine="fne", film="flim")
PLAIN = Pruthi(source=SPACE, stopwords=frozenset())


def attack(method: Any, text: Any = "good fine film", label: int = 1, **options: Any) -> tuple[Record, WordCount]:
    victim = WordCount(options.pop("weights", WEIGHTS))
    with mohs.attack(victim, [mohs.Example.of(text, label)], [method], **options) as run:
        return next(run.records()), victim


def test_the_strongest_misspelling_is_kept_and_all_others_tried_on_top() -> None:
    record, victim = attack(PLAIN)
    # 6 bits for positive: god takes 2.5 of them, then fne 1.5 against flim 1; two words are all that may change.
    assert record.perturbed == ("god fne film",)
    assert record.outcome is Outcome.FAILED
    # original; goood, god, gold, fne, flim; then fne and flim with god
    assert record.queries == 8
    assert ("goood fine film",) in victim.asked
    assert ("god fne flim",) not in victim.asked


def test_one_word_or_three() -> None:
    record, _ = attack(Pruthi(words=1, source=SPACE, stopwords=frozenset()))
    assert (record.perturbed, record.queries) == (("god fine film",), 6)
    record, _ = attack(Pruthi(words=3, source=SPACE, stopwords=frozenset()))
    assert (record.perturbed, record.queries) == (("god fne flim",), 9)


def test_a_text_that_falls_at_the_first_gets_one_edit() -> None:
    record, _ = attack(PLAIN, weights={**WEIGHTS, "flim": -7.0})
    assert (record.perturbed, record.outcome, record.queries) == (("good fine flim",), Outcome.SUCCESS, 6)


def test_of_several_classes_one_that_fools_goes_before_one_that_hurts_more() -> None:
    def victim(texts: list[str]) -> list[tuple[float, ...]]:
        return [{"x b": (0.4, 0.3, 0.3), "y b": (0.45, 0.55, 0.0)}.get(text, (0.9, 0.1, 0.0)) for text in texts]

    with mohs.attack(victim, [("a b", 0)], [Pruthi(source=table(a="x y"), stopwords=frozenset())]) as run:
        record = next(run.records())
    assert (record.perturbed, record.outcome) == (("y b",), Outcome.SUCCESS)


@pytest.mark.parametrize(
    ("budget", "expected"), [(1, "good fine film"), (2, "goood fine film"), (3, "god fine film"), (7, "god fne film")]
)
def test_the_budget_is_kept(budget: int, expected: str) -> None:
    record, _ = attack(PLAIN, budget=budget)
    assert record.queries <= budget
    assert (record.outcome, record.perturbed) == (Outcome.EXHAUSTED, (expected,))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["good", "fine", "film", "plot"]), min_size=1, max_size=4), st.data())
def test_with_one_word_it_is_the_best_of_all_single_edits(words: list[str], data: st.DataObject) -> None:
    choices = {"good": ["god", "goood"], "fine": ["fne"], "film": ["flim", "fim"]}
    spelled = [*choices, *(new for others in choices.values() for new in others)]
    weights = {word: data.draw(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])) for word in spelled}
    record, victim = attack(
        Pruthi(words=1, source=table(**{w: " ".join(o) for w, o in choices.items()}), stopwords=frozenset()),
        " ".join(words),
        weights=weights,
    )
    if record.outcome is Outcome.SKIPPED:
        return
    texts = [
        " ".join([*words[:i], new, *words[i + 1 :]]) for i, word in enumerate(words) for new in choices.get(word, ())
    ]
    best = max(texts, key=lambda text: round(victim.scores((text,))[0], 6), default=" ".join(words))
    assert record.scores_after is not None
    assert round(record.scores_after[0], 6) == round(victim.scores((best,))[0], 6)
    assert record.queries == 1 + len(set(texts))


def test_the_variants_are_the_papers() -> None:
    text = Text("cat film")
    cat, film = now(Pruthi().source(text, (0, 1), services()))
    assert cat == {}  # too short
    assert set(film) == {
        "flim",
        *("flm", "fim"),
        *(f"f{a}ilm" for a in "abcdefghijklmnopqrstuvwxyz"),
        *(f"fi{a}lm" for a in "abcdefghijklmnopqrstuvwxyz"),
        *(f"fil{a}m" for a in "abcdefghijklmnopqrstuvwxyz"),
        *characters.keyboard("film", inner=True),
    }
    assert all(word[0] == "f" and word[-1] == "m" for word in film)
    assert "fulm" in film  # u lies beside i
