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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein, Postfix, Prefix

from mohs.text import pocket
from mohs.text.calibration import Calibration
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
ASKED = (  # of a masked LM (the place masked; masked behind the text as it is) and an encoder, where there are
    *(f"{way}_{what}" for way in ("mask", "behind") for what in ("old", "new", "step", "low")),
    *("sentence", "word"),
)

_HERE = ("fit", "idiom", "stop_left", "stop_right", "sense_fit", *_AROUND)  # depend on what stands around
_FIXED = [number for number, name in enumerate(FEATURES) if name not in _HERE]
_FIT, _IDIOM, _SENSE_FIT = map(FEATURES.index, ("fit", "idiom", "sense_fit"))
_AROUND_FROM = len(FEATURES) - len(_AROUND)

# Words that state a fact which no other of their list states, each with the number of its list.
_FACTS = {
    word: number
    for number, words in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
            "million billion trillion",
            "first second third fourth fifth sixth seventh eighth ninth tenth",
            "monday tuesday wednesday thursday friday saturday sunday",
            "january february march april may june july august september october november december",
            "once twice thrice",
        )
    )
    for word in words.split()
}

_KINDS = {"N": 0, "V": 1, "J": 2, "R": 3}  # first letters of Penn tags, as numbers of classes


class Place(NamedTuple):
    """A word where it stands."""

    words: tuple[str, ...]  # of the text, or as many around the word as there are
    position: int
    tag: str  # Penn tag


class _Word(NamedTuple):
    """What is known of a word in a class."""

    word: str
    base: str
    number: int
    entry: Entry
    kinds: int
    rank: float
    base_rank: float
    parts: int
    vectors: tuple[Floats, ...]  # bundled vector, that of the base form, second vector, that of the base form
    crowd: float
    polarity: float
    senses: Floats  # a row for each of the first senses
    known: bool  # whether some table knows the word or its base form


