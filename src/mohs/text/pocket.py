"""The data bundled with the package: reviews to attack, and word vectors to attack them with."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from mohs.errors import BadInput
from mohs.text.lexicon import Lexicon

LABELS = ("negative", "positive")


def reviews(split: str) -> Iterator[dict[str, Any]]:
    """The rows of the bundled corpus: `train` or `test`."""
    if split not in ("train", "test"):
        raise BadInput(f"The pocket corpus has no part {split!r}; use train or test.")
    with (
        (files("mohs.pocket") / "reviews.jsonl.gz").open("rb") as raw,
        gzip.open(raw, "rt", encoding="utf-8") as lines,
    ):
        for line in lines:
            row = json.loads(line)
            if row.pop("split") == split:
                yield row


@cache
def lexicon() -> Lexicon:
    """The bundled word vectors and neighbour lists, read once per process."""
    return Lexicon.read(files("mohs.pocket") / "lexicon.npz")
