"""`mohs train`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import Config, Json, Verbose
from mohs.errors import BadInput
from mohs.runs.settings import comma

if TYPE_CHECKING:
    from mohs.training.loop import Progress as At
    from mohs.training.loop import Report
    from mohs.training.swap import Swap


def train(
    arch: Annotated[
        str, typer.Option(metavar="A", help="bow, cnn, lstm, bilstm, transformer, or hf:PATH_OR_ID to fine-tune.")
    ] = "cnn",
    data: Annotated[
        str,
        typer.Option(
            metavar="D",
            help="pocket:train, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz).",
        ),
    ] = "pocket:train",
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the model goes.")] = None,
    dev: Annotated[str | None, typer.Option(metavar="D", help="Data that says when to stop.")] = None,
    dev_share: Annotated[
        float | None, typer.Option(metavar="S", help="Without --dev: the share of each class put aside; 0.1.")
    ] = None,
    test: Annotated[str | None, typer.Option(metavar="D", help="Data to measure the accuracy on.")] = None,
    vectors: Annotated[
        str | None, typer.Option(metavar="V", help="Word vectors: pocket, a folder or file, or none; pocket.")
    ] = None,
    all_vectors: Annotated[
        bool, typer.Option("--all-vectors", help="Also know words that have a vector and are not in the data.")
    ] = False,
    freeze: Annotated[bool, typer.Option("--freeze", help="Leave the word vectors as they are.")] = False,
    dim: Annotated[int | None, typer.Option(help="Size of the word vectors with --vectors none; 100.")] = None,
    epochs: Annotated[int | None, typer.Option(help="At most; 15 (bow, transformer 20; hf 3).")] = None,
    batch: Annotated[int | None, typer.Option(help="Examples a step; 32.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate; 0.001 (transformer 0.0005; hf 0.00005).")] = None,
    warmup: Annotated[
        float | None, typer.Option(help="Share of steps with a rising rate, which then falls to zero; transformer, hf.")
    ] = None,
    decay: Annotated[float | None, typer.Option(help="Weight decay; 0 (hf 0.01).")] = None,
    clip: Annotated[float | None, typer.Option(help="The longest gradient; 1.")] = None,
    dropout: Annotated[float | None, typer.Option(help="0.3 (cnn 0.5; transformer 0.1).")] = None,
    hidden: Annotated[
        int | None, typer.Option(help="Size inside; 100 (a filter width of the cnn too; lstm 150; transformer 128).")
    ] = None,
    layers: Annotated[int | None, typer.Option(help="Of the transformer; 2.")] = None,
    heads: Annotated[int | None, typer.Option(help="Of the transformer; 4.")] = None,
    max_words: Annotated[int | None, typer.Option(help="Words read of a text (hf: tokens); 256.")] = None,
    min_count: Annotated[
        int | None, typer.Option(help="Words seen less often and without a vector count as unknown; 2.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without a better dev accuracy before stopping; 5 (hf 2).")
    ] = None,
    swap: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Learn also from copies of texts with words swapped: gender, another list of pairs, or a file; one "
            "copy each, or with P:released one for each combination of the words (at most 64 with the text).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    save_every: Annotated[int, typer.Option(min=1, help="Steps between checkpoints, besides one an epoch.")] = 500,
    n: Annotated[int | None, typer.Option(min=1, help="The first N training examples; all if not given.")] = None,
    fields: Annotated[
        str | None,
        typer.Option("--text-field", metavar="NAMES", help="Text column, or two for pairs: premise,hypothesis."),
    ] = None,
    label_field: Annotated[str, typer.Option(help="Label column.")] = "label",
    id_field: Annotated[str, typer.Option(help="Id column, where there is one.")] = "id",
    labels: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Class names in the order of the numbers: negative,positive.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="SEED", help="Draw the N training examples at random with this seed; by default the first."
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the data files.")] = "utf-8",
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Train a classifier to attack, or fine-tune one.

    The folder gets the model, its words and a card (README.md). Training that was interrupted, even by a kill, goes on
    when the same command is run again, and ends with the same weights.

    \b
    Examples:
      mohs train --arch cnn --test pocket --out my-cnn
      mohs train --arch bilstm --data train.jsonl --dev dev.jsonl --test test.jsonl --vectors glove-100d --out my-lstm
      mohs train --arch hf:./minilm --data train.csv --text-field review --labels bad,good --epochs 2 --out my-minilm
      mohs train --arch lstm --data train.jsonl --swap gender --out my-fairer-lstm
      mohs attack --victim mohs:my-cnn --data pocket
      mohs attack --victim hf:my-minilm --data test.csv --text-field review
    """
    from mohs.text.dataset import Dataset
    from mohs.training.train import train as start

    folder = out or Path(f"mohs-{Path(arch.removeprefix('hf:')).name}")
    dataset = Dataset(
        data,
        fields=comma(fields),
        label_field=label_field,
        id_field=id_field,
        labels=comma(labels),
        encoding=encoding,
        n=n,
        sample=sample,
    )
    with _saved_on_interrupt(folder), redirect_stdout(sys.stderr), _progress(json) as progress:
        done = start(
            arch,
            dataset,
            folder,
            dev=dev,
            dev_share=dev_share,
            test=test,
            labels=comma(labels),
            swap=_swap(swap),
            device=device,
            save_every=save_every,
            command=_command(),
            progress=progress,
            vectors=vectors,
            all_vectors=all_vectors or None,
            freeze=freeze or None,
            dim=dim,
            epochs=epochs,
            batch=batch,
            lr=lr,
            warmup=warmup,
            decay=decay,
            clip=clip,
            dropout=dropout,
            hidden=hidden,
            layers=layers,
            heads=heads,
            max_words=max_words,
            min_count=min_count,
            patience=patience,
            seed=seed,
        )
    if json:
        from json import dumps

        facts = {"out": str(folder), "victim": done.victim, "fingerprint": done.fingerprint, "trained": done.fresh}
        facts["added"] = done.added
        print(dumps({**facts, **done.metrics}))
        return
    if not done.fresh:
        print(f"{folder} is trained already; nothing was done. Choose another --out to train again.")
    if swap is not None:
        print(f"swap: {done.added} copies of training texts added, with the words of {swap} swapped")
    for name in ("dev", "test"):
        if name in done.metrics:
            right, of = done.metrics[name]["right"], done.metrics[name]["of"]
            print(f"{name}: {right} of {of} right ({right / of:.1%})")
    if verbose:
        epochs_run = len(done.metrics["history"])
        print(f"Best epoch {done.metrics['best_epoch']} of {epochs_run}; fingerprint {done.fingerprint}.")
    print(f"In {folder}: attack it with --victim {done.victim}")


