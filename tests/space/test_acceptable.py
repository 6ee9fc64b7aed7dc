"""The bundled judge: reversals, synonyms, trees against a plain walk, batches, the constraint in an attack."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mohs
from mohs.errors import BadInput
from mohs.models.judge import load_judge
from mohs.space import Acceptable, Antonyms, Constraint, parse_constraint, parse_measure
from mohs.space.acceptable import Asked
from mohs.space.services import Services
from mohs.text import Text, judge
from mohs.text.judge import ASKED, FEATURES, Place, reversal
from mohs.text.questions import Blank, Filled, Guess, Spot, Tag
from mohs.text.trees import Trees
from tests.toys import bundled, now, services

REVERSALS = [tuple(line.split()) for line in (Path(__file__).parent / "reversals.txt").read_text().splitlines()]
TAGS = {"a": "JJ", "v": "VB", "n": "NN", "r": "RB"}
FRAMES = {"a": "the food was {} again", "n": "it was a {} to me", "v": "they will {} it", "r": "it was done {} today"}


def with_judge(**answers: Any) -> Services:
    """Services of functions, and the judge, which is called but is a word book."""
    made = services(**answers)
    return Services({**made.parts, "judge": judge.bundled()}, made.random)


def tagger(spot: Spot) -> Tag:
    (found,) = bundled()["tagger"].collect([spot])
    assert isinstance(found, Tag)
    return found


def ask() -> Services:
    return with_judge(tagger=tagger)


def single(old: str, new: str, letter: str = "a") -> float:
    words = FRAMES[letter].format(old).split()
    place = Place(tuple(words), words.index(old), TAGS[letter])
    return float(judge.bundled()(place, [new])[0])


def of_text(original: str, changed: str, measure: Acceptable | Antonyms | None = None) -> float:
    (found,) = now((measure or Acceptable()).of_texts(Text(original), None, [Text(changed)], ask()))
    return found


def test_the_list_of_reversals_is_long_and_has_no_pair_twice() -> None:
    assert len(REVERSALS) == 200
    assert len({frozenset(pair[:2]) for pair in REVERSALS}) > 190


def test_most_reversals_score_low() -> None:
    low = [single(one, other, letter) < 0.2 for one, other, letter in REVERSALS]
    assert np.mean(low) >= 0.96


@pytest.mark.parametrize(
    ("old", "new", "letter"), [("nine", "seven", "n"), ("monday", "friday", "n"), ("first", "second", "a")]
)
def test_one_number_or_day_for_another_is_as_bad_as_a_reversal(old: str, new: str, letter: str) -> None:
    assert single(old, new, letter) <= judge.bundled().ceiling


@pytest.mark.parametrize(("old", "new", "letter"), [("year", "years", "n"), ("walk", "walked", "v")])
def test_there_is_no_opinion_on_other_forms_of_a_word(old: str, new: str, letter: str) -> None:
    assert math.isnan(single(old, new, letter))


@pytest.mark.parametrize(("old", "new"), [("bad", "good"), ("happy", "sad"), ("terrible", "wonderful"), ("old", "new")])
def test_opposites_score_under_a_fifth(old: str, new: str) -> None:
    assert single(old, new) < 0.2
    assert single(new, old) < 0.2


def test_synonyms_score_higher_than_reversals() -> None:
    synonyms = [
        *(("movie", "film", "n"), ("buy", "purchase", "v"), ("quickly", "rapidly", "r"), ("big", "large", "a")),
        *(("begin", "start", "v"), ("car", "automobile", "n"), ("smart", "clever", "a"), ("funny", "humorous", "a")),
    ]
    high = [single(*pair) for pair in synonyms]
    low = [single(one, other, letter) for one, other, letter in REVERSALS]
    assert min(high) > np.mean(low)
    assert np.mean(high) > np.quantile(low, 0.95)


def test_a_text_lies_between_the_product_of_its_words_and_their_least() -> None:
    x = "the movie was quickly made"
    one, other = of_text(x, "the film was quickly made"), of_text(x, "the movie was rapidly made")
    both = "the film was rapidly made"
    assert one * other <= of_text(x, both) <= min(one, other)
    assert of_text(x, both) == pytest.approx(judge.bundled().calibration.whole([one, other]), abs=1e-5)
    assert of_text(x, both, Acceptable(each=True)) == pytest.approx(min(one, other), abs=1e-5)
    for measure in (Acceptable(), Acceptable(each=True)):
        assert of_text(x, x, measure) == 1.0
        assert of_text(x, "The MOVIE was quickly made", measure) == 1.0


@pytest.mark.parametrize("new", ["terr1ble", "goood", "fi1m", "xqz-film", "great fi1m"])
def test_the_judge_has_no_opinion_on_a_word_that_no_table_knows(new: str) -> None:
    assert math.isnan(single("film", new, "n"))
    x = Text("a fine film")
    for measure in (Acceptable(), Acceptable(each=True)):
        (value,) = now(measure.of_texts(x, None, [x.replace(2, new).replace(1, "good")], ask()))
        assert math.isnan(value)
        assert not Constraint(measure, at_least=0.0).holds(value, 3)


@pytest.mark.parametrize("new", ["Movie", "MOVIES", "well-known", "motion picture", "filming"])
def test_the_judge_has_one_on_known_words_in_any_case_and_form(new: str) -> None:
    assert single("film", new, "n") == single("film", new.lower(), "n") >= 0
    assert single("xqzt", new, "n") >= 0


def test_what_does_not_correspond_has_no_value() -> None:
    assert math.isnan(of_text("good film", "good old film"))
    gone = Text("good film").replace(0, "")
    assert math.isnan(now(Acceptable().of_texts(Text("good film"), None, [gone], ask()))[0])


def test_awkward_texts() -> None:
    for old, new in (("a", "the"), ("xqzt film", "good film"), ("naïve 😀 plan", "simple 😀 plan")):
        assert 0 <= of_text(old, new) <= 1
    for old, new in (("good film", "good ﬁlmx"), ("1 2", "2 2"), ("a", "b")):
        assert math.isnan(of_text(old, new))
    assert 0 <= of_text("they look it up", "they search-for it up") <= 1


def test_a_pair_of_texts_keeps_its_fields_apart() -> None:
    x = Text("a good film", "bad food")
    (value,) = now(Acceptable().of_texts(x, None, [x.replace(3, "poor")], ask()))
    (alone,) = now(Acceptable().of_texts(Text("bad food"), None, [Text("poor food")], ask()))
    assert value == alone


words = st.sampled_from("good bad film movie terrible buy purchase quickly ran xqz looked-up house 3 großen".split())


@given(st.lists(words, min_size=1, max_size=12), st.lists(words, min_size=1, max_size=8), st.data())
def test_the_same_bits_in_any_batch(text: list[str], new: list[str], data: st.DataObject) -> None:
    place = Place(tuple(text), data.draw(st.integers(0, len(text) - 1)), data.draw(st.sampled_from(["NN", "JJ", "IN"])))
    book = judge.bundled()
    together = book(place, new)
    alone = [float(book(place, [word])[0]) for word in new]
    np.testing.assert_array_equal(together, alone)
    assert [math.isnan(value) for value in alone] == [word in ("xqz", "großen", "3") for word in new]
    assert all(0 <= value <= 1 for value in alone if not math.isnan(value))
    assert book.features(place, new).shape == (len(new), len(FEATURES))


def walked(trees: Trees, row: list[float]) -> float:
    """Tree by tree, node by node."""
    total = 0.0
    for root in trees.roots.tolist():
        node = root
        while trees.feature[node] >= 0:
            value = row[int(trees.feature[node])]
            left = bool(trees.missing_left[node]) if math.isnan(value) else value <= trees.threshold[node]
            node = int(trees.left[node]) + (not left)
        total += float(trees.value[node])
    return trees.base + total


@st.composite
def forests(draw: st.DrawFn) -> Trees:
    feature: list[int] = []
    threshold, missing, left, value, roots = [], [], [], [], []
    number = st.floats(-2, 2, width=16)
    for _ in range(draw(st.integers(1, 3))):
        roots.append(len(feature))
        waiting = [0]
        while waiting:
            depth = waiting.pop(0)
            leaf = depth == 3 or draw(st.booleans())
            feature.append(-1 if leaf else draw(st.integers(0, 2)))
            threshold.append(draw(number))
            missing.append(draw(st.booleans()))
            value.append(draw(number))
            left.append(0 if leaf else len(feature) + len(waiting))
            if not leaf:
                waiting += [depth + 1, depth + 1]
    return Trees(
        np.array(roots),
        np.array(feature),
        np.array(threshold, np.float32),
        np.array(missing),
        np.array(left),
        np.array(value, np.float32),
        0.5,
    )


@given(forests(), st.lists(st.tuples(*[st.floats(-2, 2, width=16) | st.just(math.nan)] * 3), min_size=1, max_size=6))
def test_trees_at_once_equal_a_plain_walk(trees: Trees, rows: list[tuple[float, ...]]) -> None:
    found = trees(np.array(rows, np.float32))
    assert found.tolist() == pytest.approx([walked(trees, list(row)) for row in rows], abs=1e-6)
    again = Trees.of(trees.arrays())(np.array(rows, np.float32))
    assert again.tolist() == found.tolist()


def test_the_bundled_trees_equal_a_plain_walk() -> None:
    book = judge.bundled()
    rows = book.features(Place(("a", "good", "film"), 1, "JJ"), ["fine", "great", "xqz"])
    assert book.trees["bundled"](rows).tolist() == pytest.approx(
        [walked(book.trees["bundled"], r) for r in rows.tolist()]
    )


def test_calibrations_rise_and_stay_between_nought_and_one() -> None:
    for scores, probabilities in judge.bundled().curves.values():
        assert (np.diff(scores) > 0).all()
        assert (np.diff(probabilities) >= 0).all()
        assert probabilities.min() >= 0
        assert probabilities.max() <= 1


def test_the_table_knows_words_forms_and_relations() -> None:
    table = judge.bundled().relations
    assert table.base("films", 0) == "film"
    assert table.base("ran", 1) == "run"
    assert table.base("xqz", 0) == "xqz"
    assert table.rank("the") < table.rank("film") < table.rank("xqz")
    assert table.index["good"] in table.entry("bad", 2).opposites
    assert table.kinds("film")[0] == 0
    assert table.entry("xqz", 0).senses == ()


def test_antonyms() -> None:
    assert Antonyms().of_words("Good", ["bad", "fine", "film", "xqz"], ask())[0] == 1
    assert Antonyms().of_words("film", ["movie", "xqz"], ask()) == [0, 0]
    assert Antonyms().of_words("good", ["lousy"], ask()) == [1]
    assert Antonyms(direct=True).of_words("good", ["lousy"], ask()) == [0]
    assert of_text("a good film", "a bad film", Antonyms()) == 1
    assert of_text("a good film", "a good film", Antonyms()) == 0
    rows = judge.bundled().features(Place(("a", "good", "film"), 1, "JJ"), ["bad", "xqz"])
    assert reversal(rows).tolist() == [True, False]


def test_written() -> None:
    assert parse_measure("acceptable") == Acceptable()
    assert parse_constraint("acceptable:each=yes>=0.5") == Constraint(Acceptable(each=True), at_least=0.5)
    assert parse_constraint("no-antonyms<=0") == Constraint(Antonyms(), at_most=0)
    assert Acceptable().needs == ("judge", "tagger")
    assert Acceptable(models=True).needs == ("judge", "tagger", "masked_lm", "encoder")
    assert not parse_constraint("acceptable>=0.5").about_words
    assert parse_constraint("no-antonyms<=0").about_words


def test_models_are_asked_where_they_are_wanted() -> None:
    vectors = {"a good film": (1.0, 0.0), "a fine film": (0.8, 0.6)}
    blanks: list[Blank] = []

    def fill(blank: Blank) -> Filled:
        blanks.append(blank)
        said = {"good": -1.0, "fine": -2.0 - len(blank.fields), "fill": -5.0, "up": -0.5}
        logs = tuple(said.get(word, math.nan) for word in blank.words)
        return Filled((Guess("film", 1.0, True), Guess("plan", 0.5, True)), 2.0, logs)

    def encode(fields: tuple[str, ...]) -> Any:
        seen.append(fields[0])
        return np.array(vectors.get(fields[0], (1.0, 0.0)), np.float32)

    seen: list[str] = []
    parts = with_judge(tagger=tagger, masked_lm=fill, encoder=encode)
    x = Text("a good film")
    (value,) = now(Acceptable(models=True).of_texts(x, None, [x.replace(1, "Fine")], parts))
    assert 0 < value < 1
    assert blanks == [
        Blank(("a good film",), 0, 2, 6, 200, ("good", "fine")),
        Blank(("a good film", "a good film"), 1, 2, 6, 200, ("good", "fine")),
    ]
    assert set(seen) == {"a good film", "a fine film", "good", "fine"}
    book = judge.bundled()
    asked = Asked.about(x, 1, Blank(x.fields, 0, 2, 6), ["fine", "fill-up", "fills", "xqz"], book)
    one, other = (fill(blank) for blank in asked.blanks)
    found = {string: encode((string,)) for group in asked.strings for string in group}
    rows = asked.rows((one, other), found, book)
    said = (-1, -3, -2, -1.5, -1, -4, -3, -1.5, 0.8, 1.0)
    assert dict(zip(ASKED, rows[0].tolist(), strict=True)) == pytest.approx(dict(zip(ASKED, said, strict=True)))
    assert rows[1:3, ASKED.index("mask_new")].tolist() == [
        -5.0,
        -5.0,
    ]  # by a part that is no stopword; by the base form
    assert np.isnan(rows[3, ASKED.index("behind_new")])


def test_as_a_constraint_of_an_attack() -> None:
    run = mohs.attack("pocket", "pocket", "textfooler", n=5, constraints=["acceptable>=0.5", "no-antonyms<=0"])
    for record in run.records():
        if record.edits:
            assert record.measures["acceptable"] >= 0.5
            assert record.measures["antonyms"] == 0


def test_the_judge_is_part_of_a_runs_identity() -> None:
    """A run is not resumed with another judge: like any word book it is noted with its fingerprint."""
    several: list[dict[str, Any]] = [{"constraints": ["no-antonyms<=0"]}, {"measures": ["acceptable"]}]
    for options in several:
        with mohs.attack("pocket", "pocket", "random", n=1, tagger="pocket", **options) as run:
            noted = run.manifest["identity"]["services"]["judge"]
        assert noted == f"pocket judge {judge.bundled().fingerprint}"
    with pytest.raises(BadInput, match="Unknown judge 'mine'; use pocket"):
        load_judge("mine")
