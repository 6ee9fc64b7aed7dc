"""How long a victim took to train, if it is a model of `mohs train`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

_FOLDER = re.compile(r"(?:mohs|hf):([^,()]+)")  # also inside a defence: ensemble(mohs:MODEL, n=8)


@dataclass(frozen=True)
class TrainingTime:
    """Seconds of each epoch's steps, without dev data and checkpoints."""

    folder: Path
    seconds: tuple[float, ...]
    device: str

    @property
    def an_epoch(self) -> float:
        """The mean of an epoch."""
        return sum(self.seconds) / len(self.seconds)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        seconds = list(self.seconds)
        return {"folder": str(self.folder), "device": self.device, "an_epoch": self.an_epoch, "seconds": seconds}


def training_time(victim: Any) -> TrainingTime | None:
    """The training time of a victim by its name; None if it is not known, or if there are several models in it."""
    from mohs.training.folder import RECORD, read_record, seconds_of

    folders = [Path(found.strip()) for found in _FOLDER.findall(str(victim or ""))]
    if len(folders) != 1 or not (folders[0] / RECORD).is_file():
        return None
    try:
        seconds = seconds_of(folders[0])
        device = (read_record(folders[0])["finished"] or {}).get("device", "-")
    except BadInput:
        return None
    return TrainingTime(folders[0], tuple(seconds), str(device)) if seconds else None
