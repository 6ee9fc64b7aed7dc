"""Which words were replaced, the fragments around them, and what is left out."""

from __future__ import annotations

import pytest

from mohs.analyses.substitutions import columns_of, fragment, of_examples, single_word
from mohs.errors import BadInput
from mohs.records import Outcome
from mohs.text import Text
from tests.analyses.toys import attack_run, success
from tests.audits.toys import record


def test_one_substitution_a_word() -> None:
    run = attack_run([success(0, "a good film, a good day", {1: "bad", 4: "fine"}), success(1, "so bad", {1: "good"})])
    (column,), notes = columns_of(run, 11)
    assert notes == []
    assert [(one.example_id, one.position, one.old, one.new, one.label) for one in column.substitutions] == [
        ("e0", 1, "good", "bad", 0),
        ("e0", 4, "good", "fine", 0),
        ("e1", 1, "bad", "good", 1),
    ]
    assert of_examples(column, column.substitutions) == [0, 0, 1]
    first = column.substitutions[0]
    assert (first.old_fragment, first.new_fragment) == ("a good film, a good day", "a bad film, a fine day")


def test_fragments_have_the_windows_words_and_stay_in_their_text() -> None:
    text = Text("one two three four five six seven", "a b c")
    assert fragment(text, 3, 5) == "two three four five six"
    assert fragment(text, 3, 4) == "two three four five"  # an even window has the word left of its middle
    assert fragment(text, 0, 5) == "one two three"
    assert fragment(text, 6, 3) == "six seven"
    assert fragment(text, 7, 11) == "a b c"
    assert fragment(text, 3, 1) == "four"


@pytest.mark.parametrize(("word", "single"), [("good", True), ("don't", True), ("very good", False), ("", False)])
def test_single_words(word: str, single: bool) -> None:
    assert single_word(word) is single


def test_what_has_no_replaced_words_is_left_out_and_named() -> None:
    records = [
        success(0, "a good film", {1: "bad"}),
        success(1, "a good film", {1: ""}),  # a word removed
        success(2, "a good film", {1: "bad"}, perturbed=("something else altogether",)),
        record(3, "a good film"),
        success(4, "a good film", {1: "bad"}, outcome=Outcome.ERROR),
        record(0, "a good film", attack="pwws:paper"),
    ]
    (column,), notes = columns_of(attack_run(records), 11)
    assert column.left_out == 2
    assert len(column.cases) == 1
    assert notes[1:] == [
        "textfooler:paper: 2 of 3 adversarial examples insert or remove words, so their words cannot be compared; they "
        "are left out.",
        "pwws:paper has no adversarial example, so there is nothing to analyse.",
    ]


def test_runs_with_nothing_to_analyse_are_refused() -> None:
    with pytest.raises(BadInput, match="no adversarial example with replaced words"):
        columns_of(attack_run([record(0, "a good film")]), 11)
    with pytest.raises(BadInput, match="keeps the label, so its texts are not adversarial"):
        columns_of(attack_run([success(0, "a good film", {1: "bad"})], goal="reduced:1"), 11)
    columns, notes = columns_of(attack_run([success(0, "a good film", {1: "bad"})], identity={"examples": 9}), 11)
    assert len(columns) == 1
    assert notes == ["The run is not finished: 1 of 9 attempts so far."]
