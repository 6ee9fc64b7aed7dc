"""The attack of a run, carried out again: the same options and seed, with the defended system as the black box."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mohs.assets.writing import refuse_link
from mohs.attacks.catalogue import each_of, members_of
from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.attacks.method import needs
from mohs.attacks.verb import AttackVerb
from mohs.errors import BadInput
from mohs.models.victim import Victim
from mohs.runs.carry_out import Progress, carry_out
from mohs.runs.run import Run
from mohs.runs.settings import Settings
from mohs.tasks.option import options_of
from mohs.text import Example, Text

FOLDER = "defended"  # in the run's folder: one run for each defence and key
GIVEN = "examples"  # the name in a manifest of data that were given as objects


@dataclass(frozen=True)
class Again:
    """How to carry out a run's attack against another victim."""

    run: Run = field(repr=False)
    settings: Settings  # with the run's victim
    verb: AttackVerb
    left_out: tuple[str, ...]  # attacks that need gradients, which no defended victim gives

    def folder(self, name: str, victim: Victim) -> Path | None:
        """The folder of the run against a defended victim; None if the run is in memory."""
        if self.run.folder is None:
            return None
        about = [victim.fingerprint, self.run.manifest.get("identity", {}), list(map(str, each_of(self.verb.attacks)))]
        digest = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:8]
        plain = re.sub(r"[^A-Za-z0-9.]+", "-", name)[-60:].strip("-")
        found = self.run.folder / FOLDER / f"{plain}-{digest}"
        for place in (found.parent, found):  # the run may be someone else's
            refuse_link(place)
        return found

    def __call__(self, victim: Any, out: Path | None, progress: Progress | None) -> Run:
        """The run against a victim, given by name or as an object; finished attempts are kept."""
        return carry_out(replace(self.settings, victim=victim), self.verb, out, progress)


def again(run: Run, victim: Victim, changes: Mapping[str, Any], victims: Mapping[str, Any]) -> Again:
    """The attack of a run, from its manifest.

    changes: options of the attack instead of the run's, such as models that were given as objects. victims: the
    options about the victim and the work, which no manifest has.
    """
    config = run.manifest.get("config", {})
    for name in changes:
        if name not in {f.name for f, _ in options_of(AttackVerb)}:
            raise BadInput(
                f"{name!r} is no option of an attack; `again` takes those of `mohs.attack` about the attack."
            )
    verb: dict[str, Any] = {}
    for f, told in options_of(AttackVerb):
        if config.get(f.name) is not None:
            verb[f.name] = _tuple(config[f.name])
        elif f.name not in config and told.before is not ...:  # a run from before there was this option
            verb[f.name] = told.before
    verb |= changes
    attacks: list[Any] = []
    left_out: list[Any] = []
    for attack in each_of(verb.pop("attacks")):
        if _white(attack):
            left_out.append(attack)
        elif not _keeps_label(attack):
            attacks.append(attack)
    shared = {f.name for f, _ in options_of(Settings)} - {"victim", "device", "data"}
    known = {name: _tuple(config[name]) for name in shared if config.get(name) is not None}
    settings = Settings(data=config.get("data", GIVEN), **{**known, **victims})
    if settings.data == GIVEN:
        settings = Settings(data=list(_examples(run)), seed=settings.seed, **victims)
    else:
        _refuse_other_data(run, settings, victim)
    return Again(run, settings, AttackVerb(attacks=tuple(attacks), **verb), tuple(map(str, left_out)))


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _white(attack: Any) -> bool:
    """Whether an attack, or a member of a battery, needs gradients."""
    return any("gradients" in needs(member) for member in _members(attack))


def _keeps_label(attack: Any) -> bool:
    """Whether an attack fools nobody."""
    return any(keeps_label(str(getattr(member, "goal", UNTARGETED))) for member in _members(attack))


def _members(attack: Any) -> list[Any]:
    _, members = members_of(attack.removesuffix("+fair") if isinstance(attack, str) else attack)
    return [member for _, member in members]


def _examples(run: Run) -> Iterator[Example]:
    """The examples of a run whose data were given as objects: its records hold them."""
    seen = set()
    for record in run.records():
        if record.example_id not in seen:
            seen.add(record.example_id)
            yield Example(record.example_id, Text(*record.original), record.label, record.names)


def _refuse_other_data(run: Run, settings: Settings, victim: Victim) -> None:
    """Refuse to attack other examples than the run did."""
    labels: Sequence[str] = tuple(settings.labels) or victim.labels
    data = settings.dataset(str(settings.data), labels=tuple(labels), change=tuple(settings.change))
    _, _, digest = data.survey(data)
    if digest != run.manifest.get("identity", {}).get("data_hash"):
        raise BadInput(
            f"The data {settings.data} is not what {run.folder or 'the run'} attacked; restore the file, or leave the "
            "adaptive attack out with --adaptive-keys 0."
        )
