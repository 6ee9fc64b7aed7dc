"""A run: its records and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from mohs.attacks.goal import UNTARGETED
from mohs.bias import PairBias
from mohs.errors import BadInput
from mohs.records import Record, RunStore

if TYPE_CHECKING:
    from mohs.report.attack.figures import Summary
    from mohs.report.attack.view import AttackView
    from mohs.report.bias.view import BiasView
    from mohs.report.radius.view import RadiusView
    from mohs.report.second_order.figures import SecondOrderSummary
    from mohs.report.second_order.view import SecondOrderView
    from mohs.report.view import View


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
        return cast("AttackView", self._view("attack")).summary()

    def vulnerable(self) -> list[SecondOrderSummary]:
        """The figures of a second-order run."""
        return cast("SecondOrderView", self._view("second-order")).vulnerable()

    def biases(self, *, filtered: bool = False, epsilon: float | None = None) -> list[PairBias]:
        """The bias of each pair at each distance.

        filtered: of sentences that the pair itself hardly moves; epsilon: by less than this, if not the run's own.
        """
        return cast("BiasView", self._view("bias")).biases(filtered=filtered, epsilon=epsilon)

    def radii(self) -> list[dict[str, Any]]:
        """Of a radius run, what was found for each example that the victim reads right."""
        return cast("RadiusView", self._view("radius")).radii()

    def certificates(self, path: str | Path) -> Path:
        """Write the certificates of a radius run, one a line."""
        return cast("RadiusView", self._view("radius")).certificates(path)

    def _view(self, command: str) -> View:
        """What the run has to show, if this is the command that made it."""
        from mohs.report.view import view_of

        if self.command != command:
            figures = {"attack": "summary()", "second-order": "vulnerable()", "bias": "biases()", "radius": "radii()"}
            raise BadInput(f"This is a run of `mohs {self.command}`; its figures are run.{figures[self.command]}.")
        return view_of(self)

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
        from mohs.report.view import view_of

        return view_of(self).html()
