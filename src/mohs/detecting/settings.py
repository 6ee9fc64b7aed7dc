"""The options of `mohs detect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.tasks.option import option, several
from mohs.tasks.reading import Reading, comma
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.detecting.result import Detection
    from mohs.detecting.working import Told
    from mohs.runs.run import Run
    from mohs.text.dataset import AnyExamples


@dataclass(frozen=True, kw_only=True)
class Detecting(Reading):
    """Tell the adversarial texts of finished attacks from originals with detectors: ROC curves and their areas.

    The runs' victim rejects nothing: the attacks did not know the detectors. For an attack that knows one, put it
    around the victim: mohs attack --victim "rde(V, train=FILE)". Originals are all texts of a run, read right or wrong;
    adversarial texts are its successes. Give a run with --goal below:P beside one without: a detector may find only
    texts near the boundary. The options about columns and rows are for the training data.

    Examples:
      mohs detect mohs-runs/RUN --detector rde --detector fgws --train train.jsonl --held dev.jsonl
      mohs detect mohs-runs/RUN mohs-runs/RUN_BELOW --detector "rde(dims=50)" --train train.jsonl --rate 0.05
      mohs detect mohs-runs/RUN --detector "fgws(words=both, delta=80)" --train train.jsonl --out texts.csv --json
    """

    runs: tuple[Any, ...] = option("Run folders of `mohs attack`.", default=(), metavar="RUN", argument=True, many=True)
    detector: Sequence[str] = several(
        "A detector: rde or fgws, with its settings in brackets; repeat for several.", "--detector", "D"
    )
    train: AnyExamples | None = option(
        "What the detectors learn from, usually the victim's training data: pocket:train, hf:NAME[:CONFIG][:SPLIT], or "
        "a .jsonl .csv .tsv .parquet file (also .gz).",
        metavar="D",
    )
    held: AnyExamples | None = option(
        "Data that the victim was not trained on, for the detectors' thresholds. By default a fifth of --train is held "
        "out from the detectors.",
        metavar="D",
    )
    rate: float = option("The share of false alarms, between 0 and 1.", default=0.1)
    seed: int = option("Random seed, for what the detectors learn and for what is held out.", default=0)
    victim: Any = option("The victim of the runs, if they do not name it.", metavar="V", secret=without_credentials)
    labels: str | Sequence[str] = option(
        "Class names of the training data in the order of their numbers; by default the run's.",
        default=(),
        metavar="NAMES",
        read=comma,
    )
    device: str = option("Device for the models: auto, cpu, cuda or cuda:N.", default="auto")
    trust_pickle: bool = option("Allow sklearn: files, which can run code when loaded.", default=False)
    trust_code: bool = option(
        "Run code that comes with an hf: model, or that a run names (python:, FILE.py:CLASS).", default=False
    )

    def carry_out(self, runs: Sequence[Run] = (), progress: Told | None = None) -> Detection:
        """Make the figures. `runs`: besides the folders in the options."""
        from contextlib import ExitStack

        from mohs.detecting.working import detected
        from mohs.runs.run import Run

        with ExitStack() as stack:
            opened = [stack.enter_context(Run.open(folder)) for folder in self.runs]
            return detected([*opened, *runs], self, progress)


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the page and the file go."""

    out: Path | None = option("Also write every text's suspicion as CSV to this file.", metavar="FILE")
    page: Path | None = option(
        "Where to write the page; by default detect.html in the first run's folder.", metavar="FILE"
    )
    no_page: bool = option("Only print the figures.", default=False)
