"""A run: its records and figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.records import Record, RunStore
from mohs.records.integrity import Line
from mohs.records.store import MANIFEST
from mohs.runs.verbs import commands, verb_of, view_of

if TYPE_CHECKING:
    from mohs.bias import PairBias
    from mohs.report.attack.figures import Summary
    from mohs.report.card import Card
    from mohs.report.certify.figures import BudgetFigures
    from mohs.report.measured import ByPeople
    from mohs.report.second_order.figures import SecondOrderSummary
    from mohs.report.view import View


class Run:
    """A run's records and figures. Also a context manager, which closes the files at the end.

    Some methods exist only for the runs of one verb: `summary()`, `goal` and `goal_of(attack)` for `mohs attack`,
    `vulnerable()` for `second-order`, `biases()` and `words()` for `bias`, `radii()` and `certificates(path)` for
    `radius`, `certified()` for `certify`. They come from the verb's view (`run.view()`).
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Read a run folder."""
        return cls(RunStore.read(Path(folder)))

    @property
    def folder(self) -> Path | None:
        """The run folder; None for a run in memory."""
        return self._store.folder

    @property
    def manifest(self) -> dict[str, Any]:
        """The options, versions and hashes of the run."""
        return self._store.manifest

    @property
    def command(self) -> str:
        """The command that made the run: attack, second-order, bias, radius ..."""
        return str(self.manifest.get("command", "attack"))

    @property
    def planned(self) -> int:
        """The number of attempts in the finished run."""
        return self.examples * len(self.manifest["tasks"])

    @property
    def examples(self) -> int:
        """The number of examples; of a part of a run (`--shard`), those of the part."""
        part = self.manifest.get("facts", {}).get("shard_examples")
        return int(self.manifest.get("identity", {}).get("examples", 0) if part is None else part)

    def records(self) -> Iterator[Record]:
        """Every record, ordered by attack and then as in the data."""
        return self._store.records(verb_of(self.command).finding() if self.command in commands() else None)

    def lines(self) -> Iterator[Line]:
        """Every record as it stands in the journal, in its order."""
        return self._store.lines()

    def effort(self) -> dict[str, float]:
        """Forward passes, batches and seconds. Unlike the records, these depend on scheduling and the cache."""
        return self._store.effort()

    def view(
        self,
        *,
        against: Run | None = None,
        epsilon: float | None = None,
        judge: Any = None,
        measured: ByPeople | None = None,
    ) -> View:
        """The run's view: figures, terminal output, page, notebook.

        For bias runs: against is a run to compare with, epsilon another threshold for the filtered set. For attack
        runs: judge is the judge of fair success (pocket, refit:FOLDER, hf:PATH or an object), or "none"; measured is
        what people said in a study of the run (`mohs.measured_by(study, run)`).
        """
        return view_of(self.command).of(self, against, epsilon, judge, measured)

    def report(
        self,
        path: str | Path | None = None,
        *,
        against: Run | None = None,
        epsilon: float | None = None,
        judge: Any = None,
        measured: ByPeople | None = None,
    ) -> Path:
        """Write the report page. By default report.html in the run folder, or in the current folder without one.

        against, epsilon, judge, measured: as in `view`.
        """
        from mohs.report.template import written

        place = Path(path) if path is not None else (self.folder or Path()) / "report.html"
        return written(self.view(against=against, epsilon=epsilon, judge=judge, measured=measured).page(), place)

    def card(self, *, model: str = "", dataset: str = "", judge: Any = None, measured: ByPeople | None = None) -> Card:
        """The robustness section of a model card: `text`, `metadata`, `results` and `write(folder)`.

        model: the model's name on the Hub; by default the victim's. dataset: the id of the data on the Hub; by default
        that of hf: data. judge, measured: as in `view`.
        """
        from mohs.report.card import card_of

        return card_of(self, self.view(judge=judge, measured=measured), model=model, dataset=dataset)

    def close(self) -> None:
        """Close the files."""
        self._store.close()

    if TYPE_CHECKING:  # methods of the views

        def summary(self) -> list[Summary]:
            """The figures of each attack."""

        @property
        def goal(self) -> str:
            """The goal of an attack run, in words."""

        def goal_of(self, attack: str) -> str:
            """The goal of one attack of the run."""

        def vulnerable(self) -> list[SecondOrderSummary]:
            """The figures of a second-order run."""

        def biases(self, *, filtered: bool = False, epsilon: float | None = None) -> list[PairBias]:
            """The bias of each pair at each distance."""

        def words(self) -> list[PairBias]:
            """The bias of each word against the mean of its group, of a bias run with groups of words."""

        def radii(self) -> list[dict[str, Any]]:
            """The results of a radius run, for each example that the victim classifies correctly."""

        def certified(self) -> list[BudgetFigures]:
            """Robust and certified accuracy for each budget of a certify run."""

        def certificates(self, path: str | Path) -> Path:
            """Write the certificates of a radius run, one per line."""

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


@contextmanager
def sound(run: Run) -> Iterator[None]:
    """Say in one sentence that a manifest does not fit, if it has no checksum and its run cannot be shown."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if run._store.checked or run.folder is None:
            raise
        raise BadInput(
            f"{run.folder / MANIFEST} does not fit its run ({type(error).__name__}: {error}); restore it from a copy "
            f"(`mohs export {run.folder} --salvage` writes the records)."
        ) from error
