"""PWWS, step by step: saliency, substitutes chosen once on the clean text, the order; and TextAttack's way."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mohs
from mohs.attacks.goal import predicted
from mohs.attacks.named_entities import NamedEntities
from mohs.attacks.pwws import PWWS, GreedyPWWS, TaggedSynonyms
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.space import Constraint, EditDistance, WordCosine
from mohs.text import Text
from mohs.text.questions import Spot, Tag
from tests.toys import WordCount, now, services, table

# Probability of the true label 0; whatever is not listed keeps it at 0.9.
CHANCES = {
    "a b c": 0.9,
    "[UNK] b c": 0.8,  # saliency 0.1
    "a [UNK] c": 0.5,  # 0.4
    "a b [UNK]": 0.45,  # 0.45
    "a1 b c": 0.75,
    "a2 b c": 0.6,  # the best alone: loses 0.30, H = 0.332
    "a b1 c": 0.62,  # loses 0.28, H = 0.418
    "a b c1": 0.7,  # loses 0.20, H = 0.314
    "a2 b1 c": 0.7,  # worse than before, and kept all the same
    "a2 b1 c1": 0.4,
    "a1 b1 c": 0.4,
    "a b1 c1": 0.65,
}
SPACE = table(a="a1 a2", b="b1", c="c1")


def attack(
    method: Any, chances: dict[str, float] = CHANCES, text: str = "a b c", **options: Any
) -> tuple[Record, list[str]]:
    asked: list[str] = []

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        asked.extend(texts)
        return [(chances.get(text, 0.9), 1 - chances.get(text, 0.9)) for text in texts]

    with mohs.attack(victim, [(text, 0)], [method], **options) as run:
        return next(run.records()), asked


def plain(kind: Any, **fields: Any) -> Any:
    return replace(kind(), **{"source": SPACE, "stopwords": frozenset(), **fields})


def test_substitutes_are_chosen_once_and_put_in_by_their_weighted_loss() -> None:
    record, asked = attack(plain(PWWS))
    # By loss alone a would come first, by saliency alone c.
    assert record.perturbed == ("a2 b1 c1",)
    assert record.outcome is Outcome.SUCCESS
    assert asked.index("a2 b1 c") < asked.index("a2 b1 c1")
    assert "a1 b1 c" not in asked  # a2 stays the choice for a
    # original, three hidden words, four candidates, two more steps (the first is known)
    assert record.queries == 10


def test_textattack_weighs_by_the_score_and_chooses_anew() -> None:
    record, asked = attack(plain(GreedyPWWS))
    # e^0.4 * 0.38 for b, e^0.45 * 0.3 for c, e^0.1 * 0.4 for a: c now comes before a. c1 does not help and is dropped.
    assert record.perturbed == ("a1 b1 c",)
    assert asked.index("a b1 c1") < asked.index("a1 b1 c")
    # original, three hidden words, four candidates alone, one step for c, two candidates for a
    assert record.queries == 11


def test_a_search_that_fails_ends_with_every_word_replaced() -> None:
    record, _ = attack(plain(PWWS), {**CHANCES, "a2 b1 c1": 0.95})
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == ("a2 b1 c1",)


def test_ties_go_to_the_earlier_word_and_text() -> None:
    record, asked = attack(plain(PWWS), {"a2 b1 c1": 0.1}, text="a b c")
    assert asked.index("a1 b1 c") > asked.index("a b c1")
    assert record.perturbed == ("a1 b1 c1",)


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (3, "a b c"),
        (4, "a b c"),
        (5, "a1 b c"),
        (6, "a2 b c"),
        (7, "a b1 c"),
        (8, "a b1 c"),
        (9, "a2 b1 c"),
        (10, "a2 b1 c1"),
    ],
)
def test_the_budget_is_kept(budget: int, expected: str) -> None:
    record, _ = attack(plain(PWWS), budget=budget)
    assert record.queries <= budget
    assert record.outcome is (Outcome.SUCCESS if budget >= 10 else Outcome.EXHAUSTED)
    assert record.perturbed == (expected,)


def test_a_replacement_that_breaks_a_constraint_is_left_out() -> None:
    record, asked = attack(plain(PWWS, constraints=(Constraint(EditDistance(), at_most=2),)))
    assert record.perturbed == ("a2 b1 c",)
    assert "a2 b1 c1" not in asked


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0]), min_size=12, max_size=12),
    length=st.integers(1, 6),
)
def test_the_order_is_that_of_the_softmax_over_all_words(weights: list[float], length: int) -> None:
    """Against the paper's formulas with the softmax over all words, also those that have no synonym."""
    words = [f"w{i}" for i in range(length)]
    victim = WordCount({**dict(zip(words, weights, strict=False)), **{f"v{i}": w for i, w in enumerate(weights[6:])}})

    def chance(parts: list[str]) -> float:
        return victim.scores((" ".join(parts),))[label]

    label = predicted(victim.scores((" ".join(words),)))
    saliency = [chance(words) - chance([*words[:i], "UNK", *words[i + 1 :]]) for i in range(length)]
    total = sum(map(math.exp, saliency))
    changeable = [i for i in range(length) if i != 1]
    swapped = {i: [*words[:i], f"v{i}", *words[i + 1 :]] for i in changeable}
    value = {i: round(math.exp(saliency[i]) / total * (chance(words) - chance(swapped[i])), 9) for i in changeable}
    if len({round(v * total, 5) for v in value.values()}) < len(value):
        return  # ties are tested elsewhere
    current = list(words)
    for i in sorted(changeable, key=lambda i: -value[i]):
        current[i] = f"v{i}"
        if predicted(victim.scores((" ".join(current),))) != label:
            break
    source = table(**{f"w{i}": f"v{i}" for i in changeable})
    with mohs.attack(victim, [(" ".join(words), label)], [PWWS(source=source, stopwords=frozenset())]) as run:
        assert next(run.records()).perturbed == (" ".join(current),)


