"""A finished benchmark: its folder, read back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

FORMAT = "mohs-benchmark-1"
ABOUT, CARD, CROISSANT, PAGE = "benchmark.json", "README.md", "croissant.json", "benchmark.html"
DATA, PRIVATE, STAGES = "data", "private", "stages"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark in a folder. `about` is benchmark.json: tasks, methods, counts, figures and provenance."""

    folder: Path
    about: dict[str, Any] = field(repr=False)

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """What there is to know of each task: names of its texts, labels, metrics, files, counts."""
        return dict(self.about["tasks"])

    @property
    def hash(self) -> str:
        """Of all rows with their labels; the same whether the test set is hidden or not."""
        return str(self.about["hash"])

    @property
    def hidden_test(self) -> bool:
        """Whether the test set has no labels."""
        return bool(self.about["hidden_test"])

    def rows(self, task: str, split: str = "test", *, answers: bool = False) -> list[dict[str, Any]]:
        """The rows of a task's dev or test set. answers: of a hidden test set, the whole rows."""
        if task not in self.tasks:
            raise BadInput(f"{self.folder} has no task {task!r}; it has {', '.join(self.tasks)}.")
        files = self.tasks[task]["files"]
        if split not in ("dev", "test"):
            raise BadInput(f"There is no split {split!r}; use dev or test.")
        name = files["answers"] if answers and split == "test" and files["answers"] else files[split]
        path = self.folder / name
        try:
            return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadInput(f"{path} cannot be read ({reason}); restore it, or build again.") from error


def open_benchmark(folder: str | Path) -> Benchmark:
    """Read a benchmark's folder."""
    folder = Path(folder).expanduser()
    path = folder / ABOUT
    if not path.is_file():
        raise BadInput(f"{folder} holds no finished benchmark; make one with `mohs benchmark build`.")
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read ({error}); build again.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadInput(f"{path} is not of a benchmark that this version reads ({FORMAT}).")
    return Benchmark(folder, found)
