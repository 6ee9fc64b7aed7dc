"""`mohs second-order`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import Annotated

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


def second_order(
    masked_lm: MaskedLm = None,
    victim: Victim = "pocket",
    data: Data = "pocket",
    method: Annotated[
        str, typer.Option(metavar="M", help="so-enum, so-beam or random; so-beam:released as the released code has it.")
    ] = "so-beam",
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="The most words that change; by default 2 for so-enum, else 6.")
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Texts that so-beam goes on from; by default 20.")] = None,
    synonyms: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Where patch words come from: a source, see `mohs spaces`, such as thesaurus:FILE or wordnet; "
            "by default the eight nearest word vectors.",
        ),
    ] = None,
    blacklist: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words that are never brought in, one a line.")
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(metavar="R", help="Leave out texts more than R times as perplexing to --lm as the original."),
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, help="Refuse so-enum where it would look at more texts an example.")
    ] = 1_000_000,
    lm: CausalLm = None,
    vectors: Vectors = None,
    wordnet: Wordnet = None,
    sememes: Sememes = None,
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
    """Look near each example for a natural text whose prediction one synonym changes.

    A masked language model rewrites up to k words of each example; the pair of synonyms is the one, of those that fit
    the text, that the victim has farthest apart. Zhang et al. 2021 (Double Perturbation). Running the same command
    again goes on where it stopped.

    \b
    Examples:
      mohs second-order --masked-lm hf:distilbert-base-uncased --n 50
      mohs second-order --victim hf:./my-model --data dev.jsonl --masked-lm hf:./mlm --method so-enum -k 2
      mohs second-order --victim mohs:my-cnn --data dev.jsonl --masked-lm hf:./mlm --synonyms thesaurus:pairs.json
      mohs second-order --masked-lm hf:./mlm --lm gguf:smollm2.gguf --floor 2 --workers 4
    """
    from mohs.runs import second_order_attack as start

    own = {
        "victim": victim,
        "data": data,
        "command": [method, k, beam, synonyms, blacklist, floor, masked_lm, lm, vectors, wordnet, sememes],
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
    with saving_on_interrupt(folder), redirect_stdout(sys.stderr), progress_bar(json, "searching") as progress:
        run = start(
            victim,
            dataset,
            method,
            masked_lm=masked_lm,
            k=k,
            beam=beam,
            synonyms=synonyms,
            blacklist=blacklist,
            floor=floor,
            most=most,
            lm=lm,
            vectors=vectors,
            wordnet=wordnet,
            sememes=sememes,
            seed=seed,
            n=n,
            budget=budget,
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
            said=None if progress is None else partial(print, file=sys.stderr),
        )
    with run:
        page = run.report()
        finished(run, json, verbose, f"In {folder}: {page.name}", files=[str(page)])
