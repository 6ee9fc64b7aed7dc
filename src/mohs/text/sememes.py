"""A table of words with the same sememes: word -> substitutes for each part of speech."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.text.book_files import only_file, parse_json, read_text
from mohs.text.inflection import INFLECTED, bases, forms

KINDS = ("noun", "verb", "adj", "adv")


@dataclass(frozen=True, eq=False)
class Sememes:
    """For each word and part of speech (noun, verb, adj, adv) the words that share the sememes of one of its senses."""

    name: str
    table: Mapping[str, Mapping[str, tuple[str, ...]]]

    @classmethod
    def read(cls, path: Path | str) -> Sememes:
        """Read JSON, {"film": {"noun": ["movie", ...]}, ...}, plain or as .gz, or a folder that holds one such file."""
        file = only_file(Path(path), (".json", ".json.gz"))
        rows = parse_json(file, read_text(file))
        if not isinstance(rows, dict) or not rows:
            raise BadInput(f"{file} is not a table of substitutes; give each word lists by noun, verb, adj and adv.")
        name = file.name.removesuffix(".gz").removesuffix(".json")
        return cls(name, {word: _lists(file, word, lists) for word, lists in rows.items()})

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the table, independent of its file."""
        content = json.dumps({word: dict(lists) for word, lists in self.table.items()}, sort_keys=True)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    def listed(self, word: str, kind: str) -> tuple[str, ...]:
        """The table's entry for a word as a noun, verb, adj or adv."""
        return self.table.get(word, {}).get(kind, ())

    def substitutes(self, word: str, kind: str, tag: str, vocabulary: Container[str]) -> list[str]:
        """The substitutes of a word as a noun, verb, adj or adv, in the order of the table. All are in the vocabulary.

        If the Penn tag is one of an inflected form (NNS, VBD, JJR, ...), these are the substitutes of the base forms,
        put into that form by rule (mohs.text.inflection): films gives movies. If the table itself lists inflected
        words, those that look like that form are kept. With any other tag the word is looked up unchanged, so a base
        form gives base forms.
        """
        word = word.lower()
        found = [other for other in self.listed(word, kind) if other in vocabulary]
        if tag in INFLECTED[kind]:
            found = self._inflected(word, kind, tag, found, vocabulary.__contains__)
        return [other for other in dict.fromkeys(found) if other != word]

    def _inflected(self, word: str, kind: str, tag: str, found: list[str], exists: Callable[[str], bool]) -> list[str]:
        found = [other for other in found if bases(other, tag, exists, exists)]
        for base in bases(word, tag, lambda form: bool(self.listed(form, kind)), exists):
            for other in self.listed(base, kind):
                found += forms(other, tag, exists)[:1]
        return found


def _lists(file: Path, word: str, lists: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(lists, dict):
        raise BadInput(f"{file}: {word!r} has {type(lists).__name__} where lists by {', '.join(KINDS)} are expected.")
    for kind, words in lists.items():
        if kind not in KINDS:
            raise BadInput(f"{file}: {word!r} has the part of speech {kind!r}; use {', '.join(KINDS)}.")
        if not isinstance(words, list) or not all(isinstance(other, str) and other for other in words):
            raise BadInput(f"{file}: the {kind} list of {word!r} is not a list of words.")
    return {kind: tuple(words) for kind, words in lists.items()}
