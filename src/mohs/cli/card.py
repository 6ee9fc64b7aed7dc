"""`mohs card`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from mohs.cli.saying import Terminal, say, say_json
from mohs.cli.settings import command, help_of
from mohs.tasks.option import option


@dataclass(frozen=True, kw_only=True)
class MakeCard:
    """Write the robustness section of a model card from a finished run.

    The card has a table of the run's figures as Markdown, and the same figures as `model-index` metadata. With the id
    of the data on the Hub there are `.eval_results` files as well. Each figure names attack, preset, space, n and
    interval.

    Examples:
      mohs card mohs-runs/RUN
      mohs card mohs-runs/RUN --model me/my-model --dataset stanfordnlp/sst2 --out card
      mohs card mohs-runs/RUN --study my-study --out card
    """

    run: Path = option("A run folder.", metavar="RUN", argument=True)
    out: Path | None = option(
        "A new folder for README.md and .eval_results; by default the card is printed.", metavar="FOLDER"
    )
    model: str = option("The model's name on the Hub; by default the victim's.", default="", metavar="NAME")
    dataset: str = option("The Hub's id of the data; by default that of hf: data.", default="", metavar="ID")
    judge: str | None = option("The judge of fair success; by default the run's own, or none.", metavar="J")
    study: str | None = option("A study whose people measure fair success.", metavar="STUDY")


def _card(asked: MakeCard, *, json: bool, verbose: bool) -> None:
    from mohs.runs.run import Run, sound

    with Run.open(asked.run) as run, sound(run):
        measured = None
        if asked.study is not None:
            from mohs.studies.measured import measured_by

            measured = measured_by(asked.study, run)
        found = run.card(model=asked.model, dataset=asked.dataset, judge=asked.judge, measured=measured)
    files = [] if asked.out is None else found.write(asked.out)
    if json:
        say_json({**found.to_json(), "files": [str(file) for file in files]})
        return
    for note in found.notes:
        say(note, error=True)
    if asked.out is None:
        Terminal(sys.stdout).write(found.text)
    for file in files:
        say(f"{file} written")


card = command([MakeCard], _card, help_of(MakeCard.__doc__), ["run"])
