"""What all commands that make a run have in common: their options, the bar, and what happens on Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import comma
from mohs.errors import MohsError, ServiceFailed

if TYPE_CHECKING:
    from mohs.run import Run
    from mohs.runs import Progress
    from mohs.text.dataset import Dataset

Victim = Annotated[
    str,
    typer.Option(
        metavar="V", help="pocket, hf:PATH_OR_ID, python:module:function, sklearn:PATH, http://URL or mohs:PATH."
    ),
]
Data = Annotated[
    str,
    typer.Option(metavar="D", help="pocket, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz)."),
]
Number = Annotated[int | None, typer.Option(min=1, help="The first N examples, or see --sample; all if not given.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="The run folder; by default one named after the options.")
]
Budget = Annotated[int | None, typer.Option(min=1, help="The most queries for one example.")]
MaskedLm = Annotated[str | None, typer.Option(metavar="M", help="Masked language model: hf:PATH_OR_ID.")]
CausalLm = Annotated[str | None, typer.Option(metavar="M", help="Causal language model: hf:PATH_OR_ID or gguf:FILE.")]
Vectors = Annotated[
    str | None, typer.Option(metavar="FILE", help="Word vectors: pocket (default), a file or folder, or an asset.")
]
Wordnet = Annotated[str | None, typer.Option(metavar="FOLDER", help="WordNet's database files; by default the asset.")]
Sememes = Annotated[
    str | None, typer.Option(metavar="FILE", help="Table of sememe substitutes; by default the asset hownet.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")]
AtOnce = Annotated[
    int | None, typer.Option(min=1, help="How many searches are alive at once; by default 256, on CUDA 1024.")
]
Workers = Annotated[
    int,
    typer.Option(min=1, help="Processes that share the examples, each with its own copy of the models."),
]
Cache = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the victim's answers here, for later runs too.")]
TextFields = Annotated[
    str | None,
    typer.Option("--text-field", metavar="NAMES", help="Text column, or two for pairs: premise,hypothesis."),
]
Change = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Of a pair, the columns that may change; by default the last.")
]
LabelField = Annotated[str, typer.Option(help="Label column.")]
IdField = Annotated[str, typer.Option(help="Id column, where there is one.")]
Labels = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Class names in the victim's order: negative,positive.")
]
Sample = Annotated[
    int | None,
    typer.Option(metavar="SEED", help="Draw the N examples of --n at random with this seed; by default the first."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of the data file.")]
VictimOptions = Annotated[
    list[str] | None,
    typer.Option("--victim-option", metavar="NAME=VALUE", help="output=logits, batch=64, dtype=bf16, rate=10 ..."),
]
TrustPickle = Annotated[bool, typer.Option("--trust-pickle", help="Open sklearn: files, which can run code.")]
TrustCode = Annotated[bool, typer.Option("--trust-code", help="Run code that an hf: model brings along.")]


def dataset_of(
    data: str,
    *,
    fields: str | None,
    change: str | None,
    label_field: str,
    id_field: str,
    labels: str | None,
    encoding: str,
    n: int | None,
    sample: int | None,
) -> Dataset:
    """The data as the options say how to read it."""
    from mohs.text.dataset import Dataset

    return Dataset(
        data,
        fields=comma(fields),
        label_field=label_field,
        id_field=id_field,
        labels=comma(labels),
        change=comma(change),
        encoding=encoding,
        n=n,
        sample=sample,
    )


def folder_for(options: dict[str, Any]) -> Path:
    """A run folder named after what was asked for."""
    import hashlib
    import json
    import re

    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:8]
    names = [Path(str(options[key]).rstrip("/")).name for key in ("victim", "data")]
    return Path("mohs-runs") / "-".join(
        [*(re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:24] for name in names), digest]
    )


@contextmanager
def saving_on_interrupt(folder: Path | None) -> Iterator[None]:
    """After Ctrl-C or a dead model, say what is saved and how to go on."""
    from mohs.records import RunStore

    def saved() -> str:
        if folder is None:
            return "a demo is not kept; start it again."
        try:
            store = RunStore.read(folder)
        except MohsError:
            return "nothing was finished yet."
        count = len(store)
        store.close()
        return f"{count} finished attempts are saved in {folder}; run the same command again to go on."

    try:
        yield
    except KeyboardInterrupt:
        print(f"mohs: Interrupted: {saved()}", file=sys.stderr)
        raise typer.Exit(130) from None
    except ServiceFailed as error:
        raise ServiceFailed(f"{error} {saved()[0].upper()}{saved()[1:]}") from error


@contextmanager
def progress_bar(quiet: bool, doing: str = "attacking") -> Iterator[Progress | None]:
    """A bar with rate and time left on standard error, when somebody is looking."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[fooled]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(doing, total=None, rate="", fooled="")
        fooled = tried = 0

        def step(record: Any, finished: int, total: int) -> None:
            nonlocal fooled, tried
            if record is not None:
                fooled += record.outcome == "success"
                tried += record.outcome in ("success", "failed", "exhausted")
            speed = bar.tasks[0].speed
            bar.update(
                task,
                completed=finished,
                total=total,
                rate=f"{speed:.1f}/s" if speed else "",
                fooled=f"{fooled} of {tried} reached the goal" if tried else "",
            )

        yield step


def finished(run: Run, as_json: bool, verbose: bool, ending: str, **extra: Any) -> None:
    """Print the summary, a few diffs and where things are; exit with 3 if some examples ended in an error."""
    from mohs.report.terminal import print_run

    errors = print_run(run, as_json=as_json, verbose=verbose, diffs=3, **extra)
    if not as_json:
        print(ending)
    if errors:
        print(f"mohs: {errors}", file=sys.stderr)
        raise typer.Exit(3)
