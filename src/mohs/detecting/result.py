"""The result of `mohs detect`: figures for each attack and detector, as objects, as JSON, as a page and as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.detecting.roc import Area, Curve
from mohs.records.export import write_csv
from mohs.report.rates import Rate
from mohs.report.table import table_html
from mohs.report.template import written

if TYPE_CHECKING:
    from rich.console import Console

PAGE = "detect.html"


@dataclass(frozen=True)
class Scored:
    """One text and how suspicious a detector finds it."""

    run: str
    attack: str
    example_id: str
    text: str  # "original" or "adversarial"
    label: int
    predicted: int
    margin: float  # between the two highest probabilities
    detector: str
    suspicion: float
    rejected: bool


@dataclass(frozen=True)
class DetectorFigures:
    """How well one detector does on one attack."""

    detector: str
    area: Area
    by_margin: Mapping[str, Area]  # adversarial texts by how far from the boundary they lie, against all originals
    curve: Curve | None = field(repr=False)
    found_at_rate: float | None  # with the threshold that lets this share of these originals pass
    f1_at_rate: float | None
    detected: Rate  # with the detector's own threshold, set on held-out data
    alarms: Rate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "detector": self.detector,
            "auc": self.area.to_json(),
            "auc_by_margin": {name: area.to_json() for name, area in self.by_margin.items()},
            "true_positive_rate": self.found_at_rate,
            "f1": self.f1_at_rate,
            "detected": self.detected.to_json(),
            "false_alarms": self.alarms.to_json(),
            "roc": None if self.curve is None else asdict(self.curve),
        }


@dataclass(frozen=True)
class AttackDetection:
    """All detectors on the texts of one attack of one run."""

    name: str
    run: str
    attack: str
    goal: str
    originals: int
    adversarial: int
    detectors: tuple[DetectorFigures, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        names = ("name", "run", "attack", "goal", "originals", "adversarial")
        return {**{name: getattr(self, name) for name in names}, "detectors": [one.to_json() for one in self.detectors]}


@dataclass(frozen=True)
class Detection:
    """The figures of some runs of one victim."""

    victim: str
    rate: float
    folder: Path | None  # of the first run
    manifest: Mapping[str, Any] = field(repr=False)
    attacks: tuple[AttackDetection, ...]
    texts: tuple[Scored, ...] = field(repr=False)
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """All figures as a JSON-ready dict, without the texts."""
        return {
            "victim": self.victim,
            "false_alarm_rate": self.rate,
            "attacks": [one.to_json() for one in self.attacks],
            "notes": list(self.notes),
        }

    def write(self, path: str | Path) -> Path:
        """Write every text's suspicion as CSV. An older file stays until the new one is complete."""
        return write_csv(Path(path), list(Scored.__dataclass_fields__), map(asdict, self.texts))

    def page(self, path: str | Path | None = None) -> Path:
        """Write the page. By default detect.html in the first run's folder, or in the current folder without one."""
        from mohs.detecting.page import detection_page

        return written(detection_page(self), Path(path) if path is not None else (self.folder or Path()) / PAGE)

    def show(self, console: Console) -> None:
        """Print the figures on a terminal."""
        from mohs.detecting.show import show

        show(self, console)

    def _repr_html_(self) -> str:
        from mohs.detecting.show import lines

        return table_html([(one.name, lines(one, self.rate)) for one in self.attacks])
