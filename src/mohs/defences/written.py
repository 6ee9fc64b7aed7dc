"""Parses defended victims as written on the command line.

- `ensemble(hf:./model)`: a defence around a victim
- `ensemble(hf:./model, n=16, words=wordnet)`: with settings; `key=1` is another draw of its randomness
- `ensemble(hf:./model, vectors=my-vectors.txt)`: with word vectors of one's own; otherwise the bundled ones
- `masking(ensemble(pocket))`: a defence around a defence
- `mean(hf:A, hf:B)`: several victims that answer as one
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

from mohs.defences.encoding import Encoding
from mohs.defences.ensemble import Ensemble
from mohs.defences.masking import Masking
from mohs.defences.mean import Mean
from mohs.defences.smoothing import RanMask, Safer
from mohs.defences.versions import Versions
from mohs.defences.words import BOOKS
from mohs.errors import BadInput
from mohs.models.victim import Victim
from mohs.text.addresses import without_credentials

DEFENCES: Mapping[str, type] = {
    "ensemble": Ensemble,
    "masking": Masking,
    "encoding": Encoding,
    "safer": Safer,
    "ranmask": RanMask,
}
NAMES = (*DEFENCES, "mean")
_CALLED: Mapping[type, str] = {int: "a whole number", float: "a number", str: "a word"}

Load = Callable[[str], Victim]
Books = Callable[[Iterable[str], Mapping[str, str]], Mapping[str, Any]]


def is_defended(spec: Any) -> bool:
    """Whether a name stands for a victim in a wrapper."""
    return isinstance(spec, str) and re.match(rf"({'|'.join(NAMES)})\s*\(", spec.strip()) is not None


def defended(spec: str, load: Load, books: Books) -> Victim:
    """The victim that a name stands for. `load` loads plain victims; `books` gives word books by kind and name."""
    spec = spec.strip()
    if not is_defended(spec):
        return load(spec)
    name, _, rest = spec.partition("(")
    name = name.strip()
    shown = without_credentials(spec)
    if not rest.endswith(")"):
        raise BadInput(f"The victim {shown!r} has no closing bracket at its end; write {name}(VICTIM, NAME=VALUE).")
    victims, given = split_up(shown, rest[:-1])
    if name == "mean":
        if given:
            raise BadInput(f"mean(...) takes victims only, but {next(iter(given))!r} is a setting.")
        return Mean(*(defended(one, load, books) for one in victims))
    if len(victims) != 1:
        raise BadInput(f"{name}(...) stands around one victim, not {len(victims)}; write {name}(VICTIM, NAME=VALUE).")
    key, named, settings = _settings(name, given)
    kind = DEFENCES[name]
    needs = kind(**settings).needs
    for one in named:
        if one not in needs:
            raise BadInput(f"{name}(...) has {one}={named[one]}, but it does not ask {one} with these settings.")
    resources = dict(books(needs, named)) if needs else {}
    defence = kind(**settings, books=resources) if needs else kind(**settings)
    inside = defended(victims[0], load, books)
    called = ", ".join([inside.name, *(f"{one}={value}" for one, value in given.items())])
    hashes = " ".join(f"{part.name} {part.fingerprint}" for part in resources.values())
    return Versions(inside, defence, f"{name}({called})", key, hashes)


def split_up(shown: str, inside: str) -> tuple[list[str], dict[str, str]]:
    """The victims and the settings between two brackets. shown: all of it, for messages."""
    parts = [""]
    depth = 0
    for sign in inside:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            raise BadInput(f"The brackets of the victim {shown!r} do not match.")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    if depth:
        raise BadInput(f"The brackets of the victim {shown!r} do not match.")
    victims: list[str] = []
    given: dict[str, str] = {}
    for part in filter(None, map(str.strip, parts)):
        found = re.fullmatch(r"(\w+)\s*=\s*(.*)", part)
        if found is None:
            victims.append(part)
        elif found[1] in given:
            raise BadInput(f"The victim {shown!r} sets {found[1]} twice.")
        else:
            given[found[1]] = found[2]
    return victims, given


def _settings(name: str, given: Mapping[str, str]) -> tuple[int, dict[str, str], dict[str, Any]]:
    """The key, the names of word books, and the other settings in their types."""
    hints = typing.get_type_hints(DEFENCES[name])
    known = {f.name: hints[f.name] for f in fields(DEFENCES[name]) if f.repr} | {"key": int}
    if "books" in hints:
        known |= dict.fromkeys(BOOKS, str)
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise BadInput(f"{name}(...) has no setting {key!r}; it takes {', '.join(known)}.")
        try:
            values[key] = known[key](value)
        except ValueError:
            raise BadInput(f"{name}(...) has {key}={value}, which does not fit; give {_CALLED[known[key]]}.") from None
    return values.pop("key", 0), {one: values.pop(one) for one in BOOKS if one in values}, values
