"""The fifth stage: all texts together, each once; sets that need no judges are sampled (AdvGLUE, 3.5).

Of distractions and of sets that people made, so many are drawn as an attack has texts on average after curation, with
the labels of these texts. So every attack weighs about the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mohs.curation.apportioned import fitting
from mohs.curation.config import Config, Crafted, Task
from mohs.curation.item import Dropped, Item, in_chance
from mohs.curation.sets import ReadSet
from mohs.curation.stage import Outcome

Read = Callable[[Crafted], ReadSet]

TWICE = "the same text again"
OTHER = "the same text with another label"
NOT_DRAWN = "not drawn: more than an attack has on average"
UNMATCHED = "not drawn: too few of another label to go with it"


def merged(config: Config, items: Sequence[Item], read: Read) -> Outcome:
    """Merge what judges kept with what needs none. read: the examples of a set that people made.

    facts: of each task the labels of the curated texts, the number that sets are sampled to, and what is known of
    these sets.
    """
    kept: list[Item] = []
    dropped: list[Dropped] = []
    facts: dict[str, Any] = {}
    for task in config.tasks:
        own = [item for item in items if item.task == task.name]
        attacks = config.of(task)
        curated = [item for one in attacks if not one.by_definition for item in own if item.method == one.name]
        certain = [[item for item in own if item.method == one.name] for one in attacks if one.by_definition]
        sets = {one.name: read(one) for one in config.sets(task)}
        once = _Once(dropped)
        chosen = once.of(curated)
        size, labels = _aim(config, task, chosen), Counter(item.label for item in chosen)
        for candidates in (*certain, *(one.items for one in sets.values())):
            fresh = once.of(candidates, ahead=True)
            drawn = fresh if size is None else _drawn(config, fresh, size, labels)
            ids = {item.id for item in drawn}
            why = NOT_DRAWN if size is None or len(drawn) == size else UNMATCHED
            dropped += [Dropped(item, why) for item in fresh if item.id not in ids]
            chosen += once.taken(drawn)
        order = {one.name: place for place, one in enumerate(config.methods)}
        kept += sorted(chosen, key=lambda item: order[item.method])
        facts[task.name] = {
            "labels": [labels[label] for label in range(len(task.labels))],
            "each_set": size,
            "sets": list(sets),
            "licences": {name: one.licence for name, one in sets.items()},
            "other_classes": {name: one.other for name, one in sets.items() if one.other},
        }
    return Outcome(kept, dropped, facts)


class _Once:
    """Texts of a task that were seen, with their labels."""

    def __init__(self, dropped: list[Dropped]) -> None:
        self._seen: dict[tuple[str, ...], Item] = {}
        self._dropped = dropped

    def of(self, items: Sequence[Item], *, ahead: bool = False) -> list[Item]:
        """Those whose texts are new. ahead: they do not count as seen yet."""
        fresh: dict[tuple[str, ...], Item] = {}
        for item in items:
            before = self._seen.get(item.text) or fresh.get(item.text)
            if before is None:
                fresh[item.text] = item
            else:
                self._dropped.append(Dropped(item, TWICE if before.label == item.label else OTHER, before.id))
        found = list(fresh.values())
        return found if ahead else self.taken(found)

    def taken(self, items: Sequence[Item]) -> list[Item]:
        """These are in the benchmark."""
        self._seen |= {item.text: item for item in items}
        return list(items)


def _aim(config: Config, task: Task, chosen: Sequence[Item]) -> int | None:
    """How many examples of a set are drawn; None if nothing was curated, so that there is nothing to go by."""
    attacks = [one for one in config.of(task) if not one.by_definition]
    groups = {one.family if config.average == "family" else one.name for one in attacks}
    return None if not groups else (2 * len(chosen) + len(groups)) // (2 * len(groups))  # halves are rounded up


def _drawn(config: Config, items: Sequence[Item], size: int, labels: Mapping[int, int]) -> list[Item]:
    """So many items with these labels, in their order."""
    there = Counter(item.label for item in items)
    wanted = fitting(size, labels, there)
    found: set[str] = set()
    for label, count in wanted.items():
        own = [item for item in items if item.label == label]
        own.sort(key=lambda item: in_chance(config.seed, "drawn", item.id))
        found |= {item.id for item in own[:count]}
    return [item for item in items if item.id in found]
