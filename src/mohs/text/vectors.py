"""Word vectors: rows of numbers, cosines, distances and nearest words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mohs.text import pocket
from mohs.text.nearest import Floats, Nearest, Numbers, divided
from mohs.text.neighbours import Neighbours, cache_folder
from mohs.text.vector_files import read_rows

Near = list[list[tuple[str, float]]]  # for each queried word, other words and how near they are, nearest first

_EPSILON = 2.0**-23


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words with one vector each.

    A cosine is the float64 dot product of two rows of `unit`. A distance is the squared Euclidean distance of two rows
    of `table`, in float64. Both are rounded to float32; words that are then equally near keep the order of the file.

    For unit vectors a squared distance is 2 - 2 cosine. The published counter-fitted vectors have unit length, so the
    "squared distance at most 0.5" of Alzantot et al. 2018 is a cosine of at least 0.75 there. A row of zeros has no
    direction: its cosines are nan, and by cosine it is not a neighbour of any word and has none.
    """

    name: str
    words: tuple[str, ...]
    table: Floats  # as given
    notes: tuple[str, ...] = ()  # what was left out while reading, one sentence each
    cache: Path | None = None  # the folder that keeps neighbour lists for the next run

    @cached_property
    def unit(self) -> Floats:
        """The rows scaled to unit length; rows of zeros stay zero."""
        return divided(self.table, self._divisor)

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the words and the numbers. It does not depend on their source."""
        digest = hashlib.blake2b("\n".join(self.words).encode("utf-8", "surrogatepass"), digest_size=16)
        digest.update(f"\0{self.table.shape}".encode())
        digest.update(np.ascontiguousarray(self.table, "<f4").data)
        return digest.hexdigest()

    def near(self, words: Sequence[str], k: int, min_cosine: float = -1.0) -> Near:
        """For each word at most k others with at least this cosine, closest first; none for an unknown word.

        Ask for many words at a time: new words are searched for together.
        """
        return self._named(self._by_cosine, words, k, min_cosine)

    def near_by_distance(self, words: Sequence[str], k: int, max_distance: float = np.inf) -> Near:
        """For each word at most k others within this squared distance, closest first."""
        found = self._named(self._by_distance, words, k, -max_distance)
        return [[(word, -value) for word, value in pairs] for pairs in found]

    def expect(self, words: Sequence[str], k: int, *, by_distance: bool = False) -> None:
        """Announce words that `near` or `near_by_distance` will be asked about. The next search includes them."""
        lookup = self._by_distance if by_distance else self._by_cosine
        lookup.expect(np.array([self.index[word] for word in words if word in self.index], np.int64), k)

    def cosines(self, word: str, others: Sequence[str]) -> Floats:
        """The cosine of a word with each of the others; nan if one of the two is unknown or zero."""
        return self._compare(word, others, self._cosines)

    def distances(self, word: str, others: Sequence[str]) -> Floats:
        """The squared distance of a word to each of the others; nan if one of the two is unknown."""
        return self._compare(word, others, self._distances)

    @cached_property
    def _by_cosine(self) -> Neighbours:
        bias = np.where(self._lengths > 0, 0, -np.inf).astype(np.float32)
        search = Nearest(self.table, bias, (self.table.shape[1] + 4) * _EPSILON, self._cosines, self._divisor)
        return Neighbours(search, self._stem("cosine"))

    @cached_property
    def _by_distance(self) -> Neighbours:
        # q.x - |x|^2 / 2 orders rows by their distance; scaled down first to avoid overflow.
        scale = np.array(self._lengths.max() or 1.0)
        bias = (-((self._lengths / scale) ** 2) / 2).astype(np.float32)
        slack = (self.table.shape[1] + 16) * _EPSILON
        search = Nearest(self.table, bias, slack, lambda one, other: -self._distances(one, other), scale)
        return Neighbours(search, self._stem("distance"))

    def _stem(self, measure: str) -> Path | None:
        return self.cache and self.cache / "neighbours" / f"{self.fingerprint}-{measure}"

    def _named(self, lookup: Neighbours, words: Sequence[str], k: int, least: float) -> Near:
        rows = {word: self.index[word] for word in words if word in self.index}
        numbers, values = lookup(np.fromiter(rows.values(), np.int64), k)
        counts = (values >= least).sum(1).tolist()  # the rows are sorted, nearest first
        named = self.words.__getitem__
        found = {
            word: list(zip(map(named, others[:count]), nearness[:count], strict=True))
            for word, count, others, nearness in zip(rows, counts, numbers.tolist(), values.tolist(), strict=True)
        }
        return [found.get(word, []) for word in words]

    @cached_property
    def _lengths(self) -> npt.NDArray[np.float64]:
        lengths: npt.NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", self.table, self.table, dtype=np.float64))
        return lengths

    @cached_property
    def _divisor(self) -> npt.NDArray[np.float64]:
        return np.where(self._lengths > 0, self._lengths, 1)[:, None]

    def _cosines(self, one: Numbers, other: Numbers) -> Floats:
        """The cosine of each pair, summed separately, so that a value depends only on its pair."""
        one_unit, other_unit = (divided(self.table[rows], self._divisor[rows]) for rows in (one, other))
        products = (one_unit.astype(np.float64) * other_unit).sum(axis=1)
        products[(self._lengths[one] == 0) | (self._lengths[other] == 0)] = np.nan
        cosines: Floats = np.clip(products, -1, 1).astype(np.float32)
        return cosines

    def _distances(self, one: Numbers, other: Numbers) -> Floats:
        squares = (self.table[one].astype(np.float64) - self.table[other]) ** 2
        with np.errstate(over="ignore"):
            distances: Floats = squares.sum(axis=1).astype(np.float32)
        return distances

    def _compare(self, word: str, others: Sequence[str], value: Callable[[Numbers, Numbers], Floats]) -> Floats:
        row = self.index.get(word)
        result = np.full(len(others), np.nan, np.float32)
        if row is not None:
            numbers = np.fromiter((self.index.get(other, -1) for other in others), np.int64, len(others))
            known = np.flatnonzero(numbers >= 0)
            result[known] = value(np.full(len(known), row), numbers[known])
        return result


def read_vectors(spec: str) -> Vectors:
    """Read vectors from a folder (vectors.npy, words.txt), a .npz (words, vectors), a text file, or `pocket`.

    Text is in GloVe's format (a word and its numbers per line) or word2vec's (the same, after a line with both
    counts): plain, as .gz, or alone in a .zip. A folder may also hold one such file. Only the first row of a repeated
    word is used; `notes` says how many were dropped. Neighbours are kept in the user's cache folder, except pocket's.
    """
    if spec == "pocket":
        lexicon = pocket.lexicon()
        return Vectors(lexicon.name, lexicon.words, lexicon.vectors)
    path = Path(spec)
    words, table = read_rows(path)
    first = {word: number for number, word in reversed(list(enumerate(words)))}
    notes = []
    if again := len(words) - len(first):
        keep = sorted(first.values())
        words, table = [words[number] for number in keep], table[keep]
        notes.append(f"{path}: {again} repeated words were dropped; their first vectors are used.")
    if zero := int((~table.any(axis=1)).sum()):
        notes.append(f"{path}: {zero} words have zero vectors, so they have no neighbours by cosine.")
    return Vectors(path.resolve().name, tuple(words), table, tuple(notes), cache_folder())
