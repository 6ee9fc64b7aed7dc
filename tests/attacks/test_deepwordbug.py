"""DeepWordBug: its scores by hand, what the edit distance lets through, and TextAttack's way."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

import mohs
from mohs.attacks.bugs import drawn
from mohs.attacks.deepwordbug import DeepWordBug, GreedyDeepWordBug
from mohs.records import Outcome, Record
from mohs.space import Constraint, EditDistance, Space
from mohs.text import Text
from tests.toys import WordCount, table

# The true label's probability. Heads: a 0.6 - 0.5, b 0.7 - 0.6, c 0.9 - 0.7. Tails: c 0.55 - 0.5, b 0.85 - 0.55, a
# 0.9 - 0.85. Together a 0.15, b 0.40, c 0.25.
CHANCES = {"a b c": 0.9, "a": 0.6, "a b": 0.7, "c": 0.55, "b c": 0.85}
SPACE = table(a="x", b="y", c="z")


def attack(method: Any, example: Any = ("a b c", 0), **options: Any) -> tuple[Record, list[Any]]:
    asked: list[Any] = []
    chances = options.pop("chances", CHANCES)

    def victim(texts: list[Any]) -> list[tuple[float, float]]:
        asked.extend(texts)
        return [(chances.get(text, 0.9), 1 - chances.get(text, 0.9)) for text in texts]

    with mohs.attack(victim, [example], [method], **options) as run:
        return next(run.records()), asked


@pytest.mark.parametrize(
    ("edits", "tail", "expected"),
    [
        (0, 1.0, "a b c"),
        (1, 1.0, "a y c"),
        (2, 1.0, "a y z"),
        (3, 1.0, "x y z"),
        (1, 0.0, "a b z"),  # by the head score alone
        (2, 0.0, "x b z"),  # a and b are equal, the earlier first
        (2, 9.0, "a y z"),  # mostly by the tail score: b 2.8, c 0.65, a 0.55
    ],
)
def test_words_are_changed_by_the_combined_score_as_far_as_the_edit_distance_goes(
    edits: int, tail: float, expected: str
) -> None:
    method = DeepWordBug(source=SPACE, constraints=(Constraint(EditDistance(), at_most=edits),), tail=tail)
    record, asked = attack(method)
    assert record.perturbed == (expected,)
    # The original and four parts of it, and nothing between the edits.
    assert record.queries == 5
    assert {"a", "a b", "b c", "c"} < set(asked)
    assert "a y c" not in asked or expected == "a y c"


def test_it_does_not_stop_where_the_model_is_fooled() -> None:
    record, _ = attack(DeepWordBug(source=SPACE), chances={**CHANCES, "a y c": 0.1})
    assert (record.perturbed, record.outcome) == (("x y z",), Outcome.FAILED)


def test_only_words_that_may_change_are_scored() -> None:
    record, asked = attack(DeepWordBug(source=table(c="z")))
    assert record.perturbed == ("a b z",)
    assert record.queries == 3  # original, "a b" before it, "c" itself
    assert "b c" not in asked


def test_in_a_pair_only_the_field_of_the_word_is_cut() -> None:
    example = mohs.Example.of(("p q", "a b"), 0)
    chances = {("p q", "a b"): 0.9, ("p q", "a"): 0.85, ("p q", "b"): 0.7}
    record, asked = attack(DeepWordBug(source=SPACE), example, chances=chances)
    assert record.perturbed == ("p q", "x y")
    assert {tuple(fields) for fields in asked if fields[0] == "p q"} == {
        ("p q", "a b"),
        ("p q", "a"),
        ("p q", "b"),
        ("p q", "x y"),
    }
    # Before the first word of its field there is nothing: a has 0.35 + 0.2, b 0.05 + 0.2.
    one = DeepWordBug(source=SPACE, constraints=(Constraint(EditDistance(), at_most=1),))
    assert attack(one, example, chances=chances)[0].perturbed == ("p q", "x b")


def test_the_default_makes_thirty_random_substitutions_of_one_letter() -> None:
    text = " ".join(f"{one}{two}ing" for one in "abcdefgh" for two in "aeiou")
    records = [attack(DeepWordBug(), (text, 0), seed=seed)[0] for seed in (0, 0, 1)]
    assert records[0] == records[1]
    assert records[0].perturbed != records[2].perturbed
    for record in records:
        assert len(record.edits) == 30
        assert all(len(e.old) == len(e.new) and Levenshtein.distance(e.old, e.new) == 1 for e in record.edits)
    assert len({[a != b for a, b in zip(e.old, e.new, strict=True)].index(True) for e in records[0].edits}) == 5


def test_textattack_asks_one_random_edit_of_each_kind_in_the_order_of_unknown_words() -> None:
    victim = WordCount({"good": 3.0, "fine": 1.0})
    with mohs.attack(victim, [("fine good film", 1)], [GreedyDeepWordBug()]) as run:
        record = next(run.records())
    # good matters most; fine still holds the label, and falls next
    assert record.outcome is Outcome.SUCCESS
    assert [edit.old for edit in record.edits] == ["fine", "good"]
    assert record.queries == 1 + 3 + 4 + 4
    texts = [fields[0] for fields in victim.asked]
    hidden = ["[UNK] good film", "fine [UNK] film", "fine good [UNK]"]
    assert all(text in texts for text in hidden)
    first = [text for text in texts if text.startswith("fine ") and text.endswith(" film") and text not in hidden]
    words = [text.split()[1] for text in dict.fromkeys(first) if text != "fine good film"]
    assert sorted(len(word) for word in words) == [3, 4, 4, 5]
    assert sum(sorted(word) == sorted("good") for word in words) == 1
    assert record.measures["edit distance"] <= 4


def test_textattack_keeps_the_strongest_within_the_edit_distance() -> None:
    weights = {"good": 3.0, "bad": -1.0, "worse": -2.0, "film": 1.0, "flim": -1.0, "fine": 0.5}
    method = GreedyDeepWordBug(
        source=table(good="bad worse fine", film="flim"),
        constraints=(Constraint(EditDistance(), at_most=5),),
        stopwords=frozenset(),
    )
    victim = WordCount(weights)
    with mohs.attack(victim, [("good film", 1)], [method]) as run:
        record = next(run.records())
    # bad already fools (with film: 0), worse more so, and the strongest is taken
    assert record.perturbed == ("worse film",)
    assert record.queries == 1 + 2 + 3
    tight = GreedyDeepWordBug(
        source=method.source, constraints=(Constraint(EditDistance(), at_most=3),), stopwords=frozenset()
    )
    with mohs.attack(WordCount(weights), [("good film", 1)], [tight]) as run:
        record = next(run.records())
    assert (record.perturbed, record.queries) == (("bad film",), 1 + 2 + 1)  # the others are four and five edits away


def test_one_of_each_bug_is_drawn_and_all_of_the_rest() -> None:
    names = {
        "ab": "swap",
        "ba": "swap",
        "a": "delete",
        "aa": "homoglyph",
        "bb": "keyboard",
        "word": "neighbours",
        "x": "y",
    }
    space = Space(Text("abc"), {0: tuple(names)}, offers={0: names})
    bugs = (("swap",), ("split",), ("delete",), ("homoglyph", "keyboard"))
    draws = [drawn(space, 0, bugs, Random(seed)) for seed in range(40)]
    assert {draw[0] for draw in draws} == {"ab", "ba"}
    assert {draw[2] for draw in draws} == {"aa", "bb"}
    assert all([draw[1], *draw[3:]] == ["a", "word", "x"] for draw in draws)
