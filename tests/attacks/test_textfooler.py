"""TextFooler, step by step on a victim and a space small enough to follow by hand."""

from __future__ import annotations

from typing import Any

import pytest

import mohs
from mohs.attacks import TextFooler
from mohs.records import Outcome, Record
from mohs.space import Constraint, SentenceSimilarity
from tests.toys import WordCount, table

# log2-odds of positive: good +3, film 0, truly +1; deleting a word takes its weight away.
WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "fine": -0.5, "okay": -0.5, "really": -1.0}
SPACE = table(good="nice decent", truly="really", film="movie")
PLAIN = TextFooler(source=SPACE, constraints=(), stopwords=frozenset({"a"}), similarity=None)


def attack(text: Any, label: int = 1, method: TextFooler = PLAIN, **options: Any) -> tuple[Record, WordCount]:
    victim = WordCount(WEIGHTS)
    with mohs.attack(victim, [mohs.Example.of(text, label)], [method], **options) as run:
        return next(run.records()), victim


def test_most_important_word_first_and_the_strongest_candidate_wins() -> None:
    record, victim = attack("a truly good film")
    # Importance by deletion: good (4 -> 1), truly (4 -> 3), film (no change). good -> decent (1.5) beats nice (2.5),
    # then truly -> really gives 0.5 - 1 < 0, which flips the label.
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("a really decent film",)
    assert [(e.position, e.old, e.new) for e in record.edits] == [(1, "truly", "really"), (2, "good", "decent")]
    # original, three deletions, two candidates for good, one for truly
    assert record.queries == 7
    assert ("a truly good movie",) not in victim.asked


def test_scores_are_the_victims_own() -> None:
    record, victim = attack("a truly good film")
    assert record.scores_before == victim.scores(("a truly good film",))
    assert record.scores_after == victim.scores(("a really decent film",))


def test_a_candidate_that_does_not_help_is_not_kept() -> None:
    method = TextFooler(source=table(good="best", film="movie"), constraints=(), stopwords=frozenset(), similarity=None)
    record, _ = attack("truly good film", method=method)
    # best weighs nothing, so it helps, though truly holds the label; movie changes nothing and is left out.
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == ("truly best film",)


def test_ties_go_to_the_earlier_position_and_text() -> None:
    method = TextFooler(source=table(good="okay fine"), constraints=(), stopwords=frozenset(), similarity=None)
    record, _ = attack("good film", method=method)
    assert record.perturbed == ("fine film",)  # fine and okay weigh the same


def test_among_winners_the_most_similar_to_the_original_is_taken() -> None:
    method = TextFooler(source=table(good="fine terrible"), constraints=(), stopwords=frozenset())
    weights = {"good": 3.0, "fine": -0.5, "terrible": -0.5}
    victim = WordCount(weights)
    with mohs.attack(victim, [("a good film", 1)], [method]) as run:
        record = next(run.records())
    similarity = SentenceSimilarity(angular=True)
    from mohs.models.encoder import PocketEncoder

    encoder = PocketEncoder()
    original, fine, terrible = encoder.collect([("a good film",), ("a fine film",), ("a terrible film",)])
    closest = max(
        (similarity.of_vectors(original, fine), "fine"), (similarity.of_vectors(original, terrible), "terrible")
    )
    assert record.perturbed == (f"a {closest[1]} film",)


def test_deletion_that_flips_the_label_adds_the_gain_of_the_new_one() -> None:
    # Three classes: deleting "b" loses less of the true label than deleting "c", but flips to class 2 and gains there.
    answers = {
        "a b c": (0.6, 0.3, 0.1),
        "a c": (0.3, 0.2, 0.5),  # without b: loses 0.3, flips to 2, which gained 0.4: 0.7
        "a b": (0.2, 0.5, 0.3),  # without c: loses 0.4, flips to 1, which gained 0.2: 0.6
    }
    asked: list[str] = []

    def victim(texts: list[str]) -> list[tuple[float, ...]]:
        asked.extend(texts)
        return [answers.get(text, (0.6, 0.3, 0.1)) for text in texts]

    method = TextFooler(source=table(b="x", c="z"), constraints=(), stopwords=frozenset(), similarity=None)
    with mohs.attack(victim, [("a b c", 0)], [method]) as run:
        assert next(run.records()).outcome is Outcome.FAILED
    assert asked.index("a x c") < asked.index("a b z")


def test_stopwords_are_neither_replaced_nor_brought_in() -> None:
    method = TextFooler(
        source=table(good="nice the", the="a"), constraints=(), stopwords=frozenset({"the"}), similarity=None
    )
    record, victim = attack("The good film", method=method)
    assert record.positions == 1
    assert all("the the" not in text.lower() and not text.startswith("A ") for (text,) in victim.asked)


def test_similarity_is_checked_against_the_text_before_the_step() -> None:
    """With the threshold just under the weakest single step, two steps pass although together they are below it."""
    space = table(terrible="pathetic", boring="dull")
    weights = {"terrible": 3.0, "pathetic": 1.0, "boring": 2.0, "dull": -3.0}

    def run_with(previous: bool, least: float) -> Record:
        measure = SentenceSimilarity(angular=True, previous=previous)
        method = TextFooler(
            source=space, constraints=(Constraint(measure, at_least=least),), stopwords=frozenset(), similarity=None
        )
        with mohs.attack(WordCount(weights), [("terrible boring", 1)], [method]) as run:
            return next(run.records())

    free = run_with(previous=True, least=-1)
    assert free.perturbed == ("pathetic dull",)
    whole = free.measures["sentence similarity"]
    assert run_with(previous=True, least=whole + 1e-6).perturbed == ("pathetic dull",)
    assert run_with(previous=False, least=whole + 1e-6).perturbed != ("pathetic dull",)


@pytest.mark.parametrize("budget", range(1, 9))
def test_the_budget_is_kept(budget: int) -> None:
    record, _ = attack("a truly good film", budget=budget)
    assert record.queries <= budget
    assert record.outcome is (Outcome.SUCCESS if budget >= 7 else Outcome.EXHAUSTED)
    # The best so far is given back: at 5 only the first candidate for good could be asked, at 6 both.
    expected = {5: "a truly nice film", 6: "a truly decent film", 7: "a really decent film", 8: "a really decent film"}
    assert record.perturbed == (expected.get(budget, "a truly good film"),)


def test_case_is_kept() -> None:
    record, _ = attack("A TRULY Good film")
    assert record.perturbed == ("A REALLY Decent film",)


def test_pairs_change_only_the_hypothesis_by_default() -> None:
    record, victim = attack(("truly good", "truly good film"), method=PLAIN)
    assert record.perturbed is not None
    assert {fields[0] for fields in victim.asked} == {"It was a good day.", "truly good"}  # the first is the probe
    assert record.edits[0].position >= 2


def test_an_empty_text_fails_without_an_error() -> None:
    record, _ = attack("", label=0)
    assert (record.outcome, record.perturbed, record.edits) == (Outcome.FAILED, ("",), ())


def test_targeted_and_below() -> None:
    record, _ = attack("a truly good film", goal="targeted:0")
    assert record.outcome is Outcome.SUCCESS
    record, _ = attack("a truly good film", goal="below:0.9")
    assert record.outcome is Outcome.SUCCESS
    assert len(record.edits) == 1
    record, _ = attack("a truly good film", label=0, goal="targeted:0")
    assert record.outcome is Outcome.SKIPPED
