"""`mohs benchmark score`, `predict` and `leaderboard`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import Json, Verbose
from mohs.cli.saying import say, say_json
from mohs.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from mohs.curation.figures import Figure
    from mohs.curation.scoring import Score, TaskScore

_Benchmark = Annotated[
    str,
    typer.Option(
        "--benchmark", metavar="DIR", help="A folder of `mohs benchmark build`, or advglue:FILE (its dev.json)."
    ),
]
_Victims = Annotated[
    list[str] | None,
    typer.Option("--victim", metavar="[TASK=]V", help="A victim for a task, or one for all tasks; repeat."),
]
_Split = Annotated[str | None, typer.Option("--split", help="dev or test; default: test, of AdvGLUE dev.")]
_Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]
_Labels = Annotated[
    str, typer.Option("--labels", metavar="NAMES", help="Class names in the victims' order, if they do not say them.")
]
_Options = Annotated[
    list[str] | None,
    typer.Option("--victim-option", metavar="NAME=VALUE", help="A setting of the victims; repeat for several."),
]
_Pickle = Annotated[bool, typer.Option("--trust-pickle", help="Allow sklearn: files, which can run code when loaded.")]
_Code = Annotated[bool, typer.Option("--trust-code", help="Run the code that comes with an hf: model.")]


def add(app: typer.Typer) -> None:
    """Give a command group these commands."""
    app.command("score", short_help="Score victims, or a file of predictions.")(score)
    app.command("predict", short_help="Write predictions, for those who have the labels.")(predict)
    app.command("leaderboard", short_help="Rank score files on a page.")(leaderboard)


def score(
    benchmark: _Benchmark,
    victim: _Victims = None,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="FILE", help="Predictions instead of victims.")
    ] = None,
    split: _Split = None,
    name: Annotated[str, typer.Option("--name", help="What the system is called; default: its victims.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Also write a score file, for a leaderboard.")
    ] = None,
    no_benign: Annotated[
        bool, typer.Option("--no-benign", help="Do not ask about the originals of the texts.")
    ] = False,
    device: _Device = "auto",
    labels: _Labels = "",
    victim_option: _Options = None,
    trust_pickle: _Pickle = False,
    trust_code: _Code = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Score victims on a benchmark: each task, each family of attacks, their averages, and the gap to benign texts.

    A task's score is the mean of its metrics, as in GLUE. Benign is the same score on the originals of the texts, and
    the gap is benign less score. In intervals the benign texts are the units. Texts that a victim cannot read are
    errors, not wrong answers; the exit code is then 3. For a hidden test set give predictions to those who have its
    labels.

    \b
    Examples:
      mohs benchmark score --benchmark my-benchmark --victim hf:./my-model
      mohs benchmark score --benchmark advglue:dev.json --victim sst2=hf:./sst2 --victim rte=hf:./rte --out mine.json
      mohs benchmark score --benchmark my-benchmark --predictions theirs.jsonl --name theirs
    """
    from mohs.cli.run_progress import progress_bar
    from mohs.curation.score_api import score_benchmark
    from mohs.runs.containment import no_sudden_end, own_output

    if bool(victim) == (predictions is not None):
        raise BadInput("Give either --victim or --predictions.")
    _check_out(out)
    with own_output(), no_sudden_end(), progress_bar(json, "asking") as progress:
        found = score_benchmark(
            benchmark,
            victim or None,
            predictions=predictions,
            name=name,
            split=split,
            benign=not no_benign,
            progress=progress if predictions is None else None,
            **_settings(device, labels, victim_option, trust_pickle, trust_code),
        )
    written = None if out is None else found.write(out)
    if json:
        say_json({**found.to_json(), "out": None if written is None else str(written)})
    else:
        _show(found, verbose)
        if written is not None:
            say(f"Score file: {written}")
    if found.errors:
        say(f"mohs: The victims could not read {found.errors} texts, which count as neither.", error=True)
        raise typer.Exit(3)


