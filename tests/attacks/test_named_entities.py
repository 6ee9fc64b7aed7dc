"""The table of replacements: read from a file, or made from counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mohs.attacks.named_entities import NamedEntities, replacements
from mohs.errors import BadInput
from mohs.text import Text
from mohs.text.questions import Tag
from tests.toys import now, services


def test_a_file_is_read_and_known_by_its_content(tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"{name}.json" for name in "abc")
    one.write_text('{"replacements": {"0": {"GPE": "India"}}, "types": {"London": "GPE"}}')
    two.write_text('{"types": {"London": "GPE"}, "replacements": {"0": {"GPE": "India"}}}')
    three.write_text('{"replacements": {"0": {"GPE": "Malta"}}, "types": {"London": "GPE"}}')
    read = [NamedEntities.read(path) for path in (one, two, three)]
    assert read[0].fingerprint == read[1].fingerprint != read[2].fingerprint
    assert read[0].table == {0: {"GPE": "India"}}
    ask: Any = services(tagger=lambda spot: Tag("PROPN", "NNP"))
    text = Text("LONDON India")
    assert now(read[0](text, (0, 1), 0, ask)) == {0: "India"}  # India is of no known type, and PROPN has no replacement
    assert now(read[0](text, (0, 1), 1, ask)) == {}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("nonsense", "cannot be read"),
        ("[]", "replacements"),
        ('{"replacements": {"zero": {"GPE": "India"}}}', "replacements"),
        ('{"replacements": {"0": {"GPE": " "}}}', "replacements"),
        ('{"replacements": {"0": ["India"]}}', "replacements"),
        ('{"replacements": {}, "types": ["London"]}', "types"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    file = tmp_path / "e.json"
    file.write_text(content)
    with pytest.raises(BadInput, match=sentence) as raised:
        NamedEntities.read(file)
    assert str(file) in str(raised.value)
    with pytest.raises(BadInput, match="cannot be read"):
        NamedEntities.read(tmp_path / "absent.json")


def test_a_replacement_is_frequent_elsewhere_and_rare_in_the_class() -> None:
    counts = {
        0: {"GPE": {"Rome": 9, "Oslo": 3, "Lima": 1}},
        1: {"GPE": {"Oslo": 5, "New York": 8, "Bonn": 2}, "ORG": {"Ford": 1}},
        2: {"GPE": {"Bonn": 4, "Rome": 7}},
    }
    # For 0: New York 8, Rome 7, Bonn 6, Oslo 5. Rome and Oslo are among its own first two; New York is two words.
    assert replacements(counts, own=2)[0] == {"GPE": "Bonn", "ORG": "Ford"}
    # For 2: Rome 9 is its own, New York is two words, Oslo 8.
    assert replacements(counts, own=2)[2] == {"GPE": "Oslo", "ORG": "Ford"}
    assert replacements(counts, own=1)[0]["GPE"] == "Bonn"  # its own texts do not speak for Oslo
    assert replacements(counts, own=0)[0]["GPE"] == "Rome"
    assert "GPE" not in replacements(counts, own=2, other=1)[0]  # only New York is looked at
    assert replacements(counts)[1] == {"GPE": "Rome"}
