"""The geometry attack on a victim whose sentence vector is the log-odds: the projection is what a change costs."""

from __future__ import annotations

from dataclasses import replace

import mohs
from mohs.attacks.geometry import Geometry
from mohs.attacks.method import needs
from mohs.records import Outcome, Record
from tests.toys import WordCount, table

WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0, "quite": 1.5, "movie": -0.5}
PLAIN = Geometry(source=table(good="nice decent", truly="really quite", film="movie"), stopwords=frozenset())


def attack(method: Geometry, text: str = "a truly good film", label: int = 1) -> tuple[Record, list[str]]:
    victim = WordCount(WEIGHTS)
    with mohs.attack(victim, [(text, label)], [method]) as run:
        return next(run.records()), list(dict.fromkeys(text for (text,) in victim.asked))


def test_it_takes_the_largest_step_towards_the_boundary_at_each_word_in_the_order_of_saliency() -> None:
    # The odds are 2^4. [UNK] takes good (3) or truly (1) away, and film has no weight: it comes last.
    record, asked = attack(PLAIN)
    hidden = {"a [UNK] good film", "a truly [UNK] film", "a truly good [UNK]"}
    visited = ["a truly decent film", "a really decent film"]  # 2^1.5 and 2^-0.5
    assert set(asked) - {"It was a good day.", "a truly good film", *visited} == hidden
    assert [text for text in asked if text in visited] == visited
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("a really decent film",)
    assert record.queries == 1 + 3 + 2


def test_it_ends_after_its_loops() -> None:
    record, _ = attack(replace(PLAIN, loops=1))
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == ("a truly decent film",)


def test_a_word_that_would_lead_away_stays() -> None:
    record, _ = attack(replace(PLAIN, source=table(truly="quite", good="decent")))
    assert record.perturbed == ("a truly decent film",)  # quite weighs more than truly


def test_it_moves_towards_the_other_class_from_either_side() -> None:
    record, _ = attack(replace(PLAIN, source=table(really="good truly")), "a really bad day", label=0)
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("a good bad day",)


def test_what_it_needs() -> None:
    assert set(needs(Geometry())) == {"wordnet", "gradients"}
    assert set(needs(Geometry.neighbours())) == {"vectors", "gradients"}
