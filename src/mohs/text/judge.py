"""Whether people would accept one word for another where it stands: features, boosted trees, a calibrated probability.

scripts/train_judge.py makes the tables and the trees from WordNet, GloVe and SWORDS; docs/validity.md says how good
they are. Nothing here asks a model: what a masked language model and a sentence encoder say may be handed in.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein, Postfix, Prefix

from mohs.text import pocket
from mohs.text.relations import Entry, Relations, bond, opposite
from mohs.text.stopwords import NLTK
from mohs.text.trees import Trees

Floats = npt.NDArray[np.float32]
Probabilities = npt.NDArray[np.float64]

_SIDES = ("near", "wide", "left", "right")  # what stands around: 3 words on each side, 10, the one before and behind
_NEAR, _WIDE = 3, 10
_SENSES = 8  # of a word are compared with what stands around
REACH = _WIDE  # words beyond so many on each side do not matter
_PAIR = tuple(
    "kind senses_old senses_new classes_old classes_new shared share_old share_new rank_old rank_new steps steps_old "
    "steps_new above below synonyms fit opposite parts frequency_old frequency_new frequency_step frequency_base "
    "length_old length_new letters prefix suffix inside hyphen idiom stop_left stop_right".split()
)
_ALIKE = ("cosine", "cosine_base", "second_cosine", "second_base", "crowd_old", "crowd_new", "beyond", "sense_fit")
_AROUND = tuple(f"{sort}_{side}_{space}" for space in "ab" for sort in ("fits", "gains") for side in (*_SIDES, "best"))
_POLAR = ("polarity_old", "polarity_new", "polarity_step")
FEATURES = (*_PAIR, *_ALIKE, *_POLAR, *_AROUND)
ASKED = ("mask_old", "mask_new", "mask_step", "mask_low", "sentence")  # of a masked LM and an encoder, where there are

_KINDS = {"N": 0, "V": 1, "J": 2, "R": 3}  # first letters of Penn tags, as numbers of classes


class Place(NamedTuple):
    """A word where it stands."""

    words: tuple[str, ...]  # of the text, or as many around the word as there are
    position: int
    tag: str  # Penn tag


class _Word(NamedTuple):
    """What is known of a word in a class."""

    base: str
    number: int
    entry: Entry
    kinds: int
    rank: float
    base_rank: float
    parts: int
    vectors: Floats  # bundled vector, that of the base form, second vector, that of the base form: one row
    crowd: float
    polarity: float
    senses: Floats  # a row for each of the first senses


@dataclass(frozen=True, eq=False)
class Judge:
    """The tables and the trees; `trees` has one form without and one with what models say."""

    relations: Relations
    second: Floats  # short vectors of the first words of the table
    polarity: Floats  # a direction in the bundled vectors, from bad to good
    trees: Mapping[str, Trees]
    curves: Mapping[str, tuple[Floats, Floats]]  # score -> probability, points to join by straight lines
    ceiling: float  # the most that a reversal gets
    fingerprint: str
    name: str = "pocket judge"

    @classmethod
    def read(cls, data: bytes) -> Judge:
        """The file that scripts/train_judge.py writes."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        forms = [form for form in ("bundled", "asked") if f"{form}_roots" in parts]
        trees, curves = {}, {}
        for form in forms:
            own = {name.removeprefix(f"{form}_"): part for name, part in parts.items() if name.startswith(f"{form}_")}
            trees[form] = Trees.of(own)
            curves[form] = (own["scores"], own["probabilities"])
        second = parts["second"].astype(np.float32)
        return cls(
            Relations.of(parts),
            second / np.maximum(np.linalg.norm(second, axis=1, keepdims=True), 1e-6),
            parts["polarity"],
            trees,
            curves,
            float(parts["ceiling"]) if "ceiling" in parts else 1.0,
            f"judge-1-{hashlib.sha256(data).hexdigest()[:16]}",
        )

    def __call__(self, place: Place, words: Sequence[str], asked: Floats | None = None) -> Probabilities:
        """The probability that most people would accept each word in that place.

        `asked` has a row of ASKED for each word, where a masked language model and an encoder were asked.
        """
        if not words:
            return np.zeros(0)
        form = "bundled" if asked is None else "asked"
        rows = self.features(place, words)
        if asked is not None:
            rows = np.column_stack([rows, asked]).astype(np.float32)
        return self.judged(form, rows)

    def judged(self, form: str, rows: Floats) -> Probabilities:
        """The probability for each row of features."""
        scores, probabilities = self.curves[form]
        found = np.interp(self.trees[form](rows), scores, probabilities)
        return np.where(reversal(rows), np.minimum(found, self.ceiling), found)

    def features(self, place: Place, words: Sequence[str]) -> Floats:
        """One row of FEATURES for each word; a row does not depend on the others."""
        old_word = place.words[place.position].lower()
        kind = self.kind(old_word, place.tag)
        old = self._word(old_word, kind)
        around = self._around(place)
        weights = self._weights(old.entry, around.topic)
        left, right = around.left, around.right
        fixed = (
            float(self._idiom(old_word, old.base, left, right)),
            float(left in NLTK),
            float(right in NLTK),
        )
        found = [self._word(word.lower(), kind) for word in words]
        pairs = [self._pair(kind, old, new, weights, fixed) for new in found]
        vectors = np.array([old.vectors, *(new.vectors for new in found)])
        alike, around_rows = self._vectors(old, found, vectors, around)
        polar = np.array([(old.polarity, new.polarity, new.polarity - old.polarity) for new in found])
        rows = np.column_stack([np.array(pairs, np.float64), alike, polar, around_rows])
        return np.round(rows, 4).astype(np.float32)

    def kind(self, word: str, tag: str) -> int:
        """The class of a word by its tag; by its commonest class if the tag is of none or the word not known in it."""
        kind = _KINDS.get(tag[:1])
        if kind is not None and tag != "RP" and self.relations.entry(word, kind).senses:
            return kind
        return next(iter(self.relations.kinds(word)), kind if kind is not None else 0)

    def opposite(self, old: str, new: str) -> int:
        """2 if two words are antonyms in some class, 1 if one is a synonym of the other's antonym, 0 if neither."""
        old, new = old.lower(), new.lower()
        values = []
        for kind in range(4):
            one, other = self._word(old, kind), self._word(new, kind)
            if one.entry.senses and other.entry.senses:
                values.append(opposite(one.entry, one.number, other.entry, other.number))
        return max(values, default=0)

    @cached_property
    def _words(self) -> dict[tuple[str, int], _Word]:
        return {}

    @cached_property
    def _sense_rows(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def _crowds(self) -> Floats:
        """How near a word's ten nearest are, on average; those not listed count as 0.4."""
        lexicon = pocket.lexicon()
        near = [
            lexicon.cosines[a : min(a + 10, b)] for a, b in zip(lexicon.starts[:-1], lexicon.starts[1:], strict=True)
        ]
        crowds: Floats = np.array([(part.sum() + 0.4 * (10 - len(part))) / 10 for part in near], np.float32)
        return crowds

    def _word(self, word: str, kind: int) -> _Word:
        found = self._words.get((word, kind))
        if found is None:
            if len(self._words) > 200_000:
                self._words.clear()
            found = self._words[word, kind] = self._looked_up(word, kind)
        return found

    def _looked_up(self, word: str, kind: int) -> _Word:
        table, lexicon = self.relations, pocket.lexicon()
        base = self._base(word, kind)
        entry = table.entry(base, kind)
        first, second = self._vector(word, base)
        (a, _), (b, b_known) = first
        (c, _), (d, _) = second
        row = lexicon.index.get(base, -1)
        return _Word(
            base,
            table.index.get(base, -1),
            entry,
            len(table.kinds(base)),
            table.rank(word),
            table.rank(base),
            word.count(" ") + 1,
            np.concatenate([a, b, c, d]),
            float(self._crowds[row]) if row >= 0 else np.nan,
            float((b * self.polarity).sum()) if b_known else np.nan,
            np.array([self._sense_row(sense) for sense in entry.senses[:_SENSES]], np.float32),
        )

    def _base(self, word: str, kind: int) -> str:
        """The base form; of an entry of several words that of the first for a verb, of the last otherwise."""
        table = self.relations
        if " " not in word:
            return table.base(word, kind)
        parts = word.split(" ")
        place = 0 if kind == 1 else -1
        parts[place] = table.base(parts[place], kind)
        return " ".join(parts)

    def _vector(self, word: str, base: str) -> Any:
        lexicon, table = pocket.lexicon(), self.relations
        return [
            [_mean(rows, index, limit, one) for one in (word, base)]
            for rows, index, limit in (
                (lexicon.vectors, lexicon.index, len(lexicon.words)),
                (self.second, table.index, len(self.second)),
            )
        ]

    def _around(self, place: Place) -> _Around:
        """The vectors of what stands around a word, and the mean of it for the senses."""
        words = [word.lower() for word in place.words]
        at = place.position
        left = words[at - 1] if at else ""
        right = words[at + 1] if at + 1 < len(words) else ""
        near = words[max(0, at - _NEAR) : at] + words[at + 1 : at + 1 + _NEAR]
        wide = words[max(0, at - _WIDE) : at] + words[at + 1 : at + 1 + _WIDE]
        wide = [word for word in wide if word not in NLTK]
        near = [word for word in near if word not in NLTK]
        lexicon, table = pocket.lexicon(), self.relations
        spaces = (
            (lexicon.vectors, lexicon.index, len(lexicon.words)),
            (self.second, table.index, len(self.second)),
        )
        tables = []
        for rows, index, limit in spaces:
            heads = []
            for group in (near, wide, [left], [right]):
                known = [number for word in group if (number := index.get(word, limit)) < limit]
                mean = rows[known].mean(axis=0) if known else np.full(rows.shape[1], np.nan, np.float32)
                heads.append(mean / max(float(np.sqrt((mean * mean).sum())), 1e-6) if known else mean)
            single = [rows[number] for word in wide if (number := index.get(word, limit)) < limit]
            tables.append(np.array([*heads, *single], np.float32))
        return _Around(left, right, tables[0], tables[1], tables[1][1])

    def _weights(self, entry: Entry, topic: Floats) -> dict[int, float]:
        """How much each sense near the old word's counts here: the commoner and the nearer to the topic the more."""
        if not entry.senses:
            return {}
        scores = np.array([self._sense_score(sense, topic) for sense in entry.senses])
        weights = np.exp(12 * scores - 0.35 * np.arange(len(scores)))
        weights /= weights.sum()
        found: dict[int, float] = {}
        for sense, code in entry.near.items():
            found[sense] = float(weights[min(code & 63, len(weights) - 1)]) * 0.6 ** (code >> 6)
        return found

    def _sense_score(self, sense: int, topic: Floats) -> float:
        row = self._sense_row(sense)
        score = float((row * topic).sum())
        return 0.0 if np.isnan(score) else score

    def _sense_row(self, sense: int) -> Floats:
        """The mean vector of the words of a sense and of those next to it."""
        found = self._sense_rows.get(sense)
        if found is None:
            table, limit = self.relations, len(self.second)
            members = [*table.members[sense], *(word for link in table.links[sense] for word in table.members[link])]
            names = [part for number in members for part in table.words[number].split(" ") if part not in NLTK]
            known = [number for name in names if (number := table.index.get(name, limit)) < limit]
            mean = self.second[known].mean(axis=0) if known else np.zeros(self.second.shape[1], np.float32)
            found = self._sense_rows[sense] = mean / max(float(np.sqrt((mean * mean).sum())), 1e-6)
        return found

    def _idiom(self, word: str, base: str, left: str, right: str) -> int:
        """How many entries of several words a word makes up with its neighbours: look over, of course."""
        index = self.relations.index
        return sum(any(entry in index for entry in pair) for pair in (
            (f"{word} {right}", f"{base} {right}"), (f"{left} {word}", f"{left} {base}")
        ))  # fmt: skip

    def _pair(
        self, kind: int, old: _Word, new: _Word, weights: dict[int, float], fixed: tuple[float, ...]
    ) -> tuple[float, ...]:
        between = bond(old.entry, new.entry, weights)
        ours, theirs = len(old.entry.senses), len(new.entry.senses)
        one, other = old.base, new.base
        return (
            kind,
            ours,
            theirs,
            old.kinds,
            new.kinds,
            between.shared,
            between.shared / max(1, ours),
            between.shared / max(1, theirs),
            *between[1:],
            opposite(old.entry, old.number, new.entry, new.number),
            new.parts,
            old.rank,
            new.rank,
            new.rank - old.rank,
            new.base_rank,
            len(one),
            len(other),
            Levenshtein.normalized_similarity(one, other),
            Prefix.similarity(one, other),
            Postfix.similarity(one, other),
            float(one in other.split(" ") or other in one),
            float("-" in other),
            *fixed,
        )

    def _vectors(self, old: _Word, new: Sequence[_Word], vectors: Floats, around: _Around) -> tuple[Any, Any]:
        """Cosines of the old word with the new ones, and of both with what stands around."""
        wide, short = around.first.shape[1], around.second.shape[1]
        bounds = np.cumsum([0, wide, wide, short, short])
        gains = []
        parts = [vectors[:, start:end] for start, end in pairwise(bounds)]
        columns = [(part[1:] * part[0]).sum(axis=1) for part in parts]
        crowd = np.array([word.crowd for word in new])
        ours = np.full(len(new), old.crowd)
        counts = np.array([len(word.senses) for word in new])
        known = np.flatnonzero(counts)
        topic = np.full(len(new), np.nan)
        if len(known):
            scores = (np.concatenate([new[number].senses for number in known.tolist()]) * around.topic).sum(axis=1)
            starts = np.cumsum(counts[known]) - counts[known]
            topic[known] = np.maximum.reduceat(np.nan_to_num(scores, nan=0.0), starts)
        alike = np.column_stack([*columns, ours, crowd, 2 * columns[1] - ours - crowd, topic])
        for part, table in ((parts[0], around.first), (parts[2], around.second)):
            fits = np.einsum("nd,cd->nc", part, table)
            best = fits[:, 4:].max(axis=1) if fits.shape[1] > 4 else np.full(len(fits), np.nan)
            fits = np.column_stack([fits[:, :4], best])
            gains += [fits[1:], fits[1:] - fits[0]]
        return alike, np.column_stack(gains)


class _Around(NamedTuple):
    """What stands around a word."""

    left: str
    right: str
    first: Floats  # rows in the bundled vectors: near, wide, left, right, then each word
    second: Floats  # and in the short ones
    topic: Floats


_STRONG = 0.6  # from here on a word is clearly good or bad; see scripts/train_judge.py


def reversal(rows: Floats) -> npt.NDArray[np.bool_]:
    """Which rows of features are about reversals: antonyms, their near synonyms, a clearly good word for a bad one."""
    column = {name: rows[:, number] for number, name in enumerate(FEATURES)}
    old, new = column["polarity_old"], column["polarity_new"]
    turned = (np.minimum(np.abs(old), np.abs(new)) >= _STRONG) & (old * new < 0)
    found: npt.NDArray[np.bool_] = (column["opposite"] > 0) | turned
    return found


def _mean(rows: Floats, index: Mapping[str, int], limit: int, word: str) -> tuple[Floats, bool]:
    """The vector of a word, or the mean of its parts that are no stopwords; nan if nothing is known."""
    number = index.get(word, limit)
    if number < limit:
        return rows[number], True
    parts = [part for piece in word.split(" ") for part in piece.split("-")]
    found = [part for part in parts if index.get(part, limit) < limit and part not in NLTK]
    found = found or [part for part in parts if index.get(part, limit) < limit]
    if not found:
        return np.full(rows.shape[1], np.nan, np.float32), False
    mean = rows[[index[part] for part in found]].mean(axis=0)
    return mean / max(float(np.sqrt((mean * mean).sum())), 1e-6), True


@cache
def bundled() -> Judge:
    """The judge that ships with the package, read once a process."""
    return Judge.read((files("mohs.pocket") / "judge.npz").read_bytes())