def _swap(spec: str | None) -> Swap | None:
    """`gender`, `FILE`, either with a preset as in `gender:released`."""
    if spec is None:
        return None
    from mohs.bias.pairs import read_pairs
    from mohs.training.swap import PRESETS

    name, colon, preset = spec.rpartition(":")
    if not colon or Path(spec).exists():
        name, preset = spec, "paper"
    elif preset not in PRESETS:
        raise BadInput(f"--swap {spec} names no preset; use {' or '.join(f'{name}:{way}' for way in PRESETS)}.")
    return PRESETS[preset](read_pairs(name).pairs, name if preset == "paper" else spec)


def _command() -> str:
    import shlex

    return shlex.join(["mohs", *sys.argv[1:]])


@contextmanager
def _saved_on_interrupt(folder: Path) -> Iterator[None]:
    """After Ctrl-C, say how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        from mohs.training.folder import STATE, WORKSHOP

        saved = (folder / WORKSHOP / STATE).exists()
        how = f"the last checkpoint is in {folder}; " if saved else "there was no checkpoint yet; "
        print(f"mohs: Interrupted: {how}run the same command again to go on.", file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def _progress(quiet: bool) -> Iterator[Report | None]:
    """A bar with the time left on a terminal, one line an epoch otherwise; both on standard error."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield _epoch_line
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
        columns += [TextColumn("{task.fields[loss]}"), TimeRemainingColumn()]
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("training", total=None, loss="")

            def step(at: At) -> None:
                bar.update(task, completed=at.step, total=at.steps, loss=f"epoch {at.epoch}, loss {at.loss:.4f}")
                if at.right is not None:
                    bar.console.print(_epoch(at))

            yield step


def _epoch_line(at: At) -> None:
    if at.right is not None:
        print(_epoch(at), file=sys.stderr)


def _epoch(at: At) -> str:
    better = ", best so far" if at.best else ""
    return f"epoch {at.epoch} of {at.epochs}: loss {at.loss:.4f}, dev {at.right} of {at.of}{better}"
