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


def offered(
    text: Text, places: list[int], source: Source, books: Mapping[str, Any], known: dict[str, list[str]]
) -> dict[int, list[str]]:
    """The words that may stand at each place, as the source gives them; no stopwords.

    The sources of `source_of` look at a word alone, so what was found for a word is kept in `known`.
    """
    new = list({text.words[p]: p for p in places if text.words[p] not in known}.values())
    if new:
        (finished,) = run([(None, source(text, new, Services(books, Random(0))))], [])
        if finished.error is not None:
            raise finished.error
        for p, words in zip(new, finished.result or [], strict=True):
            known[text.words[p]] = [w for w in words if w.lower() not in STOPWORDS]
    return {p: known[text.words[p]] for p in places}
