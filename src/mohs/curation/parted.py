"""The sixth stage: dev and test (AdvGLUE, 3.5).

The dev set has the texts made of a tenth of the benign sources, so no source is on both sides. Examples that people
made have no source: of each set a tenth is drawn. The benign sources that are divided are those of which a text is
left; the paper divides all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mohs.curation.config import Config
from mohs.curation.item import Item, in_chance
from mohs.curation.stage import Outcome

DEV, TEST = "dev", "test"


def parted(config: Config, items: Sequence[Item]) -> Outcome:
    """Divide the items. Each is in one part, and the order stays."""
    dev: set[str] = set()
    sources: dict[str, int] = {}
    for task in config.tasks:
        own = [item for item in items if item.task == task.name]
        benign = dict.fromkeys(item.benign for item in own if item.benign)
        sources[task.name] = len(benign)
        chosen = _share(config, f"sources/{task.name}", benign)
        dev |= {item.id for item in own if item.benign and item.benign in chosen}
        for one in config.sets(task):
            dev |= _share(config, f"set/{task.name}/{one.name}", [item.id for item in own if item.method == one.name])
    kept = [replace(item, part=DEV if item.id in dev else TEST) for item in items]
    return Outcome(kept, (), {"sources": sources})


def _share(config: Config, purpose: str, keys: Iterable[str]) -> set[str]:
    """The share of the dev set, drawn by chance: at least one of several, and never all."""
    ordered = sorted(keys, key=lambda key: in_chance(config.seed, purpose, key))
    if not config.split or len(ordered) < 2:
        return set()
    count = int(config.split * len(ordered) + 0.5)
    return set(ordered[: min(max(count, 1), len(ordered) - 1)])
