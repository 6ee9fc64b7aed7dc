"""The choices that a training learns against are those of the space that is certified."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from mohs import engine
from mohs.bounds.word_numbers import word_numbers_of
from mohs.models.vocabulary import Vocabulary
from mohs.space import Listed, Services, Space, build_space
from mohs.text import Example
from mohs.text.placeholders import without_placeholders
from mohs.text.stopwords import ENGLISH
from mohs.training.choices import Choices

BOOK = {
    "good": ["fine", "great", "unheard-of"],
    "film": ["movie", "Film"],
    "Film": ["cinema"],
    "the": ["this"],
    "not": ["never"],
    "story": ["not", "plot"],
    "dull": ["so so", "boring"],
    "lone": [],
}
WORDS = ("good", "fine", "great", "film", "movie", "cinema", "story", "plot", "dull", "boring", "the", "this", "lone")
TEXTS: list[tuple[str, ...]] = [
    ("The good film, a GOOD story!",),
    ("Film film FILM",),
    ("@good is no good <film> film",),
    ("not the story of http://good.film",),
    ("a b c d e f g h i j k l good",),  # beyond the window
    ("good story", "a good film"),
    ("",),
]


def choices_of(examples: list[Example], stopwords: Any = ENGLISH, **book: Any) -> tuple[Choices, Listed, Vocabulary]:
    vocabulary = Vocabulary(WORDS, 8)
    path = book.pop("path")
    path.write_text(json.dumps({**BOOK, **book}))
    source = Listed.read(str(path))
    return Choices(examples, vocabulary, source, stopwords, {}), source, vocabulary


def space_of(example: Example, source: Any, stopwords: Any) -> Space:
    places = without_placeholders(example.text, example.positions)
    search = build_space(example.text, source, (), stopwords, places, Services({}, Random(0)))
    (ended,) = engine.run([(0, search)], [])
    assert ended.result is not None
    return ended.result


@pytest.mark.parametrize("stopwords", [ENGLISH, frozenset()])
def test_they_are_those_of_the_certified_space(tmp_path: Path, stopwords: Any) -> None:
    examples = [Example.of(fields if len(fields) > 1 else fields[0], 0, id=str(n)) for n, fields in enumerate(TEXTS)]
    found, source, vocabulary = choices_of(examples, stopwords, path=tmp_path / "words.json", dull=["boring"])
    changed = 0
    for example in examples:
        numbers = word_numbers_of(vocabulary, space_of(example, source, stopwords))
        assert numbers is not None
        wanted = [{own} for own in numbers.row.tolist()]
        for spot, words in zip(numbers.spots.tolist(), numbers.words, strict=True):
            if spot >= 0:
                wanted[spot] |= set(words.tolist())
        rows = found.table[torch.tensor(found.rows[example.text.fields])]
        assert rows[:, 0].tolist() == numbers.row.tolist()
        assert [set(row) for row in rows.tolist()] == wanted
        changed += sum(len(words) > 1 for words in wanted)
    assert changed >= 9


def test_a_choice_of_several_words_is_left_out_and_told(tmp_path: Path) -> None:
    example = Example.of("a dull film", 0)
    found, source, vocabulary = choices_of([example], path=tmp_path / "words.json")
    assert found.skipped == 1
    assert len(set(found.table[found.rows[example.text.fields][1]].tolist())) == 2
    assert word_numbers_of(vocabulary, space_of(example, source, ENGLISH)) is None  # such a text has no certificate


def test_a_batch_of_texts(tmp_path: Path) -> None:
    examples = [Example.of("a good film", 0, id="0"), Example.of("good", 1, id="1")]
    found, _, vocabulary = choices_of(examples, path=tmp_path / "words.json")
    table, lengths = found.of([example.text.fields for example in examples], torch.device("cpu"))
    assert table.shape == (2, 3, 4)
    assert lengths is not None
    assert lengths.tolist() == [3, 1]
    assert table[1, 0, 0] == vocabulary.index["good"]
    _, same = found.of([examples[0].text.fields] * 2, torch.device("cpu"))
    assert same is None


def test_the_digest_is_of_the_choices(tmp_path: Path) -> None:
    examples = [Example.of("a good film", 0)]
    books: list[dict[str, list[str]]] = [{}, {"lone": ["x"]}, {"good": []}]
    one, other, more = (choices_of(examples, path=tmp_path / "words.json", **book)[0].digest for book in books)
    assert one == other != more
