"""`mohs`: the commands, error messages and exit codes.

Exit codes: 0 done; 2 bad input; 3 done, but some examples ended in an error; 4 a model stopped answering;
5 a benchmark waits for people to judge; 130 interrupted. Finished examples are saved in every case.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Annotated, Any

import typer

from mohs import __version__
from mohs.cli import (
    analyse,
    assets,
    audit,
    augment,
    benchmark,
    card,
    compare,
    defend,
    demo,
    detect,
    entities,
    export,
    merge,
    report,
    runs,
    study,
    train,
    train_pocket,
    transfer,
    verify,
)
from mohs.cli.saying import say
from mohs.cli.verbs import add_verbs
from mohs.errors import MohsError, ServiceFailed
from mohs.text.addresses import without_credentials

_SECONDS_OF_ONE_INTERRUPT = 0.3  # a wrapper may pass on an interrupt that the terminal sent already
_SECONDS_TO_TIDY_UP = 2.0
_SHOW_CURSOR = "\x1b[?25h"
_end = os._exit  # a run puts something else in its place

app = typer.Typer(
    name="mohs",
    help="A hardness scale for text classifiers: how easily is a model fooled?",
    epilog="Start with `mohs demo`; it needs no model or data of your own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
# A short help is given if the first sentence is too long for a line of 80 characters.
app.command("demo", short_help="Attack the bundled classifier on the bundled reviews.")(demo.demo)
add_verbs(app)
app.command("verify", short_help="Check the certificates of a radius run.")(verify.verify)
app.command("report")(report.report)
app.command("audit", short_help="Measure a run's adversarial examples on every class of constraints.")(audit.audit)
app.command("compare", short_help="Compare runs of several victims, example by example.")(compare.compare)
app.command("analyse", short_help="Analyse a run's replaced words: frequency, similarity, layers.")(analyse.analyse)
app.command("detect", short_help="Measure how well detectors tell adversarial texts from originals.")(detect.detect)
app.command("defend", short_help="Judge defences of an attacked victim, also by attacking them.")(defend.defend)
app.command("card", short_help="Write the robustness section of a model card from a run.")(card.card)
app.command("export", short_help="Write a run's records as CSV, Parquet or JSON lines.")(export.export)
app.command("runs", short_help="List run folders with their headline figures.")(runs.runs)
app.command("merge", short_help="Join the parts of a run that --shard made.")(merge.merge)
app.command("transfer", short_help="Ask another victim about a run's adversarial texts.")(transfer.transfer)
app.command("attacks", short_help="List the attacks: presets, papers, needs and costs.")(report.attacks)
app.command("spaces", short_help="List the sources of substitutes and the measures.")(report.spaces)
app.command("entities", short_help="Make the table of named entities that PWWS inserts.")(entities.entities)
app.command("train", short_help="Train or fine-tune a classifier to attack, or a judge.")(train.train)
app.command("augment", short_help="Write a data file with more texts, from a space or a run.")(augment.augment)
app.add_typer(study.app, name="study", short_help="Ask people about the texts of a run.")
app.add_typer(benchmark.app, name="benchmark", short_help="Build a benchmark of adversarial texts, and score models.")
app.add_typer(assets.app, name="assets", short_help="Get word vectors, WordNet, encoders and language models.")
app.command("train-pocket", short_help="Train the bundled classifier again.")(train_pocket.train_pocket)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"mohs {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a MohsError becomes a one-sentence message and an exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if interrupts are ignored
        signal.signal(signal.SIGINT, _interrupt)
    try:
        _command()
    except SystemExit as ended:
        _end_despite_threads(ended.code)
        raise


def _command() -> None:
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except ServiceFailed as error:
        _fail(error, 4)
    except MohsError as error:
        _fail(error, 2)
    except BrokenPipeError:  # the reader of the output, such as `head`, has stopped
        _hush()
        sys.exit(0)
    except OSError as error:
        _hush()
        _fail(f"The output cannot be written ({error.strerror or error}).", 2)
    except KeyboardInterrupt:
        _fail("Interrupted.", 130)


def _interrupt(number: int, frame: object) -> None:
    """The first interrupt ends the command in order, a second one at once: what is finished is saved in both cases."""
    began = time.monotonic()

    def again(number: int, frame: object) -> None:
        if time.monotonic() - began > _SECONDS_OF_ONE_INTERRUPT:
            cursor = _SHOW_CURSOR if os.isatty(2) else ""  # the progress bar has hidden it
            os.write(2, f"{cursor}mohs: Interrupted again: ended at once.\n".encode())
            _end(130)

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, again)
    raise KeyboardInterrupt


def _end_despite_threads(code: Any) -> None:
    """Let the process end with this exit code even if a victim has left threads that would keep it alive."""
    if all(thread.daemon or thread is threading.main_thread() for thread in threading.enumerate()):
        return
    status = code if isinstance(code, int) else int(code is not None)
    timer = threading.Timer(_SECONDS_TO_TIDY_UP, _end, (status,))
    timer.daemon = True
    timer.start()


def _fail(problem: object, code: int) -> None:
    say(f"mohs: {without_credentials(str(problem))}", error=True)  # an address may stand where a file belongs
    sys.exit(code)


def _hush() -> None:
    """Redirect an unwritable standard output to nowhere, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
