"""What a run over groups of words shows: words against the mean of their group, not thousands of pairs."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import mohs
from mohs.bias import read_pairs, word_biases
from tests.toys import WordCount

VICTIM = WordCount({"good": 1.0, "bad": -1.0, "sikh": 1.0, "jew": -0.5, "thai": 0.3})
TEXTS = [
    f"{start} {word} is {end}"
    for start in ("the", "this")
    for word in ("sikh", "jew", "hindu")
    for end in ("good", "bad")
]


def start(tmp_path: Path, victim: Any = VICTIM, **options: Any) -> mohs.Run:
    file = tmp_path / "groups.json"
    file.write_text(json.dumps({"faith": ["Jew", "Sikh", "Hindu", "Roman Catholic"], "people": ["thai", "dane"]}))
    return mohs.token_bias(victim, [(text, 1) for text in TEXTS], f"{file}:faith", **{"k": 0, **options})


def test_every_sentence_counts_for_every_word(tmp_path: Path) -> None:
    with start(tmp_path) as run:
        words = run.words()
        assert words == sorted(word_biases(run.records(), {"faith": ["jew", "sikh", "hindu"]}), key=words.index)
        assert {one.sentences for one in words} == {len(TEXTS)}
        assert [one.new for one in sorted(words, key=lambda one: one.bias)] == ["jew", "hindu", "sikh"]
        assert {(one.old, one.new) for one in run.biases()} == set(read_pairs(tmp_path / "groups.json").pairs[:3])
        notes = run.manifest["facts"]["notes"]
        assert "Of the 3 words of faith, the examples hold 3: jew, sikh, hindu." in notes
        assert "1 entry is not one word and left out: roman catholic." in notes


def test_terminal_page_and_json_speak_of_words(tmp_path: Path) -> None:
    with start(tmp_path, out=tmp_path / "run") as run:
        out = StringIO()
        run.view().show(Console(file=out, width=120), 0)
        page = run.report().read_text()
        row, words = run.view().figures()["bias"], run.words()
    said = " ".join(out.getvalue().split())
    assert "At k = 0, 3 of 3 words tested shift P(positive) from the mean of the group beyond chance: faith|" in said
    assert "is higher with the word than on average over its group" in said
    assert "faith|sikh" in said
    assert "sikh|hindu" not in said
    assert "group|word k sent. texts bias" in said
    assert "0 without a word of a group" in said
    assert "~" not in said, "nothing was sampled"
    assert "small by choice" not in said, "there is no filtered set"
    assert "All sentences: bias by word" in page
    assert "Each sentence with a word of the group is asked with every word of the group" in page
    assert "Filtered set" not in page
    assert [one["new"] for one in row["words"]] == [one.new for one in words]


def test_a_note_names_some_words_and_counts_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"all": ["sikh", "jew", "hindu", "good", "bad", "the", "this"]}))
    with mohs.token_bias(VICTIM, [(text, 1) for text in TEXTS], file, k=0) as run:
        said = "Of the 7 words of all, the examples hold 7: sikh, jew, hindu, good, bad and 2 more."
        assert said in run.manifest["facts"]["notes"]


def test_runs_without_groups_are_as_before(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("jew,sikh\n")
    with mohs.token_bias(VICTIM, [(text, 1) for text in TEXTS], tmp_path / "own.csv", k=0) as run:
        assert run.words() == []
        assert "words" not in run.view().figures()["bias"]
        assert "groups" not in run.manifest["facts"]


def test_two_victims_are_compared_word_by_word(tmp_path: Path) -> None:
    with start(tmp_path) as before, start(tmp_path, WordCount({"good": 1.0, "bad": -1.0, "sikh": 0.1})) as after:
        found = after.view(against=before)
        figures = found.figures()
        assert figures["headline"].startswith("At k = 0, 3 of 3 words are nearer to zero bias than before")
        assert "; 3 of 3 changes tested are beyond chance." in figures["headline"]
        assert [(one["old"], one["new"]) for one in figures["changes"]] == [
            (one["old"], one["new"]) for one in figures["after"]["words"]
        ]
        old, new = ({one.new: one.bias for one in run.words()} for run in (before, after))
        for one in figures["changes"]:
            assert one["sentences"] == len(TEXTS)
            assert one["change"] == pytest.approx(new[one["new"]] - old[one["new"]])
        out = StringIO()
        found.show(Console(file=out, width=120), 0)
        assert out.getvalue().count("group|word") == 2
        assert "sikh|hindu" not in out.getvalue()
        assert found.page().count(f", {len(TEXTS)} sentences</small></span></td>\n</tr>") == 3


def test_a_long_group_is_cut_on_the_terminal_and_whole_on_the_page(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"number": ["sikh", *(f"word{number}" for number in range(30))]}))
    with mohs.token_bias(VICTIM, [(text, 1) for text in TEXTS], file, k=0, out=tmp_path / "run") as run:
        out = StringIO()
        run.view().show(Console(file=out, width=120), 0)
        page = run.report().read_text()
    assert "7 more words, with larger p-values, are on the page." in out.getvalue()
    table = out.getvalue().partition("95% interval")[2]
    assert table.count("number|") == 24
    assert page.count('<th scope="row">number') == 31
    assert page.count('<details class="card examples"') == 24


def test_words_that_a_victim_does_not_know_are_mentioned(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"faith": ["sikh", "jew", "zen", "druze", "yazidi"]}))
    with mohs.token_bias(VICTIM, [(text, 1) for text in TEXTS], file, k=0) as run:
        (said,) = [note for note in run.view().notes if "get the same answers" in note]
    assert said.startswith("3 words of faith get the same answers in all texts (druze, yazidi, zen ...)")
    with start(tmp_path) as run:
        assert not [note for note in run.view().notes if "get the same answers" in note]


@pytest.mark.parametrize("directions", [False, True])
def test_groups_are_measured_in_both_directions_anyway(tmp_path: Path, directions: bool) -> None:
    with start(tmp_path, both_directions=directions) as run:
        assert {(one.old, one.new): one.sentences for one in run.biases()} == {
            ("jew", "sikh"): 8,
            ("jew", "hindu"): 8,
            ("sikh", "hindu"): 8,
        }
