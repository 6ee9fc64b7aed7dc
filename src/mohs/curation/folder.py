"""A finished benchmark: its folder, read back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mohs.curation.config import METRICS
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
    if wrong := _wrong(found):
        raise BadInput(f"{path} is not as mohs writes it ({wrong}); restore it, or build again.")
    return Benchmark(folder, found)


def _wrong(about: dict[str, Any]) -> str:
    """What a benchmark of somebody else lacks, or what it has that must not be; empty if it can be read."""
    if not about.get("name") or not isinstance(about.get("tasks"), dict) or not about["tasks"]:
        return "it has no name or no tasks"
    for name, told in about["tasks"].items():
        try:
            files, counts = told["files"], told["counts"]
            paths = [files["dev"], files["test"], *([files["answers"]] if files["answers"] else [])]
            if any(Path(path).is_absolute() or ".." in Path(path).parts for path in paths):
                return f"the files of {name} are not in its folder"
            lists = [told["names"], told["labels"], told["metrics"]]
            if not all(isinstance(one, list) and one and all(isinstance(word, str) for word in one) for one in lists):
                return f"the names, labels or metrics of {name} are no list of words"
            if not all(isinstance(counts[split], int) for split in ("dev", "test")):
                return f"the counts of {name} are no numbers"
            if unknown := set(told["metrics"]) - set(METRICS):
                return f"{name} has the metric {min(unknown)}"
            if not isinstance(told.get("surrogates") or {}, dict):
                return f"the surrogates of {name} have no names"
        except (KeyError, TypeError) as error:
            return f"{name} lacks {error}"
    return ""