class Capitals:
    """A tagger that goes by looks."""

    name, fingerprint, in_flight = "capitals", "capitals-1", 1

    def plan(self, items: list[Spot]) -> list[list[Spot]]:
        return [items]

    def launch(self, batch: list[Spot]) -> list[Spot]:
        return batch

    def collect(self, ticket: list[Spot]) -> list[Tag]:
        return [self.tag(spot) for spot in ticket]

    def tag(self, spot: Spot) -> Tag:
        word = spot.text[spot.start : spot.end]
        if word.isdigit():
            return Tag("NUM", "CD")
        return Tag("PROPN", "NNP") if word[0].isupper() else Tag("NOUN", "NN")


def entities(tmp_path: Path) -> NamedEntities:
    file = tmp_path / "entities.json"
    replacements = {"0": {"GPE": "India", "PROPN": "David", "NUM": "7"}, "1": {"GPE": "Malta"}}
    file.write_text(json.dumps({"replacements": replacements, "types": {"London": "GPE", "rain": "GPE"}}))
    return NamedEntities.read(file)


def test_an_entity_gets_the_replacement_of_its_class_and_type(tmp_path: Path) -> None:
    method = PWWS(source=table(london="town", rain="snow"), stopwords=frozenset(), entities=entities(tmp_path))
    chances = {"India saw rain": 0.3}
    record, asked = attack(method, chances, "London saw rain", tagger=Capitals())
    assert record.perturbed == ("India saw rain",)
    assert [(edit.new, edit.source) for edit in record.edits] == [("India", "named entity")]
    assert "Town saw rain" in asked  # the paper adds the entity to the synonyms
    assert not any("Malta" in text or "David" in text for text in asked)  # another class, another type
    assert not any("saw India" in text for text in asked)  # listed as GPE, but no entity by its tag here


def test_in_the_released_code_an_entity_has_no_synonyms(tmp_path: Path) -> None:
    method = PWWS(
        source=table(london="town", rain="snow"),
        stopwords=frozenset(),
        entities=entities(tmp_path),
        entities_alone=True,
    )
    _, asked = attack(method, {}, "London saw rain", tagger=Capitals())
    assert "India saw rain" in asked
    assert "London saw snow" in asked
    assert not any("Town" in text for text in asked)


