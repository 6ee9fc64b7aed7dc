"""What the options of `mohs attack` change in the attacks that are named: their source, constraints and fixed words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.errors import BadInput
from mohs.space import FAIR, Constraint, parse_constraint, parse_source
from mohs.space.rewrites import only_rewrites
from mohs.tasks.described import written
from mohs.text.stopwords import read_stopwords

if TYPE_CHECKING:
    from mohs.attacks.method import Attack
    from mohs.attacks.named_entities import NamedEntities
    from mohs.space import Source

Team = Sequence[tuple[str, Any]]  # the members of a battery, or one attack, by name


@dataclass(frozen=True)
class Changes:
    """The same changes for every attack of a run."""

    source: str | Source | None
    constraints: Sequence[str | Constraint]
    stopwords: str | Path | Iterable[str] | None
    kept: frozenset[str]
    entities: NamedEntities | None

    def of(self, name: str, team: Team, fair: bool) -> tuple[str, list[tuple[str, Attack]]]:
        """The attacks with these changes, and names that include them. fair: only changes that people would accept."""
        changes: dict[str, Any] = {}
        suffix = ""
        if self.source is not None:
            changes["source"] = parse_source(self.source) if isinstance(self.source, str) else self.source
            suffix += f"+{written(self.source)}"
        added = tuple(parse_constraint(c) if isinstance(c, str) else c for c in self.constraints)
        suffix += "".join(f"+{written(c)}" for c in self.constraints)
        if fair:
            suffix += "+fair"
            _refuse_fair(team, changes)
        stopwords = None if self.stopwords is None else read_stopwords(self.stopwords)
        if stopwords is not None:
            suffix += "+stopwords"
        if self.kept:
            suffix += "+keep"
        if self.entities is not None:
            changes["entities"] = self.entities
            suffix += "+entities"
            _refuse_entities(team)
        *cheap, grammar = FAIR if fair else (None,)
        first, last = tuple(cheap), (grammar,) if grammar else ()  # the order changes the cost, not what is allowed

        def obeying(method: Any) -> Any:
            if stopwords is not None or self.kept:
                changes["stopwords"] = frozenset(method.stopwords if stopwords is None else stopwords) | self.kept
            return replace(method, constraints=(*first, *method.constraints, *added, *last), **changes)

        return name + suffix, [(n + suffix, obeying(m) if suffix else m) for n, m in team]


def _refuse_fair(team: Team, changes: dict[str, Any]) -> None:
    """Refuse --fair for attacks on which it has nothing to say."""
    for name, method in team:
        if keeps_label(str(getattr(method, "goal", UNTARGETED))):
            raise BadInput(f"{name} deletes words to keep the label, so --fair is not for it; leave it out.")
    sources = [(name, changes.get("source", method.source)) for name, method in team]
    for name, source in sources:
        if only_rewrites(source):
            raise BadInput(f"{name} rewrites whole texts, and the judge of --fair reads single words; leave it out.")
    for name, source in sources:
        if _only_spells(source):
            raise BadInput(
                f"{name} only changes spellings, on which the judge has no opinion, so --fair would leave it nothing; "
                "leave it out."
            )


def _refuse_entities(team: Team) -> None:
    for name, method in team:
        if not hasattr(method, "entities"):
            raise BadInput(
                f"{name} does not replace named entities; --entities is for pwws (not its preset textattack)."
            )


def _only_spells(source: Any) -> bool:
    """Whether a source offers nothing but other spellings of a word."""
    parts = getattr(source, "sources", None) or ((source.source,) if hasattr(source, "source") else ())
    return all(map(_only_spells, parts)) if parts else type(source).__module__ == "mohs.space.letters"
