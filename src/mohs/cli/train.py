"""`mohs train`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import BadInput
from mohs.tasks.reading import Reading
from mohs.training.settings import RecipeSettings, TrainSettings

if TYPE_CHECKING:
    from mohs.text.dataset import Dataset
    from mohs.training.loop import Progress as At
    from mohs.training.loop import Report
    from mohs.training.swap import Swap
    from mohs.training.train import Measuring


def _train(asked: TrainSettings, recipe: RecipeSettings, reading: Reading, *, json: bool, verbose: bool) -> None:
    """Train a classifier to attack, or fine-tune one; or what other commands ask (--task acceptability, scpn, t3).

    A judge of substitutions (acceptability) learns from people's judgements: a file of SWORDS, or rows with context,
    start and end (or word), substitute and accepted (the share of people).

    A paraphraser (scpn) learns to write a text in a given structure: from rows with source, target and perhaps
    template, or from the sentences of any data set, which rules rewrite. A parser finds what rows do not say.

    A tree auto-encoder (t3) learns to give sentences back: from those of any data set, which a parser reads.

    The folder gets the model, its vocabulary and a card (README.md). Run the same command again to resume an
    interrupted training, even after a kill: it ends with the same weights.

    Examples:
      mohs train --arch cnn --test pocket --out my-cnn
      mohs train --arch bilstm --data train.jsonl --dev dev.jsonl --test test.jsonl --vectors glove-100d --out my-lstm
      mohs train --arch hf:./minilm --data train.csv --text-field review --labels bad,good --epochs 2 --out my-minilm
      mohs train --data train.csv --text-field review --test pocket --test-text-field text --out my-cnn
      mohs train --arch lstm --data train.jsonl --swap gender --out my-fairer-lstm
      mohs train --arch hf:./minilm --data train.csv --harden augment --out my-harder-minilm
      mohs train --arch hf:./minilm --data train.csv --harden onfly:attack=a2t --harden freelb --out my-hardest-minilm
      mohs train --task acceptability --arch hf:./minilm --data swords-v1.1_dev.json.gz --out my-judge
      mohs train --task scpn --data train.jsonl --out my-scpn
      mohs train --task t3 --data train.jsonl --test test.jsonl --out my-t3
      mohs attack --victim mohs:my-cnn --data pocket
      mohs attack --victim hf:my-minilm --data test.csv --text-field review
      mohs attack --measure acceptable --judge hf:my-judge
    """
    if asked.task == "acceptability":
        _train_judge(asked, recipe, reading, json=json, verbose=verbose)
        return
    if asked.task == "scpn":
        _train_paraphraser(asked, recipe, reading, json=json, verbose=verbose)
        return
    if asked.task == "t3":
        _train_autoencoder(asked, recipe, reading, json=json, verbose=verbose)
        return
    if asked.task != "classification":
        raise BadInput(f"Unknown task {asked.task!r}; use classification, acceptability, scpn or t3.")
    for flag, given, task in (("--parser", asked.parser, "scpn or t3"), ("--encoder", asked.encoder, "scpn")):
        if given:
            raise BadInput(f"{flag} applies to --task {task} only; leave it out.")
    from mohs.training.train import train as start

    folder = asked.folder
    dataset = reading.dataset(asked.data, labels=asked.labels)
    test = asked.tested(dataset)
    notes = _notes(dataset, asked.dev, test)
    for note in notes if not json else ():
        say(note, error=True)
    counted = "certified" if any(one.partition(":")[0] in ("ibp", "lirpa") for one in asked.harden) else ""
    with _saved_on_interrupt(folder), redirect_stdout(sys.stderr), _progress(json, counted) as (progress, measuring):
        done = start(
            asked.arch,
            dataset,
            folder,
            dev=asked.dev,
            dev_share=asked.dev_share,
            test=test,
            labels=asked.labels,
            swap=_swap(asked.swap),
            harden=tuple(asked.harden),
            device=asked.device,
            save_every=asked.save_every,
            command=_command(),
            progress=progress,
            measuring=measuring,
            **recipe.given(),
        )
    if json:
        facts = {
            "notes": notes,
            "out": str(folder),
            "victim": done.victim,
            "fingerprint": done.fingerprint,
            "trained": done.fresh,
        }
        facts["added"] = done.added
        say_json({**facts, **done.metrics})
        return
    if not done.fresh:
        say(f"{folder} is already trained; nothing was done. Choose another --out to train again.")
    if asked.swap is not None:
        say(f"swap: {done.added} copies of training texts added, with the words of {asked.swap} swapped")
    for name in ("dev", "test"):
        if name in done.metrics:
            right, of = done.metrics[name]["right"], done.metrics[name]["of"]
            say(f"{name}: {right} of {of} right ({right / of:.1%})")
    if "certified" in done.metrics:
        right, of = done.metrics["certified"]["right"], done.metrics["certified"]["of"]
        say(f"dev: {right} of {of} certified by the bounds it was trained with ({right / of:.1%})")
    if verbose:
        epochs_run = len(done.metrics["history"])
        say(f"Best epoch {done.metrics['best_epoch']} of {epochs_run}; fingerprint {done.fingerprint}.")
    say(f"In {folder}: attack it with --victim {done.victim}")


def _train_judge(asked: TrainSettings, recipe: RecipeSettings, reading: Reading, *, json: bool, verbose: bool) -> None:
    from mohs.training.acceptability import train_judge

    default = Reading()
    unused = [("--swap", asked.swap), ("--labels", asked.labels), ("--test-text-field", asked.test_fields)]
    unused += [("--test-label-field", asked.test_label_field), ("--test-id-field", asked.test_id_field)]
    unused += [
        (flag, getattr(reading, name) != getattr(default, name))
        for flag, name in (
            ("--text-field", "fields"),
            ("--label-field", "label_field"),
            ("--id-field", "id_field"),
            ("--least-words", "least_words"),
            ("--most-words", "most_words"),
        )
    ]
    for flag, given in unused:
        if given:
            raise BadInput(f"{flag} does not apply to --task acceptability; leave it out.")
    folder = asked.folder
    with (
        _saved_on_interrupt(folder),
        redirect_stdout(sys.stderr),
        _progress(json, "pairs in the right order") as (step, _),
    ):
        done = train_judge(
            asked.arch,
            asked.data,
            folder,
            dev=asked.dev,
            dev_share=asked.dev_share,
            test=asked.test,
            n=reading.n,
            sample=reading.sample,
            encoding=reading.encoding,
            device=asked.device,
            save_every=asked.save_every,
            command=_command(),
            progress=step,
            **recipe.given(),
        )
    if json:
        facts = {"out": str(folder), "judge": done.judge, "fingerprint": done.fingerprint, "trained": done.fresh}
        say_json({**facts, **done.metrics})
        return
    if not done.fresh:
        say(f"{folder} is already trained; nothing was done. Choose another --out to train again.")
    for name in ("dev", "test"):
        if name in done.metrics:
            found = done.metrics[name]
            print(f"{name}: AUC {found['auc']:.3f}, calibration error {found['ece']:.3f}, ", end="")
            say(f"{found['of']} substitutes, {found['accepted']} of them accepted")
            say(f"  {'said':>6} {'found':>6} {'count':>6}")
            for said, share, count in found["reliability"]:
                say(f"  {said:6.3f} {share:6.3f} {count:6d}")
    if verbose:
        epochs_run = len(done.metrics["history"])
        say(f"Best epoch {done.metrics['best_epoch']} of {epochs_run}; fingerprint {done.fingerprint}.")
    say(f"In {folder}: use it with --measure acceptable --judge {done.judge}")


def _train_paraphraser(
    asked: TrainSettings, recipe: RecipeSettings, reading: Reading, *, json: bool, verbose: bool
) -> None:
    from mohs.cli.train_paraphraser import as_scpn, started, tell

    asked = as_scpn(asked)
    with (
        _saved_on_interrupt(asked.folder),
        redirect_stdout(sys.stderr),
        _progress(json, "tokens") as (step, _),
    ):
        done = started(asked, recipe, reading, _command(), step)
    tell(done, json=json, verbose=verbose)


def _train_autoencoder(
    asked: TrainSettings, recipe: RecipeSettings, reading: Reading, *, json: bool, verbose: bool
) -> None:
    from mohs.cli.train_trees import as_t3, started, tell

    asked = as_t3(asked)
    with (
        _saved_on_interrupt(asked.folder),
        redirect_stdout(sys.stderr),
        _progress(json, "tokens given back") as (step, _),
    ):
        done = started(asked, recipe, reading, _command(), step)
    tell(done, json=json, verbose=verbose)


train = command([TrainSettings, RecipeSettings, Reading], _train, help_of(_train.__doc__))


def _swap(spec: str | None) -> Swap | None:
    """Read `gender` or `FILE`, either with a preset as in `gender:released`."""
    if spec is None:
        return None
    from mohs.bias.pairs import read_pairs
    from mohs.training.swap import PRESETS

    name, colon, preset = spec.rpartition(":")
    if not colon or Path(spec).exists():
        name, preset = spec, "paper"
    elif preset not in PRESETS:
        raise BadInput(f"--swap {spec} has an unknown preset; use {' or '.join(f'{name}:{p}' for p in PRESETS)}.")
    return PRESETS[preset](read_pairs(name).pairs, name if preset == "paper" else spec)


def _command() -> str:
    import shlex

    return shlex.join(["mohs", *sys.argv[1:]])


@contextmanager
def _saved_on_interrupt(folder: Path) -> Iterator[None]:
    """After Ctrl-C, say how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        from mohs.training.folder import WORKSHOP

        saved = any((folder / WORKSHOP).rglob("*.safetensors"))  # also of a training inside this one: naive's plain one
        how = f"the last checkpoint is in {folder}; " if saved else "there was no checkpoint yet; "
        say(f"mohs: Interrupted: {how}run the same command again to resume.", error=True)
        raise typer.Exit(130) from None


