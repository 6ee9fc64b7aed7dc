"""Frequency-guided word substitutions (FGWS, Mozes et al. 2021): rare words are exchanged for frequent ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.models.victim import Fields, Victim, answers_of, traits_of
from mohs.text import Text
from mohs.text.text import like

Numbers = npt.NDArray[np.float64]

_SOURCES: Mapping[str, tuple[str, ...]] = {
    "neighbours": ("vectors",),
    "wordnet": ("wordnet",),
    "both": ("vectors", "wordnet"),
}


@dataclass(frozen=True)
class Fgws:
    """FGWS (Mozes et al. 2021, Section 4): the drop of the predicted class's probability without rare words.

    1. Words count as rare if log(1 + training count) lies below the `delta`-th percentile over the training words.
    2. Each rare word is exchanged for the most frequent of its neighbours, if that is more frequent than the word. The
       paper takes WordNet's synonyms and the `k` nearest word vectors by Euclidean distance: `words=both`.
    3. A text is as suspicious as the probability of its predicted class falls; never less than 0.

    Differs from the released code: `k` is given, not the mean number of synonyms in the validation texts; `delta` is
    given, not tuned on an attack; by default there are no synonyms, since WordNet is an asset to be fetched; words are
    cut as texts are everywhere in mohs, and a new word is spelt like the old one (upper and lower case).
    """

    delta: float = 90.0
    k: int = 8
    words: str = "neighbours"
    books: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    scores_needed = True

    def __post_init__(self) -> None:
        if not 0 < self.delta <= 100:
            raise BadInput(f"fgws has delta={self.delta}; give a percentile above 0 and at most 100, such as 90.")
        if self.k < 1:
            raise BadInput(f"fgws needs at least one neighbour, not k={self.k}.")
        if self.words not in _SOURCES:
            raise BadInput(f"fgws takes its words from {', '.join(_SOURCES)}, not from {self.words!r}.")

    @property
    def needs(self) -> tuple[str, ...]:
        """The word books it asks."""
        return _SOURCES[self.words]

    def check(self, victim: Victim) -> None:
        """Refuse a victim without scores."""
        if traits_of(victim).hard:
            raise BadInput(f"fgws measures how far a score falls, but {victim.name} gives labels only; use rde(V).")

    def learnt(self, victim: Victim, rows: Any, classes: int, seed: int) -> Mapping[str, npt.NDArray[Any]]:
        """The training counts of all words, as arrays."""
        counts = rows.words()
        if not counts:
            raise BadInput("fgws found no word in the training data; give data with texts.")
        words = sorted(counts)
        return {
            "words": np.frombuffer("\n".join(words).encode(), np.uint8),
            "counts": np.array([counts[word] for word in words], np.int64),
        }

    def ready(self, victim: Victim, arrays: Mapping[str, npt.NDArray[Any]]) -> Frequencies:
        """The exchange of rare words, for a victim's texts."""
        words = arrays["words"].tobytes().decode().split("\n")
        return Frequencies(victim, self, dict(zip(words, arrays["counts"].tolist(), strict=True)))


class Frequencies:
    """Gives each text the drop of its predicted class's probability when rare words are exchanged."""

    def __init__(self, victim: Victim, settings: Fgws, counts: Mapping[str, int]) -> None:
        self._victim = victim
        self._settings = settings
        self._counts = counts
        self._least = float(np.percentile(np.log1p(list(counts.values())), settings.delta))
        self._exchanged: dict[str, str] = {}  # rare words that are exchanged, and for what; others stand for themselves

    def suspicions(self, texts: Sequence[Fields], answers: Numbers) -> Numbers:
        """How suspicious each text is; `answers` are the victim's probabilities."""
        new = self.without_rare(texts)
        changed = [one for one, text in zip(new, texts, strict=True) if one != text]
        found = answers_of(self._victim, list(dict.fromkeys(changed)))
        drops = np.zeros(len(texts))
        for place, (one, text) in enumerate(zip(new, texts, strict=True)):
            if one != text:
                label = int(answers[place].argmax())
                drops[place] = max(0.0, answers[place][label] - found[one][label])
        return drops

    def without_rare(self, texts: Sequence[Fields]) -> list[Fields]:
        """The texts with their rare words exchanged."""
        read = [Text(*fields) for fields in texts]
        self._look_up({word.lower() for text in read for word in text.words} - self._exchanged.keys())
        answers = []
        for text in read:
            new = {p: self._exchanged[word.lower()] for p, word in enumerate(text.words)}
            edits = {p: like(word, text.words[p]) for p, word in new.items() if word != text.words[p].lower()}
            answers.append(text.replace_all(edits).fields if edits else text.fields)
        return answers

    def _rare(self, word: str) -> bool:
        return bool(np.log1p(self._counts.get(word, 0)) < self._least)

    def _look_up(self, words: Iterable[str]) -> None:
        """Find what each word is exchanged for; of equally frequent neighbours the last in the alphabet wins."""
        rare = sorted(word for word in words if self._rare(word))
        self._exchanged.update((word, word) for word in words)
        others: list[set[str]] = [set() for _ in rare]
        books = self._settings.books
        if "vectors" in self._settings.needs:
            for found, pairs in zip(others, books["vectors"].near_by_distance(rare, self._settings.k), strict=True):
                found.update(word.lower() for word, _ in pairs)
        if "wordnet" in self._settings.needs:
            for found, word in zip(others, rare, strict=True):
                found.update(other.lower() for other in books["wordnet"].synonyms(word))
        for word, found in zip(rare, others, strict=True):
            count, best = max(((self._counts.get(other, 0), other) for other in found), default=(0, word))
            if count > self._counts.get(word, 0):
                self._exchanged[word] = best
