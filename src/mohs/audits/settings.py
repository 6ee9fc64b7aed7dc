"""The options of `mohs audit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.tasks.option import model, option, several

if TYPE_CHECKING:
    from mohs.audits.columns import AnyRun
    from mohs.audits.measuring import Progress
    from mohs.audits.result import Audit
    from mohs.space import Constraint


@dataclass(frozen=True, kw_only=True)
class Auditing:
    """Measure the adversarial examples of finished attacks on every class of constraints (Morris et al. 2020).

    Says how many successes are left if the texts must also keep the meaning, the grammar and the look of the
    originals. Only final texts are filtered. Writes audit.jsonl (every value, reused by the next audit) into each run
    folder and a page, audit.html, into the first.

    Examples:
      mohs audit mohs-runs/RUN
      mohs audit mohs-runs/ONE mohs-runs/OTHER --json
      mohs audit mohs-runs/RUN --require "similarity:angular=no>=0.9" --require "grammar-errors<=1"
      mohs audit mohs-runs/RUN --lm hf:gpt2 --absolute "perplexity<=300" --absolute "grammar-errors<=2"
    """

    runs: Sequence[str] = option(
        "Folders of `mohs attack`; each attack of each run is a column.", default=(), metavar="RUN", argument=True,
        many=True,
    )  # fmt: skip
    require: Sequence[str | Constraint] = several(
        "A constraint on the final texts (see `mohs spaces`), instead of word-cosine>=0.9, "
        "similarity:angular=no,window=15>=0.98 and grammar-errors<=0; repeat for several.",
        "--require",
        "M>=T",
    )
    absolute: Sequence[str | Constraint] = several(
        "A bound on the final text alone: perplexity<=P or grammar-errors<=N; repeat for several.", "--absolute", "M<=T"
    )
    encoder: Any = model("encoder")
    token_encoder: Any = option(
        "Token vectors for BERTScore: pocket or hf:PATH_OR_ID; without it BERTScore is not measured.",
        metavar="E",
        kind="token_encoder",
    )
    masked_lm: Any = model("masked_lm")
    lm: Any = model("lm")
    tagger: Any = model("tagger")
    grammar: Any = model("grammar")
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    judge: Any = model("judge")
    device: str = option("Device for the models: auto, cpu, cuda or cuda:N.", default="auto")
    trust_code: bool = option("Run the code that comes with an hf: model.", default=False)

    def carry_out(self, runs: AnyRun | Sequence[AnyRun] | None = None, progress: Progress | None = None) -> Audit:
        """Measure what is not measured yet, and give the figures. `runs`: instead of the folders in the options."""
        from mohs.audits.columns import columns_of, opened
        from mohs.audits.gauges import DEFAULT_REQUIRED, absolute, gauges_of, required
        from mohs.audits.measuring import Measuring, load_tools
        from mohs.audits.result import audit_of
        from mohs.tasks.described import loadable
        from mohs.tasks.option import models_of

        wanted = [required(one) for one in self.require] or [required(one, default=True) for one in DEFAULT_REQUIRED]
        alone = [absolute(one) for one in self.absolute]
        found = opened(self.runs if runs is None else runs)
        columns, notes = columns_of(found)
        gauges = gauges_of([*wanted, *alone])
        given = {kind: value for kind, value in models_of(self).items() if value is not None}
        judges = {str(run.manifest.get("facts", {}).get("judge") or "pocket") for run in found}
        if len(judges) == 1 and loadable(known := judges.pop()):
            given.setdefault("judge", known)  # the runs' own
        tools = load_tools(gauges, [*wanted, *alone], given, device=self.device, trust_code=self.trust_code)
        measuring = Measuring(columns, gauges, tools, progress)
        return audit_of(found, columns, measuring, wanted, alone, notes)


PAGE = "audit.html"


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the page goes."""

    page: Path | None = option("Where to write the page; by default audit.html in the first folder.", metavar="FILE")
    no_page: bool = option("Only print the figures.", default=False)
