"""The options of `mohs analyse`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.tasks.option import model, option
from mohs.tasks.reading import Reading, comma
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.analyses.result import Analysis
    from mohs.analyses.working import Told
    from mohs.runs.run import Run
    from mohs.text.dataset import AnyExamples


@dataclass(frozen=True, kw_only=True)
class Analysing(Reading):
    """Analyse the adversarial examples of a finished attack: which words came in, and what a model makes of them.

    The analyses are those of Hauser 2021 ("BERT is Robust!"): how often original and attack words stand in the
    training data (--train) and with which class, how alike they are, how their vectors move through the layers of an
    encoder (--victim hf:...), and how many words are replaced. Of a bias run it counts the training examples of each
    label with each word. What cannot be had is left out, and the notes say why. The options about columns and rows
    are for the training data.

    Examples:
      mohs analyse mohs-runs/RUN
      mohs analyse mohs-runs/RUN --train train.jsonl --victim hf:./my-model --out substitutions.csv
      mohs analyse mohs-runs/RUN --victim hf:./my-model --other-victim hf:./my-harder-model
      mohs analyse mohs-runs/BIAS_RUN --train train.csv --text-field review --json
    """

    run: str | Path = option("A run folder of `mohs attack` or `mohs bias`.", metavar="RUN", argument=True)
    train: AnyExamples | None = option(
        "The victim's training data: pocket:train, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also "
        ".gz). Without it words are not counted.",
        metavar="D",
    )
    victim: Any = option(
        "An hf: model whose layers are compared, usually the run's own victim. Without it this part is left out.",
        metavar="V",
        secret=without_credentials,
    )
    other_victim: Any = option(
        "Another hf: model, such as a hardened one, to compare on the same texts.", metavar="V",
        secret=without_credentials,
    )  # fmt: skip
    pairs: int = option("How many adversarial examples are compared layer by layer.", default=300, least=1)
    window: int = option("Words in a fragment around a replaced word.", default=11, least=1)
    seed: int = option("Random seed, for the random words, the pairs and the bootstrap.", default=0)
    labels: str | Sequence[str] = option(
        "Class names of the training data in the order of their numbers; by default the run's.",
        default=(),
        metavar="NAMES",
        read=comma,
    )
    encoder: Any = model("encoder")
    vectors: Any = model("vectors")
    device: str = option("Device for the models: auto, cpu, cuda or cuda:N.", default="auto")
    trust_code: bool = option("Run the code that comes with an hf: model.", default=False)

    def carry_out(self, run: Run | None = None, progress: Told | None = None) -> Analysis:
        """Make the analysis. `run`: instead of the folder in the options."""
        from mohs.analyses.working import analysed
        from mohs.runs.run import Run

        if run is not None:
            return analysed(run, self, progress)
        with Run.open(self.run) as opened:
            return analysed(opened, self, progress)


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the page and the file go."""

    out: Path | None = option("Also write every substitution as CSV to this file.", metavar="FILE")
    page: Path | None = option("Where to write the page; by default analyse.html in the run folder.", metavar="FILE")
    no_page: bool = option("Only print the figures.", default=False)
