from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.records import Outcome
from mohs.runs.run import Run
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import Patch
from mohs.studies.design import read_design
from mohs.studies.drawing import VERSIONS, drawn
from mohs.studies.item import Role
from tests.audits.toys import record, run_of
from tests.report.made import kept

WORDS = "a long text of twelve words that stands here for all of them"


def run(n: int = 8, **more: Any) -> Run:
    """Successes with one and two changes, and failures."""
    records = [
        record(k, f"{WORDS} {k}", {2: "string"} if k % 2 else {2: "string", 4: "dozen"} if k % 4 else None)
        for k in range(n)
    ]
    return run_of(records, labels=["bad", "good"], **more)


def design(name: str, **more: Any) -> Any:
    return replace(read_design(name), **more)


def main(found: Any) -> list[Any]:
    return [item for item in found.items if item.role is Role.MAIN]


def test_pairs_are_the_whole_texts_of_successes() -> None:
    found = drawn([run()], design("meaning"))
    rows = main(found)
    assert len(rows) == 6
    first = next(item for item in rows if item.facts["example"] == "e2")
    assert first.texts == (f"{WORDS} 2", f"{WORDS} 2".replace("text", "string").replace("twelve", "dozen"))
    assert first.facts["changes"] == 2
    assert "old" not in first.facts
    assert found.source["groups"] == {
        "textfooler:paper": {
            "attack": "textfooler:paper",
            "run": "",
            "attacked": 8,
            "successes": 6,
            "changes": {"1": 4, "2": 2},
        }
    }
    assert Counter(item.role for item in found.items)[Role.CONTROL] == len(read_design("meaning").controls)
    assert found.notes == ["textfooler:paper: 6 successes, 100 wanted; all are taken."]


def test_words_and_fragments_are_single_changes_of_a_success() -> None:
    rows = main(drawn([run()], design("words")))
    assert sorted(item.texts for item in rows) == [("text", "string")] * 6 + [("twelve", "dozen")] * 2
    rows = main(drawn([run()], design("fragments")))
    of_two = {item.facts["old"]: item.texts for item in rows if item.facts["example"] == "e2"}
    assert of_two["text"] == (
        "a long text of twelve words that stands here for all",
        "a long string of twelve words that stands here for all",
    ), "eleven words, and no other change of the attack"
    assert all(len(text.split()) == 11 for item in rows for text in item.texts)
    assert all(item.facts["original"][0].split()[item.facts["position"]] == item.facts["old"] for item in rows)


def test_texts_are_originals_and_final_texts_with_what_is_right() -> None:
    rows = main(drawn([run()], design("real-or-altered", n=3)))
    assert Counter((item.facts["truth"], item.expected) for item in rows) == {("real", (1,)): 3, ("altered", (2,)): 3}
    assert len({item.source for item in rows}) == 3, "both forms of a text are of one source"


def test_as_many_are_drawn_as_wanted_and_the_seed_decides_which() -> None:
    keys = [[item.key for item in drawn([run(40)], design("meaning", n=5), seed=seed).items] for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]
    assert sum("/" in key for key in keys[0]) == 5


def test_labels_come_with_training_accuracy_and_examples_that_share_no_text() -> None:
    found = drawn([run(300)], design("labels", n=20, accuracy=30))
    rows = main(found)
    assert {item.expected for item in rows} <= {(0,), (1,)}
    assert all(item.expected == (item.facts["label"],) for item in rows)
    roles = Counter(item.role for item in found.items)
    assert roles == {Role.MAIN: 20, Role.TRAINING: 100, Role.ACCURACY: 30}
    shown = [text for item in found.items if item.role is not Role.MAIN for text in item.texts]
    shown += [text for one in found.source["examples"] for text in one["texts"]]
    shown += [text for item in rows for text in item.facts["original"]]
    assert len(set(shown)) == len(shown) == 100 + 30 + 4 + 20
    assert [one["label"] for one in found.source["examples"]] == ["bad", "good"]


