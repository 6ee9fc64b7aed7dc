"""`mohs study new` as a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mohs.runs.run import Run
from mohs.studies.settings import NewStudy

if TYPE_CHECKING:
    from mohs.studies.design import Design
    from mohs.studies.study import Study

Runs = Run | str | Path | Sequence[Run | str | Path]


def new_study(
    place: str | Path,
    runs: Runs,
    design: str | Path | Design = "meaning",
    *,
    n: int | None = None,
    judges: int | None = None,
    seed: int = 0,
    dev: str | None = None,
    dev_fields: Sequence[str] = (),
    dev_label_field: str = "label",
) -> tuple[Study, list[str]]:
    """Draw items from finished runs and make a study of them; also notes about what could not be drawn.

    place: a new folder, or the address of a PostgreSQL database.
    runs: Runs, or their folders.
    design: the name of a bundled design, a YAML file, or a Design.
    n: successes or changes to draw for each attack; judges: for each item; by default as the design says.
    seed: decides what is drawn and in which order it is shown.
    dev: unchanged labelled texts for training and accuracy in a label study; by default originals of the runs.
    dev_fields, dev_label_field: the columns of that file.

    >>> import mohs, tempfile
    >>> run = mohs.attack("pocket", "pocket", n=20)
    >>> study, notes = mohs.studies.new_study(tempfile.mkdtemp() + "/study", run, "words", n=10)
    >>> study.progress().items
    10
    """
    asked = NewStudy(
        study=str(place),
        design=str(design) if isinstance(design, Path) else design,
        n=n,
        judges=judges,
        seed=seed,
        dev=dev,
        dev_fields=tuple(dev_fields),
        dev_label_field=dev_label_field,
    )
    return asked.carry_out([runs] if isinstance(runs, Run | str | Path) else list(runs))
