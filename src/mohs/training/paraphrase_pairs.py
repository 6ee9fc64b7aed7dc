"""Sentences with what they are in another structure: what a paraphraser with structures learns from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mohs.errors import BadInput
from mohs.space.clauses import Sentence, sentences
from mohs.space.syntax import TEMPLATES, rewrites
from mohs.text.dataset import Dataset
from mohs.text.parses import Parse
from mohs.text.rows import file_rows

_COLUMNS = "source, target and, if known, template"
_PARSED_AT_ONCE = 2000


class Pair(NamedTuple):
    """A text, a structure, and a text of the same meaning in that structure."""

    source: str
    template: str
    target: str


def is_pairs(path: Path, encoding: str = "utf-8") -> bool:
    """Whether a file holds pairs: its first row has a source and a target."""
    first = next(iter(file_rows(path, encoding)), {}) if path.is_file() else {}
    return {"source", "target"} <= set(first)


def read_pairs(path: Path, parser: Callable[[], Any], encoding: str = "utf-8") -> list[Pair]:
    """The pairs in a file. Where a row names no structure, the parse of its target says it, or the row is left out."""
    given: list[tuple[int, Pair]] = []
    open_ones: list[tuple[int, Pair]] = []
    for number, row in enumerate(file_rows(path, encoding), 1):
        source, target = (str(row.get(name) or "").strip() for name in ("source", "target"))
        template = str(row.get("template") or "").strip()
        if not source or not target:
            raise BadInput(f"{path}, row {number}: its source or its target is empty; a row has {_COLUMNS}.")
        if template and template not in TEMPLATES:
            raise BadInput(f"{path}, row {number}: unknown template {template!r}; use {' | '.join(TEMPLATES)}.")
        (given if template else open_ones).append((len(given) + len(open_ones), Pair(source, template, target)))
    parses = _parsed([pair.target for _, pair in open_ones], parser)
    for (place, pair), parse in zip(open_ones, parses, strict=True):
        template = template_of(pair.target, parse)
        if template:
            given.append((place, pair._replace(template=template)))
    return [pair for _, pair in sorted(given)]


def made_pairs(texts: Iterable[str], parser: Callable[[], Any]) -> list[Pair]:
    """What the rules over parses (`mohs.space.syntax`) make of texts of one sentence, and the way back.

    The way back is a pair where the parse of the text says which structure it has.
    """
    found: dict[Pair, None] = {}
    strings = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    for string, parse in zip(strings, _parsed(strings, parser), strict=True):
        if len(list(sentences(string, parse))) != 1:
            continue
        own = template_of(string, parse)
        for made, template in rewrites(string, parse).items():
            found.setdefault(Pair(string, template, made))
            if own and own != template:
                found.setdefault(Pair(made, own, string))
    return list(found)


def texts_of(data: Dataset) -> Iterator[str]:
    """Every field of every example."""
    return (field for example in data for field in example.text.fields)


def template_of(string: str, parse: Parse) -> str:
    """Which of the ten structures a text of one sentence has; empty for others."""
    found = [sentence for _, _, sentence in sentences(string, parse)]
    return _structure(found[0]) if len(found) == 1 and found[0].end >= 0 else ""


def split(pairs: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Set aside a share of the sources, with all that is said for them, and with pairs that say one of them."""
    sources = sorted({pair.source for pair in pairs})
    if len(sources) < 2:
        raise BadInput("The data has pairs for fewer than two texts, so none can be set aside for dev; give more.")
    size = min(max(1, round(share * len(sources))), len(sources) - 1)
    aside = set(Random(f"{seed}/dev/sources").sample(sources, size))
    held = [pair for pair in pairs if pair.source in aside]
    said = aside | {pair.target for pair in held}
    return [pair for pair in pairs if pair.source not in said and pair.target not in said], held


def digest(pairs: Iterable[Pair]) -> str:
    """A hash of the content."""
    found = hashlib.sha256()
    for pair in pairs:
        found.update(repr(tuple(pair)).encode("utf-8", "backslashreplace"))
    return found.hexdigest()[:16]


def _structure(s: Sentence) -> str:
    root, first = s.tokens[s.root], s.tokens[0]
    if s.asks:
        return "SBARQ(WHADVP SQ .)" if first.tag == "WRB" else ""
    if first.text in ("-", "*", "•"):
        return "S(LST VP .)"
    if first.relation == "mark" and first.head == s.root:
        return "FRAG(SBAR .)"
    if s.subject is None:
        plain = root.pos in ("NOUN", "PROPN") and not s.dependents(s.root, "mark", "cop")
        return "NP(NP .)" if plain else "S(VP .)" if root.tag in ("VB", "VBP", "VBZ", "VBD") and s.root <= 2 else ""
    own = [n for n in s.dependents(s.root, "conj") if s.dependents(n, "nsubj", "nsubjpass", "expl")]
    if own and s.dependents(s.root, "cc"):
        return "S(S , CC S .)"
    if s.subject.first == 0:
        return "S(NP VP .)"
    kinds = {"prep": "S(PP , NP VP .)", "advmod": "S(ADVP NP VP .)", "advcl": "S(SBAR , NP VP .)"}
    fronted = [n for n in s.below[s.root] if n < s.subject.first and s.tokens[n].pos != "PUNCT"]
    return kinds.get(s.tokens[fronted[0]].relation, "") if len(fronted) == 1 else ""


def _parsed(strings: Sequence[str], parser: Callable[[], Any]) -> list[Parse]:
    """The parse of each string. The model is loaded if there is one to parse, and asked in batches."""
    answers: dict[str, Parse] = {}
    model: Any = parser() if strings else None
    for start in range(0, len(strings), _PARSED_AT_ONCE):
        for batch in model.plan(list(dict.fromkeys(strings[start : start + _PARSED_AT_ONCE]))):
            answers.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return [answers[string] for string in strings]