def test_a_small_run_says_what_is_short_and_a_file_helps() -> None:
    found = drawn([run(12)], design("labels", n=4))
    assert "give a file of labelled texts with --dev" in found.notes[-1]
    texts = [(f"dev {n}", n % 2) for n in range(300)]
    found = drawn([run(12)], design("labels", n=4), unchanged=texts)
    assert Counter(item.role for item in found.items) == {Role.MAIN: 4, Role.TRAINING: 100, Role.ACCURACY: 100}
    assert not any("--dev" in note for note in found.notes)


def test_texts_that_do_not_correspond_word_by_word_cannot_be_shown_as_words() -> None:
    odd = record(1, "one two three", {0: "eins"})
    odd = replace(odd, perturbed=("eins two and three",), edits=odd.edits)
    found = drawn([run_of([odd, record(2, "one two", {1: "zwei"})])], design("words"))
    assert [item.texts for item in main(found)] == [("two", "zwei")]
    assert "1 successes do not correspond word by word" in found.notes[0]


def test_versions_of_a_second_order_success() -> None:
    one = record(1, "the film was good", {1: "movie"}, attack="so-beam")
    one = replace(one, finding=SecondOrderFinding(Patch(3, "good", "fine", 0.1), (0.6, 0.4), (0.4, 0.6), 1, 9))
    with kept("second-order", [one], {"examples": 1}, tasks=["so-beam"]) as found_run:
        rows = main(drawn([found_run], design("second-order")))
    texts = {item.facts["version"]: item.texts[0] for item in rows if item.question == "sentiment"}
    assert texts == dict(
        zip(
            VERSIONS,
            ("the film was good", "the film was fine", "the movie was good", "the movie was fine"),
            strict=True,
        )
    )
    assert len(rows) == 8, "naturalness and sentiment are asked apart"


def test_pairs_of_texts_are_shown_with_their_names() -> None:
    one = record(1, "one two", {0: "eins"})
    one = replace(
        one, names=("premise", "hypothesis"), original=("p", "one two"), perturbed=("p", "eins two"), edits=()
    )
    (item,) = main(drawn([run_of([one])], design("meaning")))
    assert item.texts == ("premise: p\nhypothesis: one two", "premise: p\nhypothesis: eins two")


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(BadInput, match="No run was given"):
        drawn([], design("meaning"))
    with pytest.raises(BadInput, match="shows the successes of `mohs second-order`"):
        drawn([run()], design("second-order"))
    failed = run_of([record(0, "one two", None, outcome=Outcome.FAILED)])
    with pytest.raises(BadInput, match="no success that this design can show"):
        drawn([failed], design("meaning"))
    with pytest.raises(BadInput, match="does not name its classes"):
        drawn([run_of([record(1, "one two", {0: "eins"})], labels=[])], design("labels"))
    with pytest.raises(BadInput, match="no unchanged text left for the training"):
        drawn([run_of([record(1, "one two", {0: "eins"})])], design("labels"))
    with pytest.raises(BadInput, match="has other classes"):
        drawn([run(), run_of([record(1, "one", {0: "eins"})], labels=["x", "y"])], design("labels"))


def test_a_second_question_about_a_pair_is_not_left_out_in_silence() -> None:
    one = read_design("meaning")
    two = replace(one, controls=(), questions=(*one.questions, replace(one.questions[0], name="grammar")))
    with pytest.raises(BadInput, match="has 2 questions, and with `items: pairs` one is asked"):
        drawn([run()], two)


def test_examples_that_are_missing_are_named() -> None:
    given = [(f"text {n}", 0) for n in range(300)] + [("another text", 1)]
    found = drawn([run()], design("labels"), unchanged=given)
    assert [len(one["texts"]) for one in found.source["examples"]] == [2, 1]
    assert found.notes[-1] == "Only 1 example of good instead of 2: give a file of labelled texts with --dev."
