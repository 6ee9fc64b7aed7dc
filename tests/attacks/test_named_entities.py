"""The table of replacements: read from a file, or made from counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mohs.attacks.named_entities import NamedEntities, recogniser, replacements, table_of
from mohs.errors import BadInput
from mohs.models.tagger import PocketTagger, SpacyTagger
from mohs.text import Example, Text
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


def listed(string: str) -> list[tuple[str, str]]:
    """A recogniser of what stands between brackets: [York:GPE]."""
    return [tuple(part.split("]")[0].split(":")) for part in string.split("[")[1:]]  # type: ignore[misc]


def test_a_table_from_labelled_texts(tmp_path: Path) -> None:
    rows = [
        (("the [York:GPE] I know", "met [Ann:PERSON]"), 0),
        (("[York:GPE] again, and [New York:ORG]", "[May:PERSON]"), 0),
        (("[Rome:GPE] with [May:DATE]", "[May:DATE] at 7"), 1),
    ]
    examples = [Example.of(text, label, id=str(number)) for number, (text, label) in enumerate(rows)]
    table = table_of(examples, listed)
    assert table == {
        "replacements": {"0": {"DATE": "May", "GPE": "Rome"}, "1": {"GPE": "York", "PERSON": "Ann"}},
        "types": {"ann": "PERSON", "may": "DATE", "new": "ORG", "rome": "GPE", "york": "GPE"},  # the commonest of each
    }
    file = tmp_path / "entities.json"
    file.write_text(json.dumps(table))
    ask: Any = services(tagger=lambda spot: Tag("PROPN", "NNP"))
    assert now(NamedEntities.read(file)(Text("York"), (0,), 0, ask)) == {0: "Rome"}


def test_without_a_recogniser_names_and_numbers_are_of_the_type_of_their_tag() -> None:
    found = recogniser(PocketTagger())("We met in London in 1999.")
    assert found == [("London", "PROPN"), ("1999", "NUM")]
    examples = [Example.of("We met in London in 1999.", 0), Example.of("They met in Paris.", 1, id="1")]
    table = table_of(examples, recogniser(PocketTagger()))
    assert table["replacements"] == {"0": {"PROPN": "Paris"}, "1": {"NUM": "1999", "PROPN": "London"}}
    assert table["types"] == {}  # the tag will say it again


def test_spacy_recognises_where_it_can() -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler", name="ner").add_patterns([{"label": "GPE", "pattern": "New York"}])
    nlp.disable_pipe("ner")  # as the tagger leaves it
    tagger = SpacyTagger.__new__(SpacyTagger)
    tagger.nlp = nlp
    assert recogniser(tagger)("We met in New York, Ann.") == [("New York", "GPE")]
