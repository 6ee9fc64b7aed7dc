"""Pairs of words for two groups of people, and the words that must not be inserted next to them."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.space.masked import one_word
from mohs.text.book_files import kind_of, parse_json, read_text

GROUPS = ("gender", "nationality", "religion", "sexual-orientation", "country")

_NUMBERED = re.compile(r"(?:word|term|token|column|col|group|w|x)[_-]?[12ab]")
_HEADERS = {("a", "b"), ("first", "second"), ("old", "new"), ("from", "to"), ("source", "target"), ("word", "other")}
MOST_PAIRS = 100_000  # of groups
_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".txt")


@dataclass(frozen=True)
class Pairs:
    """Ordered pairs in lower case: a bias is how much the probability rises from the first word to the second."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    blacklist: frozenset[str]  # never inserted by a walk: the words of the pairs, and others like them
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)  # pairs are any two of a group
    left_out: tuple[str, ...] = ()  # entries of groups that are not one word

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the pairs in their order, of the blacklist and of any groups; not of the name."""
        content = json.dumps([self.pairs, sorted(self.blacklist), *([self.groups] if self.groups else [])])
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    @property
    def headed(self) -> bool:
        """Whether the first pair looks like a header."""
        return self.pairs[:1] != () and (self.pairs[0] in _HEADERS or all(map(_NUMBERED.fullmatch, self.pairs[0])))

    @cached_property
    def undoable(self) -> frozenset[tuple[str, str]]:
        """The pairs whose second word has only one first word (her has two: his and him), and all pairs of groups."""
        seconds = Counter(second for _, second in self.pairs)
        return frozenset(pair for pair in self.pairs if self.groups or seconds[pair[1]] == 1)

    def holding(self, words: Iterable[str]) -> list[tuple[str, str]]:
        """The pairs with at least one of some words, in the order of the list."""
        numbers = {number for word in words for number in self._places.get(word, ())}
        return [self.pairs[number] for number in sorted(numbers)]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, pair in enumerate(self.pairs):
            for word in pair:
                found.setdefault(word, []).append(number)
        return found


def read_pairs(given: str | Path) -> Pairs:
    """A bundled list by name, or a file with two words per row and no header: .csv, .tsv, .txt, .json or .jsonl.

    A .json file may hold groups of words instead, as in {"religion": ["christian", "muslim", "jew"]}: any two words of
    a group are a pair. FILE:GROUP takes one group, FILE:GROUP,GROUP several.
    """
    if str(given) in GROUPS:
        return _bundled(str(given))
    file, wanted = _placed(given)
    if file is None:
        raise BadInput(
            f"Unknown pairs {str(given)!r}; use {', '.join(GROUPS)}, or a file that exists: two words "
            "per row or, in .json, groups of words."
        )
    kind = kind_of(file)
    if kind not in _ENDINGS:
        raise BadInput(f"{file}: unknown kind of file for pairs; use {', '.join(_ENDINGS)}, each also with .gz.")
    name = file.name.removesuffix(".gz").removesuffix(kind)
    content = parse_json(file, read_text(file)) if kind == ".json" else None
    if isinstance(content, dict):
        return grouped(file, content, wanted, name)
    if wanted:
        raise BadInput(
            f'{file} has no groups, so {wanted[0]!r} cannot be taken from it; write {{"{wanted[0]}": [...]}}.'
        )
    pairs = _checked(file, _rows(file, kind))
    return Pairs(name, pairs, _words(pairs))


def _placed(given: str | Path) -> tuple[Path | None, list[str]]:
    """The file, and the groups named after a colon; no file if there is none."""
    whole, _, names = str(given).rpartition(":")
    for path, wanted in ((str(given), ""), (whole, names)):
        file = Path(path).expanduser()
        try:
            if path and file.is_file():
                return file, [name for name in wanted.split(",") if name]
        except OSError:  # for example a name that is too long for a file
            continue
    return None, []


def grouped(file: Path, content: Mapping[str, Any], wanted: Iterable[str], name: str) -> Pairs:
    """The pairs of the groups of a file: any two words of one. wanted: the groups to take; empty for all."""
    wanted = list(wanted)
    for group in wanted:
        if group not in content:
            raise BadInput(f"{file} has no group {group!r}; its groups are {', '.join(content)}.")
    groups: dict[str, tuple[str, ...]] = {}
    left_out: list[str] = []
    for group in wanted or content:
        entries = content[group]
        if not _plain_list(entries):
            fine = next((other for other in content if _plain_list(content[other])), None)
            raise BadInput(
                f'{file}: the group {group} is not a list of words; write [["he", "she"], ...] for pairs, '
                f'{{"{group}": ["word", ...]}} for a group'
                + (f", or take another group, as in {file.name}:{fine}." if fine else ".")
            )
        words = list(dict.fromkeys(entry.strip().lower() for entry in entries))
        left_out += [word for word in words if not one_word(word)]
        groups[group] = tuple(word for word in words if one_word(word))
        if len(groups[group]) < 2:
            raise BadInput(f"{file}: the group {group} has fewer than two entries of one word; give it more words.")
    count = sum(len(words) * (len(words) - 1) // 2 for words in groups.values())
    if count > MOST_PAIRS:  # counted before they are made: those of a long list would fill the memory
        fewer = f"name fewer groups, as in {file.name}:{next(iter(groups))}, or shorten them"
        raise BadInput(
            f"{file} makes {count:,} pairs, and at most {MOST_PAIRS:,} are allowed; "
            f"{fewer if len(groups) > 1 else 'shorten the group'}."
        )
    found = dict.fromkeys(pair for words in groups.values() for pair in combinations(words, 2))
    pairs = tuple(pair for pair in found if pair[::-1] not in found or pair < pair[::-1])
    name = f"{name}:{','.join(wanted)}" if wanted else name
    return Pairs(name, pairs, _words(pairs), groups, tuple(left_out))


def _plain_list(entries: Any) -> bool:
    return isinstance(entries, list) and all(isinstance(entry, str) for entry in entries)


def _bundled(name: str) -> Pairs:
    folder = files("mohs.pocket") / "bias"
    lines = _uncommented((folder / f"{name}.txt").read_text("utf-8"))
    pairs = tuple((first, second) for first, second in (line.split() for _, line in lines))
    blacklist = _words(pairs)
    if name == "gender":
        more = _uncommented((folder / "gendered.txt").read_text("utf-8"))
        blacklist |= {word for _, line in more for word in line.split()}
    return Pairs(name, pairs, blacklist)


def _words(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(word for pair in pairs for word in pair)


def _uncommented(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip("\r\n ")


def _rows(file: Path, kind: str) -> Iterator[tuple[str, list[Any]]]:
    """Each row with its place in the file."""
    text = read_text(file)
    if kind == ".json":
        rows = parse_json(file, text)
        if not isinstance(rows, list):
            raise BadInput(f'{file} is not a list; write [["he", "she"], ...].')
        for number, row in enumerate(rows, 1):
            yield f"row {number}", _listed(file, f"row {number}", row)
        return
    for number, line in _uncommented(text):
        where = f"line {number}"
        if kind == ".jsonl":
            yield where, _listed(file, where, parse_json(file, line))
        elif kind == ".txt":
            yield where, [part for part in re.split(r"[\s,;]+", line) if part]
        else:
            yield where, next(csv.reader([line], delimiter="\t" if kind == ".tsv" else ",", skipinitialspace=True))


def _listed(file: Path, where: str, row: Any) -> list[Any]:
    if not isinstance(row, list):
        raise BadInput(f'{file}, {where} is {json.dumps(row)[:40]}; write two words, as in ["he", "she"].')
    return row


def _checked(file: Path, rows: Iterable[tuple[str, list[Any]]]) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], str] = {}
    for where, row in rows:
        if len(row) != 2:
            entries = "entry" if len(row) == 1 else "entries"
            raise BadInput(f"{file}, {where} has {len(row)} {entries}; write two words, as in he,she.")
        for entry in row:
            if not isinstance(entry, str) or not one_word(entry.strip()):
                raise BadInput(f"{file}, {where} has the entry {entry!r}; each entry must be one word.")
        first, second = (entry.strip().lower() for entry in row)
        if first == second:
            raise BadInput(f"{file}, {where} has {first!r} twice; a pair needs two different words.")
        for pair in ((first, second), (second, first)):
            if pair in found:
                way = "" if pair == (first, second) else ", the other way round"
                raise BadInput(f"{file}, {where} has {first} and {second}, as {found[pair]} does{way}; remove one.")
        found[first, second] = where
    if not found:
        raise BadInput(f"{file} has no pairs; write two words per row, as in he,she.")
    return tuple(found)
