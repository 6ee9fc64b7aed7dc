"""The options of `mohs study analyse`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.tasks.option import model, option, several

if TYPE_CHECKING:
    from mohs.studies.analysis import Analysis
    from mohs.studies.pool import Whose
    from mohs.studies.relating import Told


@dataclass(frozen=True, kw_only=True)
class Analysing:
    """Analyse a study: how far people agree, what they find valid, and what that leaves of the attacks.

    Valid is what keeps the rule of the study's design; --threshold tries another one. Judgements of people who were
    set aside are in no figure, and models and simulated judges are never mixed with people. Intervals allow for other
    items and other judges. Valid items are also compared with word vectors and a sentence encoder, in which buckets of
    similarity they lie.

    Examples:
      mohs study analyse my-study
      mohs study analyse my-study --threshold 5.5 --without annotator-3 --without annotator-7
      mohs study analyse my-study --out items.csv --page analysis.html
      mohs study analyse my-study --encoder minilm --json
      mohs study analyse "postgresql://me@localhost/studies?study=first" --no-measures
    """

    study: str = option("The folder of a study, or its PostgreSQL address.", default="", metavar="STUDY", argument=True)
    threshold: float | None = option("The threshold of validity instead of the design's.", metavar="T")
    least_judges: int | None = option(
        "An item with fewer has no verdict; by default half of the design's judges.", least=1, metavar="N"
    )
    without: Sequence[str] = several("Leave out what this annotator judged; repeat for several.", "--without", "NAME")
    kind: Whose | None = option(
        "Whose judgements: people or simulated; by default simulated judges only if nobody else judged anything.",
        metavar="KIND",
    )
    no_measures: bool = option("Do not compare with word vectors and a sentence encoder.", default=False)
    vectors: Any = model("vectors")
    encoder: Any = model("encoder")
    device: str = option("Device for the encoder: auto, cpu, cuda or cuda:N.", default="auto")
    trust_code: bool = option("Run the code that comes with an hf: model.", default=False)

    def carry_out(self, progress: Told | None = None) -> Analysis:
        """Make the figures."""
        from mohs.studies.analysis import analyse_study

        return analyse_study(
            self.study,
            threshold=self.threshold,
            least_judges=self.least_judges,
            without=self.without,
            kind=self.kind,
            measures=not self.no_measures,
            vectors=self.vectors,
            encoder=self.encoder,
            device=self.device,
            trust_code=self.trust_code,
            progress=progress,
        )


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the page and the file go."""

    out: Path | None = option(
        "Also write every judged item with its scores and its verdict as CSV to this file.", metavar="FILE"
    )
    page: Path | None = option(
        "Where to write the page; by default analyse.html in the study's folder.", metavar="FILE"
    )
    no_page: bool = option("Only print the figures.", default=False)
