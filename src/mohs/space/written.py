"""Parses sources, measures and constraints as written on the command line.

- `neighbours:k=8,min_cosine=0.6`: a source
- `wordnet+thesaurus:my.tsv`: a union of two sources
- `tautology+links:each=2`: rewriters of whole fields, written in the same way
- `similarity:angular=no,window=15>=0.9`: a constraint, a measure and a threshold
- `similarity>=0.7,short=15,at_least_short=0.1`: a constraint with another threshold for texts under 15 words
- `grammar-errors`: a measure
- `my_file.py:MySource`, `my_file.py:MyMeasure:k=3>=0.5`: frozen dataclasses in the user's own file
"""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from mohs.assets.own import named_in
from mohs.errors import BadInput
from mohs.space import (
    acceptable,
    distractions,
    extent,
    fever,
    fluency,
    letters,
    masked,
    paraphrase,
    sentence,
    sources,
    syntax,
    word_measures,
)
from mohs.space.constraints import Constraint, Measure
from mohs.space.rewrites import Rewriter, rewriters
from mohs.space.sources import Source

SOURCES: Mapping[str, type] = {
    "neighbours": sources.Neighbours,
    "wordnet": sources.Synonyms,
    "sememes": sources.Sememes,
    "thesaurus": sources.Listed,
    "masked": masked.MaskedWords,
    "unmasked": masked.UnmaskedWords,
    "swap": letters.SwapLetters,
    "delete": letters.DropLetter,
    "insert": letters.AddLetter,
    "substitute": letters.ChangeLetter,
    "homoglyph": letters.Homoglyphs,
    "keyboard": letters.Keyboard,
    "split": letters.SplitWord,
    "tautology": distractions.Tautologies,
    "links": distractions.Links,
    "syntax": syntax.Syntax,
    "scpn": paraphrase.Scpn,
    "paraphrase": paraphrase.Paraphrase,
    "fever": fever.Fever,
}
MEASURES: Mapping[str, type] = {
    "word-cosine": word_measures.WordCosine,
    "word-distance": word_measures.WordDistance,
    "no-antonyms": word_measures.Antonyms,
    "acceptable": acceptable.Acceptable,
    "pos": word_measures.SamePos,
    "pos-listed": word_measures.PosListed,
    "edit-distance": extent.EditDistance,
    "words-changed": extent.WordsChanged,
    "share-changed": extent.ShareChanged,
    "words-beyond": extent.WordsBeyond,
    "positions-again": extent.PositionsAgain,
    "similarity": sentence.SentenceSimilarity,
    "bertscore": sentence.BertScore,
    "perplexity": fluency.Perplexity,
    "perplexity-ratio": fluency.PerplexityRatio,
    "log-prob-drop": fluency.LogProbDrop,
    "fluency-rank": fluency.FluencyRank,
    "grammar-errors": fluency.GrammarErrors,
}
_OWN = re.compile(r"(.+\.py):(\w+)(?::(.*))?")
_CALLED: Mapping[type, str] = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}


def parse_source(spec: str) -> Source | Rewriter:
    """Parse a source of words or a rewriter, or several of them joined by `+`."""
    known = "|".join([*SOURCES, r"[^+\s]+\.py:\w+"])
    joint = rf"\+\s*(?=(?:{known})\s*(?:[:+]|$))"  # a file name may contain a plus
    parts = [_source(part.strip()) for part in re.split(joint, spec)]
    return parts[0] if len(parts) == 1 else sources.Union(tuple(parts))


def word_source(source: str | Source | Rewriter) -> Source:
    """A source, parsed if need be, for what counts or proves over words; refuses one that rewrites whole fields."""
    found = parse_source(source) if isinstance(source, str) else source
    if several := rewriters(found):
        raise BadInput(
            f"{called(several[0])} rewrites whole texts, which only attacks can use; give a source that replaces "
            "single words."
        )
    return found  # type: ignore[return-value]


def called(source: Source | Rewriter) -> str:
    """The name of a source in messages."""
    return next((name for name, kind in SOURCES.items() if type(source) is kind), type(source).__name__)


def _source(spec: str) -> Source | Rewriter:
    name, _, rest = spec.partition(":")
    if name == "thesaurus":
        if not rest:
            raise BadInput("A thesaurus needs its file; write thesaurus:FILE.")
        return sources.Listed.read(rest)
    found: Source | Rewriter = _made(spec, SOURCES, "source")
    return found


def parse_measure(spec: str) -> Measure:
    """Parse a measure."""
    found: Measure = _made(spec.strip(), MEASURES, "measure")
    return found


