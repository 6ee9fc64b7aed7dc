"""`mohs demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose
from mohs.cli.run_progress import finished, progress_bar, saving_on_interrupt


def demo(
    n: Annotated[int, typer.Option(min=1, help="How many test reviews to attack.")] = 100,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    page: Annotated[Path, typer.Option("--page", metavar="FILE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Attack the bundled classifier on the bundled reviews, once with any change and once with fair ones only.

    Writes report.html. Needs no model or data of your own.

    \b
    Examples:
      mohs demo
      mohs demo --n 20 --page small.html
    """
    from mohs.report.template import written as write
    from mohs.runs.api import attack

    with saving_on_interrupt(None), progress_bar(json) as progress:
        run = attack("pocket", "pocket", ["textfooler", "textfooler+fair"], n=n, seed=seed, progress=progress)
    with run:
        view = run.view()
        written = write(view.page(), page)
        advice = (
            "Most successes of a plain search are changes that people would not accept: fair success says how many "
            "remain.\ntextfooler:paper+fair searches only among changes that they would likely accept."
        )
        finished(run, view, json, verbose, f"{advice}\nPage: {written}", page=str(written))
