"""What must be the same in two runs, so that their examples can be paired. Refusals name the difference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from mohs.errors import BadInput
from mohs.runs.run import Run
from mohs.runs.settings import Settings
from mohs.runs.verbs import verb_of
from mohs.space.services import KINDS
from mohs.tasks.option import options_of

# What may differ: the victim; how the examples are read, since these are compared themselves; what searches nothing.
_VICTIM = {"victim", "victim_fingerprint", "victim_origin", "victim_options", "device", "labels"}
_DATA = {"data", "data_hash", "examples", "n", "sample", "least_words", "most_words", "fields", "label_field"}
_DATA |= {"id_field", "encoding"}
_IDLE = {"measures", "fair", *KINDS}  # models are compared by their fingerprints, +fair is part of an attack's name
_OF_SMOOTHING = {"draws", "select", "alpha"}  # only some victims of `mohs certify` have them
_PARTS = {"services", "settings", "attacks"}  # compared apart
_REMEDY = "a comparison needs the same examples, space, search and seed in all runs"
_LONGEST = 60
_BETWEEN = re.compile(r"(?<=[,;(])\s*")

Example = tuple[int, bytes]


def refuse_different(base: Run, other: Run, called: tuple[str, str]) -> None:
    """Refuse two runs whose space, search or seed differ. called: what the message calls them."""
    first, second = base.manifest.get("identity", {}), other.manifest.get("identity", {})
    free = _VICTIM | _DATA | _PARTS | _IDLE | ({"method"} if base.command == "certify" else set())
    for name in dict.fromkeys([*first, *second]):
        if name in free:
            continue
        mine, its = (_value(one, name, base.command) for one in (first, second))
        if name in _OF_SMOOTHING and None in (mine, its):
            continue
        if mine != its:
            raise _refused(called, name.replace("_", " "), *_apart(mine, its))
    for kind in first.get("services", {}):
        mine, its = first["services"][kind], second.get("services", {}).get(kind)
        if its is not None and mine != its and kind != "gradients":  # gradients are the victim's own
            raise _refused(called, f"their {kind.replace('_', ' ')}", mine, its)


def refuse_other_settings(base: Run, other: Run, attacks: Sequence[str], called: tuple[str, str]) -> None:
    """Refuse attacks of one name with other settings."""
    first, second = (one.manifest.get("identity", {}).get("settings") for one in (base, other))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for name in attacks:
            if first.get(name) != second.get(name):
                raise _refused(called, f"the settings of {name}", *_apart(first.get(name), second.get(name)))


def shared_attacks(base: Contents, other: Contents, called: tuple[str, str]) -> list[str]:
    """The attacks that both runs have. Refuses runs without one."""
    shared = [name for name in base.attacks if name in other.attacks]
    if not shared:
        raise _refused(called, "their attacks", *(", ".join(one.attacks) for one in (base, other)))
    return shared


@dataclass(frozen=True)
class Contents:
    """The attacks that a run has records of, and the label and a hash of the text of each example, by its id."""

    attacks: tuple[str, ...]
    examples: Mapping[str, Example]

    @classmethod
    def of(cls, run: Run) -> Contents:
        """Read the records of a run. The names of attacks are theirs: old manifests have those asked for."""
        attacks: dict[str, None] = {}
        examples: dict[str, Example] = {}
        for record in run.records():
            attacks[record.attack] = None
            if record.example_id not in examples:
                text = "\x1f".join(record.original).encode("utf-8", "surrogatepass")
                examples[record.example_id] = record.label, blake2b(text, digest_size=16).digest()
        return cls(tuple(attacks), examples)


def refuse_other_examples(
    base: Mapping[str, Example], other: Mapping[str, Example], finished: bool, called: tuple[str, str]
) -> None:
    """Refuse runs over other examples. Runs that are not finished may lack some."""
    for name, (label, text) in base.items():
        if name in other and other[name] != (label, text):
            what = "another label" if other[name][1] == text else "another text"
            raise BadInput(f"{called[1]} has {what} than {called[0]} for example {name}: {_REMEDY}.")
    if not finished and base.keys() & other.keys():
        return
    for has, lacks, at in ((base, other, 0), (other, base, 1)):
        missing = [name for name in has if name not in lacks]
        if missing:
            said = f"{len(missing):,} of the {len(has):,} examples" if len(missing) > 1 else "1 example"
            raise BadInput(f"{called[1 - at]} lacks {said} of {called[at]}, {missing[0]} for instance: {_REMEDY}.")


def _refused(called: tuple[str, str], what: str, mine: Any, its: Any) -> BadInput:
    return BadInput(f"{called[1]} and {called[0]} differ in {what} ({_shown(its)} against {_shown(mine)}): {_REMEDY}.")


def _value(identity: Mapping[str, Any], name: str, command: str) -> Any:
    """A value of a run; older runs do not have what came later, and did as that option's default or `before` says."""
    if name in identity:
        found = identity[name]
    else:
        found = next((told for known, told in _defaults(command) if known == name), None)
    if isinstance(found, tuple):
        found = list(found)
    return None if found is False or found in ([], {}, "") else found


def _defaults(command: str) -> Iterator[tuple[str, Any]]:
    for kind in (verb_of(command), Settings):
        for f, told in options_of(kind):
            yield f.name, f.default if told.before is ... else told.before


def _apart(mine: Any, its: Any) -> tuple[Any, Any]:
    """Where two long descriptions differ: the first setting that is not the same."""
    if not (isinstance(mine, str) and isinstance(its, str)):
        if isinstance(mine, list) and isinstance(its, list):
            return next(
                ((one, another) for one, another in zip(mine, its, strict=False) if one != another), (mine, its)
            )
        return mine, its
    if max(len(mine), len(its)) <= _LONGEST:
        return mine, its
    parts = _BETWEEN.split(mine), _BETWEEN.split(its)
    return next((pair for pair in zip(*parts, strict=False) if pair[0] != pair[1]), (mine, its))


def _shown(value: Any) -> str:
    said = "none" if value is None else " ".join(str(value).split())
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
