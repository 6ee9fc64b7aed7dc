"""What every stage took in, kept and dropped, by task and method, and the shares that section 3.4 of AdvGLUE names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mohs.curation.config import Config
from mohs.curation.item import Dropped, Item
from mohs.curation.stage import StageFolder
from mohs.report.rates import Rate

AGAIN = "found on another surrogate too"
_SIFTING = ("attack", "transfer", "fidelity", "judge", "merge")
_Key = tuple[str, str]


@dataclass(frozen=True)
class Step:
    """One stage of one task and method."""

    task: str
    method: str
    stage: str
    given: int  # attempts for the attack, afterwards texts
    kept: int
    reasons: dict[str, int]  # why the others were dropped

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


def funnel(stages: StageFolder) -> list[Step]:
    """The stages that are finished so far, by task and method."""
    found: dict[_Key, list[Step]] = {}
    sets = stages.facts("merge") if stages.exists("merge") else {}
    methods = [
        (task, method)
        for task, own in stages.facts("attack")["methods"]
        for method in [*own, *sets.get(task, {}).get("sets", ())]
    ]
    for stage in (name for name in _SIFTING if stages.exists(name)):
        kept = _count(stages.items(stage))
        reasons: dict[_Key, Counter[str]] = {}
        for one in stages.dropped(stage):
            reasons.setdefault((one.item.task, one.item.method), Counter())[one.reason] += 1
        for key in methods:
            if stage != "merge" and key[1] in sets.get(key[0], {}).get("sets", ()):
                continue
            why = dict(sorted(reasons.get(key, Counter()).items()))
            if stage == "attack" and (again := _attempts(stages, key) - kept[key] - sum(why.values())):
                why[AGAIN] = again
            found.setdefault(key, []).append(Step(*key, stage, kept[key] + sum(why.values()), kept[key], why))
    return [step for key in methods for step in found.get(key, ())]


def _attempts(stages: StageFolder, key: _Key) -> int:
    counts = stages.facts("attack")["counts"][key[0]][key[1]]
    return sum(number for own in counts.values() for name, number in own.items() if name != "attacked")


def _count(items: Iterable[Item]) -> Counter[_Key]:
    return Counter((item.task, item.method) for item in items)


@dataclass(frozen=True)
class Drops:
    """Of one task, which shares the filters take. Texts that are valid by definition are not counted."""

    task: str
    transfer: Rate
    fidelity: Rate
    automatic: Rate
    no_consensus: Rate
    other_label: Rate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {name: value.to_json() if isinstance(value, Rate) else value for name, value in vars(self).items()}


def drops(config: Config, stages: StageFolder) -> list[Drops]:
    """The shares of section 3.4, of each task."""
    certain = {one.name for one in config.attacks if one.by_definition}
    found = []
    for task in config.tasks:

        def mine(items: Sequence[Item] | Sequence[Dropped], task: str = task.name) -> int:
            own = [one.item if isinstance(one, Dropped) else one for one in items]
            return sum(item.task == task and item.method not in certain for item in own)

        texts, moving, near = (mine(stages.items(stage)) for stage in ("attack", "transfer", "fidelity"))
        reasons = Counter(one.reason for one in stages.dropped("judge") if one.item.task == task.name)
        judged = mine(stages.items("judge")) + reasons["no consensus"] + reasons["another label"]
        votes = any(item.votes for item in stages.items("judge") if item.task == task.name) or reasons
        judged = judged if votes else 0
        found.append(
            Drops(
                task.name,
                Rate(texts - moving, texts, "adversarial texts"),
                Rate(moving - near, moving, "texts that fool all surrogates"),
                Rate(texts - near, texts, "adversarial texts"),
                Rate(reasons["no consensus"], judged, "texts judged"),
                Rate(reasons["another label"], judged, "texts judged"),
            )
        )
    return found
