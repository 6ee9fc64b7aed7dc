from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.text.sememes import Sememes

TABLE = {
    "film": {"noun": ["movie", "picture", "flick", "photo"], "verb": ["shoot"]},
    "go": {"verb": ["travel", "run", "walk"]},
    "good": {"adj": ["fine", "favourable"], "noun": ["commodity"]},
    "found": {"verb": ["establish"]},
    "find": {"verb": ["detect", "get"]},
    # As in tables that list inflected words themselves:
    "actors": {"noun": ["players", "performer", "kids"]},
    "actor": {"noun": ["player", "doer"]},
}
VOCABULARY = set(
    "film films movie movies picture pictures flick photos shoot shot travel travelled run runs ran running walk "
    "walked fine finer favourable established detected got player players performer performers kid kids doer "
    "doers".split()
)


def sememes(table: Any = TABLE) -> Sememes:
    return Sememes(
        "toy", {word: {kind: tuple(words) for kind, words in lists.items()} for word, lists in table.items()}
    )


def test_base_forms_come_with_base_forms() -> None:
    table = sememes()
    assert table.listed("film", "noun") == ("movie", "picture", "flick", "photo")
    assert table.listed("film", "adv") == table.listed("none", "noun") == ()
    assert table.substitutes("film", "noun", "NN", VOCABULARY) == ["movie", "picture", "flick"]
    assert table.substitutes("Film", "verb", "VB", VOCABULARY) == ["shoot"]
    assert table.substitutes("go", "verb", "VBP", VOCABULARY) == ["travel", "run", "walk"]
    assert table.substitutes("films", "noun", "NN", VOCABULARY) == []
    assert table.substitutes("film", "adv", "RB", VOCABULARY) == []
    assert table.substitutes("none", "noun", "NN", VOCABULARY) == []


def test_inflected_words_get_equally_inflected_substitutes_that_exist() -> None:
    table = sememes()
    assert table.substitutes("films", "noun", "NNS", VOCABULARY) == ["movies", "pictures", "photos"]
    assert table.substitutes("FILMS", "noun", "NNS", VOCABULARY) == ["movies", "pictures", "photos"]
    assert table.substitutes("went", "verb", "VBD", VOCABULARY) == ["travelled", "ran", "walked"]
    assert table.substitutes("gone", "verb", "VBN", VOCABULARY) == ["travelled", "run", "walked"]
    assert table.substitutes("going", "verb", "VBG", VOCABULARY) == ["running"]
    assert table.substitutes("better", "adj", "JJR", VOCABULARY) == ["finer"]
    assert table.substitutes("filmed", "verb", "VBD", VOCABULARY) == ["shot"]


def test_the_tag_picks_the_base_form() -> None:
    table = sememes()
    assert table.substitutes("found", "verb", "VBD", VOCABULARY | {"establish"}) == ["detected", "got"]
    assert table.substitutes("found", "verb", "VB", VOCABULARY | {"establish"}) == ["establish"]


def test_listed_inflected_words_are_believed_if_they_look_it() -> None:
    assert sememes().substitutes("actors", "noun", "NNS", VOCABULARY) == ["players", "kids", "doers"]


def test_a_tag_of_another_class_takes_the_word_as_it_stands() -> None:
    table = sememes({"spoiled": {"adj": ["rotten"]}, "spoil": {"verb": ["ruin"]}})
    assert table.substitutes("spoiled", "adj", "VBN", {"rotten", "ruined"}) == ["rotten"]
    assert table.substitutes("spoiled", "verb", "VBN", {"rotten", "ruined", "ruin"}) == ["ruined"]


def test_never_the_word_itself_and_nothing_twice() -> None:
    table = sememes({"a": {"noun": ["a", "b", "b"]}, "leaf": {"noun": ["leave", "page"]}})
    assert table.substitutes("a", "noun", "NN", {"a", "b"}) == ["b"]
    assert table.substitutes("leaves", "noun", "NNS", {"leaves", "pages"}) == ["pages"]


def write(path: Path, content: Any) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_reading(tmp_path: Path) -> None:
    plain = Sememes.read(write(tmp_path / "toy.json", TABLE))
    packed = Sememes.read(str(write(tmp_path / "packed.json.gz", gzip.compress(json.dumps(TABLE).encode()))))
    assert plain.name == "toy"
    assert packed.name == "packed"
    assert plain.table == sememes().table == packed.table
    (tmp_path / "asset").mkdir()
    write(tmp_path / "asset" / "asset.json", {"name": "toy"})
    write(tmp_path / "asset" / "toy.json", TABLE)
    assert Sememes.read(tmp_path / "asset").table == plain.table
    assert plain.fingerprint == packed.fingerprint == sememes().fingerprint
    assert sememes({"film": {"noun": ["picture", "movie"]}}).fingerprint != plain.fingerprint


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([], "is not a table of substitutes"),
        ({}, "is not a table of substitutes"),
        (b"{", "is not JSON"),
        (b"\xff", "is not UTF-8"),
        ({"a": ["b"]}, "'a' has list where lists by"),
        ({"a": {"preposition": ["b"]}}, "'a' has the part of speech 'preposition'"),
        ({"a": {"noun": "b"}}, "the noun list of 'a'"),
        ({"a": {"noun": ["b", 3]}}, "the noun list of 'a'"),
        ({"a": {"noun": [""]}}, "the noun list of 'a'"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, content: Any, expected: str) -> None:
    with pytest.raises(BadInput, match=expected) as caught:
        Sememes.read(write(tmp_path / "toy.json", content))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        Sememes.read(tmp_path / "none.json")
    with pytest.raises(BadInput, match="must hold one file"):
        Sememes.read(tmp_path)
