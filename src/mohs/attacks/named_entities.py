"""Replacements of named entities: one fixed word for each class and type of entity (Ren et al. 2019)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from mohs.attacks.method import Ask
from mohs.errors import BadInput
from mohs.models.tagger import PocketTagger, SpacyTagger
from mohs.space.sources import tags
from mohs.text import Example, Text
from mohs.text.questions import Spot

Table = Mapping[int, Mapping[str, str]]  # label -> type -> the word that replaces entities of that type

Recogniser = Callable[[str], list[tuple[str, str]]]  # the entities in a string, each with its type

_ENTITY_TAGS = ("PROPN", "NUM")  # the tags that count as entities


@dataclass(frozen=True)
class NamedEntities:
    """Replacements for named entities by class, from a file that the user provides.

    This does not recognise entities. A word counts as one if the tagger calls it a proper noun or a number. Its type is
    the one that the file lists for it, ignoring case, or else the tag itself, PROPN or NUM. So persons, places and
    dates are told apart only if the file lists them, and an entity of several words is replaced word by word.

    The file is JSON: {"replacements": {"0": {"GPE": "India", "PROPN": "David"}, ...}, "types": {"london": "GPE", ...}},
    where `types` may be missing. `mohs entities` makes such a file from training data (`table_of`).
    """

    path: str
    fingerprint: str
    table: Table = field(repr=False, compare=False)
    types: Mapping[str, str] = field(repr=False, compare=False)

    needs: ClassVar[tuple[str, ...]] = ("tagger",)

    @classmethod
    def read(cls, path: Path | str) -> NamedEntities:
        """Reads a JSON file."""
        try:
            content = json.loads(Path(path).expanduser().read_text("utf-8"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadInput(f"The named entities {path} cannot be read ({reason}); name a JSON file.") from error
        known = content if isinstance(content, dict) else {}
        table, types = known.get("replacements"), known.get("types", {})
        if not (isinstance(table, dict) and all(label.isdecimal() and _words(row) for label, row in table.items())):
            raise BadInput(
                f'{path} needs "replacements" from class numbers to types and words, as in {{"0": {{"GPE": "India"}}}}.'
            )
        if not _words(types):
            raise BadInput(f'The "types" in {path} must map words to types, such as {{"london": "GPE"}}.')
        digest = hashlib.blake2b(json.dumps([table, types], sort_keys=True).encode(), digest_size=16).hexdigest()
        by_word = {word.lower(): kind for word, kind in types.items()}
        return cls(str(path), digest, {int(label): row for label, row in table.items()}, by_word)

    async def __call__(self, text: Text, positions: Sequence[int], label: int, ask: Ask) -> dict[int, str]:
        """The replacement at each position with an entity that has one. It always differs from the current word."""
        row = self.table.get(label, {})
        found = {}
        for p, (pos, _) in zip(positions, await tags(text, positions, ask), strict=True):
            old = text.words[p]
            new = row.get(self.types.get(old.lower(), pos)) if pos in _ENTITY_TAGS else None
            if new is not None and new != old:
                found[p] = new
        return found


def replacements(counts: Mapping[int, Mapping[str, Mapping[str, int]]], own: int = 15, other: int = 30) -> Table:
    """A table from counts of entities: label -> type -> entity -> how often it occurs in texts of that label.

    As in the released code: take the `other` most frequent entities of a type in all other classes. The replacement is
    the first single word among them that is not one of the `own` most frequent of the class itself. Equally frequent
    ones are sorted alphabetically.
    """
    found: dict[int, dict[str, str]] = {}
    for label, types in counts.items():
        others: dict[str, Counter[str]] = {}
        for strange, rows in counts.items():
            for kind, row in rows.items() if strange != label else ():
                others.setdefault(kind, Counter()).update(row)
        found[label] = {}
        for kind, row in sorted(others.items()):
            common = _commonest(types.get(kind, {}), own)
            fitting = [e for e in _commonest(row, other) if e not in common and len(e.split()) == 1]
            if fitting:
                found[label][kind] = fitting[0]
    return found


def recogniser(tagger: PocketTagger | SpacyTagger) -> Recogniser:
    """The entities of a spaCy model if it has them, else each proper noun and number with its tag as type."""
    if isinstance(tagger, SpacyTagger) and "ner" in tagger.nlp.component_names:
        nlp = tagger.nlp
        nlp.enable_pipe("ner")
        return lambda string: [(entity.text, entity.label_) for entity in nlp(string).ents]

    def tagged(string: str) -> list[tuple[str, str]]:
        spots = [Spot(string, start, end) for _, start, end in Text(string).spans()]
        found = zip(spots, tagger.collect(tagger.launch(spots)), strict=True)
        return [(string[spot.start : spot.end], tag.pos) for spot, tag in found if tag.pos in _ENTITY_TAGS]

    return tagged


def table_of(examples: Iterable[Example], entities_in: Recogniser) -> dict[str, Any]:
    """The content of a file for `NamedEntities`: replacements by class, and the most common type of each word."""
    counts: dict[int, dict[str, Counter[str]]] = {}
    types: dict[str, Counter[str]] = {}
    for example in examples:
        own = counts.setdefault(example.label, {})
        for entity, kind in (found for string in example.text.fields for found in entities_in(string)):
            own.setdefault(kind, Counter())[entity] += 1
            for word in Text(entity).words if kind not in _ENTITY_TAGS else ():
                types.setdefault(word.lower(), Counter())[kind] += 1
    return {
        "replacements": {str(label): row for label, row in sorted(replacements(counts).items())},
        "types": {word: _commonest(kinds, 1)[0] for word, kinds in sorted(types.items())},
    }


def _commonest(counts: Mapping[str, int], n: int) -> list[str]:
    return sorted(counts, key=lambda entity: (-counts[entity], entity))[:n]


def _words(row: Any) -> bool:
    return isinstance(row, dict) and all(isinstance(word, str) and word.strip() for word in row.values())
