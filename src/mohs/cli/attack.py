"""`mohs attack` and `mohs demo`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import Config, Json, Verbose, comma, pairs
from mohs.errors import MohsError, ServiceFailed

if TYPE_CHECKING:
    from mohs.runs import Progress, Run


def attack(
    victim: Annotated[
        str,
        typer.Option(
            metavar="V", help="pocket, hf:PATH_OR_ID, python:module:function, sklearn:PATH, http://URL or mohs:PATH."
        ),
    ] = "pocket",
    data: Annotated[
        str,
        typer.Option(
            metavar="D", help="pocket, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz)."
        ),
    ] = "pocket",
    attacks: Annotated[
        list[str],
        typer.Option(
            "--attack",
            metavar="NAME[:PRESET]",
            help="An attack (see `mohs attacks`), standard for a battery, or FILE.py:CLASS; repeat for several.",
        ),
    ] = ["textfooler"],  # noqa: B006
    n: Annotated[
        int | None, typer.Option(min=1, help="The first N examples, or see --sample; all if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The run folder; by default one named after the options.")
    ] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="The most queries for one example.")] = None,
    goal: Annotated[
        str,
        typer.Option(
            help="untargeted; targeted:CLASS (name or number); below:P, the label's probability; for input-reduction "
            "reduced:N, at most N words left."
        ),
    ] = "untargeted",
    source: Annotated[
        str | None,
        typer.Option(metavar="S", help="Where words come from instead: see `mohs spaces`, or FILE.py:CLASS."),
    ] = None,
    constraints: Annotated[
        list[str] | None,
        typer.Option(
            "--constraint", metavar="M>=T", help="A further constraint; repeat for several: see `mohs spaces`."
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", metavar="M", help="Measure the final texts by this too: see `mohs spaces`."),
    ] = None,
    stopwords: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Words left alone, instead of the attack's own: a file, none, english or nltk."
        ),
    ] = None,
    entities: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What replaces named entities, for pwws: a file of `mohs entities`."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="E", help="Sentence encoder: pocket (default), use or hf:PATH_OR_ID.")
    ] = None,
    token_encoder: Annotated[
        str | None, typer.Option(metavar="E", help="Token vectors for BERTScore: pocket (default) or hf:PATH_OR_ID.")
    ] = None,
    masked_lm: Annotated[str | None, typer.Option(metavar="M", help="Masked language model: hf:PATH_OR_ID.")] = None,
    lm: Annotated[
        str | None, typer.Option(metavar="M", help="Causal language model: hf:PATH_OR_ID or gguf:FILE.")
    ] = None,
    tagger: Annotated[
        str | None, typer.Option(metavar="T", help="Tagger: auto (default: spaCy if installed), pocket, spacy:NAME.")
    ] = None,
    grammar: Annotated[
        str | None, typer.Option(metavar="G", help="Grammar checker: harper (default) or languagetool:URL.")
    ] = None,
    vectors: Annotated[
        str | None, typer.Option(metavar="FILE", help="Word vectors: pocket (default), a file or folder, or an asset.")
    ] = None,
    wordnet: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="WordNet's database files; by default the asset.")
    ] = None,
    sememes: Annotated[
        str | None, typer.Option(metavar="FILE", help="Table of sememe substitutes; by default the asset hownet.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    at_once: Annotated[
        int | None, typer.Option(min=1, help="How many searches are alive at once; by default 256, on CUDA 1024.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, help="Processes that share the examples, each with its own copy of the models."),
    ] = 1,
    cache: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the victim's answers here, for later runs too.")
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option("--text-field", metavar="NAMES", help="Text column, or two for pairs: premise,hypothesis."),
    ] = None,
    change: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Of a pair, the columns that may change; by default the last.")
    ] = None,
    label_field: Annotated[str, typer.Option(help="Label column.")] = "label",
    id_field: Annotated[str, typer.Option(help="Id column, where there is one.")] = "id",
    labels: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Class names in the victim's order: negative,positive.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(metavar="SEED", help="Draw the N examples of --n at random with this seed; by default the first."),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the data file.")] = "utf-8",
    victim_options: Annotated[
        list[str] | None,
        typer.Option("--victim-option", metavar="NAME=VALUE", help="output=logits, batch=64, dtype=bf16, rate=10 ..."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Open sklearn: files, which can run code.")
    ] = False,
    trust_code: Annotated[bool, typer.Option("--trust-code", help="Run code that an hf: model brings along.")] = False,
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Attack a classifier and report how often it was fooled.

    The run folder gets the page (report.html), the adversarial examples (adversarial.jsonl) and everything to go on
    or repeat: running the same command again goes on where it stopped.

    \b
    Examples:
      mohs attack --n 50
      mohs attack --victim hf:./my-model --data test.jsonl --attack textfooler --attack random --n 200
      mohs attack --victim python:my_module:predict --data reviews.csv --text-field review --labels bad,good
      mohs attack --victim mohs:my-cnn --data pairs.jsonl --text-field premise,hypothesis --attack standard
      mohs attack --attack pwws:released --goal targeted:positive --n 100 --sample 1
      mohs attack --source wordnet --constraint "similarity>=0.9" --measure grammar-errors --tagger pocket
      mohs attack --victim http://localhost:8000/classify --data test.tsv --budget 500 --victim-option rate=20
      mohs attack --config mohs-runs/RUN/manifest.yaml --out again
    """
    from mohs.runs import attack as start
    from mohs.text.dataset import Dataset

    changes: dict[str, Any] = {
        "source": source,
        "constraints": constraints or [],
        "measures": measures or [],
        "stopwords": stopwords,
        "entities": entities,
        "encoder": encoder,
        "token_encoder": token_encoder,
        "masked_lm": masked_lm,
        "lm": lm,
        "tagger": tagger,
        "grammar": grammar,
        "vectors": vectors,
        "wordnet": wordnet,
        "sememes": sememes,
    }
    own = {
        "victim": victim,
        "data": data,
        "attacks": attacks,
        "n": n,
        "seed": seed,
        "budget": budget,
        "goal": goal,
        **{key: value for key, value in changes.items() if value},
        "device": device,
        "reading": [fields, change, label_field, id_field, labels, encoding, *([] if sample is None else [sample])],
        "victim_options": [option for option in victim_options or [] if not option.startswith("header=")],
    }
    folder = out or Path("mohs-runs") / _folder_name(own)
    dataset = Dataset(
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
    with _saving_on_interrupt(folder), redirect_stdout(sys.stderr), _progress(json) as progress:
        run = start(
            victim,
            dataset,
            attacks,
            seed=seed,
            goal=goal,
            n=n,
            budget=budget,
            **changes,
            out=folder,
            device=device,
            labels=comma(labels),
            victim_options=pairs(victim_options),
            trust_pickle=trust_pickle,
            trust_code=trust_code,
            at_once=at_once,
            workers=workers,
            cache=cache,
            progress=progress,
        )
    with run:
        files = _write_files(run, folder)
        _show(run, json, verbose, f"In {folder}: {', '.join(path.name for path in files)}", files=list(map(str, files)))


def demo(
    n: Annotated[int, typer.Option(min=1, help="How many test reviews to attack.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    page: Annotated[Path, typer.Option("--page", metavar="FILE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Attack the bundled classifier on the bundled reviews, and write report.html. Needs nothing of yours.

    \b
    Examples:
      mohs demo
      mohs demo --n 20 --page small.html
    """
    from mohs.runs import attack as start

    with _saving_on_interrupt(None), _progress(json) as progress:
        run = start("pocket", "pocket", ["textfooler", "random"], n=n, seed=seed, progress=progress)
    with run:
        written = run.report(page)
        caution = "Look at the changed words before the rate: with the bundled vectors some reverse the meaning."
        _show(run, json, verbose, f"{caution}\nPage: {written}", page=str(written))


def _write_files(run: Run, folder: Path) -> list[Path]:
    """The page and the adversarial examples, beside the journal; texts that were only shortened are none."""
    from mohs.attacks.goal import keeps_label
    from mohs.records import Outcome
    from mohs.records.export import export

    written = [run.report()]
    hits = (
        record
        for record in run.records()
        if record.outcome is Outcome.SUCCESS and not keeps_label(run.goal_of(record.attack))
    )
    first = next(hits, None)
    if first is not None:
        written.append(folder / "adversarial.jsonl")
        export(chain([first], hits), "jsonl", written[-1], sys.stdout)
    return written


def _folder_name(options: dict[str, Any]) -> str:
    import hashlib
    import json
    import re

    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:8]
    names = [Path(str(options[key]).rstrip("/")).name for key in ("victim", "data")]
    return "-".join([*(re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:24] for name in names), digest])


@contextmanager
def _saving_on_interrupt(folder: Path | None) -> Iterator[None]:
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
def _progress(quiet: bool) -> Iterator[Progress | None]:
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
        task = bar.add_task("attacking", total=None, rate="", fooled="")
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


def _show(run: Run, as_json: bool, verbose: bool, ending: str, **extra: Any) -> None:
    """Print the summary, a few diffs and where things are; exit with 3 if some examples ended in an error."""
    from mohs.report.terminal import print_run

    errors = print_run(run, as_json=as_json, verbose=verbose, diffs=3, **extra)
    if not as_json:
        print(ending)
    if errors:
        print(f"mohs: {errors}", file=sys.stderr)
        raise typer.Exit(3)
