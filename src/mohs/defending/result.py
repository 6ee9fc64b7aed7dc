"""The result of judging defences: figures as objects, as JSON, as a page and as a file of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.defending.figures import Judged
from mohs.defending.rows import COLUMNS
from mohs.records.export import write_csv
from mohs.report.attack.figures import Summary
from mohs.report.table import table_html
from mohs.report.template import written

if TYPE_CHECKING:
    from rich.console import Console

PAGE = "defend.html"


@dataclass(frozen=True)
class Against:
    """One attack of one run: the undefended victim beside the defences."""

    run: str
    victim: str
    undefended: Summary = field(repr=False)
    defences: tuple[Judged, ...]

    @property
    def attack(self) -> str:
        """The attack's name."""
        return self.undefended.attack

    def cost(self, one: Judged) -> float | None:
        """Texts that the victim inside is asked for one example under attack, as a multiple of the undefended run's."""
        before, after = self.undefended.queries.value, None if one.adaptive is None else one.adaptive.queries.value
        return None if not before or after is None or one.forwards is None else after * one.forwards / before

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        found = self.undefended
        under = found.accuracy_under_attack
        return {
            "run": self.run,
            "attack": self.attack,
            "victim": self.victim,
            "undefended": {
                "clean_accuracy": found.accuracy_before.to_json(),
                "success": found.success.to_json(),
                "accuracy_under_attack": None if under is None else under.to_json(),
                "queries": vars(found.queries),
            },
            "defences": [{**one.to_json(), "cost_times_undefended": self.cost(one)} for one in self.defences],
        }


@dataclass(frozen=True)
class Defended:
    """The figures of every defence against every attack."""

    parts: tuple[Against, ...]
    notes: tuple[str, ...]
    keys: int
    adaptive_keys: int
    draws: int
    average: int
    folder: Path | None
    manifest: Mapping[str, Any] = field(repr=False)

    @property
    def errors(self) -> int:
        """Texts and attempts that ended in an error."""
        found = 0
        for part in self.parts:
            for one in part.defences:
                found += one.clean.errors + one.left.errors
                found += 0 if one.adaptive is None else one.adaptive.errors
        return found

    def to_json(self) -> dict[str, Any]:
        """All figures as a JSON-ready dict."""
        from mohs.defending.show import ways

        return {
            "keys": self.keys,
            "adaptive_keys": self.adaptive_keys,
            "draws": self.draws,
            "average": self.average,
            "ways": list(ways(self)),
            "attacks": [part.to_json() for part in self.parts],
            "errors": self.errors,
            "notes": list(self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row for each example, defence and key."""
        return [row for part in self.parts for one in part.defences for row in one.rows]

    def write(self, path: str | Path) -> Path:
        """Write the rows as CSV. An older file stays until the new one is complete."""
        return write_csv(Path(path), COLUMNS, self.rows())

    def page(self, path: str | Path | None = None) -> Path:
        """Write the page. By default defend.html in the first run's folder, or in the current folder without one."""
        from mohs.defending.page import defended_page

        return written(defended_page(self), Path(path) if path is not None else (self.folder or Path()) / PAGE)

    def show(self, console: Console) -> None:
        """Print the figures on a terminal."""
        from mohs.defending.show import show

        show(self, console)

    def _repr_html_(self) -> str:
        from mohs.defending.show import caption, columns

        return "".join(
            table_html([(f"{caption(part)}: {name}", rows) for name, rows in columns(part)]) for part in self.parts
        )
