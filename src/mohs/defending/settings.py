"""The options of `mohs defend`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.runs.settings import head_count, pairs
from mohs.tasks.option import option, several
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.defending.cases import AnyRun
    from mohs.defending.result import Defended
    from mohs.runs.carry_out import Progress


@dataclass(frozen=True, kw_only=True)
class Defending:
    """Judge defences of an attacked victim in three ways.

    (1) The defended model answers the adversarial texts that were found against the undefended one, with several keys
    of its randomness. (2) The same attack runs against the defended model as a black box. (3) A success counts only if
    it fools most of fresh draws: of the attack of (2), and of one that searches against the mean of several draws.
    These attacks are ordinary runs in folders inside the run's own, and all other answers are kept in defend.jsonl
    there. Running the same command again resumes it.

    Examples:
      mohs defend mohs-runs/RUN --defence ensemble --defence "masking(rate=0.1)"
      mohs defend mohs-runs/RUN --defence "ensemble(n=16)" --defence "masking(ensemble(n=4))" --keys 10
      mohs defend mohs-runs/RUN --defence "safer(words=wordnet)" --adaptive-keys 3 --draws 32 --json
      mohs defend mohs-runs/ONE mohs-runs/TWO --defence encoding --adaptive-keys 0 --out rows.csv
    """

    runs: Sequence[str] = option(
        "Folders of `mohs attack`, whose victim is to be defended.", default=(), metavar="RUN", argument=True, many=True
    )
    defences: Sequence[Any] = several(
        "A defence, put around the run's victim: ensemble, masking, encoding, safer, ranmask or mean, with settings as "
        "in ensemble(n=16), a detector such as fgws(train=FILE), or a defence with a victim of its own; repeat for "
        "several.",
        "--defence",
        "D",
    )
    keys: int = option(
        "For how many keys, each another draw of a defence's randomness, it answers the texts.", default=5, least=1
    )
    adaptive_keys: int = option(
        "For how many of these keys the attack runs against the defended model; 0: for none.", default=1, least=0
    )
    draws: int = option("How many fresh draws judge the texts that the adaptive attack found.", default=16, least=0)
    average: int = option(
        "Also attack the mean of this many draws, and let the fresh draws judge its texts; 0: leave this out.",
        default=4,
        least=0,
    )
    victim: Any = option("The run's victim, if it is elsewhere now.", metavar="V", secret=without_credentials)
    other_victim: bool = option("Allow defences around another victim than the run's.", default=False)
    victim_options: Mapping[str, str] | None = option(
        "A setting of the victim, instead of the run's; repeat for several.",
        "--victim-option",
        metavar="NAME=VALUE",
        many=True,
        read=pairs,
    )
    device: str | None = option("Device for the models, instead of the run's: auto, cpu, cuda or cuda:N.")
    workers: int | str | None = option(
        "Processes that share the examples of an adaptive attack, or auto.",
        shown="1",
        metavar="N|auto",
        read=head_count,
    )
    trust_pickle: bool = option("Allow sklearn: files, which can run code when loaded.", default=False)
    trust_code: bool = option(
        "Run code that comes with an hf: model, or that a run names (python:, FILE.py:CLASS).", default=False
    )
    again: Mapping[str, Any] | None = option("Options of the adaptive attack instead of the run's.", command=False)

    def carry_out(self, runs: AnyRun | Sequence[AnyRun] | None = None, progress: Progress | None = None) -> Defended:
        """Ask, attack, and give the figures. `runs`: instead of the folders in the options."""
        from mohs.defending.cases import opened
        from mohs.defending.working import defended

        given = self.runs if runs is None else runs
        several = [given] if isinstance(given, str | Path) or not isinstance(given, Sequence) else list(given)
        with opened(several) as found:
            return defended(found, self, progress)


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the page and the file go."""

    out: Path | None = option("Also write one row for each example, defence and key as CSV.", metavar="FILE")
    page: Path | None = option("Where to write the page; by default defend.html in the first folder.", metavar="FILE")
    no_page: bool = option("Only print the figures.", default=False)
