"""A user's own word lists: which words may replace which."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mohs.errors import BadInput
from mohs.text.book_files import kind_of, only_file, parse_json, read_text

_ENDINGS = (".json", ".tsv", ".txt", ".json.gz", ".tsv.gz", ".txt.gz")


@dataclass(frozen=True, eq=False)
class Thesaurus:
    """For each word the words that may replace it, in the order of the file. Need not be symmetric."""

    name: str
    table: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()  # what was left out while reading, one sentence each

    @classmethod
    def read(cls, path: Path | str) -> Thesaurus:
        """Read JSON, {"word": ["other", ...]}, or TSV, a word and its replacements per line; plain or as .gz.

        TSV may have # comments. The lists of a repeated word are joined. Repeated replacements, and a word listed for
        itself, are dropped; `notes` says how many. Spaces around words are ignored.
        """
        file = only_file(Path(path), _ENDINGS)
        kind = kind_of(file)
        if kind not in (".json", ".tsv", ".txt"):
            raise BadInput(f"{file}: unknown thesaurus format; use .json, or .tsv with tabs, each also with .gz.")
        text = read_text(file)
        rows = _json_rows(file, text) if kind == ".json" else _table_rows(file, text)
        table: dict[str, dict[str, None]] = {}
        again = itself = twice = 0
        for word, others in rows:
            again += word in table
            known = table.setdefault(word, {})
            for other in others:
                itself += other == word
                twice += other in known
                if other != word:
                    known[other] = None
        if not table:
            raise BadInput(f"{file} lists no words; write a word and its synonyms on each line, separated by tabs.")
        counts = (
            (again, "repeated words; their lists were joined"),
            (twice, "words listed again for the same word; dropped"),
            (itself, "words listed for themselves; dropped"),
        )
        notes = tuple(f"{file}: {count} {what}." for count, what in counts if count)
        name = file.name.removesuffix(".gz").removesuffix(kind)
        return cls(name, {word: tuple(others) for word, others in table.items()}, notes)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the list of each word, in order. It does not depend on the file or the order of its lines."""
        content = json.dumps(dict(self.table), sort_keys=True)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    def lookup(self, word: str) -> list[str]:
        """The replacements listed for this word, or else for it in lower case; never the word itself."""
        others = self.table.get(word)
        if others is None:
            others = self.table.get(word.lower(), ())
        return [other for other in others if other != word]


def _json_rows(file: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    # Pairs, because a dict would silently keep only the last of two lists for a word.
    rows = parse_json(file, text, _Object)
    if not isinstance(rows, _Object):
        raise BadInput(f"{file} holds {type(rows).__name__}; write one JSON object from words to lists of words.")
    for word, others in rows.pairs:
        if not isinstance(others, list):
            raise BadInput(f"{file}: {word!r} has {_name(others)} where a list of words is expected.")
        yield _word(file, word, "a key"), [_word(file, other, f"the list of {word!r}") for other in others]


def _table_rows(file: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    # Not splitlines(): it splits at characters that a word may contain. Spreadsheets pad short rows with tabs.
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.rstrip("\t\r ").split("\t")
        if line.startswith("#") or cells == [""]:
            continue
        word, *others = (_word(file, cell, f"line {number}") for cell in cells)
        yield word, others


class _Object(NamedTuple):
    """A JSON object."""

    pairs: list[tuple[str, Any]]


def _word(file: Path, value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{file}: {where} holds {_name(value)} where a word is expected.")
    word = value.strip(" \t\r\n")  # only these: published lists have words that are unusual spaces
    if not word:
        raise BadInput(f"{file}: {where} holds an empty word; remove it.")
    return word


def _name(value: object) -> str:
    return "an object" if isinstance(value, _Object) else type(value).__name__