def limits_of(name: str) -> tuple[float, float]:
    """What a measure of this name can be at least and at most, as far as is known."""
    return _limits().get(name, (-math.inf, math.inf))


@cache
def _limits() -> dict[str, tuple[float, float]]:
    similarities = [sentence.SentenceSimilarity(angular=angular) for angular in (True, False)]
    kinds = [kind for kind in MEASURES.values() if isinstance(getattr(kind, "limits", None), tuple)]
    return {measure.name: measure.limits for measure in (*similarities, *kinds)}  # type: ignore[attr-defined]


def parse_constraint(spec: str) -> Constraint:
    """Parse a measure and a threshold."""
    for sign in (">=", "<="):
        measure, found, value = spec.partition(sign)
        if found:
            value, *rest = value.split(",")
            try:
                threshold = float(value)
            except ValueError:
                raise BadInput(f"The constraint {spec!r} has the threshold {value!r}, which is not a number.") from None
            short = dict(_short(spec, part) for part in rest)
            side: dict[str, Any] = {"at_least" if sign == ">=" else "at_most": threshold}
            return Constraint(parse_measure(measure), **side, **short)
    raise BadInput(f"The constraint {spec!r} has no threshold; write it as MEASURE>=NUMBER or MEASURE<=NUMBER.")


def names_code(spec: str) -> bool:
    """Whether a source, a measure or a constraint is a class in a file, which runs when it is read."""
    return ".py:" in spec


def _short(spec: str, part: str) -> tuple[str, Any]:
    """Parse `short=15` or `at_least_short=0.1` after a threshold."""
    key, _, value = (side.strip() for side in part.partition("="))
    try:
        if key == "short":
            return key, int(value)
        if key == "at_least_short":
            return key, float(value)
    except ValueError:
        pass
    raise BadInput(
        f"The constraint {spec!r} has the part {part!r}; only short=WORDS or at_least_short=NUMBER may stand there."
    )


def _made(spec: str, table: Mapping[str, type], what: str) -> Any:
    name, _, rest = spec.partition(":")
    if own := _OWN.fullmatch(spec):
        place, called, rest = own[1], own[2], own[3] or ""
        name, kind = f"{place}:{called}", _own_class(place, called, what)
    elif name not in table:
        raise BadInput(f"Unknown {what} {name!r}; use {', '.join(table)}, or your own as path/to/file.py:CLASS.")
    else:
        kind = table[name]
    types_of = typing.get_type_hints(kind)
    known = {f.name: types_of[f.name] for f in fields(kind)}
    values: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = (side.strip() for side in part.partition("="))
        if key not in known or not equals:
            raise BadInput(
                f"The {what} {spec!r} has the part {part!r}; "
                + (f"{name} takes NAME=VALUE with {', '.join(known)}." if known else f"{name} takes no settings.")
            )
        values[key] = _value(value, known[key], spec, key)
    lacking = [f.name for f in fields(kind) if f.default is MISSING and f.name not in values]
    if lacking:
        raise BadInput(f"The {what} {spec!r} lacks {', '.join(lacking)}; write {name}:{lacking[0]}=VALUE.")
    return kind(**values)


def _own_class(place: str, name: str, what: str) -> type:
    kind = named_in(place, name, f"a {what}")
    has = {part for base in getattr(kind, "__mro__", ()) for part in vars(base)}
    wanted = ("needs", "__call__") if what == "source" else ("name", "family", "needs", "stepwise", "of_texts")
    if what == "source" and "rewrite" in has:
        wanted = ("needs", "keeps_label_of")
    lacking = [part for part in wanted if part not in has]
    if not (isinstance(kind, type) and is_dataclass(kind)) or lacking:
        reason = f"it lacks {', '.join(lacking)}" if lacking else "it is not a dataclass"
        raise BadInput(f"{place}:{name} is not a {what}: {reason}; see docs/write-an-attack.md.")
    return kind


def _value(value: str, kind: Any, spec: str, key: str) -> Any:
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(None) in options and value.lower() == "none":
        return None
    wanted = next(option for option in options if option is not type(None))
    if wanted is bool:
        if value.lower() in ("yes", "true", "1", "no", "false", "0"):
            return value.lower() in ("yes", "true", "1")
    else:
        try:
            return wanted(value)
        except ValueError:
            pass
    raise BadInput(f"In {spec!r} the value of {key} is {value!r}, which does not fit; give {_CALLED[wanted]}.")
