"""Each measure against its plain definition on cases worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.space import (
    BertScore,
    Constraint,
    EditDistance,
    Family,
    FluencyRank,
    GrammarErrors,
    LogProbDrop,
    Measure,
    Perplexity,
    PerplexityRatio,
    PositionsAgain,
    PosListed,
    SamePos,
    SentenceSimilarity,
    ShareChanged,
    WordCosine,
    WordDistance,
    WordsBeyond,
    WordsChanged,
)
from mohs.space.services import KINDS
from mohs.space.written import MEASURES, parse_constraint
from mohs.text import Text, pocket
from mohs.text.questions import Scored, Spot, Tag
from mohs.text.vectors import Vectors
from tests.toys import now, services

VECTORS = Vectors(
    "toy",
    ("good", "fine", "bad", "odd"),
    np.array([[1, 0], [0.6, 0.8], [-1, 0], [0, 2]], np.float32),
)


def value(measure: Measure, original: Text, candidate: Text, current: Text | None = None, **parts: Any) -> float:
    (found,) = now(measure.of_texts(original, current, [candidate], services(**parts)))
    return found


def test_word_cosine_and_squared_distance() -> None:
    ask = services(vectors=VECTORS)
    assert WordCosine().of_words("Good", ["FINE", "bad", "odd", "new"], ask)[:3] == pytest.approx([0.6, -1, 0])
    assert math.isnan(WordCosine().of_words("good", ["new"], ask)[0])
    assert WordDistance().of_words("good", ["fine", "bad", "odd", "good"], ask) == pytest.approx([0.8, 4, 5, 0])


def test_over_a_text_the_worst_word_counts() -> None:
    x, y = Text("good good good"), Text("fine bad good")
    assert value(WordCosine(), x, y, vectors=VECTORS) == -1
    assert value(WordDistance(), x, y, vectors=VECTORS) == 4
    assert value(WordCosine(), x, x, vectors=VECTORS) == 1
    assert value(WordDistance(), x, x, vectors=VECTORS) == 0
    assert math.isnan(value(WordCosine(), x, Text("good unknown bad"), vectors=VECTORS))


def test_an_unknown_word_can_pass() -> None:
    x, passing = Text("good good good"), WordCosine(unknown_passes=True)
    assert passing.of_words("good", ["fine", "new"], services(vectors=VECTORS)) == pytest.approx([0.6, 1])
    assert value(passing, x, Text("good unknown fine"), vectors=VECTORS) == pytest.approx(0.6)
    assert math.isnan(value(passing, x, Text("good good"), vectors=VECTORS))  # not word by word: unknown as ever
    assert parse_constraint("word-cosine:unknown_passes=yes>=0.4") == Constraint(passing, at_least=0.4)


def test_previous_against_original() -> None:
    x, current, step = Text("good film"), Text("fine film"), Text("odd film")
    assert value(WordCosine(), x, step, current, vectors=VECTORS) == pytest.approx(0)
    assert value(WordCosine(previous=True), x, step, current, vectors=VECTORS) == pytest.approx(0.8)
    assert value(WordCosine(previous=True), x, step, None, vectors=VECTORS) == pytest.approx(
        0
    )  # an audit: the original
    assert Constraint(WordCosine(), at_least=0.5).about_words
    assert not Constraint(WordCosine(previous=True), at_least=0.5).about_words


@pytest.mark.parametrize(
    ("old", "new", "shared"),
    [("good", "nice", 1), ("film", "movie", 1), ("quickly", "table", 0), ("Film", "filmed", 1), ("film", "zzzz", 0)],
)
def test_part_of_speech_by_a_list(old: str, new: str, shared: float) -> None:
    assert PosListed().of_words(old, [new], services()) == [shared]


def test_noun_for_verb_only_where_allowed() -> None:
    lexicon = pocket.lexicon()
    noun = next(w for w in lexicon.words if lexicon.parts_of_speech(w) == 1)
    verb = next(w for w in lexicon.words if lexicon.parts_of_speech(w) == 2)
    assert PosListed().of_words(noun, [verb], services()) == [1]
    assert PosListed(noun_is_verb=False).of_words(noun, [verb], services()) == [0]


def tagger(spot: Spot) -> Tag:
    """A word is a verb after `to`, an adjective if it ends in -y, otherwise a noun."""
    before, word = spot.text[: spot.start].split(), spot.text[spot.start : spot.end]
    if before and before[-1] == "to":
        return Tag("VERB", "VB")
    if word.istitle():
        return Tag("PROPN", "NNP")
    return Tag("ADJ", "JJ") if word.endswith("y") else Tag("AUX", "VBZ") if word == "is" else Tag("NOUN", "NN")


def test_part_of_speech_in_context() -> None:
    x = Text("to film a film")
    strict = SamePos(noun_is_verb=False)
    assert value(strict, x, x.replace(1, "run"), x, tagger=tagger) == 1
    assert value(strict, x, x.replace(3, "sunny"), x, tagger=tagger) == 0
    assert value(SamePos(), x, x.replace(3, "sunny"), x, tagger=tagger) == 0
    # The old word is read in the original, the new one in the text as it would be.
    current = x.replace(0, "a")
    assert value(strict, x, current.replace(1, "run"), current, tagger=tagger) == 0  # a verb before, now a noun
    assert value(SamePos(), x, current.replace(1, "run"), current, tagger=tagger) == 1
    assert value(strict, Text("to go"), Text("to is"), Text("to go"), tagger=tagger) == 1
    assert value(strict, Text("he is"), Text("he go"), Text("he is"), tagger=tagger) == 0
    assert value(strict, x, x.replace(3, "Paris"), x, tagger=tagger) == 1  # a name is a noun
    assert value(SamePos(noun_is_verb=False), x, x, None, tagger=tagger) == 1
    assert value(strict, x, Text("to run a sunny"), None, tagger=tagger) == 0.5


def test_the_tagger_sees_four_words_before_and_three_after() -> None:
    x = Text("a b c d e, f g. h i")
    ask = services(tagger=tagger)
    now(SamePos().of_texts(x, x, [x.replace(5, "X"), x.replace(0, "X"), x.replace(8, "X")], ask))
    assert ask.parts["tagger"].asked == [
        Spot("b c d e, f g. h i", 9, 10),
        Spot("b c d e, X g. h i", 9, 10),
        Spot("a b c d ", 0, 1),
        Spot("X b c d ", 0, 1),
        Spot("e, f g. h i", 10, 11),
        Spot("e, f g. h X", 10, 11),
    ]


@given(st.text(alphabet="ab ", max_size=8), st.text(alphabet="ab ", max_size=8))
def test_edit_distance_equals_its_recursion(one: str, other: str) -> None:
    def plain(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        return min(plain(a[1:], b) + 1, plain(a, b[1:]) + 1, plain(a[1:], b[1:]) + (a[0] != b[0]))

    if len(one) + len(other) <= 10:
        assert value(EditDistance(), Text(one), Text(other)) == plain(one, other)


def test_edit_distance_adds_up_over_a_pair() -> None:
    assert value(EditDistance(), Text("kitten", "ab"), Text("sitting", "b")) == 4


def test_words_changed() -> None:
    x = Text("one two three four five")
    y = x.replace_all({0: "a", 3: "b"})
    assert value(WordsChanged(), x, y) == 2
    assert value(ShareChanged(), x, y) == pytest.approx(0.4)
    assert value(ShareChanged(), Text(""), Text("")) == 0
    assert value(WordsChanged(), x, x.drop(2)) == 1
    assert value(WordsChanged(), x, x.insert(0, "zero")) == 1


@pytest.mark.parametrize(
    ("measure", "words", "allowed"),
    [
        (WordsBeyond(0.4), 9, 3),
        (WordsBeyond(0.4, up=True), 9, 4),
        (WordsBeyond(0.4), 10, 4),
        (WordsBeyond(0.4, up=True), 10, 4),
        (WordsBeyond(0.1, up=True), 30, 3),  # 0.1 * 30 in floating point is a hair over 3
        (WordsBeyond(0.1, up=True, least=4), 20, 4),
        (WordsBeyond(0.1, up=True, least=4), 60, 6),
        (WordsBeyond(0.2), 0, 0),
    ],
)
def test_the_allowance_of_words(measure: WordsBeyond, words: int, allowed: int) -> None:
    x = Text(" ".join(["w"] * words))
    assert measure.allowed(words) == allowed
    constraint = Constraint(measure, at_most=0)
    for changed in (allowed, allowed + 1):
        if changed <= words:
            found = value(measure, x, x.replace_all(dict.fromkeys(range(changed), "x")))
            assert constraint.holds(found, words) == (changed <= allowed)


def test_positions_again() -> None:
    x = Text("a b c")
    current = x.replace(1, "B")
    assert value(PositionsAgain(), x, current.replace(1, "Z"), current) == 1
    assert value(PositionsAgain(), x, current.replace(0, "Z"), current) == 0
    assert value(PositionsAgain(), x, current, None) == 0
    assert value(PositionsAgain(), x, x, current) == 1  # taking a change back is a change too


@pytest.mark.parametrize(
    ("cosine", "angular"),
    [(1, 1), (0.87758, 0.840845), (0.6216, 0.7135), (0.9553, 0.90446), (0.809, 0.8), (0.98007, 0.936338), (0, 0.5)],
)
def test_angular_against_cosine(cosine: float, angular: float) -> None:
    one, other = np.array([1.0, 0.0], np.float32), np.array([cosine, math.sqrt(1 - cosine * cosine)], np.float32)
    assert SentenceSimilarity(angular=True).of_vectors(one, other) == pytest.approx(angular, abs=1e-4)
    assert SentenceSimilarity(angular=False).of_vectors(one, other) == pytest.approx(cosine, abs=1e-6)


def test_a_window_sees_only_words_around_the_change() -> None:
    text = Text(" ".join(f"w{i}" for i in range(40)))
    measure = SentenceSimilarity(window=5)
    assert measure._views(text, text, text.replace(20, "x")) == ("w18 w19 w20 w21 w22 ", "w18 w19 x w21 w22 ")
    assert measure._views(text, text, text.replace(0, "x"))[1] == "x w1 w2 w3 w4 "
    assert measure._views(text, text, text.replace(39, "x"))[1] == "w35 w36 w37 w38 x"
    merged = text.replace_all({20: "x", 21: ""})
    assert measure._views(text, text, merged) == ("w18 w19 w20 w21 w22 ", "w18 w19 x w22 ")
    apart = text.replace_all({20: "x", 30: "y"})
    assert measure._views(text, text, apart) == (str(text), str(apart))


def test_a_later_step_has_a_window_too() -> None:
    text = Text(" ".join(f"w{i}" for i in range(40)))
    current = text.replace_all({3: "x", 19: "y"})
    step = current.replace(20, "z")
    assert SentenceSimilarity(window=3)._views(text, current, step) == ("w19 w20 w21 ", "y z w21 ")
    assert SentenceSimilarity(window=3, previous=True)._views(text, current, step) == ("y w20 w21 ", "y z w21 ")


def test_an_audit_compares_whole_texts() -> None:
    text = Text(" ".join(f"w{i}" for i in range(40)))
    for changed in (text.replace(3, "x"), text.replace_all({3: "x", 30: "y"})):
        assert SentenceSimilarity(window=5, previous=True)._views(text, None, changed) == (str(text), str(changed))


def test_a_short_text_has_a_threshold_of_its_own() -> None:
    measure = SentenceSimilarity()
    released = Constraint(measure, at_least=0.7, short=15, at_least_short=0.1)
    assert [released.holds(0.5, words) for words in (14, 15)] == [True, False]
    assert [released.holds(0.05, words) for words in (14, 15)] == [False, False]
    skipped = Constraint(measure, at_least=0.84, short=15)
    assert [skipped.holds(-1.0, words) for words in (14, 15)] == [True, False]
    assert not skipped.holds(math.nan, 3)


def bigrams(text: str) -> Scored:
    """A language model: a word costs its length, and three more after `the the`."""
    words = text.split()
    costs = [len(w) + 3 * (w == "the" and i > 0 and words[i - 1] == "the") for i, w in enumerate(words)]
    return Scored(tuple(range(len(words))), tuple(range(1, len(words) + 1)), tuple(-float(cost) for cost in costs))


def test_perplexity_and_its_ratio() -> None:
    x, y = Text("aa b"), Text("aa bbbb")
    assert value(Perplexity(), x, y, lm=bigrams) == pytest.approx(math.exp(3))
    assert value(PerplexityRatio(), x, y, lm=bigrams) == pytest.approx(math.exp(3 - 1.5))
    assert value(PerplexityRatio(), x, x, lm=bigrams) == 1
    assert math.isnan(value(Perplexity(), x, Text(""), lm=bigrams))


def test_log_probability_drop() -> None:
    x = Text("the cat sat on my mat")
    y = x.replace(1, "the")
    assert value(LogProbDrop(), x, y, x, lm=bigrams) == 3
    current = x.replace(4, "your")
    step = current.replace(1, "cats")
    assert value(LogProbDrop(), x, step, current, lm=bigrams) == 3  # two letters more, and one
    assert value(LogProbDrop(previous=True), x, step, current, lm=bigrams) == 1
    assert value(LogProbDrop(window=3), x, step, current, lm=bigrams) == 1
    assert value(LogProbDrop(window=3), x, step, None, lm=bigrams) == 3


def test_fluency_rank_keeps_the_best_of_each_word() -> None:
    x = Text("the cat sat")
    offered = [x.replace(1, w) for w in ("aaaa", "a", "aa", "bb")] + [x.replace(2, "cccccc")]
    ask = services(lm=bigrams)
    assert now(FluencyRank().of_texts(x, x, offered, ask)) == [4, 1, 2, 2, 1]
    assert now(FluencyRank(window=1).of_texts(x, x, offered, ask)) == [4, 1, 2, 2, 1]
    assert math.isnan(now(FluencyRank().of_texts(x, None, offered[:1], ask))[0])


def test_fluency_ranks_against_counting() -> None:
    ask = services(lm=lambda text: Scored((), (), (-float(len(text) % 4),)))
    x = Text("a b c")
    offered = [x.replace(p, "z" * size) for size in range(1, 9) for p in (0, 2)] + [x.replace_all({0: "q", 1: "r"})]
    scores = [-float(len(str(text)) % 4) for text in offered]
    places = [x.changes(text)[0] if len(x.changes(text)) == 1 else -1 for text in offered]
    expected = [
        1.0 + sum(other > score for other, at in zip(scores, places, strict=True) if at == place)
        for score, place in zip(scores, places, strict=True)
    ]
    assert now(FluencyRank().of_texts(x, x, offered, ask)) == expected
    assert len(set(expected)) > 2


@pytest.mark.parametrize("edits", [0, 5, 31, 32, 90])
def test_edit_distance_is_exact_however_far_the_texts_are_apart(edits: int) -> None:
    words = [f"word{number:03}" for number in range(120)]
    x = Text(" ".join(words))
    changed = x.replace_all({p: words[p].replace("o", "#") for p in range(edits)})
    assert value(EditDistance(), x, changed) == edits


def test_grammar_errors_introduced() -> None:
    def checker(text: str) -> tuple[str, ...]:
        return ("doubled",) * text.count("the the")

    x = Text("the the cat")
    assert value(GrammarErrors(), x, Text("the a cat"), grammar=checker) == -1
    assert value(GrammarErrors(), Text("the a cat"), x, grammar=checker) == 1
    assert value(GrammarErrors(previous=True), Text("the a cat"), x, x, grammar=checker) == 0


def test_bert_score_is_one_for_equal_texts() -> None:
    from mohs.models.token_encoder import PocketTokenEncoder

    model = PocketTokenEncoder()
    encode = lambda fields: model.collect(model.launch([fields]))[0]  # noqa: E731
    x = Text("a good film")
    assert value(BertScore(), x, x, token_encoder=encode) == pytest.approx(1)
    near, far = x.replace(2, "movie"), x.replace(2, "table")
    assert value(BertScore(), x, near, token_encoder=encode) > value(BertScore(), x, far, token_encoder=encode)


@pytest.mark.parametrize("kind", MEASURES.values(), ids=str)
def test_every_measure_says_its_class_and_what_it_asks(kind: Any) -> None:
    measure = kind(0.5) if kind is WordsBeyond else kind()
    assert isinstance(measure.family, Family)
    assert measure.name
    assert set(measure.needs) <= set(KINDS)
    assert isinstance(measure.stepwise, bool)
    hash(measure)


def test_a_constraint_is_a_measure_and_a_threshold() -> None:
    constraint = Constraint(WordCosine(), at_least=0.5, at_most=0.9)
    assert [constraint.holds(v, 10) for v in (0.5, 0.49, 0.9, 0.91, math.nan)] == [True, False, True, False, False]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_service_is_one_sentence(kind: str) -> None:
    def ask() -> None:
        now(getattr(services(), {"masked_lm": "fill", "autoencoder": "decoded"}.get(kind, kind))([]))

    with pytest.raises(BadInput, match=r"^This needs .*; use .*\.$"):
        ask()