@dataclass(frozen=True, eq=False)
class Judge:
    """The tables and the trees; `trees` has one form without and one with what models say."""

    relations: Relations
    second: Floats  # short vectors of the first words of the table
    polarity: Floats  # a direction in the bundled vectors, from bad to good
    trees: Mapping[str, Trees]
    curves: Mapping[str, tuple[Floats, Floats]]  # score -> probability, points to join by straight lines
    ceiling: float  # the most that a reversal gets
    calibration: Calibration  # how the probabilities of words make that of a text, and how far they may be off
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
            own = _under(form, parts)
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
            Calibration.of(_under("calibration", parts)),
            f"judge-1-{hashlib.sha256(data).hexdigest()[:16]}",
        )

    def __call__(self, place: Place, words: Sequence[str], asked: Floats | None = None) -> Probabilities:
        """The probability that most people would accept each word in that place.

        It is nan for a word that no table knows, such as a misspelling, and for another form of the same word (years
        for year): people were not asked about either, so the judge has no opinion. One number for another, or one
        weekday or month, gets as little as a reversal. `asked` has a row of ASKED for each word, where a masked
        language model and an encoder were asked.
        """
        if not words:
            return np.zeros(0)
        form = "bundled" if asked is None else "asked"
        rows, found = self._rows(place, words)
        if asked is not None:
            rows = np.column_stack([rows, asked]).astype(np.float32)
        old = place.words[place.position].lower()
        base = self._word(old, self.kind(old, place.tag)).base
        values = self.judged(form, rows)
        if old in _FACTS:
            other = [self.other_fact(old, new.word) for new in found]
            values = np.where(other, np.minimum(values, self.ceiling), values)
        return np.where([new.known and (new.base != base or new.word == old) for new in found], values, np.nan)

    def judged(self, form: str, rows: Floats) -> Probabilities:
        """The probability for each row of features."""
        scores, probabilities = self.curves[form]
        found = np.interp(self.trees[form](rows), scores, probabilities)
        return np.where(reversal(rows), np.minimum(found, self.ceiling), found)

    def features(self, place: Place, words: Sequence[str]) -> Floats:
        """One row of FEATURES for each word; a row does not depend on the others."""
        return self._rows(place, words)[0]

    def _rows(self, place: Place, words: Sequence[str]) -> tuple[Floats, list[_Word]]:
        old_word = place.words[place.position].lower()
        kind = self.kind(old_word, place.tag)
        old = self._word(old_word, kind)
        around = self._arounds.get(place)
        if around is None:
            if len(self._arounds) > 10_000:
                self._arounds.clear()
            around = self._arounds[place] = self._around(place)
        left, right = around.left, around.right
        found = [self._word(word.lower(), kind) for word in words]
        pairs = [self._pair(kind, old, new) for new in found]
        rows = np.empty((len(words), len(FEATURES)), np.float32)
        rows[:, _FIXED] = np.concatenate([pair.row for pair in pairs]).reshape(len(pairs), -1)
        rows[:, _IDIOM] = self._idiom(old_word, old.base, left, right)
        rows[:, _IDIOM + 1] = left in NLTK
        rows[:, _IDIOM + 2] = right in NLTK
        rows[:, _FIT] = self._fits(old.entry, pairs, around.topic)
        rows[:, _SENSE_FIT] = self._sense_fits(found, around.topic)
        rows[:, _AROUND_FROM:] = self._contexts(old, found, around)
        return rows, found

    def kind(self, word: str, tag: str) -> int:
        """The class of a word by its tag; by its commonest class if the tag is of none or the word not known in it."""
        kind = _KINDS.get(tag[:1])
        if kind is not None and tag != "RP" and self.relations.entry(word, kind).senses:
            return kind
        return next(iter(self.relations.kinds(word)), kind if kind is not None else 0)

    def stand_ins(self, word: str) -> list[str]:
        """What to ask a masked model about instead of a word that is no single piece for it.

        Base forms; of a word with spaces or hyphens, the parts that are no stopwords.
        """
        parts = word.replace("-", " ").split()
        if len(parts) > 1:
            return [part for part in parts if part not in NLTK]
        return [base for base in dict.fromkeys(self.relations.base(word, kind) for kind in range(4)) if base != word]

    def silent(self, old: str, new: str) -> bool:
        """Whether people were never asked about such a word: no table knows it, or it is a form of the old one."""
        old, new = old.lower(), new.lower()
        if old == new:
            return False
        kinds = range(4)
        return not any(self._word(new, kind).known for kind in kinds) or any(
            self._base(old, kind) == self._base(new, kind) for kind in kinds
        )

    def other_fact(self, old: str, new: str) -> bool:
        """Whether one number, weekday or month stands for another."""
        old, new = old.lower(), new.lower()
        return old != new and old in _FACTS and _FACTS.get(new) == _FACTS[old]

    def opposite(self, old: str, new: str) -> int:
        """2 if two words are antonyms in some class, 1 if one is a synonym of the other's antonym, 0 if neither."""
        old, new, table = old.lower(), new.lower(), self.relations
        values = []
        for kind in range(4):
            one, other = self._base(old, kind), self._base(new, kind)
            first, second = table.entry(one, kind), table.entry(other, kind)
            if first.senses and second.senses:
                values.append(opposite(first, table.index.get(one, -1), second, table.index.get(other, -1)))
        return max(values, default=0)

    @cached_property
    def _words(self) -> dict[tuple[str, int], _Word]:
        return {}

    @cached_property
    def _pairs(self) -> dict[tuple[int, str, str], _Pair]:
        return {}

    @cached_property
    def _arounds(self) -> dict[Place, _Around]:
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
            word,
            base,
            table.index.get(base, -1),
            entry,
            len(table.kinds(base)),
            table.rank(word),
            table.rank(base),
            word.count(" ") + 1,
            (a, b, c, d),
            float(self._crowds[row]) if row >= 0 else np.nan,
            float((b * self.polarity).sum()) if b_known else np.nan,
            self._senses_of(entry.senses[:_SENSES]),
            self._known(word, base),
        )

    def _known(self, word: str, base: str) -> bool:
        """Whether some table knows a word or its base form, or each part of a word with spaces or hyphens."""
        books = (self.relations.index, pocket.lexicon().index)
        if any(name in book for name in (word, base) for book in books):
            return True
        parts = word.replace("-", " ").split(" ")
        return len(parts) > 1 and all(any(part in book for book in books) for part in parts)

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
        places = [*range(max(0, at - _WIDE), at), *range(at + 1, min(len(words), at + 1 + _WIDE))]
        places = [place for place in places if words[place] not in NLTK]
        lexicon, table = pocket.lexicon(), self.relations
        spaces = (
            (lexicon.vectors, lexicon.index, len(lexicon.words)),
            (self.second, table.index, len(self.second)),
        )
        tables = []
        for rows, index, limit in spaces:
            known = [(place, number) for place in places if (number := index.get(words[place], limit)) < limit]
            single = rows[[number for _, number in known]]
            heads = [single[[abs(place - at) <= _NEAR for place, _ in known]] if known else single, single]
            heads += [rows[[number] if (number := index.get(word, limit)) < limit else []] for word in (left, right)]
            tables.append(np.array([*map(_direction, heads), *single], np.float32))
        return _Around(left, right, tables[0], tables[1], tables[1][1])

    def _fits(self, entry: Entry, pairs: Sequence[_Pair], topic: Floats) -> Probabilities:
        """Of the senses common to the old and each new word the weight of the one that counts most here.

        A sense of the old word counts the more the commoner it is and the nearer to the topic; what lies some steps
        away from it counts less.
        """
        found = np.zeros(len(pairs))
        counts = np.array([len(pair.ranks) for pair in pairs])
        known = np.flatnonzero(counts)
        if len(known):
            scores = np.nan_to_num((self._senses_of(entry.senses) * topic).sum(axis=1).astype(np.float64), nan=0.0)
            weights = np.exp(12 * scores - 0.35 * np.arange(len(scores)))
            weights /= weights.sum()
            ranks = np.concatenate([pair.ranks for pair in pairs])
            values = weights[np.minimum(ranks, len(weights) - 1)] * np.concatenate([pair.decays for pair in pairs])
            found[known] = np.maximum.reduceat(values, np.cumsum(counts[known]) - counts[known])
        return np.round(found, 4)

    def _sense_fits(self, new: Sequence[_Word], topic: Floats) -> Probabilities:
        """How near to the topic the nearest of each word's first senses is; nan for a word without any."""
        counts = np.array([len(word.senses) for word in new])
        known = np.flatnonzero(counts)
        found = np.full(len(new), np.nan)
        if len(known):
            scores = (np.concatenate([new[number].senses for number in known.tolist()]) * topic).sum(axis=1)
            starts = np.cumsum(counts[known]) - counts[known]
            found[known] = np.maximum.reduceat(np.nan_to_num(scores, nan=0.0), starts)
        return np.round(found, 4)

    def _senses_of(self, senses: tuple[int, ...]) -> Floats:
        return np.array([self._sense_row(sense) for sense in senses], np.float32)

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

    def _pair(self, kind: int, old: _Word, new: _Word) -> _Pair:
        key = (kind, old.word, new.word)
        found = self._pairs.get(key)
        if found is None:
            if len(self._pairs) > 100_000:
                self._pairs.clear()
            found = self._pairs[key] = self._compared(kind, old, new)
        return found

    def _compared(self, kind: int, old: _Word, new: _Word) -> _Pair:
        """What two words are to each other wherever they stand."""
        between = bond(old.entry, new.entry)
        ours, theirs = len(old.entry.senses), len(new.entry.senses)
        one, other = old.base, new.base
        alike = [float((mine * yours).sum()) for mine, yours in zip(old.vectors, new.vectors, strict=True)]
        values = (
            kind,
            ours,
            theirs,
            old.kinds,
            new.kinds,
            between.shared,
            between.shared / max(1, ours),
            between.shared / max(1, theirs),
            *between[1:9],
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
            *alike,
            old.crowd,
            new.crowd,
            2 * alike[1] - old.crowd - new.crowd,
            old.polarity,
            new.polarity,
            new.polarity - old.polarity,
        )
        row = np.round(np.array(values, np.float64), 4).astype(np.float32)
        return _Pair(row, np.array([*between.steps_from], np.intp), np.array([*between.steps_from.values()]))

    def _contexts(self, old: _Word, new: Sequence[_Word], around: _Around) -> Any:
        """How near each new word is to what stands around, and by how much nearer than the old one."""
        found = []
        for number, table in ((0, around.first), (2, around.second)):
            part = np.array([old.vectors[number], *[word.vectors[number] for word in new]])
            fits = np.einsum("nd,cd->nc", part, table)
            best = fits[:, 4:].max(axis=1) if fits.shape[1] > 4 else np.full(len(fits), np.nan)
            fits = np.column_stack([fits[:, :4], best])
            found += [fits[1:], fits[1:] - fits[0]]
        return np.round(np.column_stack(found).astype(np.float64), 4)


