"""The words that a defence may put in place of others: the same sources that attacks search."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from mohs.engine import run
from mohs.errors import BadInput
from mohs.space.services import Services
from mohs.space.sources import Neighbours, Source, Synonyms
from mohs.text import Text
from mohs.text.stopwords import EITHER as STOPWORDS

BOOKS = ("vectors", "wordnet")


def source_of(words: str, k: int, cosine: float) -> Source:
    """The source with this name: neighbours by vectors, or WordNet."""
    if words == "neighbours":
        return Neighbours(k=k, min_cosine=cosine)
    if words == "wordnet":
        return Synonyms()
    raise BadInput(f"A defence takes its words from neighbours or wordnet, not from {words!r}.")


def open_places(text: Text) -> list[int]:
    """The positions of words that are no stopwords."""
    return [p for p, word in enumerate(text.words) if word.lower().replace("\u2019", "'") not in STOPWORDS]


def offered(text: Text, places: list[int], source: Source, books: Mapping[str, Any]) -> dict[int, list[str]]:
    """The words that may stand at each place, as the source gives them; no stopwords."""
    (finished,) = run([(None, source(text, places, Services(books, Random(0))))], [])
    if finished.error is not None:
        raise finished.error
    found = finished.result or []
    return {p: [w for w in words if w.lower() not in STOPWORDS] for p, words in zip(places, found, strict=True)}
