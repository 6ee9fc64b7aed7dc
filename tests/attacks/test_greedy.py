"""Greedy search: every step is the best of all single replacements."""

from __future__ import annotations

from dataclasses import replace

import mohs
from mohs.attacks.greedy import Greedy
from mohs.records import Outcome
from mohs.space import Constraint, WordsChanged
from tests.toys import WordCount, table

WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0}
PLAIN = Greedy(source=table(good="nice decent", truly="really", film="movie"), constraints=(), stopwords=frozenset())


def test_the_best_replacement_of_all_words_first() -> None:
    victim = WordCount(WEIGHTS)
    with mohs.attack(victim, [("a truly good film", 1)], [PLAIN]) as run:
        record = next(run.records())
    # Four first steps; good -> decent takes away 2.5. Then truly and film are left: really flips the label.
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a really decent film",))
    assert record.queries == 1 + 4 + 2
    assert ("a really nice film",) not in victim.asked


def test_constraints_are_checked_before_the_victim_is_asked() -> None:
    victim = WordCount(WEIGHTS)
    method = replace(PLAIN, constraints=(Constraint(WordsChanged(), at_most=1),))
    with mohs.attack(victim, [("a truly good film", 1)], [method]) as run:
        record = next(run.records())
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.FAILED, ("a truly decent film",), 5)
