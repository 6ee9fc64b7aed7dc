"""`mohs report`, `mohs attacks` and `mohs spaces`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mohs.cli.options import Config, Json, Verbose
from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import BadInput
from mohs.tasks.option import option

if TYPE_CHECKING:
    from rich.console import Console

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class Report:
    """Print a run's figures and write its report page.

    Examples:
      mohs report mohs-runs/RUN
      mohs report mohs-runs/RUN --json --no-page
      mohs report mohs-runs/RUN --judge hf:my-judge
      mohs report mohs-runs/RUN --study my-study
      mohs report mohs-runs/DEBIASED --against mohs-runs/BEFORE
      mohs report mohs-runs/BIAS --filter-epsilon 0.01
    """

    run: Path = option("A run folder.", metavar="RUN", argument=True)
    page: Path | None = option("Where to write the page; by default into the folder.", metavar="FILE")
    no_page: bool = option("Only print the figures.", default=False)
    against: Path | None = option(
        "For a bias run: a run of the same pairs before debiasing, to compare with.", metavar="RUN"
    )
    epsilon: float | None = option(
        "For a bias run: another threshold for the filtered set; nothing is measured again.",
        "--filter-epsilon",
        metavar="E",
    )
    judge: str | None = option(
        "For an attack run: the judge of fair success, pocket, refit:FOLDER or hf:PATH; by default the run's own.",
        metavar="J",
    )
    no_judge: bool = option("Leave out fair success as a judge estimates it.", default=False)
    study: str | None = option(
        "For an attack run: a study of it (a folder or a PostgreSQL address), whose people measure fair success.",
        metavar="STUDY",
    )


def _report(asked: Report, *, json: bool, verbose: bool) -> None:
    """Print the figures and write the page."""
    from mohs.report.template import written as write
    from mohs.report.terminal import print_run
    from mohs.runs.run import Run, sound

    with (
        Run.open(asked.run) as run,
        Run.open(asked.against) if asked.against else nullcontext() as before,
        sound(run),
        sound(before) if before is not None else nullcontext(),
    ):
        if asked.no_judge and asked.judge is not None:
            raise BadInput(f"--judge {asked.judge} and --no-judge contradict each other; give one of them.")
        judge = "none" if asked.no_judge else asked.judge
        measured = None
        if asked.study is not None:
            from mohs.studies.measured import measured_by

            measured = measured_by(asked.study, run)
        view = run.view(against=before, epsilon=asked.epsilon, judge=judge, measured=measured)
        place = asked.page or asked.run / ("report.html" if before is None else "against.html")
        written = None if asked.no_page else write(view.page(), place)
        if written and asked.page is None and view.judged:
            view.files(asked.run)  # so that adversarial.jsonl agrees with the page
        errors = print_run(run, view, as_json=json, verbose=verbose, page=None if written is None else str(written))
        if written and not json:
            say(f"Page: {written}")
        if errors:
            say(f"mohs: {errors}", error=True)
        if view.alarm:
            say(f"mohs: {view.alarm}", error=True)
            raise typer.Exit(1)


report = command([Report], _report, help_of(Report.__doc__))


Classes = Annotated[
    bool, typer.Option("--classes", help="Show which classes of constraints each preset has (Morris et al. 2020, A.1).")
]


def attacks(classes: Classes = False, config: Config = None, json: Json = False, verbose: Verbose = False) -> None:
    """List the attacks: presets, paper, black- or white-box, needs and costs.

    The first preset of an attack is its default. With -v the settings of every preset are printed.

    \b
    Examples:
      mohs attacks
      mohs attacks --json
      mohs attacks --classes
    """
    if classes:
        _attacks_by_class(json)
        return
    from dataclasses import asdict

    from mohs.attacks.catalogue import BATTERIES, entries, find_attack
    from mohs.tasks.described import describe
    from mohs.text.kinds import in_words

    if json:
        say_json([asdict(entry) for entry in entries()])
        return
    from mohs.report.terminal import SafeConsole

    console = SafeConsole(highlight=False)
    for entry in entries():
        _print_entry(
            console,
            entry.name,
            ", ".join(entry.presets),
            entry.about,
            f"{entry.paper}; {entry.box}-box; needs {', '.join(entry.needs)}; queries: {entry.cost}"
            + ("" if entry.keeps_label_of is None else f"; keeps the label of: {in_words(entry.keeps_label_of)}"),
        )
    for battery, members in BATTERIES.items():
        about = f"Several attacks, each on the examples that withstood the ones before: {', '.join(members)}."
        _print_entry(console, battery, "a battery", about)
    console.print(
        "\nThe first preset is the default. Use --attack NAME:PRESET for another, FILE.py:CLASS for your own attack."
    )
    if verbose:
        for entry in entries():
            for preset in entry.presets:
                console.print(
                    f"\n{entry.name}:{preset}\n  {describe(find_attack(f'{entry.name}:{preset}')[1])}", markup=False
                )


def _attacks_by_class(json: bool) -> None:
    from mohs.audits.taxonomy import whole_catalogue

    rows = whole_catalogue()
    if json:
        say_json([row.to_json() for row in rows])
        return
    from mohs.audits.show import CLASSES_NOTE, classes_table
    from mohs.report.terminal import SafeConsole, show_tables

    show_tables(SafeConsole(highlight=False), [classes_table(rows)], CLASSES_NOTE)


def spaces(config: Config = None, json: Json = False, verbose: Verbose = False) -> None:
    """List the sources of substitutes and the measures for constraints, with their settings.

    \b
    Examples:
      mohs spaces
      mohs attack --source "wordnet:same_pos=yes+neighbours:k=8" --constraint "similarity:angular=no>=0.9"
    """
    from mohs.space.listed import table

    rows = table()
    if json:
        say_json(rows)
        return
    from mohs.report.terminal import SafeConsole

    console = SafeConsole(highlight=False)
    for kind, title in (("source", "Sources: --source, joined by +"), ("measure", "Measures: --measure, --constraint")):
        console.print(f"[bold]{title}[/]\n")
        for row in rows:
            if row["kind"] == kind:
                family = f"({row['family']}) " if kind == "measure" else ""
                asks = f"needs: {', '.join(row['needs'])}" if row["needs"] else ""
                _print_entry(console, row["name"], family + asks, row["about"], *filter(None, [row["settings"]]))
        console.print()
    console.print("Change settings after a colon: neighbours:k=8,min_cosine=0.7; similarity:window=15>=0.85.")


def _print_entry(console: Console, name: str, extra: str, *paragraphs: str) -> None:
    """Print a name, a remark next to it, and paragraphs below; wrapped lines stay indented."""
    from textwrap import TextWrapper

    from rich.text import Text

    indented = TextWrapper(console.width, subsequent_indent="    ", break_on_hyphens=False)
    title = Text(indented.fill(f"{name} {extra}"), style="dim")
    title.stylize("not dim bold", 0, len(name))
    console.print(title)
    indented.initial_indent = indented.subsequent_indent
    for paragraph in paragraphs:
        console.print(indented.fill(paragraph), markup=False)
