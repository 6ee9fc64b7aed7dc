"""Parses that were written to a file."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput
from mohs.models.parser import load_parser
from mohs.models.written_parses import WrittenParser, write_parses
from tests.toy_parser import ToyParser

TEXTS = ["Good films end.", "Films", 'été\U0001f600 "ends"', "", "Films"]


@pytest.mark.parametrize("name", ["parses.jsonl", "parses.jsonl.gz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    toy = ToyParser()
    assert write_parses(toy, TEXTS, tmp_path / name) == 4
    parser = load_parser(f"parses:{tmp_path / name}")
    assert isinstance(parser, WrittenParser)
    assert parser.collect(TEXTS) == toy.collect(TEXTS)


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    for name, texts in (("a", TEXTS), ("b.gz", TEXTS), ("c", TEXTS[:2])):
        write_parses(ToyParser(), texts, tmp_path / name)
    a, b, c = (WrittenParser(tmp_path / name).fingerprint for name in ("a", "b.gz", "c"))
    assert a == b != c


def test_a_text_that_is_missing_is_an_error_of_its_example(tmp_path: Path) -> None:
    data = [("Films never end slowly", 0), ("Good old films end quickly", 1)]
    write_parses(ToyParser(), [data[1][0]], tmp_path / "parses")
    with mohs.attack("pocket", data, ["scpn:rules"], parser=f"parses:{tmp_path / 'parses'}") as run:
        first, second = run.records()
    assert first.outcome == "error"
    assert "has no parse of 'Films never end slowly'; add it, or use another parser." in str(first.error)
    assert second.outcome != "error"


TOKEN = ["Films", 0, 5, 0, "ROOT", "NOUN", "NNS", "film", ""]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("nothing", "JSONDecodeError"),
        ({"tokens": []}, "'text'"),
        ({"text": "Films", "tokens": [TOKEN[:-1]]}, "is no token"),
        ({"text": "Films", "tokens": [["Films", 0, 5, True, *TOKEN[4:]]]}, "is no token"),
        ({"text": "A film", "tokens": [TOKEN]}, "'Films' does not stand at 0 to 5"),
        ({"text": "Films", "tokens": [["Films", 0, 5, 7, *TOKEN[4:]]]}, "the head of 'Films' is 7"),
        ({"text": "a b", "tokens": [["a", 0, 1, 1, *TOKEN[4:]], ["b", 2, 3, 0, *TOKEN[4:]]]}, "circle"),
    ],
)
def test_lines_that_are_no_parse(tmp_path: Path, line: Any, fault: str) -> None:
    path = tmp_path / "parses"
    path.write_text(f"\n{line if isinstance(line, str) else json.dumps(line)}\n")
    with pytest.raises(BadInput, match=re.escape(fault)) as error:
        WrittenParser(path)
    assert str(error.value).startswith(f"Line 2 of {path} is no parse (")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be read \(No such file or directory\); name a file of parses\."):
        load_parser(f"parses:{tmp_path / 'none'}")
    with pytest.raises(BadInput, match="Unknown parser 'parses:'"):
        load_parser("parses:")
    for name, content, message in (
        ("cut", gzip.compress(b"x" * 9000)[:-12], "cut cannot be read"),
        ("turned", gzip.compress(b"x")[:10] + b"\xff" * 20, "turned cannot be read"),
        ("odd", b"\xff\xfe", "odd are not UTF-8"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadInput, match=message):
            load_parser(f"parses:{tmp_path / name}")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(BadInput, match="empty has no parses; write some"):
        load_parser(f"parses:{tmp_path / 'empty'}")
