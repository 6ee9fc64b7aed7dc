"""How what people find valid goes with word vectors and an encoder: alone in buckets, and both together in cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from mohs.studies.item import Item
from mohs.studies.likeness import Likeness, likeness
from mohs.studies.pool import Pool
from mohs.studies.ratings import Estimate
from mohs.studies.relations import Bucket, Cell, buckets, cells, rank_correlation
from mohs.studies.verdict_rule import is_direct
from mohs.tasks.services import fingerprint, load_services

Told = Callable[[None, int, int], None]


@dataclass(frozen=True)
class Measures:
    """What is asked how alike texts are: names, or the models themselves; by default the bundled ones."""

    vectors: Any = None
    encoder: Any = None
    device: str = "auto"
    trust_code: bool = False
    progress: Told | None = None  # called with None, the texts encoded, and their number


@dataclass(frozen=True)
class Relations:
    """P(valid) against the two numbers of an item, and the rank correlation of each with the mean score.

    Unknown items have no such number, for instance because a word has no vector.
    """

    word: tuple[Bucket, ...]
    text: tuple[Bucket, ...]
    jointly: tuple[Cell, ...]
    word_correlation: Estimate
    text_correlation: Estimate
    word_unknown: int
    text_unknown: int
    of_word: str  # what the numbers are, in a few words
    of_text: str
    likeness: Likeness = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "word_cosine": {
                "of": self.of_word,
                "buckets": [one.to_json() for one in self.word],
                "unknown": self.word_unknown,
                "rank_correlation": self.word_correlation.to_json(),
            },
            "similarity": {
                "of": self.of_text,
                "buckets": [one.to_json() for one in self.text],
                "unknown": self.text_unknown,
                "rank_correlation": self.text_correlation.to_json(),
            },
            "jointly": [one.to_json() for one in self.jointly],
        }


def relations(
    found: Likeness, verdicts: Mapping[str, bool | None], scores: Mapping[str, float], single: bool, window: int
) -> Relations:
    """The relations of the judged items. scores: their means, on a scale where more is better.

    single: whether items are single changes.
    """
    judged = [item for item, verdict in verdicts.items() if verdict is not None]
    return Relations(
        buckets(found.word, verdicts),
        buckets(found.text, verdicts),
        cells(found.text, found.word, verdicts),
        rank_correlation(found.word, {item: scores[item] for item in judged if item in scores}),
        rank_correlation(found.text, {item: scores[item] for item in judged if item in scores}),
        sum(found.word.get(item) is None for item in judged),
        sum(found.text.get(item) is None for item in judged),
        "cosine of the two words' vectors" if single else "least cosine of a replaced word's vectors",
        f"the encoder's cosine of {window} words around the change" if single else "the encoder's cosine of the texts",
        found,
    )


def related_to(
    pool: Pool, verdicts: Mapping[str, bool | None], measures: Measures
) -> tuple[Relations, dict[str, str]] | None:
    """The relations of items with a verdict, and what was asked; None if their texts cannot be compared."""
    design = pool.design
    items = [pool.items[key] for key in verdicts]
    if design.valid is None or not any(_has_two(item) for item in items):
        return None
    nobody: Any = None  # only gradients need a victim
    given = {"vectors": measures.vectors, "encoder": measures.encoder}
    tools = load_services(
        list(given),
        {kind: value for kind, value in given.items() if value is not None},
        victim=nobody,
        device=measures.device,
        trust_code=measures.trust_code,
    )
    found = likeness(design, items, tools["vectors"], tools["encoder"], measures.progress)
    high = design.question(design.valid.question).agree != "low"
    scores: dict[str, float] = {}
    if design.valid.statistic in ("mean", "median"):
        given_scores = pool.ratings(items).by_item
        scores = {key: fmean(values) if high else -fmean(values) for key, values in given_scores.items()}
    asked = {kind: fingerprint(part) for kind, part in sorted(tools.items())}
    return relations(found, verdicts, scores, not is_direct(design), design.window), asked


def _has_two(item: Item) -> bool:
    return len(item.texts) == 2 or bool(item.facts.get("original") and item.facts.get("final"))
