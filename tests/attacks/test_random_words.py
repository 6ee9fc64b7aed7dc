"""The random baseline."""

from __future__ import annotations

from collections import Counter

import mohs
from mohs.attacks import RandomWords
from mohs.records import Outcome
from tests.toys import WordCount, table

PLAIN = RandomWords(walks=1, source=table(good="nice fine okay", film="movie"), constraints=(), stopwords=frozenset())


def test_every_choice_is_equally_likely() -> None:
    """600 examples of one word with three choices: a chi-square test at the 0.1% level, seed fixed."""
    from scipy.stats import chisquare

    examples = [mohs.Example.of("good", 1, id=str(i)) for i in range(600)]
    with mohs.attack(WordCount({"good": 3.0}), examples, [PLAIN], seed=1) as run:
        words = Counter(record.perturbed for record in run.records())
    assert set(words) == {("nice",), ("fine",), ("okay",)}
    assert chisquare(list(words.values())).pvalue > 0.001


def test_it_stops_at_the_first_success() -> None:
    weights = {"good": 3.0, "nice": -1.0, "fine": -1.0, "okay": -1.0}
    victim = WordCount(weights)
    with mohs.attack(victim, [("good", 1)], [PLAIN]) as run:
        record = next(run.records())
    assert record.outcome is Outcome.SUCCESS
    assert record.queries == 2


def test_a_victim_with_labels_only_will_do() -> None:
    def labels(texts: list[str]) -> list[int]:
        return [int("good" in text) for text in texts]

    with mohs.attack(labels, [("good", 1)], [PLAIN], labels=("no", "yes"), victim_options={"output": "labels"}) as run:
        assert next(run.records()).outcome is Outcome.SUCCESS


def test_seeds_matter_and_repeat() -> None:
    examples = [mohs.Example.of("good film good film", 1, id=str(i)) for i in range(20)]

    def texts(seed: int) -> list[object]:
        with mohs.attack(WordCount({"good": 3.0}), examples, [PLAIN], seed=seed) as run:
            return [record.perturbed for record in run.records()]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)
