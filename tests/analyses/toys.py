"""Runs, vectors and models for analyses whose figures can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mohs.records import Record
from mohs.runs.run import Run
from mohs.text import Text
from tests.audits.toys import Encoder, record, run_of

VECTORS = {"good": (1.0, 0.0), "fine": (0.8, 0.6), "bad": (0.0, 1.0), "film": (-1.0, 0.0), "movie": (-0.8, -0.6)}


class Vectors:
    """Five words on a circle."""

    name = "circle"
    fingerprint = "circle-1"
    words = tuple(VECTORS)

    def cosines(self, word: str, others: Sequence[str]) -> list[float]:
        return [self._cosine(word, other) for other in others]

    def near(self, words: Sequence[str], most: int) -> list[list[tuple[str, float]]]:
        found = []
        for word in words:
            others = [(other, self._cosine(word, other)) for other in VECTORS if other != word]
            known = sorted((pair for pair in others if pair[1] == pair[1]), key=lambda pair: (-pair[1], pair[0]))
            found.append(known[:most])
        return found

    def _cosine(self, one: str, other: str) -> float:
        if one not in VECTORS or other not in VECTORS:
            return float("nan")
        return float(np.dot(VECTORS[one], VECTORS[other]))


def success(number: int, original: str | tuple[str, ...], changes: Mapping[int, str], **more: Any) -> Record:
    """An adversarial example with these words changed."""
    fields = original if isinstance(original, tuple) else (original,)
    text = Text(*fields)
    final = text.replace_all(dict(changes))
    names = ("text",) if len(fields) == 1 else ("premise", "hypothesis")
    found = replace(
        record(number, fields[0], {0: "x"}, **{"words": len(text), **more}),
        original=fields,
        names=names,
        edits=text.edits(final),
    )
    return found if "perturbed" in more else replace(found, perturbed=final.fields)


def attack_run(records: list[Record], folder: Path | None = None, **more: Any) -> Run:
    """An attack run of these records."""
    return run_of(records, folder, **more)


def given() -> dict[str, Any]:
    """The models of an analysis."""
    return {"vectors": Vectors(), "encoder": Encoder()}
