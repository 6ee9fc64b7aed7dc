"""The initial word vectors of a classifier."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from mohs.models.vocabulary import PADDING, UNKNOWN, Vocabulary
from mohs.text.vectors import Vectors

Table = npt.NDArray[np.float32]

_SPREAD = 0.1  # standard deviation of random vectors if no vectors are given


def starting_table(vocabulary: Vocabulary, vectors: Vectors | None, dim: int, seed: int) -> Table:
    """One row per word: its vector, or random numbers with the same standard deviation if it has none.

    Padding and the unknown word start at zero.
    """
    number = int.from_bytes(hashlib.sha256(f"{seed}/embedding".encode()).digest()[:8], "big")
    spread = _SPREAD if vectors is None else float(vectors.table.std())
    table: Table = np.random.default_rng(number).normal(0, spread, (len(vocabulary), dim)).astype(np.float32)
    table[[PADDING, UNKNOWN]] = 0
    if vectors is not None:
        known = [(row, vectors.index[word]) for word, row in vocabulary.index.items() if word in vectors.index]
        rows, places = zip(*known, strict=True) if known else ((), ())
        table[list(rows)] = vectors.table[list(places)]
    return table