class _Pair(NamedTuple):
    """What is known of two words of a class wherever they stand."""

    row: Floats  # the values of _FIXED
    ranks: npt.NDArray[np.intp]  # of the old word's senses, those that lead to a sense of the new one
    decays: Probabilities  # what the steps between leave of such a sense's weight


class _Around(NamedTuple):
    """What stands around a word."""

    left: str
    right: str
    first: Floats  # rows in the bundled vectors: near, wide, left, right, then each word
    second: Floats  # and in the short ones
    topic: Floats


_STRONG, _SOME, _FAR = 0.5, 0.2, 1.2  # how good or bad a word is; of such swaps people accepted 4% in SWORDS dev


def reversal(rows: Floats) -> npt.NDArray[np.bool_]:
    """Which rows of features are about reversals: antonyms, their near synonyms, a clearly good word for a bad one."""
    column = {name: rows[:, number] for number, name in enumerate(FEATURES)}
    old, new = column["polarity_old"], column["polarity_new"]
    weaker, step = np.minimum(np.abs(old), np.abs(new)), np.abs(old - new)
    turned = (old * new < 0) & ((weaker >= _STRONG) | ((weaker >= _SOME) & (step >= _FAR)))
    found: npt.NDArray[np.bool_] = (column["opposite"] > 0) | turned
    return found


def _under(name: str, parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a file whose names start with one name, by the rest of theirs."""
    return {key.removeprefix(f"{name}_"): part for key, part in parts.items() if key.startswith(f"{name}_")}


def _direction(rows: Floats) -> Floats:
    """The mean of some vectors, at unit length; nan if there is none."""
    if not len(rows):
        return np.full(rows.shape[1], np.nan, np.float32)
    mean = rows.mean(axis=0)
    found: Floats = mean / max(float(np.sqrt((mean * mean).sum())), 1e-6)
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
