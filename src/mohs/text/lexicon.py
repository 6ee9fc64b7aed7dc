"""Words with vectors, neighbours and parts of speech, in a compact file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# Parts of speech as bits, so that the open classes a word can belong to fit in one byte.
NOUN, VERB, ADJECTIVE, ADVERB = 1, 2, 4, 8


@dataclass(frozen=True, eq=False)
class Lexicon:
    """A vocabulary with unit vectors, and each word's nearest neighbours by cosine, closest first."""

    name: str
    words: tuple[str, ...]
    codes: npt.NDArray[np.int8]  # vectors, one byte per number
    scales: Floats  # a word's unit vector is its codes times its scale
    pos: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]  # the neighbours of word i are neighbours[starts[i]:starts[i + 1]]
    neighbours: npt.NDArray[np.uint16]
    cosines: Floats

    @classmethod
    def read(cls, file: Traversable) -> Lexicon:
        """Load the file that scripts/build_lexicon.py writes."""
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as parts:
            words = tuple(parts["words"].tobytes().decode("utf-8").split("\n"))
            counts = parts["counts"].astype(np.int64)
            return cls(
                name=parts["name"].tobytes().decode("utf-8"),
                words=words,
                codes=parts["codes"],
                scales=parts["scales"].astype(np.float32),
                pos=parts["pos"],
                starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
                neighbours=parts["neighbours"],
                cosines=parts["cosines"].astype(np.float32) / 255,
            )

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def vectors(self) -> Floats:
        """All vectors, of unit length, one row a word."""
        return self.codes.astype(np.float32) * self.scales[:, None]

    def near(self, word: str, k: int, min_cosine: float) -> list[tuple[str, float]]:
        """At most k neighbours of a word with at least this cosine, closest first; none for an unknown word."""
        number = self.index.get(word)
        if number is None:
            return []
        part = slice(int(self.starts[number]), min(int(self.starts[number + 1]), int(self.starts[number]) + k))
        pairs: Any = zip(self.neighbours[part].tolist(), self.cosines[part].tolist(), strict=True)
        return [(self.words[other], cosine) for other, cosine in pairs if cosine >= min_cosine]

    def cosine(self, one: str, other: str) -> float:
        """The cosine between two words; nan if one is unknown."""
        a, b = self.index.get(one), self.index.get(other)
        if a is None or b is None:
            return float("nan")
        return float(self.vectors[a] @ self.vectors[b])

    def parts_of_speech(self, word: str) -> int:
        """The open classes a word can belong to, as bits; 0 if unknown."""
        number = self.index.get(word)
        return 0 if number is None else int(self.pos[number])

    def mean(self, words: Sequence[str]) -> Floats:
        """The mean vector of the known words; zeros if there are none."""
        rows = [self.index[word] for word in words if word in self.index]
        if not rows:
            return np.zeros(self.vectors.shape[1], np.float32)
        mean: Floats = self.vectors[rows].mean(axis=0, dtype=np.float32)
        return mean
