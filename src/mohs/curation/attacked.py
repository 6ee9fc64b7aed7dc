"""The first stage: the adversarial texts that the suite found, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from mohs.curation.config import Config
from mohs.curation.item import Dropped, Item, benign_of
from mohs.curation.stage import Outcome
from mohs.curation.suite import Cell, data_of
from mohs.records import Outcome as Ending
from mohs.records import Record
from mohs.runs.run import Run, sound
from mohs.space.extent import words_changed
from mohs.text import Text

_REASONS = {
    Ending.FAILED: "not fooled",
    Ending.EXHAUSTED: "not fooled within the budget",
    Ending.DETECTED: "rejected by the surrogate",
    Ending.SKIPPED: "the original is read wrong",
    Ending.REJECTED: "the original is rejected",
    Ending.ERROR: "error",
}
_ATTACKED = (Ending.SUCCESS, Ending.FAILED, Ending.EXHAUSTED, Ending.DETECTED)


def attacked(config: Config, cells: Iterable[Cell]) -> Outcome:
    """The successes of all runs. Texts that an attack finds on several surrogates are one item.

    facts: `counts` of each task, method and surrogate; `examples`, `names` and `methods` of each task.
    """
    kept: list[Item] = []
    dropped: list[Dropped] = []
    facts: dict[str, Any] = {"counts": {}, "examples": {}, "names": {}}
    facts["methods"] = [[task.name, [one.name for one in config.of(task)]] for task in config.tasks]
    for task in config.tasks:
        data = list(data_of(config, task))
        facts["examples"][task.name] = len(data)
        facts["names"][task.name] = list(task.names or data[0].names)
    by_method: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_method.setdefault((cell.task.name, cell.attack.name), []).append(cell)
    for (task_name, method), own in by_method.items():
        found: dict[tuple[str, tuple[str, ...]], list[tuple[str, Record]]] = {}
        for cell in own:
            counts: Counter[str] = Counter()
            with Run.open(cell.folder) as run, sound(run):
                for record in run.records():
                    counts[str(record.outcome)] += 1
                    counts["attacked"] += record.outcome in _ATTACKED
                    if record.outcome is Ending.SUCCESS and record.perturbed is not None:
                        key = record.example_id, record.perturbed
                        found.setdefault(key, []).append((cell.surrogate, record))
                    else:
                        dropped.append(_dropped(record, task_name, method, cell.surrogate))
            facts["counts"].setdefault(task_name, {}).setdefault(method, {})[cell.surrogate] = dict(counts)
        kept += _items(task_name, method, found)
    return Outcome(kept, dropped, facts)


def _items(task: str, method: str, found: dict[tuple[str, tuple[str, ...]], list[tuple[str, Record]]]) -> list[Item]:
    items: list[Item] = []
    numbers: Counter[str] = Counter()
    for (source, text), hits in found.items():
        record = hits[0][1]
        original = Text(*record.original)
        items.append(
            Item(
                id=f"{task}/{method}/{source}/{numbers[source]}",
                task=task,
                method=method,
                label=record.label,
                text=text,
                original=record.original,
                source=source,
                benign=benign_of(record.original),
                found_on=tuple(surrogate for surrogate, _ in hits),
                share_changed=round(words_changed(original, Text(*text)) / max(len(original), 1), 6),
            )
        )
        numbers[source] += 1
    order = {source: place for place, source in enumerate(dict.fromkeys(source for source, _ in found))}
    return sorted(items, key=lambda item: order[item.source])  # stable: the order of the surrogates is kept


def _dropped(record: Record, task: str, method: str, surrogate: str) -> Dropped:
    item = Item(
        id=f"{task}/{method}/{record.example_id}/{surrogate}",
        task=task,
        method=method,
        label=record.label,
        text=record.perturbed or record.original,
        original=record.original,
        source=record.example_id,
        benign=benign_of(record.original),
        found_on=(surrogate,),
    )
    error = " ".join((record.error or "").split())
    return Dropped(item, _REASONS.get(record.outcome, str(record.outcome)), error)
