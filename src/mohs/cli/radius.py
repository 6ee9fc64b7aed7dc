"""`mohs radius` and `mohs verify`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose, comma, pairs
from mohs.cli.run_options import (
    Cache,
    Change,
    Data,
    Device,
    Encoding,
    IdField,
    LabelField,
    Labels,
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
from mohs.errors import BadInput

CERTIFICATES = "certificates.jsonl"
_OF_PAC = ("r", "epsilon", "delta", "together", "interval", "draws")


def radius(
    context: typer.Context,
    victim: Victim = "pocket",
    data: Data = "pocket",
    source: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="Where words come from, see `mohs spaces`; by default the five nearest vectors."
        ),
    ] = None,
    constraints: Annotated[
        list[str] | None,
        typer.Option("--constraint", metavar="M>=T", help="A constraint on words; repeat for several."),
    ] = None,
    stopwords: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words left alone: a file, none, english (default) or nltk.")
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", metavar="NAME[:PRESET]", help="An attack that bounds the radius from above; repeat."),
    ] = None,
    max_r: Annotated[int, typer.Option(min=0, help="Prove up to so many substitutions.")] = 2,
    most: Annotated[int, typer.Option(min=1, help="Texts an example that the prover may ask.")] = 1_000_000,
    bounds: Annotated[
        bool,
        typer.Option("--bounds/--no-bounds", help="Leave out what a sound bound settles (word CNNs), or ask all."),
    ] = True,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time for proving one example; by default no limit.")
    ] = None,
    pac: Annotated[bool, typer.Option("--pac", help="Estimate which share of the space keeps the label.")] = False,
    r: Annotated[
        list[str] | None,
        typer.Option(
            metavar="R", help="The radius of that space: a number, or a share of the words; repeat.  [default: 25%]"
        ),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Half the width of its interval.")] = 0.025,
    delta: Annotated[float, typer.Option(help="The chance that an interval misses.")] = 0.005,
    together: Annotated[
        bool, typer.Option("--together", help="Make delta the chance that any interval of the run misses.")
    ] = False,
    interval: Annotated[
        str, typer.Option(metavar="I", help="clopper-pearson, hoeffding, or sequential, which stops early.")
    ] = "clopper-pearson",
    draws: Annotated[int | None, typer.Option(min=1, help="Texts drawn; by default by epsilon and delta.")] = None,
    vectors: Vectors = None,
    wordnet: Wordnet = None,
    sememes: Sememes = None,
    tagger: Annotated[str | None, typer.Option(metavar="T", help="Tagger: auto, pocket, spacy:NAME.")] = None,
    encoder: Annotated[str | None, typer.Option(metavar="E", help="Sentence encoder, if an attack needs one.")] = None,
    n: Number = None,
    seed: Seed = 0,
    out: Out = None,
    device: Device = "auto",
    at_once: Annotated[
        int | None, typer.Option(min=1, help="How many examples are worked on at once; 4 by default.")
    ] = None,
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
    """How many substitutions does each prediction withstand, proven; and beyond that, which share still holds?

    Every text with 1, 2 ... substitutions is put to the victim, until one changes the label or --max-r is reached. The
    bundled bag of words is worked out in closed form. What is certified is written to certificates.jsonl, for `mohs
    verify`. Yang et al. 2022. Running the same command again goes on where it stopped.

    \b
    Examples:
      mohs radius --n 50
      mohs radius --victim hf:./my-model --data test.jsonl --max-r 2 --time-limit 60 --attack pdp
      mohs radius --victim mohs:my-cnn --data test.jsonl --source sememes --pac --r 25% --interval sequential
      mohs radius --max-r 0 --pac --r 1 --r 2 --r 25% --together
    """
    from mohs.bounds import Share
    from mohs.runs import radius as start

    _only_with_pac(context, pac)
    radii = r or ["25%"]
    own = {
        "victim": victim,
        "data": data,
        "command": ["radius", source, constraints, stopwords, attacks, max_r, most, bounds, time_limit],
        "pac": [radii, epsilon, delta, together, interval, draws] if pac else None,
        "run": [n, seed, device, sample, vectors, wordnet, sememes, tagger, encoder],
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
    with saving_on_interrupt(folder), redirect_stdout(sys.stderr), progress_bar(json, "proving") as progress:
        run = start(
            victim,
            dataset,
            source=source,
            constraints=constraints or [],
            stopwords=stopwords,
            attacks=attacks or [],
            max_r=max_r,
            most=most,
            time_limit=time_limit,
            bounds=bounds,
            share=[Share(one, epsilon, delta, interval, draws) for one in radii] if pac else None,
            together=together,
            vectors=vectors,
            wordnet=wordnet,
            sememes=sememes,
            tagger=tagger,
            encoder=encoder,
            seed=seed,
            n=n,
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
        written = [run.report(), run.certificates(folder / CERTIFICATES)]
        names = ", ".join(path.name for path in written)
        finished(run, json, verbose, f"In {folder}: {names}", files=list(map(str, written)))


def _only_with_pac(context: typer.Context, pac: bool) -> None:
    """What is about the share must not be given in vain."""
    for name in () if pac else _OF_PAC:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise BadInput(f"--{name} is about the share that keeps the label; add --pac to ask for it.")


def verify(
    certificates: Annotated[
        Path, typer.Argument(metavar="CERT", help="A run folder, or a .json or .jsonl file of certificates.")
    ],
    victim: Victim = "pocket",
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Ask N texts of each level instead of all.")
    ] = None,
    bounds: Annotated[
        bool, typer.Option("--bounds/--no-bounds", help="Settle again what a bound settled, or ask that too.")
    ] = True,
    seed: Annotated[int | None, typer.Option(help="Of the sample; by default other texts each time.")] = None,
    example: Annotated[str | None, typer.Option(metavar="ID", help="Only the certificate of this example.")] = None,
    device: Device = "auto",
    labels: Labels = None,
    victim_options: VictimOptions = None,
    trust_pickle: TrustPickle = False,
    trust_code: TrustCode = False,
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Check certificates of `mohs radius` against a victim, fully or on a random sample. Exit code 1: one is broken.

    \b
    Examples:
      mohs verify mohs-runs/RUN
      mohs verify certificates.jsonl --victim hf:./my-model --sample 1000
    """
    from json import dumps

    from mohs.runs import verify as start

    found = start(
        certificates,
        victim,
        sample=sample,
        bounds=bounds,
        seed=seed,
        example=example,
        device=device,
        labels=comma(labels),
        victim_options=pairs(victim_options),
        trust_pickle=trust_pickle,
        trust_code=trust_code,
    )
    broken = [certificate for certificate, checked in found if not checked.sound]
    about = ", ".join(sorted({certificate.victim for certificate in broken}))
    if len(broken) == len(found) and not any(checked.asked for _, checked in found) and about != victim:
        raise BadInput(f"{certificates} is about {about}, and {victim} is another model; name it with --victim.")
    if json:
        rows = [{"example": c.example, "radius": c.radius, "by": c.by, **vars(checked)} for c, checked in found]
        print(dumps(rows, ensure_ascii=False))
    else:
        for certificate, checked in found:
            if verbose or not checked.sound:
                print(f"{certificate.example}: radius {certificate.radius}: {checked.why}")
        if all(checked.whole for _, checked in found if checked.sound):
            print(f"{len(found) - len(broken)} of {len(found)} certificates hold.")
        else:
            asked = sum(checked.asked for _, checked in found)
            print(f"{len(broken)} of {len(found)} are broken by {asked:,} texts drawn; a sample proves nothing.")
        other = sum(checked.sound and checked.same is False for _, checked in found)
        if other:
            print(f"Of those that hold, {other} have other numbers in them than come out here.")
    if broken:
        raise typer.Exit(1)
