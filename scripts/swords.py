"""SWORDS (Lee et al. 2021) as rows: a word in its context, a substitute in the form that fits, what people said."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mohs.models.tagger import PocketTagger
from mohs.text import inflection, pocket
from mohs.text.questions import Spot


@dataclass(frozen=True)
class Target:
    """A word in its context."""

    context: str
    start: int
    word: str
    tag: str  # Penn tag by the bundled tagger, within the class that SWORDS states
    source: str = ""  # the document it was taken from

    @property
    def end(self) -> int:
        """Where the word ends."""
        return self.start + len(self.word)


@dataclass(frozen=True)
class Row:
    """A substitute of a target."""

    target: int
    lemma: str  # as people saw it
    word: str  # in the form of the target
    labels: tuple[bool, ...]

    @property
    def score(self) -> float:
        """The share of the people who would accept it."""
        return sum(self.labels) / len(self.labels)


_TAGS = {"NOUN": "NN NNS", "VERB": "VB VBD VBG VBN VBP VBZ", "ADJ": "JJ JJR JJS", "ADV": "RB RBR RBS"}


def read(path: Path) -> tuple[list[Target], list[Row]]:
    """The targets and rows of one file; substitutes, which are base forms there, take the form of their target."""
    data = json.loads(gzip.decompress(path.read_bytes()))
    lexicon = pocket.lexicon()
    tagger = PocketTagger()
    entries = list(data["targets"].items())
    contexts = [data["contexts"][entry["context_id"]] for _, entry in entries]
    texts = [context["context"] for context in contexts]
    sources = [context["extra"]["coinco_ids"][0].split(":")[0] for context in contexts]
    spots = [
        Spot(text, entry["offset"], entry["offset"] + len(entry["target"]))
        for (_, entry), text in zip(entries, texts, strict=True)
    ]
    targets, number = [], {}
    for (key, entry), text, source, found in zip(entries, texts, sources, tagger.collect(spots), strict=True):
        allowed = _TAGS[entry["pos"]].split()
        tag = found.tag if found.tag in allowed else _by_shape(entry["target"].lower(), entry["pos"])
        number[key] = len(targets)
        targets.append(Target(text, entry["offset"], entry["target"], tag, source))
    rows = []
    for key, entry in data["substitutes"].items():
        at = number[entry["target_id"]]
        labels = tuple(label == "TRUE" for label in data["substitute_labels"][key])
        lemma = entry["substitute"].lower()
        rows.append(Row(at, lemma, inflected(lemma, targets[at].tag, lexicon.index.__contains__), labels))
    return targets, rows


def inflected(lemma: str, tag: str, exists: Callable[[str], bool]) -> str:
    """A base form, of several words perhaps, in the form of a class: the first word of a verb, the last of a noun."""
    words = lemma.split(" ")
    place = 0 if tag.startswith("VB") else -1
    found = inflection.forms(words[place], tag, exists) or inflection.forms(words[place], tag, lambda form: True)
    if tag in ("JJR", "JJS", "RBR", "RBS") and not inflection.forms(words[place], tag, exists):
        return ("more " if tag.endswith("R") else "most ") + lemma
    words[place] = found[0] if found else words[place]
    return " ".join(words)


def _by_shape(word: str, pos: str) -> str:
    if pos == "VERB":
        return (
            "VBG" if word.endswith("ing") else "VBD" if word.endswith("ed") else "VBZ" if word.endswith("s") else "VB"
        )
    if pos == "NOUN":
        return "NNS" if word.endswith("s") and not word.endswith("ss") else "NN"
    return {"ADJ": "JJ", "ADV": "RB"}[pos]
