from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.text.thesaurus import Thesaurus


def read(folder: Path, name: str, content: str | bytes) -> Thesaurus:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Thesaurus.read(file)


TSV = "# my words\ngood\tfine\tgreat\n\nfine\tgood\r\nalone\nParis\tLondon\n"
JSON = '{"good": ["fine", "great"], "fine": ["good"], "alone": [], "Paris": ["London"]}'


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    books = [
        read(tmp_path, "a.tsv", TSV),
        read(tmp_path, "a.txt", "\ufeff" + TSV),
        read(tmp_path, "a.json", JSON),
        read(tmp_path, "b.tsv.gz", gzip.compress(TSV.encode())),
        read(tmp_path, "b.json.gz", gzip.compress(JSON.encode())),
    ]
    for book in books:
        assert book.table == {"good": ("fine", "great"), "fine": ("good",), "alone": (), "Paris": ("London",)}
        assert book.notes == ()
    assert len({book.fingerprint for book in books}) == 1
    assert [book.name for book in books] == ["a", "a", "a", "b", "b"]


def test_lookup_by_exact_form_then_in_lower_case(tmp_path: Path) -> None:
    book = read(tmp_path, "a.json", '{"good": ["fine"], "Good": ["Bond"], "paris": ["london", "Paris"], "none": []}')
    assert book.lookup("good") == ["fine"]
    assert book.lookup("Good") == ["Bond"]
    assert book.lookup("GOOD") == ["fine"]
    assert book.lookup("Paris") == ["london"]  # never the word itself
    assert book.lookup("none") == book.lookup("unknown") == []


def test_circles_are_kept(tmp_path: Path) -> None:
    book = read(tmp_path, "a.tsv", "a\tb\nb\tc\nc\ta\n")
    assert [book.lookup(word) for word in "abc"] == [["b"], ["c"], ["a"]]


@pytest.mark.parametrize("name", ["a.tsv", "a.json"])
def test_what_is_dropped_is_counted(tmp_path: Path, name: str) -> None:
    tsv = "good\tfine\tfine\tgood\ngood\tgreat\tfine\nbad\tbad\n"
    pairs = '{"good": ["fine", "fine", "good"], "good": ["great", "fine"], "bad": ["bad"]}'
    book = read(tmp_path, name, tsv if name == "a.tsv" else pairs)
    assert book.table == {"good": ("fine", "great"), "bad": ()}
    assert [note.removeprefix(f"{tmp_path / name}: ") for note in book.notes] == [
        "1 repeated words; their lists were joined.",
        "2 words listed again for the same word; dropped.",
        "2 words listed for themselves; dropped.",
    ]


def test_spaces_around_words_and_tabs_at_the_end_do_not_count(tmp_path: Path) -> None:
    book = read(tmp_path, "a.tsv", " good\t fine \tvery good\t\t \n\t\t\n")
    assert book.table == {"good": ("fine", "very good")}
    assert read(tmp_path, "a.json", '{" good": ["fine "]}').table == {"good": ("fine",)}
    assert read(tmp_path, "a.json", '{"\\u0085": ["\\u00a0"]}').table == {"\x85": ("\u00a0",)}


words = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(lambda word: word.strip(" ")).filter(bool)
)


@given(st.dictionaries(words.filter(lambda word: not word.startswith("#")), st.lists(words), min_size=1))
def test_any_table_survives_both_formats(tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[str]]) -> None:
    folder = tmp_path_factory.mktemp("books")
    expected = {word: tuple(dict.fromkeys(o for o in others if o != word)) for word, others in table.items()}
    assert read(folder, "a.json", json.dumps(table)).table == expected
    tsv = "\n".join("\t".join([word, *others]) for word, others in table.items())
    assert read(folder, "a.tsv", tsv).table == expected


def test_the_fingerprint_is_of_what_is_listed(tmp_path: Path) -> None:
    book = read(tmp_path, "a.tsv", TSV)
    assert read(tmp_path, "b.tsv", "\n".join(reversed(TSV.split("\n")))).fingerprint == book.fingerprint
    assert read(tmp_path, "c.tsv", TSV.replace("fine\tgreat", "great\tfine")).fingerprint != book.fingerprint
    assert read(tmp_path, "d.tsv", TSV + "more\n").fingerprint != book.fingerprint


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.json", "[]", "holds list"),
        ("a.json", '"good"', "holds str"),
        ("a.json", "{}", "lists no words"),
        ("a.json", "{", "is not JSON"),
        ("a.json", '{"good": "fine"}', "'good' has str where a list"),
        ("a.json", '{"good": {"a": 1}}', "'good' has an object where a list"),
        ("a.json", '{"good": ["fine", 3]}', "the list of 'good' holds int where"),
        ("a.json", '{"good": [null]}', "the list of 'good' holds NoneType"),
        ("a.json", '{"good": [["fine"]]}', "the list of 'good' holds list"),
        ("a.json", '{"good": [" "]}', "the list of 'good' holds an empty word"),
        ("a.json", '{"": ["fine"]}', "a key holds an empty word"),
        ("a.tsv", "good\tfine\n\nbad\t\tpoor\n", "line 3 holds an empty word"),
        ("a.tsv", "\tfine\n", "line 1 holds an empty word"),
        ("a.tsv", "# nothing\n\n", "lists no words"),
        ("a.tsv", b"caf\xe9\tbar\n", "is not UTF-8"),
        ("a.json.gz", "{}", "is not a complete gzip file"),
        ("a.csv", "good,fine\n", "unknown thesaurus format"),
        ("a", "good\tfine\n", "unknown thesaurus format"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, name: str, content: Any, expected: str) -> None:
    with pytest.raises(BadInput, match=expected) as caught:
        read(tmp_path, name, content)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        Thesaurus.read(str(tmp_path / "none.tsv"))
