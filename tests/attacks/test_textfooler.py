"""TextFooler, step by step on a victim and a space small enough to follow by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

import mohs
from mohs.attacks import TextFooler
from mohs.attacks.textfooler import THRESHOLDS, adjusted, released, textattack
from mohs.models.encoder import PocketEncoder
from mohs.records import Outcome, Record
from mohs.space import Constraint, Family, GrammarErrors, Neighbours, SamePos, SentenceSimilarity
from mohs.text import Text
from tests.attacks.fills import Angles, Parts
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


@dataclass(frozen=True)
class Without:
    """A measure: 1 for texts without a word."""

    word: str
    name: ClassVar[str] = "without"
    family: ClassVar[Family] = Family.SEMANTICS
    needs: ClassVar[tuple[str, ...]] = ()
    stepwise: ClassVar[bool] = False

    async def of_texts(self, original: Text, current: Text | None, candidates: Any, ask: Any) -> list[float]:
        return [float(self.word not in candidate.words) for candidate in candidates]


def made(preset: Any, **changes: Any) -> TextFooler:
    """A preset over a small space, without its constraints."""
    plain = {"source": SPACE, "constraints": (), "stopwords": frozenset({"a"}), "similarity": None}
    found: TextFooler = replace(preset(), **{**plain, **changes})
    return found


def test_released_sees_importance_by_oov() -> None:
    record, victim = attack("a truly good film", method=made(released))
    asked = {text for (text,) in victim.asked}
    assert {"a <oov> good film", "a truly <oov> film", "a truly good <oov>"} <= asked
    assert "a truly film" not in asked
    assert record.perturbed == ("a really decent film",)


def test_released_asks_first_and_drops_afterwards() -> None:
    without = (Constraint(Without("decent"), at_least=1),)
    careful, cautious = attack("a truly good film", method=made(TextFooler, constraints=without))
    eager, asker = attack("a truly good film", method=made(released, constraints=without))
    # Both can only take nice (2.5), then really: 1.5 - 1 is still positive.
    # movie changes nothing, but is better than the original.
    assert careful.perturbed == ("a really nice film",)
    assert eager.perturbed == ("a really nice movie",)
    assert ("a truly decent film",) in asker.asked
    assert ("a truly decent film",) not in cautious.asked
    assert (careful.queries, eager.queries) == (7, 8)


def test_released_keeps_what_beats_the_original_even_if_it_is_a_step_back() -> None:
    weights = {"good": 3.0, "truly": 1.0, "nice": 1.5, "superb": 1.5}
    space = table(good="nice", truly="superb")
    for preset, text in ((TextFooler, "truly nice"), (released, "superb nice")):
        with mohs.attack(WordCount(weights), [("truly good", 1)], [made(preset, source=space)]) as run:
            record = next(run.records())
        assert record.outcome is Outcome.FAILED
        assert record.perturbed == (text,)
    # Nothing is kept that is no better than the original.
    with mohs.attack(WordCount(weights), [("truly", 1)], [made(released, source=space)]) as run:
        assert next(run.records()).perturbed == ("truly",)


def test_textattack_knows_no_bonus_for_a_flip() -> None:
    answers = {
        "a c": (0.3, 0.2, 0.5),
        "a b": (0.2, 0.5, 0.3),
        "a <oov> c": (0.3, 0.2, 0.5),
        "a b <oov>": (0.2, 0.5, 0.3),
    }
    first = {}
    for preset in (TextFooler, released, textattack):
        asked: list[str] = []

        def victim(texts: list[str], asked: list[str] = asked) -> list[tuple[float, ...]]:
            asked.extend(texts)
            return [answers.get(text, (0.6, 0.3, 0.1)) for text in texts]

        with mohs.attack(victim, [("a b c", 0)], [made(preset, source=table(b="x", c="z"))]) as run:
            assert next(run.records()).outcome is Outcome.FAILED
        first[preset] = asked.index("a x c") < asked.index("a b z")
    # b loses 0.3 and a new label gains 0.4; c loses 0.4 and a new label gains 0.2.
    assert first == {TextFooler: True, released: True, textattack: False}


def test_textattack_takes_the_strongest_winner_of_a_short_text() -> None:
    weights = {"good": 3.0, "fine": -0.5, "terrible": -1.0}
    found = {}
    for words in (3, 15):
        text = " ".join(["a", "good", *["film"] * (words - 2)])
        method = made(textattack, source=table(good="fine terrible"), similarity=textattack().similarity)
        with mohs.attack(WordCount(weights), [(text, 1)], [method]) as run:
            found[words] = next(run.records()).edits[0].new
    assert found == {3: "terrible", 15: "fine"}


def test_released_takes_the_winner_most_similar_to_the_text_before() -> None:
    measure = released().similarity
    assert measure == SentenceSimilarity(angular=True, window=15, previous=True)
    assert TextFooler().similarity == SentenceSimilarity(angular=True)

    def chosen(similarity: Any) -> Any:
        """The first step puts pathetic for awful; of the two winners after it one is nearer to that than to awful."""
        weights = {"awful": 3.0, "pathetic": 2.0, "film": 1.0, "travesty": -3.0, "tragedy": -3.0}
        space = table(awful="pathetic", film="travesty tragedy")
        method = made(TextFooler, source=space, similarity=similarity)
        with mohs.attack(WordCount(weights), [("awful film", 1)], [method]) as run:
            return next(run.records()).perturbed

    # With awful film pathetic tragedy has more in common, with pathetic film pathetic travesty.
    encoder = PocketEncoder()
    original, before, one, other = encoder.collect(
        [("awful film",), ("pathetic film",), ("pathetic travesty",), ("pathetic tragedy",)]
    )
    alike = SentenceSimilarity().of_vectors
    assert alike(original, one) < alike(original, other)
    assert alike(before, one) > alike(before, other)
    assert chosen(SentenceSimilarity()) == ("pathetic tragedy",)
    assert chosen(measure) == ("pathetic travesty",)


def test_thresholds_are_those_of_the_code() -> None:
    step = released().constraints[1]
    assert step.at_least == pytest.approx(1 - 0.3 / math.pi, abs=1e-6)  # 1 - angle >= 0.7
    assert step.at_least_short == pytest.approx(1 - 0.9 / math.pi, abs=1e-6)  # 1 - angle >= 0.1
    assert (step.holds(0.8, 14), step.holds(0.8, 15), step.holds(0.7, 14)) == (True, False, False)
    step = textattack().constraints[2]
    assert step.at_least == pytest.approx(1 - 0.5 / math.pi, abs=1e-6)
    assert (step.holds(0.0, 14), step.holds(0.84, 15), step.holds(0.840845, 15)) == (True, False, True)
    assert released().constraints[0].measure == SamePos(before=4, after=4)


def test_the_thresholds_of_the_critiques() -> None:
    found = {}
    for name, make in THRESHOLDS.items():
        method = make()
        assert isinstance(method.source, Neighbours)
        found[name] = (method.source.min_cosine, *(c.at_least for c in method.constraints[2:]))
        assert method.constraints[:2] == textattack().constraints[:2]
        for constraint in method.constraints[2:]:
            assert constraint.measure == SentenceSimilarity(angular=False, window=15, previous=False)
            assert constraint.short == 15  # shorter texts are not checked, as in TextAttack
        kept = replace(method, source=TextFooler().source, constraints=(), similarity=None)
        assert kept == replace(textattack(), constraints=(), similarity=None)
    assert found == {
        "cv50": (0.5,),
        "cv50-use88": (0.5, 0.88),
        "cv70-use85": (0.7, 0.85),
        "cv70-use90": (0.7, 0.9),
        "cv80-use90": (0.8, 0.9),
    }
    method = adjusted()
    assert isinstance(method.source, Neighbours)
    assert method.source.min_cosine == 0.9
    _, near, grammar = method.constraints
    assert (near.measure, near.at_least, near.short) == (
        SentenceSimilarity(angular=False, window=15, previous=True), 0.98, 0,
    )  # fmt: skip
    assert (grammar.measure, grammar.at_most) == (GrammarErrors(), 0)


def test_the_thresholds_look_at_a_window_of_the_original() -> None:
    """Of two words that help, as many change as the windows around them allow: 28 degrees are a cosine of 0.88."""
    far, turned = " x" * 20, {"poor": 20.0, "dull": 30.0}
    victim = WordCount({"good": 5.0, "poor": 2.0, "dull": 2.0})

    def changed(text: str, word: str, preset: Any = THRESHOLDS["cv50-use88"]) -> int:
        method = replace(preset(), source=table(good=word), stopwords=frozenset("x"))
        with mohs.attack(victim, [(text, 1)], [method], encoder=Angles(turned), tagger=Parts({})) as run:
            record = next(run.records())
        assert record.outcome is Outcome.FAILED
        return len(record.edits)

    assert changed(f"good{far} good", "poor") == 2  # 40 degrees in the whole text, 20 in each window
    assert changed(f"good good{far}", "poor") == 1  # 40 degrees in the window after the second step ...
    assert changed(f"good good{far}", "poor", textattack) == 2  # ... where TextFooler may drift away
    assert changed(f"good{far}", "dull") == 0
    assert changed("good good x", "dull") == 2  # short texts are not compared


def test_adjusted_lets_no_new_grammar_error_through() -> None:
    grammar = adjusted().constraints[2]
    weights = {"good": 3.0, "a": 4.0, "an": -9.0, "fine": -1.0}
    for constraints, text in (((), "this is an good film"), ((grammar,), "this is a fine film")):
        method = made(adjusted, source=table(a="an", good="fine"), constraints=constraints, stopwords=frozenset())
        with mohs.attack(WordCount(weights), [("this is a good film", 1)], [method], grammar=_Articles()) as run:
            record = next(run.records())
        assert record.perturbed == (text,)
    assert record.measures["grammar errors introduced"] == 0


class _Articles:
    """A grammar checker that objects to an before a consonant."""

    name = fingerprint = "articles"
    in_flight = 1

    def plan(self, items: list[str]) -> list[list[str]]:
        return [items]

    def launch(self, batch: list[str]) -> list[str]:
        return batch

    def collect(self, ticket: list[str]) -> list[tuple[str, ...]]:
        return [("an",) if " an g" in text or " an f" in text else () for text in ticket]
