"""A user's own word lists: which words may stand for which."""

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
    """For each word the words that may replace it, in the order of the file. A relation: a may list b and b list a."""

    name: str
    table: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()  # what was left out in reading, a sentence each

    @classmethod
    def read(cls, path: Path | str) -> Thesaurus:
        """From JSON, {"word": ["other", ...]}, or TSV, a word and its others a line with # comments; plain or as .gz.

        A word's lists are joined if it comes twice; words listed twice for a word, and a word listed for itself, are
        dropped, and `notes` says how many. Spaces around words do not count.
        """
        file = only_file(Path(path), _ENDINGS)
        kind = kind_of(file)
        if kind not in (".json", ".tsv", ".txt"):
            raise BadInput(f"{file}: unknown kind of thesaurus; use .json, or .tsv with tabs, each also with .gz.")
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
            raise BadInput(f"{file} lists no words; write a word and its synonyms on each line, with tabs between.")
        counts = (
            (again, "words came again; their lists were joined"),
            (twice, "words were listed again for the same word, and dropped"),
            (itself, "words were listed for themselves, and dropped"),
        )
        notes = tuple(f"{file}: {count} {what}." for count, what in counts if count)
        name = file.name.removesuffix(".gz").removesuffix(kind)
        return cls(name, {word: tuple(others) for word, others in table.items()}, notes)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what is listed for each word, in order; not of the file or the order of its lines."""
        content = json.dumps(dict(self.table), sort_keys=True)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    def lookup(self, word: str) -> list[str]:
        """What is listed for exactly this word, or else for it in lower case; never the word itself."""
        others = self.table.get(word)
        if others is None:
            others = self.table.get(word.lower(), ())
        return [other for other in others if other != word]


def _json_rows(file: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    # Pairs instead of a dict, which would silently keep the last of two lists for one word.
    rows = parse_json(file, text, _Object)
    if not isinstance(rows, _Object):
        raise BadInput(f"{file} holds {type(rows).__name__}; one JSON object from words to lists of words is expected.")
    for word, others in rows.pairs:
        if not isinstance(others, list):
            raise BadInput(f"{file}: {word!r} has {_name(others)} where a list of words is expected.")
        yield _word(file, word, "a key"), [_word(file, other, f"the list of {word!r}") for other in others]


def _table_rows(file: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    # Not splitlines(): it breaks at characters that a word may hold. Spreadsheets fill short rows up with tabs.
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
    word = value.strip(" \t\r\n")  # and no more: published lists hold words that are odd kinds of space
    if not word:
        raise BadInput(f"{file}: {where} holds an empty word; remove it.")
    return word


def _name(value: object) -> str:
    return "an object" if isinstance(value, _Object) else type(value).__name__
