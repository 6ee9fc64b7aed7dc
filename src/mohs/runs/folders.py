"""The run folders in a folder or in a benchmark's, each with its headline figure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mohs.errors import BadInput, MohsError
from mohs.records.store import JOURNAL, MANIFEST
from mohs.runs.run import Run, sound
from mohs.text.addresses import without_credentials


@dataclass(frozen=True)
class RunFolder:
    """What is in a run folder, in short. Of a damaged one only the folder, the time and the fault are known."""

    folder: Path
    changed: str  # when something was last written, in local time
    command: str | None = None
    victim: str | None = None
    data: str | None = None
    examples: int | None = None
    finished: int | None = None  # attempts
    planned: int | None = None
    headline: str | None = None
    fault: str | None = None  # why it cannot be read

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**vars(self), "folder": str(self.folder)}


def run_folders(place: str | Path) -> list[RunFolder]:
    """The runs in a folder, or the folder itself if it is a run; those that changed last come first.

    In a folder of `mohs benchmark build` the runs are in runs/TASK/SURROGATE.
    """
    place = Path(place)
    if not place.is_dir():
        raise BadInput(f"There is no folder {place}; runs without --out are in mohs-runs, others where --out says.")
    try:
        there = [place] if (place / MANIFEST).exists() else [*place.iterdir(), *place.glob("runs/*/*/*")]
        folders = [path for path in there if path == place or _is_run(path)]
    except OSError as error:
        raise BadInput(f"{place} cannot be read ({error.strerror or error}); check its permissions.") from error
    return sorted(map(_read, folders), key=lambda one: (one.changed, str(one.folder)), reverse=True)


def _is_run(path: Path) -> bool:
    try:
        return path.is_dir() and ((path / MANIFEST).exists() or (path / JOURNAL).exists())
    except OSError:  # a folder that may not be looked into
        return False


def _read(folder: Path) -> RunFolder:
    found = RunFolder(folder, _changed(folder))
    try:
        with Run.open(folder) as run, sound(run):
            config = run.manifest["config"]
            return RunFolder(
                found.folder,
                found.changed,
                command=run.command,
                victim=without_credentials(str(config.get("victim"))),
                data=str(config.get("data")),
                examples=run.examples,
                finished=len(run),
                planned=run.planned,
                headline=run.view(judge="none").headline,
            )
    except MohsError as error:
        return RunFolder(found.folder, found.changed, fault=str(error))


def _changed(folder: Path) -> str:
    times = [path.stat().st_mtime for path in (folder / JOURNAL, folder / MANIFEST) if path.exists()]
    return datetime.fromtimestamp(max(times, default=0.0)).isoformat(" ", "minutes")
