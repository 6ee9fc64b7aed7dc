"""The options of `mohs study new`, and what it does with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import option, several
from mohs.tasks.reading import comma

if TYPE_CHECKING:
    from mohs.runs.run import Run
    from mohs.studies.design import Design
    from mohs.studies.drawing import Drawn, Labelled
    from mohs.studies.study import Study


@dataclass(frozen=True, kw_only=True)
class NewStudy:
    """Make a study: draw items from finished runs and put them into a database, ready to be judged.

    STUDY is a new folder, or the address of a PostgreSQL database for many annotators at once. Several studies fit
    into one database: end the address with ?study=NAME.

    Examples:
      mohs study new my-study --from mohs-runs/RUN --design fragments
      mohs study new my-study --from mohs-runs/ONE --from mohs-runs/OTHER --design meaning --n 50 --judges 5
      mohs study new my-study --from mohs-runs/RUN --design labels --dev dev.jsonl
      mohs study new "postgresql://me@localhost/studies?study=first" --from mohs-runs/RUN --design my-design.yaml
    """

    study: str = option("A new folder, or a PostgreSQL address.", default="", metavar="STUDY", argument=True)
    runs: Sequence[str] = several("A finished run; repeat for several.", "--from", "RUN")
    design: str | Design = option(
        "What is asked: a name from `mohs study designs`, or a YAML file.", default="meaning", metavar="DESIGN"
    )
    n: int | None = option("Successes or changes to draw for each attack; by default as the design says.", least=1)
    judges: int | None = option("Judges for each item; by default as the design says.", least=1)
    seed: int = option("Decides what is drawn and in which order it is shown.", default=0)
    dev: str | None = option(
        "Unchanged labelled texts, for training and accuracy in a label study; by default originals of the runs.",
        metavar="FILE",
    )
    dev_fields: Sequence[str] = option(
        "Text column of --dev, or two.", "--dev-text-field", default=(), metavar="NAMES", read=comma
    )
    dev_label_field: str = option("Label column of --dev.", default="label")

    def drawn(self, runs: Sequence[Run]) -> Drawn:
        """The items, without making a study."""
        from mohs.studies.drawing import drawn

        return drawn(runs, self._design(), seed=self.seed, unchanged=self._unchanged(runs))

    def carry_out(self, runs: Sequence[str | Path | Run] | None = None) -> tuple[Study, list[str]]:
        """Make the study; also notes about what could not be drawn. runs: instead of the folders in the options."""
        from mohs.runs.run import Run
        from mohs.studies.study import Study

        given = list(self.runs if runs is None else runs)
        found = [one if isinstance(one, Run) else Run.open(one) for one in given]
        try:
            drawn = self.drawn(found)
            study = Study.create(self.study, drawn.design, drawn.items, seed=self.seed, **drawn.source)
            return study, drawn.notes
        finally:
            for run, one in zip(found, given, strict=True):
                if run is not one:
                    run.close()

    def _design(self) -> Design:
        from mohs.studies.design import read_design

        design = read_design(self.design) if isinstance(self.design, str) else self.design
        more: dict[str, Any] = {"n": self.n, "judges": self.judges}
        return replace(design, **{name: value for name, value in more.items() if value is not None})

    def _unchanged(self, runs: Sequence[Run]) -> list[Labelled] | None:
        if self.dev is None:
            return None
        from mohs.studies.drawing import shown
        from mohs.text.dataset import Dataset

        if not runs:
            raise BadInput("No run was given; name the folder of a finished run with --from.")
        labels = tuple(str(label) for label in runs[0].manifest.get("config", {}).get("labels") or ())
        data = Dataset(self.dev, fields=tuple(self.dev_fields), label_field=self.dev_label_field, labels=labels)
        return [(shown(one.names, one.text.fields), one.label) for one in data]