def test_a_name_without_synonyms_is_replaced_but_no_stopword_and_nothing_against_constraints(tmp_path: Path) -> None:
    method = PWWS(source=table(), stopwords=frozenset({"in"}), entities=entities(tmp_path))
    record, _ = attack(method, {"David met 7": 0.2}, "Ann met 12", tagger=Capitals())
    assert record.perturbed == ("David met 7",)
    record, _ = attack(method, {}, "In met 7", tagger=Capitals())
    assert record.edits == ()  # a stopword, and a number that is its own replacement
    near = PWWS(source=table(), entities=entities(tmp_path), constraints=(Constraint(WordCosine(), at_least=0.99),))
    record, _ = attack(near, {}, "London rains", tagger=Capitals())
    assert (record.error, record.edits) == (None, ())


class Book:
    """A WordNet of one entry a class."""

    def synonyms(self, word: str, pos: str | None = None) -> list[str]:
        return {
            ("film", "n"): ["movie", "films"],
            ("film", "v"): ["shoot"],
            ("and", None): ["plus"],
            ("be", "v"): ["is"],
        }.get((word, pos), [])


def test_tagged_synonyms_have_the_tag_of_the_word_in_its_text() -> None:
    text = Text("and film be over")
    tags = {
        "and": "CC",
        "film": "NN",
        "be": "VB",
        "over": "RP",
        "movie": "NN",
        "films": "NNS",
        "plus": "CC",
        "is": "VB",
    }

    def offered(**changed: str) -> list[dict[str, str]]:
        own = {**tags, **changed}
        ask = services(tagger=lambda spot: Tag("X", own[spot.text[spot.start : spot.end]]), wordnet=Book())
        return now(TaggedSynonyms()(text, (0, 1, 2, 3), ask))

    assert offered() == [{"plus": "wordnet"}, {"movie": "wordnet"}, {}, {}]
    assert offered(film="VBP", shoot="VBP")[1] == {"shoot": "wordnet"}
    assert offered(film="VBP", shoot="VB")[1] == {}
    assert offered(film="FW")[1] == {}


class Near:
    """Vectors of which only the cosines are known."""

    name, fingerprint = "near", "near-1"

    def cosines(self, word: str, others: list[str]) -> list[float]:
        known = {"a1": 0.5, "a2": 0.499, "c1": 0.9}
        return [known.get(other, math.nan) for other in others]


def test_cos50_is_textattacks_with_a_cosine_of_words() -> None:
    assert replace(GreedyPWWS.primed(), constraints=()) == GreedyPWWS()
    record, asked = attack(plain(GreedyPWWS.primed), vectors=Near())
    # a2 is too far; b1 has no vector and passes. The order is b, c, a: b1 is kept, c1 does not help it, a1 fools.
    tried = ["a1 b c", "a b1 c", "a b c1", "a b1 c1", "a1 b1 c"]
    assert {text for text in asked if "1" in text or "2" in text} == set(tried)
    assert record.perturbed == ("a1 b1 c",)
    assert record.measures["word cosine"] == 0.5  # of a and a1


def test_entities_come_from_a_file_by_name(tmp_path: Path) -> None:
    file = tmp_path / "entities.json"
    entities(tmp_path)
    method = PWWS(source=table(london="town"), stopwords=frozenset())
    for named in (str(file), file, NamedEntities.read(file)):
        record, _ = attack(method, {"India saw rain": 0.3}, "London saw rain", tagger=Capitals(), entities=named)
        assert record.perturbed == ("India saw rain",)
        assert record.attack.endswith("+entities")
    with pytest.raises(BadInput, match="pwws:textattack does not replace named entities"):
        mohs.attack("pocket", "pocket", ["pwws:textattack"], entities=file)
    with pytest.raises(BadInput, match="random:baseline does not replace named entities"):
        mohs.attack("pocket", "pocket", ["random"], entities=file)
