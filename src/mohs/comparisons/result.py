"""The result of a comparison: its figures, as objects, as JSON, as a page and as a file of examples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mohs.comparisons.figures import Against
from mohs.comparisons.questions import CLEAN, DENOMINATORS
from mohs.comparisons.sides import Side
from mohs.report.rates import Rate
from mohs.report.table import table_html
from mohs.report.template import written

if TYPE_CHECKING:
    from rich.console import Console

PAGE = "compare.html"
_EFFORT = ("seconds", "forwards", "batches", "cpu_seconds")


@dataclass(frozen=True)
class Comparison:
    """The figures of a comparison. As a context manager it closes the runs."""

    sides: tuple[Side, ...]  # the runs, the baseline first
    against: tuple[Against, ...]  # each other run against the first
    notes: tuple[str, ...]  # what a reader must know

    @property
    def groups(self) -> list[str]:
        """The attacks, budgets or radii of all runs."""
        return [name for name in self.sides[0].groups if all(name in side.groups for side in self.sides)]

    def rates(self, side: Side, group: str) -> dict[str, Rate]:
        """The shares of one run, over all its own examples, by question; without a group those of the originals."""
        if not group:
            return {CLEAN: side.clean_rate("examples scored")}
        asked = next((seen.groups[group] for seen in side.of_group(group).values()), {})
        return {one: side.rate(group, one, DENOMINATORS[one].removesuffix(" in both")) for one in asked}

    def to_json(self) -> dict[str, Any]:
        """All figures as a JSON-ready dict."""
        return {
            "command": self.sides[0].run.command,
            "runs": [self._side(side) for side in self.sides],
            "notes": list(self.notes),
            "against": [one.to_json() for one in self.against],
        }

    def _side(self, side: Side) -> dict[str, Any]:
        effort = side.run.effort()
        return {
            "name": side.letter,
            "run": side.place,
            "victim": side.victim,
            "accuracy_before": side.clean_rate("examples scored").to_json(),
            "groups": {
                group: {
                    "outcomes": dict(side.outcomes(group)),
                    "queries": vars(side.queries(group)),
                    **{question: rate.to_json() for question, rate in self.rates(side, group).items()},
                }
                for group in self.groups
            },
            "effort": {name: effort[name] for name in _EFFORT if name in effort},
            "training": None if side.training is None else side.training.to_json(),
        }

    def write(self, path: str | Path) -> Path:
        """Write every example with its outcomes in all runs as CSV."""
        from mohs.comparisons.examples import write_examples

        return write_examples(self, Path(path))

    def page(self, path: str | Path | None = None) -> Path:
        """Write the page. By default compare.html in the last run's folder, or in the current folder without one."""
        from mohs.comparisons.page import comparison_page

        place = Path(path) if path is not None else (self.sides[-1].run.folder or Path()) / PAGE
        return written(comparison_page(self), place)

    def show(self, console: Console, diffs: int = 0) -> None:
        """Print the figures on a terminal, and some examples fooled in one run alone."""
        from mohs.comparisons.show import show

        show(self, console, diffs)

    def close(self) -> None:
        """Close the files of the runs."""
        for side in self.sides:
            side.run.close()

    def __enter__(self) -> Comparison:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(side.place for side in self.sides)}>"

    def _repr_html_(self) -> str:
        from mohs.comparisons.show import notebook_rows

        return table_html(notebook_rows(self))
