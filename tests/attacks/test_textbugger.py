"""TextBugger: sentences first, then words, then bugs; by gradient; and TextAttack's way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mohs
from mohs.attacks.textbugger import GreedyTextBugger, Slopes, TextBugger, WhiteBoxTextBugger, sentences_of
from mohs.records import Outcome, Record
from mohs.space import Constraint, EditDistance, SentenceSimilarity
from mohs.text import Text
from mohs.text.questions import Labelled, Slope
from tests.toys import CountSlopes, WordCount, now, services, table

# In bits for positive: the sentences hold -1, 4 and 2.5, the whole 5.5.
WEIGHTS = {"bad": -1.0, "good": 3.0, "fine": 1.0, "nice": 2.0, "end": 0.5, "god": -1.0, "bda": -9.0, "fein": 3.0}
REVIEW = "bad plot. nice end! fine good film"
SPACE = table(bad="bda", plot="polt", good="aood god", fine="fien", nice="ncie")


def attack(method: Any, text: Any = REVIEW, label: int = 1, **options: Any) -> tuple[Record, list[str]]:
    victim = options.pop("victim", None) or WordCount(WEIGHTS)
    with mohs.attack(victim, [mohs.Example.of(text, label)], [method], **options) as run:
        record = next(run.records())
    assert record.error is None, record.error
    return record, [fields[0] for fields in victim.asked]


def plain(kind: Any, source: Any = SPACE, edits: int = 99, **fields: Any) -> Any:
    constraints = (Constraint(EditDistance(), at_most=edits),)
    return kind(**{"source": source, "constraints": constraints, "stopwords": frozenset(), **fields})


def test_the_most_telling_sentence_first_and_in_it_the_most_important_word() -> None:
    record, asked = attack(plain(TextBugger))
    # The last sentence holds most; in it good, then fine: 5.5 -> 1.5 (god) -> 0.5. Then nice: -1.5.
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("bad plot. ncie end! fien god film",)
    steps = [
        "bad plot. nice end! fine god film",
        "bad plot. nice end! fien god film",
        "bad plot. ncie end! fien god film",
    ]
    assert [text for text in dict.fromkeys(asked) if text in steps] == steps
    # original; three sentences; good and fine deleted in theirs; two bugs and one; nice deleted; one bug
    assert record.queries == 1 + 3 + 2 + 2 + 1 + 1 + 1
    assert {"fine film", "good film", "end!"} < set(asked)  # words are deleted from their sentence alone


def test_a_sentence_of_another_class_is_left_alone() -> None:
    record, asked = attack(plain(TextBugger, table(bad="bda", plot="polt")))
    assert "bad plot." in asked
    assert (record.outcome, record.edits, record.queries) == (Outcome.FAILED, (), 2)
    assert not any("bda" in text for text in asked)


def test_a_bug_is_kept_though_it_does_not_help() -> None:
    record, _ = attack(plain(TextBugger, table(fine="fein", good="goood")), "fine good film")
    assert (record.perturbed, record.outcome) == (("fein goood film",), Outcome.FAILED)


def test_it_gives_up_where_the_strongest_bug_goes_too_far() -> None:
    # good -> god is one edit, fine -> fien two more, nice -> ncie another two.
    record, _ = attack(plain(TextBugger, edits=4))
    assert record.perturbed == ("bad plot. nice end! fien god film",)
    assert (record.outcome, record.queries) == (Outcome.FAILED, 11)
    # The strongest of all is chosen first: that a weaker bug would be allowed does not help.
    record, _ = attack(plain(TextBugger, table(good="goood bda", fine="fien"), edits=2), "fine good film")
    assert record.edits == ()


@pytest.mark.parametrize("budget", range(1, 12))
def test_the_budget_is_kept(budget: int) -> None:
    record, _ = attack(plain(TextBugger), budget=budget)
    assert record.queries <= budget
    assert record.outcome is (Outcome.SUCCESS if budget >= 11 else Outcome.EXHAUSTED)
    best = {7: "bad plot. nice end! fine aood film", 8: "bad plot. nice end! fine god film"}
    if budget in best:
        assert record.perturbed == (best[budget],)


def test_the_defaults_bug_words_of_a_real_text() -> None:
    record, asked = attack(TextBugger(), "a good film", victim=WordCount({"good": 3.0, "film": -1.0}))
    assert record.outcome is Outcome.SUCCESS
    (edit,) = record.edits
    assert edit.source in ("split", "delete", "swap", "homoglyph", "keyboard", "neighbours")
    bugs = {text for text in asked if text.startswith("a ") and text.endswith(" film") and "good" not in text}
    assert len(bugs) == 4 + 5  # a space, a deletion, a swap, another letter, and five words
    assert record.measures["sentence cosine"] >= 0.8


class Steep(WordCount):
    """Its slopes are those we say."""

    def __init__(self, slopes: dict[str, float]) -> None:
        super().__init__(WEIGHTS)
        self.slopes = slopes

    def gradients(self) -> CountSlopes:
        return SteepSlopes(self)


class SteepSlopes(CountSlopes):
    def slope(self, item: Labelled) -> Slope:
        assert isinstance(self.victim, Steep)
        text = Text(*item.fields)
        steps = np.array([[self.victim.slopes.get(word, 0.0), 0.0] for word in text.words], np.float32).reshape(-1, 2)
        return Slope(0.0, tuple(text.spans()), steps if item.label == 1 else -9 * steps, steps)


def test_white_box_goes_by_the_length_of_the_gradient() -> None:
    victim = Steep({"nice": -3e-5, "fine": 2e-5, "good": 1e-5, "bad": 1e-6})
    record, asked = attack(plain(WhiteBoxTextBugger), victim=victim)
    steps = [
        "bad plot. ncie end! fine good film",
        "bad plot. ncie end! fien good film",
        "bad plot. ncie end! fien god film",
    ]
    assert [text for text in dict.fromkeys(asked) if text in steps] == steps
    assert (record.perturbed, record.outcome) == ((steps[-1],), Outcome.SUCCESS)
    assert record.queries == 1 + 1 + 1 + 2  # no words deleted, no sentences
    source = table(nice="ncie", fine="impeccable", good="goood")
    record, _ = attack(plain(WhiteBoxTextBugger, source, edits=4), victim=victim)
    assert (record.perturbed, record.outcome) == ((steps[0],), Outcome.FAILED)  # gives up at fine, before good


def test_the_slope_of_a_word_is_the_mean_of_its_tokens() -> None:
    spans = ((0, 0, 2), (0, 2, 4), (0, 5, 9))
    gradient = np.array([[3, 1], [1, -1], [0, 4]], np.float32)
    ask: Any = services(gradients=lambda item: Slope(0.0, spans, gradient, gradient))
    text = Text("good film beyond")
    assert now(Slopes()(text, (0, 1, 2), 1, ask)) == {0: 0.5, 1: 1.0, 2: 0.0}
    assert now(Slopes()(text, (2,), 1, ask)) == {2: 0.0}


def test_textattack_ranks_all_words_by_deletion_and_keeps_what_helps() -> None:
    record, asked = attack(plain(GreedyTextBugger, similarity=None))
    # good (3), nice (2): 5.5 -> 1.5 -> -0.5; sentences play no part.
    assert record.perturbed == ("bad plot. ncie end! fine god film",)
    assert record.queries == 1 + 5 + 2 + 1
    assert "end!" not in asked
    record, _ = attack(plain(GreedyTextBugger, table(fine="fein", good="goood"), similarity=None), "fine good film")
    assert record.perturbed == ("fine goood film",)


def test_textattack_asks_only_what_is_allowed() -> None:
    method = plain(GreedyTextBugger, table(good="goood bda", fine="fien"), edits=2, similarity=None)
    record, asked = attack(method, "fine good film")
    assert not any("bda" in text for text in asked)
    assert record.perturbed == ("fine goood film",)


def test_textattack_takes_the_most_similar_of_those_that_fool() -> None:
    from mohs.models.encoder import PocketEncoder

    words = ["terrible", "decent"]
    method = plain(GreedyTextBugger, table(good=" ".join(words)))
    record, _ = attack(method, "a good film", victim=WordCount({"good": 3.0, "terrible": -3.0, "decent": -1.0}))
    first, *vectors = PocketEncoder().collect([("a good film",), *((f"a {word} film",) for word in words)])
    values = [SentenceSimilarity().of_vectors(first, vector) for vector in vectors]
    assert values[1] > values[0]
    assert record.perturbed == ("a decent film",)  # terrible is stronger


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One two. Three four", ["One two.", "Three four"]),
        ('He said "no." Then left!  Why?', ['He said "no."', "Then left!", "Why?"]),
        ("film . it was", ["film .", "it was"]),
        ("line\n\nother line", ["line", "other line"]),
        ("3.5 stars", ["3.5 stars"]),
        (" lead ... trail . ", [" lead ...", "trail ."]),
        ("... !", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [sentence.text.fields[0] for sentence in sentences_of(Text(text))] == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("ab.!?\n \"'", max_size=25), min_size=1, max_size=2))
def test_every_word_is_in_one_sentence_and_found_again_there(fields: list[str]) -> None:
    text = Text(*fields)
    places = [(p, s.text.words[own]) for s in sentences_of(text) for p, own in s.local(tuple(range(len(text)))).items()]
    assert places == list(enumerate(text.words))


def test_a_pair_keeps_the_other_field() -> None:
    first, second = sentences_of(Text("one. two", "three"))[1:]
    assert first.text.fields == ("two", "three")
    assert second.text.fields == ("one. two", "three")
    assert second.local((0, 2)) == {2: 2}
