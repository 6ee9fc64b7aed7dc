"""Part-of-speech taggers. `pocket` is bundled; `spacy:NAME_OR_PATH` uses spaCy.

Both give a Penn tag and a universal part of speech. Both count auxiliaries as VERB, so that `was` and `became` agree;
spaCy's AUX becomes VERB. The pocket tagger derives the universal part of speech from the Penn tag alone (`universal`).
So it never gives SCONJ (if and because are ADP) and never calls `this` a pronoun.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from importlib.resources import files
from importlib.util import find_spec
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from mohs.engine import AtOnce
from mohs.errors import BadInput
from mohs.models.spacy_models import SMALL_ENGLISH, fingerprint_of, keep_only, open_spacy
from mohs.models.tag_features import REACH, Features, quote
from mohs.text.questions import Spot, Tag

MOST_WORDS_KEPT = 200_000  # and as many contexts; some 40 MB

_UNIVERSAL = {
    tag: pos
    for pos, tags in {
        "ADJ": "JJ JJR JJS AFX",
        "ADP": "IN RP",
        "ADV": "RB RBR RBS WRB",
        "CCONJ": "CC",
        "DET": "DT PDT WDT",
        "INTJ": "UH",
        "NOUN": "NN NNS",
        "NUM": "CD",
        "PART": "POS TO",
        "PRON": "EX PRP PRP$ WP WP$",
        "PROPN": "NNP NNPS",
        "PUNCT": "`` '' , . : -LRB- -RRB- HYPH NFP",
        "SYM": "$ # SYM",
        "VERB": "MD VB VBD VBG VBN VBP VBZ",
        "X": "ADD FW LS XX _SP",
    }.items()
    for tag in tags.split()
}
_MARKS = {
    mark: tag
    for tag, marks in {
        ",": ",，、",
        ".": ".?!。？！",
        ":": ":;-–—…·•",
        "-LRB-": "([{",
        "-RRB-": ")]}",
        "''": "'’»",
        "``": "`‘«",
        "$": "$£€¥",
        "#": "#",
        "CC": "&",
        "NN": "%",
    }.items()
    for mark in marks
}
_CORE = regex.compile(r"[\p{L}\p{N}](?:\S*[\p{L}\p{M}\p{N}])?")


def universal(tag: str) -> str:
    """The universal part of speech of a Penn tag; X for an unknown tag."""
    return _UNIVERSAL.get(tag, "X")


class Place(NamedTuple):
    """A word and its context, as far as the pocket tagger reads it."""

    before: str
    word: str
    behind: str


def core(span: str) -> tuple[int, int]:
    """Where the word to tag lies in a span: the last word, without punctuation; (0, 0) if there is none.

    It is the last because English puts the head last (very good, ice cream).
    """
    words = [match.span() for match in _CORE.finditer(span)]
    return words[-1] if words else (0, 0)


def cut(spot: Spot) -> Place:
    """The word that a question is about, with its context; empty for a span without letters or digits."""
    text, start, end = spot
    first, last = core(text[start:end])
    end = start + last
    start += first
    return Place(text[max(0, start - REACH) : start], text[start:end], text[end : end + REACH])


def mark(spot: Spot) -> str:
    """The Penn tag of a span without letters or digits, from its first character; XX if it is blank."""
    text, start, end = spot
    shown = text[start:end].strip()
    if not shown:
        return "XX"
    if shown[0] in '"“”':
        return quote(text, text.index(shown[0], start))
    return _MARKS.get(shown[0], "SYM")


class _Rows:
    """A cache of number rows by key. It is emptied when it gets too large."""

    def __init__(self, width: int, make: Callable[[Any], Any]) -> None:
        self._make = make
        self._index: dict[Hashable, int] = {}
        self._rows = np.empty((64, width), np.int16)

    def of(self, keys: list[Any]) -> npt.NDArray[np.int16]:
        """One row per key."""
        index = self._index
        if len(index) > MOST_WORDS_KEPT:
            index.clear()
        if new := [key for key in dict.fromkeys(keys) if key not in index]:
            while len(index) + len(new) > len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._rows[len(index) : len(index) + len(new)] = self._make(new)
            index.update(zip(new, range(len(index), len(index) + len(new)), strict=True))
        return self._rows[[index[key] for key in keys]]


class PocketTagger(AtOnce):
    """A linear model over a word and two neighbours on each side. It does not use the tags of other words.

    If word and context were seen before, an answer costs three look-ups. It is a sum of whole numbers, so it does not
    depend on other questions. A span of several words gets the tag of the last one. A word with a clitic is tagged as
    its first part (don't as do, it's as it, film's as film). scripts/train_tagger.py trains it, docs/tagger.md
    evaluates it.
    """

    name = "pocket tagger"
    rows = 8192

    def __init__(self, data: bytes | None = None) -> None:
        if data is None:
            data = (files("mohs.pocket") / "tagger.npz").read_bytes()
        self.fingerprint = f"pocket-tagger-1-{hashlib.sha256(data).hexdigest()[:16]}"
        with np.load(io.BytesIO(data), allow_pickle=False) as parts:
            tags = parts["tags"].tobytes().decode().split()
            names = parts["classes"].tobytes().decode().split("\n")
            kinds = zip(_keys(parts["words"]).tolist(), parts["kinds"].tolist(), strict=True)
            senses = dict(zip(_keys(parts["senses"]).tolist(), parts["bits"].tolist(), strict=True))
            features = Features({key: names[kind] for key, kind in kinds}, senses)
            keys = _keys(parts["features"])
            weights = np.zeros((len(keys) + 1, len(tags)), np.int8)  # the last row is for unknown features
            weights[np.repeat(np.arange(len(keys)), parts["counts"]), parts["columns"]] = parts["values"]
        self._tags = [Tag(universal(tag), tag) for tag in tags]
        index = {key: row for row, key in enumerate(keys.tolist())}
        unknown = len(keys)

        def totals(found: list[Any]) -> Any:
            rows = [index.get(key, unknown) for keys in found for key in keys]
            starts = list(accumulate(map(len, found[:-1]), initial=0))  # none is empty
            return np.add.reduceat(weights[rows], starts, dtype=np.int16)

        def before(strings: list[Any]) -> Any:
            sides = [features.before(string) for string in strings]
            opens = np.array([side.opens for side in sides], np.int16)
            return np.column_stack([totals([side.keys for side in sides]), opens])

        self._before = _Rows(len(tags) + 1, before)
        self._word = _Rows(len(tags), lambda keys: totals([features.word(*key) for key in keys]))
        self._behind = _Rows(len(tags), lambda strings: totals([features.behind(string).keys for string in strings]))
        self._cores: dict[str, tuple[int, int]] = {}

    def collect(self, ticket: list[Spot]) -> list[Tag]:
        """Add the scores of each word and its two sides, and take the best tag."""
        cores = self._cores
        if len(cores) > MOST_WORDS_KEPT:
            cores.clear()
        answers: list[Tag | None] = [None] * len(ticket)
        places: list[int] = []
        words, befores, behinds = [], [], []
        for number, spot in enumerate(ticket):
            text, start, end = spot
            assert 0 <= start <= end <= len(text), "a spot lies in its text"
            span = text[start:end]
            lies = cores.get(span)
            if lies is None:
                lies = cores[span] = core(span)
            if lies[1] == 0:
                tag = mark(spot)
                answers[number] = Tag(universal(tag), tag)
                continue
            end = start + lies[1]
            start += lies[0]
            places.append(number)
            words.append(text[start:end])
            befores.append(text[max(0, start - REACH) : start])
            behinds.append(text[end : end + REACH])
        if places:
            ahead = self._before.of(befores)
            scores = ahead[:, :-1] + self._behind.of(behinds)
            scores += self._word.of(list(zip(words, ahead[:, -1].tolist(), strict=True)))
            for number, best in zip(places, scores.argmax(1).tolist(), strict=True):
                answers[number] = self._tags[best]
        return [answer for answer in answers if answer is not None]


def _keys(planes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Decode sorted keys, which are stored as differences, byte by byte."""
    steps = np.ascontiguousarray(planes.T).view(np.uint32)[:, 0]
    return np.cumsum(steps, dtype=np.uint32)


class SpacyTagger(AtOnce):
    """The tagger of a spaCy pipeline, installed (`en_core_web_sm`) or in a folder.

    Only the components that give tags run. Without the parser a few function words switch between DET and PRON, or
    between ADP and SCONJ. If a span has several tokens, the last one that is not a clitic counts (do in don't).

    spaCy's scores vary in the last bits with the batch, so an exact tie could in principle fall either way.
    """

    rows = 1024

    def __init__(self, model: str = SMALL_ENGLISH) -> None:
        nlp = open_spacy(model, "tagger")
        if not _GIVE_TAGS.intersection(keep_only(nlp, _GIVE_TAGS | _FEED_TAGGERS)):
            raise BadInput(f"The spaCy model {model!r} has no tagger; use one with a tagger, such as {SMALL_ENGLISH}.")
        self.nlp = nlp
        self.name = f"spacy:{model}"
        self.fingerprint = fingerprint_of(nlp)

    def plan(self, items: list[Spot]) -> list[list[Spot]]:
        """Sorted by text, so that each text is tagged once, however many of its words are needed."""
        return super().plan(sorted(items))

    def collect(self, ticket: list[Spot]) -> list[Tag]:
        """Tag each distinct string once and look each word up in it."""
        asked: dict[str, list[int]] = {}
        for number, spot in enumerate(ticket):
            asked.setdefault(spot.text, []).append(number)
        answers = [Tag("X", "XX")] * len(ticket)
        with getattr(self.nlp, "memory_zone", nullcontext)():  # without it spaCy keeps every new word forever
            for numbers, doc in zip(asked.values(), self.nlp.pipe(asked), strict=True):
                starts = np.array([token.idx for token in doc])
                for number in numbers:
                    answers[number] = _answer(doc, starts, ticket[number])
        return answers


_GIVE_TAGS = frozenset({"tagger", "morphologizer", "attribute_ruler"})
_FEED_TAGGERS = frozenset({"tok2vec", "transformer", "curated_transformer"})
_SPACY_CLITIC = regex.compile(r"n['’]?t|['’]\p{L}{0,2}", regex.IGNORECASE)


def _answer(doc: Any, starts: npt.NDArray[Any], spot: Spot) -> Tag:
    """The tag of the last token in the span that is a word but no clitic, or of the token at the span's start."""
    if not spot.text[spot.start : spot.end].strip():
        return Tag("X", "XX")
    first = max(0, int(np.searchsorted(starts, spot.start, side="right")) - 1)
    near = doc[first : int(np.searchsorted(starts, spot.end))]
    inside = [token for token in near if not token.is_space and token.idx + len(token) > spot.start]
    words = [token for token in inside if _CORE.search(token.text)]
    heads = [token for token in words if not _SPACY_CLITIC.fullmatch(token.text)]
    token = (heads or words or inside)[-1]
    pos = token.pos_ or universal(token.tag_)
    return Tag("VERB" if pos == "AUX" else pos, token.tag_)


def load_tagger(spec: str = "auto") -> PocketTagger | SpacyTagger:
    """Load the tagger named on the command line; `auto` is spaCy's small English model if installed, else pocket."""
    if spec == "auto":
        spec = "spacy" if find_spec("spacy") and find_spec(SMALL_ENGLISH) else "pocket"
    if spec == "pocket":
        return PocketTagger()
    if spec == "spacy":
        return SpacyTagger()
    if spec.startswith("spacy:") and spec != "spacy:":
        return SpacyTagger(spec[6:])
    raise BadInput(f"Unknown tagger {spec!r}; use auto, pocket or spacy:NAME_OR_PATH.")
