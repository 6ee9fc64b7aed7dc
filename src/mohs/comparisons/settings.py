"""The options of `mohs compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.tasks.option import option

if TYPE_CHECKING:
    from mohs.comparisons.result import Comparison
    from mohs.comparisons.sides import AnyRun


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """Compare finished runs of different victims, example by example.

    The first run is the baseline. For each attack it says how much accuracy, accuracy under attack and success differ
    on the same examples, with 95% intervals and McNemar's exact test, and what the victims cost. Runs over other data,
    another space, search or seed are refused. It reads runs of attack, second-order, certify and radius; for bias runs
    there is `mohs report AFTER --against BEFORE`.

    Examples:
      mohs compare mohs-runs/PLAIN mohs-runs/HARDENED
      mohs compare mohs-runs/PLAIN mohs-runs/ENSEMBLE mohs-runs/AUGMENTED --out examples.csv
      mohs compare mohs-runs/PLAIN mohs-runs/HARDENED --json
    """

    runs: Sequence[str] = option(
        "Run folders, the baseline first.", default=(), metavar="RUN", argument=True, many=True
    )
    judge: Any = option(
        "Judge of fair success: pocket, refit:FOLDER, hf:PATH_OR_ID, or none; by default that of the runs.",
        metavar="J",
        kind="judge",
    )

    def carry_out(self, runs: Sequence[AnyRun] | None = None) -> Comparison:
        """Make the comparison. `runs`: instead of the folders in the options."""
        from mohs.comparisons.fairness import verdicts_of
        from mohs.comparisons.figures import compared
        from mohs.comparisons.result import Comparison
        from mohs.comparisons.sides import opened, sides_of

        given = self.runs if runs is None else runs
        found = opened(given)
        try:
            sides, notes = sides_of(found)
            verdicts, said = verdicts_of(found, self.judge)
            return Comparison(tuple(sides), tuple(compared(sides, verdicts)), (*notes, *([said] if said else [])))
        except BaseException:
            for run, one in zip(found, given, strict=True):
                if run is not one:
                    run.close()
            raise


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the page and the file go."""

    out: Path | None = option(
        "Also write every example with its outcomes in all runs as CSV to this file.", metavar="FILE"
    )
    page: Path | None = option("Where to write the page; by default compare.html in the last folder.", metavar="FILE")
    no_page: bool = option("Only print the figures.", default=False)
    diffs: int = option("How many examples fooled in one run alone are printed for each attack.", default=2, least=0)
