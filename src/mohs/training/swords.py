"""SWORDS (Lee et al. 2021) as rows: a word in its context, a substitute in the form that fits, what people said."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
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
    source: str = ""  # the document that the context was taken from

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


_LIMIT = 1 << 30  # bytes after decompression; SWORDS has 0.01 of that


def is_swords(path: Path) -> bool:
    """Whether a .json or .json.gz file holds one object like that of SWORDS."""
    return path.name.lower().endswith((".json", ".json.gz")) and _object(path) is not None


def read(path: Path) -> tuple[list[Target], list[Row]]:
    """The targets and rows of one file; substitutes, which are base forms there, take the form of their target."""
    data = _object(path)
    try:
        if data is None:
            raise ValueError("it is not a JSON object")
        return _read(data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        fault = f"{error} is missing" if isinstance(error, LookupError) else " ".join(str(error).split())
        raise BadInput(f"{path} is not a file of SWORDS ({fault[:200]}); give swords-v1.1_dev.json.gz.") from error


def _object(path: Path) -> dict[str, Any] | None:
    """The object in a file; None if there is another thing in it."""
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            content = file.read(_LIMIT + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path} is not a complete gzip file ({error}); copy or compress it again.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror or error}); check the file.") from error
    if len(content) > _LIMIT:
        raise BadInput(f"{path} holds more than {_LIMIT >> 30} GB; give a smaller file.")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and {"contexts", "targets"} & found.keys() else None


def _read(data: Mapping[str, Any]) -> tuple[list[Target], list[Row]]:
    lexicon = pocket.lexicon()
    entries = list(data["targets"].items())
    contexts = [data["contexts"][entry["context_id"]] for _, entry in entries]
    texts = [context["context"] for context in contexts]
    spots = []
    for (key, entry), text in zip(entries, texts, strict=True):
        start, end = entry["offset"], entry["offset"] + len(entry["target"])
        if not 0 <= start < end or text[start:end] != entry["target"]:
            raise ValueError(f"the target {key} does not stand where it says")
        spots.append(Spot(text, start, end))
    targets: list[Target] = []
    number: dict[str, int] = {}
    tags = PocketTagger().collect(spots)
    for (key, entry), context, spot, found in zip(entries, contexts, spots, tags, strict=True):
        allowed = _TAGS[entry["pos"]].split()
        tag = found.tag if found.tag in allowed else _by_shape(entry["target"].lower(), entry["pos"])
        number[key] = len(targets)
        (name, *_) = context.get("extra", {}).get("coinco_ids", [""])
        targets.append(Target(spot.text, spot.start, entry["target"], tag, name.partition(":")[0]))
    rows = []
    for key, entry in data["substitutes"].items():
        at = number[entry["target_id"]]
        labels = tuple(label == "TRUE" for label in data["substitute_labels"][key])
        if not labels:
            raise ValueError(f"nobody judged the substitute {key}")
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
