"""The second stage: only texts that fool every surrogate stay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mohs.curation.config import Config, Task
from mohs.curation.item import Dropped, Item, digest
from mohs.curation.stage import Outcome
from mohs.curation.suite import Cell, How
from mohs.errors import BadInput
from mohs.models.device import first_device

_Answers = dict[tuple[str, tuple[str, ...]], str]  # by source and text: why another surrogate is not fooled, or ""


def transferred(config: Config, items: Sequence[Item], cells: Iterable[Cell], how: How) -> Outcome:
    """Ask every other surrogate about each text (`mohs transfer`).

    What a surrogate says about a run stands in the run's folder, so a build that was killed does not ask again.
    facts: `fooled`, how many texts of each task and method fool each surrogate.
    """
    by_task: dict[str, list[Cell]] = {}
    for cell in cells:
        by_task.setdefault(cell.task.name, []).append(cell)
    said: dict[tuple[str, str, str], _Answers] = {}  # by task, method and surrogate asked
    with_hits = {(item.task, item.method, surrogate) for item in items for surrogate in item.found_on}
    total = sum(len(own) * (len(config.task(task).surrogates) - 1) for task, own in by_task.items())
    finished = 0
    with how.watched("asking the other surrogates") as progress:
        for task_name, own in by_task.items():
            task = config.task(task_name)
            for asked in task.surrogates:
                victim: list[Any] = []  # loaded when the first run needs it
                for cell in (cell for cell in own if cell.surrogate != asked):
                    if (task_name, cell.attack.name, cell.surrogate) in with_hits:
                        answers = said.setdefault((task_name, cell.attack.name, asked), {})
                        answers.update(_answers(config, task, cell, asked, victim, how))
                    finished += 1
                    if progress is not None:
                        progress(None, finished, total)
    return _sifted(config, items, said)


def _sifted(config: Config, items: Sequence[Item], said: dict[tuple[str, str, str], _Answers]) -> Outcome:
    kept: list[Item] = []
    dropped: list[Dropped] = []
    fooled: dict[str, dict[str, dict[str, int]]] = {}
    for item in items:
        against: list[tuple[str, str]] = []
        counts = fooled.setdefault(item.task, {}).setdefault(item.method, {})
        for surrogate in config.task(item.task).surrogates:
            why = "" if surrogate in item.found_on else said[item.task, item.method, surrogate][item.source, item.text]
            counts[surrogate] = counts.get(surrogate, 0) + (not why)
            if why:
                against.append((surrogate, why))
        if against:
            more = "; ".join(f"{surrogate}: {why}" for surrogate, why in against)
            dropped.append(Dropped(item, "does not fool all surrogates", more))
        else:
            kept.append(item)
    return Outcome(kept, dropped, {"fooled": fooled})


def _answers(config: Config, task: Task, cell: Cell, asked: str, victim: list[Any], how: How) -> _Answers:
    """What a surrogate says about the successes of a run: from the file in its folder, or by asking."""
    spec = task.surrogates[asked]
    place = cell.folder / f"transfer-{asked}-{digest([spec, config.device, list(task.labels)])[:8]}.jsonl"
    if not place.is_file():
        _ask(config, task, cell, spec, victim, how, place)
    try:
        rows = [json.loads(line) for line in place.read_text("utf-8").split("\n") if line]
        return {(row["example_id"], tuple(row["adversarial"])): _why_not(row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{place} cannot be read ({error}); delete it and build again.") from error


def _ask(config: Config, task: Task, cell: Cell, spec: str, victim: list[Any], how: How, place: Path) -> None:
    from mohs.runs.run import Run
    from mohs.runs.settings import VictimSettings
    from mohs.runs.subject import victim_of
    from mohs.runs.transfer import transferred as asked_about

    named = VictimSettings(
        victim=spec,
        device=first_device(config.device),
        labels=task.labels,
        trust_code=how.trust_code,
        trust_pickle=how.trust_pickle,
    )
    if not victim:
        victim.append(victim_of(named))
    with Run.open(cell.folder) as run:
        asked_about(run, VictimSettings(victim=victim[0], labels=task.labels)).write(place)


def _why_not(row: dict[str, Any]) -> str:
    if row["fooled"]:
        return ""
    if row["error"]:
        return "cannot read it"
    return "reads it right" if row["right"] else "reads the original wrong"
