"""`mohs attack` and `mohs demo`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import Config, Json, Verbose, comma, pairs
from mohs.cli.run_options import (
    AtOnce,
    Budget,
    Cache,
    CausalLm,
    Change,
    Data,
    Device,
    Encoding,
    IdField,
    LabelField,
    Labels,
    MaskedLm,
    Number,
    Out,
    Sample,
    Seed,
    Sememes,
    TextFields,
    TrustCode,
    TrustPickle,
    Vectors,
    Victim,
    VictimOptions,
    Wordnet,
    Workers,
    dataset_of,
    finished,
    folder_for,
    progress_bar,
    saving_on_interrupt,
)

if TYPE_CHECKING:
    from mohs.run import Run


def attack(
    victim: Victim = "pocket",
    data: Data = "pocket",
    attacks: Annotated[
        list[str],
        typer.Option(
            "--attack",
            metavar="NAME[:PRESET]",
            help="An attack (see `mohs attacks`), standard for a battery, or FILE.py:CLASS; repeat for several.",
        ),
    ] = ["textfooler"],  # noqa: B006
    n: Number = None,
    seed: Seed = 0,
    out: Out = None,
    budget: Budget = None,
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
    masked_lm: MaskedLm = None,
    lm: CausalLm = None,
    tagger: Annotated[
        str | None, typer.Option(metavar="T", help="Tagger: auto (default: spaCy if installed), pocket, spacy:NAME.")
    ] = None,
    grammar: Annotated[
        str | None, typer.Option(metavar="G", help="Grammar checker: harper (default) or languagetool:URL.")
    ] = None,
    vectors: Vectors = None,
    wordnet: Wordnet = None,
    sememes: Sememes = None,
    device: Device = "auto",
    at_once: AtOnce = None,
    workers: Workers = 1,
    cache: Cache = None,
    fields: TextFields = None,
    change: Change = None,
    label_field: LabelField = "label",
    id_field: IdField = "id",
    labels: Labels = None,
    sample: Sample = None,
    encoding: Encoding = "utf-8",
    victim_options: VictimOptions = None,
    trust_pickle: TrustPickle = False,
    trust_code: TrustCode = False,
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
    folder = out or folder_for(own)
    dataset = dataset_of(
        data,
        fields=fields,
        change=change,
        label_field=label_field,
        id_field=id_field,
        labels=labels,
        encoding=encoding,
        n=n,
        sample=sample,
    )
    with saving_on_interrupt(folder), redirect_stdout(sys.stderr), progress_bar(json) as progress:
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
        finished(
            run, json, verbose, f"In {folder}: {', '.join(path.name for path in files)}", files=list(map(str, files))
        )


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

    with saving_on_interrupt(None), progress_bar(json) as progress:
        run = start("pocket", "pocket", ["textfooler", "random"], n=n, seed=seed, progress=progress)
    with run:
        written = run.report(page)
        caution = "Look at the changed words before the rate: with the bundled vectors some reverse the meaning."
        finished(run, json, verbose, f"{caution}\nPage: {written}", page=str(written))


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
