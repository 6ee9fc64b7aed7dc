"""A run: its records and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.records import Record, RunStore
from mohs.runs.verbs import commands, verb_of, view_of

if TYPE_CHECKING:
    from mohs.bias import PairBias
    from mohs.report.attack.figures import Summary
    from mohs.report.second_order.figures import SecondOrderSummary
    from mohs.report.view import View


class Run:
    """A run's records and figures. Also a context manager, which closes the files at the end.

    What only the runs of one verb have comes from that verb's view (`run.view()`) and can be called on the run itself:
    `summary()`, `goal` and `goal_of(attack)` of `mohs attack`, `vulnerable()` of `second-order`, `biases()` of `bias`,
    `radii()` and `certificates(path)` of `radius`.
    """

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

    @property
    def command(self) -> str:
        """The verb that made it, as typed: attack, second-order, bias, radius ..."""
        return str(self.manifest.get("command", "attack"))

    @property
    def planned(self) -> int:
        """How many attempts the run has when it is finished."""
        return int(self.manifest.get("identity", {}).get("examples", 0)) * len(self.manifest["tasks"])

    def records(self) -> Iterator[Record]:
        """Every record, by attack and then in the order of the data."""
        return self._store.records(verb_of(self.command).finding() if self.command in commands() else None)

    def effort(self) -> dict[str, float]:
        """Forwards, batches and seconds; unlike the records these depend on the schedule and the cache."""
        return self._store.effort()

    def view(self, *, against: Run | None = None, epsilon: float | None = None) -> View:
        """How the run is shown: figures, terminal, page, notebook.

        against, epsilon: for bias runs, one to compare with and another threshold of the filtered set.
        """
        return view_of(self.command).of(self, against, epsilon)

    def report(
        self, path: str | Path | None = None, *, against: Run | None = None, epsilon: float | None = None
    ) -> Path:
        """Write the browsable page, by default report.html in the run folder, or here for a run in memory.

        against, epsilon: of a bias run, as in `view`.
        """
        from mohs.report.template import written

        place = Path(path) if path is not None else (self.folder or Path()) / "report.html"
        return written(self.view(against=against, epsilon=epsilon).page(), place)

    def close(self) -> None:
        """Close the files."""
        self._store.close()

    if TYPE_CHECKING:  # of the views

        def summary(self) -> list[Summary]:
            """The figures of each attack."""

        @property
        def goal(self) -> str:
            """The goals of an attack run in words."""

        def goal_of(self, attack: str) -> str:
            """What an attack of the run is after."""

        def vulnerable(self) -> list[SecondOrderSummary]:
            """The figures of a second-order run."""

        def biases(self, *, filtered: bool = False, epsilon: float | None = None) -> list[PairBias]:
            """The bias of each pair at each distance."""

        def radii(self) -> list[dict[str, Any]]:
            """What was found for each example of a radius run that the victim reads right."""

        def certificates(self, path: str | Path) -> Path:
            """Write the certificates of a radius run, one a line."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            own = view_of(self.command)
            if name in own.offers:
                return getattr(self.view(), name)
            if any(name in view_of(command).offers for command in commands()):
                remedy = f"; its figures are run.{own.offers[0]}()" if own.offers else ""
                raise BadInput(f"This is a run of `mohs {self.command}`{remedy}.")
        raise AttributeError(f"a Run has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *view_of(self.command).offers]

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        return f"<Run of {', '.join(self.manifest['tasks'])}: {len(self)} attempts>"

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return self.view().html()
