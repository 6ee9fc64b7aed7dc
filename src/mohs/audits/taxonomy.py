"""Which classes of constraints an attack has: the table of Morris et al. 2020, appendix A.1, for the catalogue.

Two things are told apart. What an attack *claims* stands in the table of the paper, for the attacks that it lists. What
it *constrains* follows from its settings here: the words that its source offers, and its constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mohs.attacks.catalogue import BATTERIES, CATALOGUE, find_attack, members_of
from mohs.errors import MohsError
from mohs.runs.run import Run
from mohs.space import FAIR, Family, PositionsAgain, parse_constraint, parse_source
from mohs.space.written import names_code
from mohs.tasks.described import describe

# What a source promises by itself. Words of a masked language model fit the place, whatever they mean.
_SOURCES: Mapping[str, tuple[Family, ...]] = {
    "Neighbours": (Family.SEMANTICS,),
    "Synonyms": (Family.SEMANTICS,),
    "TaggedSynonyms": (Family.SEMANTICS, Family.GRAMMAR),
    "Sememes": (Family.SEMANTICS, Family.GRAMMAR),
    "Listed": (Family.SEMANTICS,),
    "Expansions": (Family.SEMANTICS,),
    "Contractions": (Family.SEMANTICS,),
    "SwapLetters": (Family.MORPHOLOGY,),
    "DropLetter": (Family.MORPHOLOGY,),
    "AddLetter": (Family.MORPHOLOGY,),
    "ChangeLetter": (Family.MORPHOLOGY,),
    "Homoglyphs": (Family.MORPHOLOGY,),
    "Keyboard": (Family.MORPHOLOGY,),
    "SplitWord": (Family.MORPHOLOGY,),
    "MaskedWords": (Family.SUSPICION,),
    "UnmaskedWords": (Family.SUSPICION,),
    "InsertedWords": (Family.SUSPICION,),
    "MergedWords": (Family.SUSPICION,),
}
_SYNONYMS = (Family.SEMANTICS, Family.GRAMMAR, Family.SUSPICION)
_CHARACTERS = (Family.MORPHOLOGY, Family.SUSPICION)
# The rows of the paper's table whose attacks are in the catalogue.
CLAIMED: Mapping[str, tuple[Family, ...]] = {
    "genetic": _SYNONYMS,
    "kuleshov": _SYNONYMS,
    "textfooler": _SYNONYMS,
    "hotflip": _CHARACTERS,
    "deepwordbug": _CHARACTERS,
    "textbugger": _CHARACTERS,
    "textbugger-white": _CHARACTERS,
}


@dataclass(frozen=True)
class Constrained:
    """The classes of one attack. `by`: for each class the parts of the attack that constrain it."""

    attack: str
    by: Mapping[Family, tuple[str, ...]]
    claimed: tuple[Family, ...] | None  # None: not in the paper's table
    known: bool = True  # False: the settings of this attack cannot be read from the manifest

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "attack": self.attack,
            "known": self.known,
            "constrains": {str(family): list(self.by.get(family, ())) for family in Family} if self.known else None,
            "claimed": None if self.claimed is None else [str(family) for family in self.claimed],
        }


def constrained(name: str, attack: Any) -> Constrained:
    """The classes that an attack constrains by its source and its constraints."""
    found: dict[Family, list[str]] = {}
    for family, said in _of_source(attack.source):
        found.setdefault(family, []).append(said)
    for constraint in attack.constraints:
        if not isinstance(constraint.measure, PositionsAgain):  # a rule of the search, no bound on the text
            found.setdefault(constraint.measure.family, []).append(_written(constraint))
    by = {family: tuple(dict.fromkeys(said)) for family, said in found.items()}
    return Constrained(name, by, CLAIMED.get(name.partition(":")[0].partition("+")[0]))


def whole_catalogue() -> list[Constrained]:
    """Every attack of the catalogue with every preset."""
    return [constrained(*find_attack(f"{name}:{preset}")) for name, presets in CATALOGUE.items() for preset in presets]


def of_run(run: Run) -> dict[str, list[Constrained]]:
    """The classes of each attack of a run, by the attack's name; of a battery, those of each member.

    Only names of the catalogue are looked up: reading a run must not execute a file that its manifest names.
    """
    config = run.manifest.get("config", {})
    names = sorted(map(str, config.get("attacks") or ()), key=len, reverse=True)
    found: dict[str, list[Constrained]] = {}
    for task in run.manifest["tasks"]:
        name = next((name for name in names if task == name or task.startswith(f"{name.removesuffix('+fair')}+")), None)
        found[task] = [Constrained(task, {}, None, known=False)] if name is None else _of_task(task, name, config)
    return found


def _of_task(task: str, name: str, config: Mapping[str, Any]) -> list[Constrained]:
    name, fair = name.removesuffix("+fair"), "+fair" in task
    parts = [str(part) for part in (config.get("source"), *(config.get("constraints") or ())) if part]
    own = any(map(names_code, [name, *parts]))
    if own or (name not in BATTERIES and name.partition(":")[0] not in CATALOGUE):
        return [Constrained(task, {}, None, known=False)]
    try:
        _, team = members_of(name)
        source = parse_source(str(config["source"])) if config.get("source") else None
        added = (*map(parse_constraint, map(str, config.get("constraints") or ())), *(FAIR if fair else ()))
    except MohsError:  # given as objects in Python, or a file that is gone
        return [Constrained(task, {}, None, known=False)]
    rows = []
    for member, attack in team:
        changed = _Changed(attack.source if source is None else source, (*attack.constraints, *added))
        rows.append(constrained(task if len(team) == 1 else member + "+fair" * fair, changed))
    return rows


@dataclass(frozen=True)
class _Changed:
    source: Any
    constraints: tuple[Any, ...]


def _of_source(source: Any, part: str = "") -> Iterator[tuple[Family, str]]:
    """The classes of a source with what it is called. Of a union, only what all parts promise is promised."""
    several = getattr(source, "sources", None)
    if several is not None:
        each = [list(_of_source(one)) for one in several]
        shared = set.intersection(*({family for family, _ in one} for one in each)) if each else set()
        for one in each:
            for family, said in one:
                yield family, said if family in shared else f"{said} (part of the source)"
        return
    inside = getattr(source, "source", None)
    if inside is not None:
        yield from _of_source(inside, part)
        return
    kind = type(source).__name__
    for family in _SOURCES.get(kind, ()):
        yield family, f"source {describe(source, defaults=False)}"
    if kind == "Synonyms" and source.same_pos:
        yield Family.GRAMMAR, f"source {describe(source, defaults=False)}"


def _written(constraint: Any) -> str:
    signs = [(">=", constraint.at_least), ("<=", constraint.at_most)]
    bounds = "".join(f"{sign}{value:g}" for sign, value in signs if abs(value) != float("inf"))
    return f"{constraint.measure.name}{bounds}"


MEANING: Mapping[Family, str] = {
    Family.SEMANTICS: "semantics",
    Family.MORPHOLOGY: "morphology",
}


def cells(row: Constrained) -> tuple[str, str, str]:
    """The three columns of the paper's table, as constrained by the settings; a claim that is not kept is marked.

    yes: constrained; part: only by a part of the source; no; ! after it: the paper's table says otherwise.
    """
    if not row.known:
        return "?", "?", "?"
    meaning = [said for family, said in MEANING.items() if _degree(row, family) == "yes"]
    meaning += [f"{said} (part)" for family, said in MEANING.items() if _degree(row, family) == "part"]
    claim = [] if row.claimed is None else [said for family, said in MEANING.items() if family in row.claimed]
    marked = bool(claim) and claim[0] not in meaning
    first = ", ".join(meaning) or "none"
    others = [_mark(row, family) for family in (Family.GRAMMAR, Family.SUSPICION)]
    return f"{first}{'!' * marked}", others[0], others[1]


def _degree(row: Constrained, family: Family) -> str:
    said = row.by.get(family, ())
    if not said:
        return "no"
    return "part" if all(one.endswith("(part of the source)") for one in said) else "yes"


def _mark(row: Constrained, family: Family) -> str:
    degree = _degree(row, family)
    other = row.claimed is not None and (family in row.claimed) != (degree != "no")
    return f"{degree}{'!' * other}"
