"""How alike the texts of an item are: by word vectors, and by a sentence encoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mohs.engine import Service
from mohs.space import SentenceSimilarity
from mohs.studies.design import Design
from mohs.studies.item import Item
from mohs.text import Text
from mohs.text.vectors import Vectors

_AT_ONCE = 256  # texts between two reports of progress
_COSINE = SentenceSimilarity(angular=False)
_SINGLE = ("words", "fragments")  # designs about one replaced word

Told = Callable[[None, int, int], None]


@dataclass(frozen=True)
class Likeness:
    """Two numbers of each item; None where one cannot be had.

    word: the cosine of the two words' vectors; of a whole text the least of its replaced words. text: the cosine of
    the encoder's vectors, of the words around a single change, or of whole texts.
    """

    word: Mapping[str, float | None]
    text: Mapping[str, float | None]


def likeness(
    design: Design,
    items: Iterable[Item],
    vectors: Vectors | None,
    encoder: Service[Any, Any] | None,
    progress: Told | None = None,
) -> Likeness:
    """The numbers of items. Without vectors or an encoder theirs are left out. progress: hears of texts encoded."""
    rows = list(items)
    words: dict[str, float | None] = {}
    if vectors is not None:
        words = {item.key: _least_cosine(vectors, replaced(design, item)) for item in rows}
    texts: dict[str, float | None] = {}
    if encoder is not None:
        pairs = {item.key: pair for item in rows if (pair := compared(design, item)) is not None}
        known = _encoded(pairs.values(), encoder, progress)
        texts = {key: _similarity(pair, known) for key, pair in pairs.items()}
    return Likeness(words, texts)


def replaced(design: Design, item: Item) -> list[tuple[str, str]]:
    """The words replaced, each with what stands in its place; none if the texts do not correspond word by word."""
    facts = item.facts
    if design.items in _SINGLE:
        if "old" in facts and "new" in facts:
            return [(str(facts["old"]), str(facts["new"]))]
        if design.items == "words" and len(item.texts) == 2:
            return [(item.texts[0], item.texts[1])]
    pair = _fields(item)
    if pair is None:
        return []
    original, final = pair
    if not original.same_shape(final):
        return []
    return [(original.words[place], final.words[place]) for place in original.changes(final)]


def compared(design: Design, item: Item) -> tuple[str, str] | None:
    """The two texts to compare: the words around a single change, or whole texts."""
    facts = item.facts
    if design.items in _SINGLE and "position" in facts and facts.get("original"):
        original, position = Text(*facts["original"]), int(facts["position"])
        if position < len(original.words):
            changed = original.replace(position, str(facts["new"]))
            return original.around(position, design.window).strip(), changed.around(position, design.window).strip()
    if design.items == "words":
        return None  # two words are no text
    if design.items not in _SINGLE and facts.get("original") and facts.get("final"):
        return "\n".join(facts["original"]), "\n".join(facts["final"])
    return (item.texts[0], item.texts[1]) if len(item.texts) == 2 else None


def _fields(item: Item) -> tuple[Text, Text] | None:
    original, final = item.facts.get("original"), item.facts.get("final")
    if original and final:
        return Text(*original), Text(*final)
    return (Text(item.texts[0]), Text(item.texts[1])) if len(item.texts) == 2 else None


def _least_cosine(vectors: Vectors, words: Sequence[tuple[str, str]]) -> float | None:
    """None if nothing was replaced, or a word has no vector."""
    found = [float(vectors.cosines(old.lower(), [new.lower()])[0]) for old, new in words]
    return None if not found or any(map(math.isnan, found)) else round(min(found), 6)


def _encoded(pairs: Iterable[tuple[str, str]], encoder: Service[Any, Any], progress: Told | None) -> dict[str, Any]:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    found: dict[str, Any] = {}
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        found.update(zip(some, encoder.again([(text,) for text in some]), strict=True))
        if progress is not None:
            progress(None, len(found), len(texts))
    return found


def _similarity(pair: tuple[str, str], known: Mapping[str, Any]) -> float | None:
    one, other = (known[text] for text in pair)
    if one is None or other is None or not np.any(one) or not np.any(other):
        return None
    return 1.0 if pair[0] == pair[1] else _COSINE.of_vectors(one, other)
