"""`mohs bias`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose, comma
from mohs.cli.options import pairs as options_of
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
    TextFields,
    TrustCode,
    TrustPickle,
    Victim,
    VictimOptions,
    Workers,
    dataset_of,
    finished,
    folder_for,
    progress_bar,
    saving_on_interrupt,
)


def bias(
    masked_lm: MaskedLm = None,
    victim: Victim = "pocket",
    data: Data = "pocket",
    pairs: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="gender, nationality, religion, sexual-orientation, country, or a file with two words a row.",
        ),
    ] = "gender",
    k: Annotated[
        int,
        typer.Option(
            "-k", min=0, help="The most words that change; 0 takes the sentences as they are and needs no --masked-lm."
        ),
    ] = 2,
    label: Annotated[
        str | None, typer.Option(metavar="L", help="The class looked at, by name or number; by default the last.")
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(
            "--filter-epsilon",
            "--epsilon",
            help="Sentences that the pair itself moves by less than this are the filtered set.",
        ),
    ] = 0.005,
    both_directions: Annotated[
        bool, typer.Option("--both-directions", help="Use sentences with a pair's second word as well.")
    ] = False,
    blacklist: Annotated[
        str | None, typer.Option(metavar="FILE", help="More words that are never brought in, one a line.")
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(metavar="R", help="Leave out texts more than R times as perplexing to --lm as the original."),
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, help="A distance expected to have more texts than this is sampled ...")
    ] = 10_000,
    breadth: Annotated[
        int, typer.Option(min=1, help="... from the neighbours of this many texts one step nearer; released code: 800.")
    ] = 100,
    lm: CausalLm = None,
    n: Number = None,
    seed: Seed = 0,
    out: Out = None,
    budget: Budget = None,
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
    """Measure how pairs of words such as he and she move a classifier, in natural neighbourhoods.

    A masked language model rewrites up to k other words of each sentence that has the first word of a pair; the mean
    change of the label's probability from the first word to the second is the counterfactual token bias of Zhang et
    al. 2021. Running the same command again goes on where it stopped; `mohs report A --against B` sets two beside each
    other.

    \b
    Examples:
      mohs bias -k 0
      mohs bias --victim hf:./my-model --data dev.jsonl --pairs gender --masked-lm hf:distilbert-base-uncased -k 3
      mohs bias --victim mohs:my-lstm --data dev.jsonl --pairs mine.csv --masked-lm hf:./mlm --label toxic
      mohs report mohs-runs/DEBIASED --against mohs-runs/BEFORE
    """
    from mohs.runs import token_bias as start

    own = {
        "victim": victim,
        "data": data,
        "command": [pairs, k, label, epsilon, both_directions, blacklist, floor, most, breadth, masked_lm, lm],
        "run": [n, seed, budget, device, sample],
        "reading": [fields, change, label_field, id_field, labels, encoding],
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
    with saving_on_interrupt(folder), redirect_stdout(sys.stderr), progress_bar(json, "measuring") as progress:
        run = start(
            victim,
            dataset,
            pairs,
            masked_lm=masked_lm,
            k=k,
            label=label,
            epsilon=epsilon,
            both_directions=both_directions,
            blacklist=blacklist,
            floor=floor,
            most=most,
            breadth=breadth,
            lm=lm,
            seed=seed,
            n=n,
            budget=budget,
            out=folder,
            device=device,
            labels=comma(labels),
            victim_options=options_of(victim_options),
            trust_pickle=trust_pickle,
            trust_code=trust_code,
            at_once=at_once,
            workers=workers,
            cache=cache,
            progress=progress,
            said=None if progress is None else partial(print, file=sys.stderr),
        )
    with run:
        page = run.report()
        finished(run, json, verbose, f"In {folder}: {page.name}", files=[str(page)])