def predict(
    benchmark: _Benchmark,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to: a line a text, as JSON.")],
    victim: _Victims = None,
    split: _Split = None,
    device: _Device = "auto",
    labels: _Labels = "",
    victim_option: _Options = None,
    trust_pickle: _Pickle = False,
    trust_code: _Code = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write what victims say about the texts of a benchmark, with or without labels.

    Those who have the labels of a hidden test set score the file with `mohs benchmark score --predictions`.

    \b
    Examples:
      mohs benchmark predict --benchmark their-benchmark --victim hf:./my-model --out mine.jsonl
    """
    from mohs.cli.run_progress import progress_bar
    from mohs.curation.asking import ask, victims_by_task
    from mohs.curation.predictions import write_predictions
    from mohs.curation.score_api import read_benchmark
    from mohs.runs.containment import no_sudden_end, own_output

    _check_out(out)
    texts = read_benchmark(benchmark, split, answers=False)
    victims = victims_by_task(texts, victim or [])
    settings = _settings(device, labels, victim_option, trust_pickle, trust_code)
    with own_output(), no_sudden_end(), progress_bar(json, "asking") as progress:
        said, notes = ask(texts, victims, settings, benign=False, progress=progress)
    written = write_predictions(out, texts, said)
    count = sum(len(one.labels) for one in said.values())
    if json:
        say_json({"predictions": count, "tasks": list(said), "out": str(written), "notes": notes})
        return
    for note in notes:
        say(note, error=True)
    say(f"{count:,} predictions: {written}")


def leaderboard(
    scores: Annotated[
        list[Path] | None, typer.Argument(metavar="SCORE", help="Files of `mohs benchmark score --out`.")
    ] = None,
    reported: Annotated[
        list[str] | None,
        typer.Option("--reported", metavar="FILE", help="Figures that others reported: YAML, or advglue; repeat."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page.")] = Path("leaderboard.html"),
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Rank systems on a page: measured figures from score files, beside figures that others reported.

    \b
    Examples:
      mohs benchmark leaderboard one.json two.json --out leaderboard.html
      mohs benchmark leaderboard mine.json --reported advglue
    """
    from rich.table import Table

    from mohs.curation.leaderboard import leaderboard as ranked
    from mohs.curation.leaderboard import shown
    from mohs.report.terminal import SafeConsole, printable

    _check_out(out)
    found = ranked(scores or [], reported or [])
    page = found.page(out)
    if json:
        say_json({**found.to_json(), "page": str(page)})
        return
    console = SafeConsole(markup=False, emoji=False, highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("system", "figures", "average", "benign", "gap"):
        table.add_column(heading, justify="left" if heading in ("system", "figures") else "right")
    for row in found.rows:
        kind = "measured" if row.measured else "reported"
        values = (row.average, row.benign and (row.benign[0], None, None), row.gap and (row.gap[0], None, None))
        table.add_row(printable(row.name), kind, *(shown(value) for value in values))
    console.print(table)
    for note in found.notes:
        console.print(note, style="yellow")
    say(f"Page: {page}")


def _check_out(out: Path | None) -> None:
    """Refuse a place that cannot be written, before anything is asked."""
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        why = "is a folder" if out.is_dir() else f"needs the folder {out.parent}, which is not there"
        raise BadInput(f"{out} {why}; name a file with --out.")


def _settings(device: str, labels: str, options: list[str] | None, pickles: bool, code: bool) -> dict[str, Any]:
    from mohs.runs.settings import pairs
    from mohs.tasks.reading import comma

    return {
        "device": device,
        "labels": comma(labels),
        "victim_options": pairs(options) or None,
        "trust_pickle": pickles,
        "trust_code": code,
    }


def _show(found: Score, verbose: bool) -> None:
    from rich.table import Table

    from mohs.report.terminal import SafeConsole, printable

    console = SafeConsole(markup=False, emoji=False, highlight=False)
    console.print(printable(f"{found.name} on {found.benchmark} ({found.split})"), style="bold")
    for note in found.notes:
        console.print(printable(note), style="yellow")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "figure", "value", "texts"):
        table.add_column(heading, justify="right" if heading in ("value", "texts") else "left")
    for task in found.tasks:
        _rows(table, task.task, {**task.metrics, **_mean(task), "benign": task.benign, "gap": task.gap})
    if len(found.tasks) > 1:
        _rows(table, "average", {"score": found.average, "benign": found.benign, "gap": found.gap})
    console.print(table)
    for title, rows in (("families", found.families), ("methods", _methods(found) if verbose else {})):
        if rows:
            small = Table(box=None, pad_edge=False, header_style="bold")
            small.add_column(title)
            small.add_column("accuracy", justify="right")
            small.add_column("texts", justify="right")
            for name, figure in rows.items():
                small.add_row(name, said(figure), str(figure.n))
            console.print(small)
    console.print("in brackets: 95% intervals, with benign texts as the unit", style="dim")


def _mean(task: TaskScore) -> dict[str, Figure]:
    return {"score": task.score} if len(task.metrics) > 1 else {}


def _rows(table: Table, name: str, figures: Mapping[str, Figure | None]) -> None:
    for figure, value in figures.items():
        if value is not None:
            table.add_row(name, figure, said(value), "" if figure == "gap" else f"{value.n:,}")
            name = ""


def _methods(found: Score) -> dict[str, Figure]:
    return {f"{task.task}: {name}": one for task in found.tasks for name, one in task.methods.items()}


def said(figure: Figure | None) -> str:
    """A figure as `45.2% [35.0, 55.8]`."""
    if figure is None or figure.value is None:
        return "-"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.1%}"
    return f"{figure.value:.1%} [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
