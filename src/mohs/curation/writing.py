"""The last stage: the folder that others load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mohs.curation.card import card
from mohs.curation.config import Config, Task
from mohs.curation.croissant import croissant
from mohs.curation.described import described
from mohs.curation.folder import ABOUT, CARD, CROISSANT, DATA, PAGE, PRIVATE
from mohs.curation.funnel import drops, funnel
from mohs.curation.item import Item, digest, in_chance
from mohs.curation.measured import validity
from mohs.curation.notes import notes_of
from mohs.curation.page import benchmark_page
from mohs.curation.parted import DEV, TEST
from mohs.curation.rows import hidden, rows_of
from mohs.curation.stage import Outcome, StageFolder, json_text, write_whole
from mohs.errors import BadInput
from mohs.report.template import written

_Rows = dict[str, dict[str, list[dict[str, Any]]]]


def write(config: Config, out: Path, stages: StageFolder) -> Outcome:
    """Write data, card, metadata and page; benchmark.json last, so that a folder with it is whole.

    facts: the hash of each file.
    """
    names: Mapping[str, Sequence[str]] = stages.facts("attack")["names"]
    rows = _rows(config, stages.items("split"), names)
    if not rows:
        raise BadInput(
            "No text is left for the benchmark (`mohs benchmark show` says what dropped them); attack more examples or "
            "loosen the filters."
        )
    about = described(
        config, rows, names, digest(rows), funnel(stages), drops(config, stages), validity(config, stages),
        notes_of(config, stages, rows), {task: facts["licences"] for task, facts in stages.facts("merge").items()},
    )  # fmt: skip
    (out / ABOUT).unlink(missing_ok=True)
    _remove_old(out)
    hashes = {path: _lines(out / path, own) for path, own in _files(config, rows, names).items()}
    hashes[CARD] = _whole(out / CARD, card(config, about, rows).encode("utf-8"))
    hashes[CROISSANT] = _whole(out / CROISSANT, json_text(croissant(config, about, rows, hashes)))
    hashes[PAGE] = _hash(written(benchmark_page(config, about), out / PAGE).read_bytes())
    hashes[ABOUT] = _whole(out / ABOUT, json_text(about))
    return Outcome((), (), {"files": hashes})


def is_whole(out: Path, files: Mapping[str, str]) -> bool:
    """Whether these files are as they were written."""
    return all((out / name).is_file() and _hash((out / name).read_bytes()) == known for name, known in files.items())


def _remove_old(out: Path) -> None:
    """Remove the rows of another configuration, or of a build that was cut off; nothing else that lies there."""
    for path in [
        *out.glob(f"{DATA}/*/{DEV}.jsonl*"),
        *out.glob(f"{DATA}/*/{TEST}.jsonl*"),
        *out.glob(f"{PRIVATE}/*.jsonl*"),
    ]:
        path.unlink()
    for folder in [*out.glob(f"{DATA}/*"), out / DATA, out / PRIVATE]:
        with suppress(OSError):  # it holds something else, or is not there
            folder.rmdir()


def _rows(config: Config, items: Sequence[Item], names: Mapping[str, Sequence[str]]) -> _Rows:
    """The whole rows by task and split; a task without any is left out."""
    found: _Rows = {}
    for task in config.tasks:
        parts = {
            part: rows_of(config, task, names[task.name], _of_part(config, task, part, items))
            for part in (DEV, TEST)
            if task.name in names
        }
        if any(parts.values()):
            found[task.name] = parts
    return found


def _of_part(config: Config, task: Task, part: str, items: Sequence[Item]) -> list[Item]:
    """The items of a part. Those of a method in the test set have no order.

    Where the data are sorted by label, or a set is made in turns, an order would tell the labels of a hidden test set.
    """
    own = [item for item in items if (item.task, item.part) == (task.name, part)]
    if part == TEST:
        order = {one.name: place for place, one in enumerate(config.methods)}
        own.sort(key=lambda item: (order[item.method], in_chance(config.seed, "row", item.id)))
    return own


def _files(config: Config, rows: _Rows, names: Mapping[str, Sequence[str]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each file, by its path in the folder."""
    found: dict[str, list[dict[str, Any]]] = {}
    for task, parts in rows.items():
        found[f"{DATA}/{task}/{DEV}.jsonl"] = parts[DEV]
        test = parts[TEST]
        found[f"{DATA}/{task}/{TEST}.jsonl"] = [hidden(row, names[task]) for row in test] if config.hide_test else test
        if config.hide_test:
            found[f"{PRIVATE}/{task}.jsonl"] = test
    return found


def _lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    return _whole(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8"))


def _whole(path: Path, content: bytes) -> str:
    write_whole(path, content)
    return _hash(content)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
