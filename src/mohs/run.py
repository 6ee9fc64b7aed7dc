"""A run: its records and figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mohs.attacks.goal import UNTARGETED
from mohs.bias import PairBias, pair_biases
from mohs.errors import BadInput
from mohs.records import Outcome, Record, RunStore

if TYPE_CHECKING:
    from mohs.report.attack.figures import Summary
    from mohs.report.second_order.figures import SecondOrderSummary


class Run:
    """A run's records and figures. Also a context manager, which closes the files at the end."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Read a run folder."""
        return cls(RunStore.read(Path(folder)))

    @property
    def folder(self) -> Path | None:
        """Where the run is kept; None if only in memory."""
        return self._store.folder

    @property
    def manifest(self) -> dict[str, Any]:
        """What was asked for, and with which versions and hashes."""
        return self._store.manifest

    def goal_of(self, attack: str) -> str:
        """What an attack of the run is after: the run's goal, or its own where that differs."""
        goals = self.manifest.get("facts", {}).get("goals", {})
        return str(goals.get(attack, self.manifest["config"].get("goal", UNTARGETED)))

    @property
    def goal(self) -> str:
        """The goals of the run in words."""
        own = self.manifest.get("facts", {}).get("goals", {})
        usual = str(self.manifest["config"].get("goal", UNTARGETED))
        apart = [f"{goal} for {name}" for name, goal in own.items() if goal != usual]
        if apart and len(apart) == len(own):
            return ", ".join(dict.fromkeys(own.values()))
        return ", ".join([usual, *apart])

    def records(self) -> Iterator[Record]:
        """Every record, by attack and then in the order of the data."""
        return self._store.records()

    def effort(self) -> dict[str, float]:
        """Forwards, batches and seconds; unlike the records these depend on the schedule and the cache."""
        return self._store.effort()

    @property
    def command(self) -> str:
        """What made it: attack, second-order or bias."""
        return str(self.manifest.get("command", "attack"))

    def summary(self) -> list[Summary]:
        """The figures of each attack, with denominators and 95% intervals."""
        from mohs.report.attack.figures import summarise

        self._made_by("attack")
        return summarise(self.records(), self.goal_of)

    def vulnerable(self) -> list[SecondOrderSummary]:
        """The figures of a second-order run."""
        from mohs.report.second_order.figures import summarise_second_order

        self._made_by("second-order")
        return summarise_second_order(self.records())

    def biases(self, *, filtered: bool = False, epsilon: float | None = None) -> list[PairBias]:
        """The bias of each pair at each distance.

        filtered: of sentences that the pair itself hardly moves; epsilon: by less than this, if not the run's own.
        """
        self._made_by("bias")
        if filtered and epsilon is None:
            epsilon = float(self.manifest["config"]["epsilon"])
        return pair_biases(self.records(), epsilon=epsilon)

    def radii(self) -> list[dict[str, Any]]:
        """Of a radius run, what was found for each example that the victim reads right."""
        self._made_by("radius")
        return [{"example": r.example_id, **r.details} for r in self.records() if r.outcome is Outcome.MEASURED]

    def certificates(self, path: str | Path) -> Path:
        """Write the certificates of a radius run, one a line."""
        self._made_by("radius")
        with Path(path).open("w", encoding="utf-8") as file:
            for row in self.radii():
                if "certificate" in row:
                    file.write(json.dumps(row["certificate"], ensure_ascii=False) + "\n")
        return Path(path)

    def _made_by(self, command: str) -> None:
        if self.command != command:
            figures = {"attack": "summary()", "second-order": "vulnerable()", "bias": "biases()", "radius": "radii()"}
            raise BadInput(f"This is a run of `mohs {self.command}`; its figures are run.{figures[self.command]}.")

    def report(self, path: str | Path | None = None, *, epsilon: float | None = None) -> Path:
        """Write the browsable page, by default report.html in the run folder, or here for a run in memory.

        epsilon: of a bias run, for another filtered set.
        """
        from mohs.report.template import write_page

        place = Path(path) if path is not None else (self.folder or Path()) / "report.html"
        return write_page(self, place, epsilon)

    def close(self) -> None:
        """Close the files."""
        self._store.close()

    @property
    def planned(self) -> int:
        """How many attempts the run has when it is finished."""
        return int(self.manifest.get("identity", {}).get("examples", 0)) * len(self.manifest["config"]["attacks"])

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        return f"<Run of {', '.join(self.manifest['config']['attacks'])}: {len(self)} attempts>"

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        from mohs.report.attack.table import lines
        from mohs.report.table import table_html

        if self.command == "bias":
            rows = [
                (f"{row.old}|{row.new}, k={row.k}", f"{row.bias:+.4f} [{row.low:+.4f}, {row.high:+.4f}]", _size(row))
                for row in self.biases()
            ]
            return table_html([(", ".join(self.manifest["config"]["attacks"]), rows)])
        if self.command == "second-order":
            from mohs.report.second_order.figures import second_order_lines

            return table_html([(found.attack, second_order_lines(found)) for found in self.vulnerable()])
        if self.command == "radius":
            from mohs.report.radius.figures import curve_lines, radius_lines, summarise_radius

            figures = summarise_radius(self.records(), self.manifest["config"])
            return table_html([("radius", radius_lines(figures)), ("withstand r", curve_lines(figures))])
        return table_html([(summary.attack, lines(summary)) for summary in self.summary()])


def _size(row: PairBias) -> str:
    return f"{row.neighbours:,} neighbours of {row.sentences} sentences"