def _notes(trained: Dataset, dev: str | None, test: str | Dataset | None) -> list[str]:
    """What is assumed about the files."""
    others = [replace(trained, source=one, n=None) if isinstance(one, str) else one for one in (dev, test)]
    return [note for one in (trained, *others) if one is not None for note in one.notes()]


@contextmanager
def _progress(quiet: bool, what: str = "") -> Iterator[tuple[Report | None, Measuring | None]]:
    """Show training and measuring: a progress bar on a terminal, otherwise one line per epoch and per data measured.

    Both go to standard error. `what` says what is counted as right, if not examples.
    """
    if quiet:
        yield None, None
    elif not sys.stderr.isatty():
        yield partial(_epoch_line, what=what), _measuring_line
    else:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as TimeLeft

        from mohs.report.terminal import SafeConsole

        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
        columns += [TextColumn("{task.fields[loss]}"), TimeElapsedColumn(), TextColumn("left"), TimeLeft()]
        with Progress(*columns, console=SafeConsole(stderr=True), transient=True) as bar:
            task = bar.add_task("training", total=None, loss="")

            def step(at: At) -> None:
                loss = f"epoch {at.epoch}, loss {at.loss:.4f}"
                bar.update(task, description="training", completed=at.step, total=at.steps, loss=loss)
                if at.right is not None:
                    bar.console.print(_epoch(at, what))

            def measure(name: str, finished: int, total: int) -> None:
                if not finished:
                    bar.reset(task, description=_doing(name), loss="")
                bar.update(task, completed=finished, total=total)

            yield step, measure


def _measuring_line(name: str, finished: int, total: int) -> None:
    if not finished:
        say(f"{_doing(name)}: {total:,} examples", error=True)


def _doing(name: str) -> str:
    """What is done with some data: it is measured, unless the name says something else."""
    return name if " " in name else f"measuring {name}"


def _epoch_line(at: At, what: str = "") -> None:
    if at.right is not None:
        say(_epoch(at, what), error=True)


def _epoch(at: At, what: str = "") -> str:
    right = f"{at.right} of {at.of}{what and f' {what}'}"
    return f"epoch {at.epoch} of {at.epochs}: loss {at.loss:.4f}, dev {right}{', best so far' if at.best else ''}"
