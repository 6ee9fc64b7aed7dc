"""`mohs benchmark`: build a benchmark of one's own, and look at it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mohs.cli import benchmark_score
from mohs.cli.options import Json, Verbose
from mohs.cli.saying import say, say_json
from mohs.errors import BadInput

if TYPE_CHECKING:
    from mohs.curation.build import Built
    from mohs.curation.config import Config

WAITING = 5  # the exit code of a build that waits for people

app = typer.Typer(
    help="Build a benchmark of adversarial texts from your own data, as AdvGLUE was built.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.command("new", short_help="Write a configuration to start from.")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("benchmark.yaml"),
) -> None:
    """Write a configuration with all settings explained; it builds as it is, with what is bundled.

    \b
    Examples:
      mohs benchmark new
      mohs benchmark new ours.yaml
    """
    from importlib.resources import files

    from mohs.curation.stage import write_whole

    if file.exists():
        raise BadInput(f"{file} is there already; name another file.")
    write_whole(file, (files("mohs.curation") / "example.yaml").read_bytes())
    say(f"{file} written. Next: mohs benchmark build {file} --out my-benchmark")


@app.command("build", short_help="Build a benchmark, or go on with one.")
def build(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A YAML file; see `mohs benchmark new`.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The benchmark's folder.")],
    only: Annotated[
        str | None, typer.Option("--only", metavar="STAGE", help="Do this stage again, and no other.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="STAGE", help="Stop after this stage.")] = None,
    hide_test: Annotated[
        bool | None,
        typer.Option(
            "--hide-test/--show-test",
            help="Whether the test set goes without labels; they are then in private/. Default: as CONFIG says.",
        ),
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers",
            metavar="N|auto",
            show_default="1",
            help="Processes that share the attacks' examples, or auto: as many as are measured to help.",
        ),
    ] = None,
    runs_at_once: Annotated[
        int, typer.Option("--runs-at-once", min=1, help="Attacks that go on at once, each with --workers processes.")
    ] = 1,
    at_once: Annotated[int | None, typer.Option("--at-once", min=1, help="How many searches run at once.")] = None,
    cache: Annotated[
        str | None, typer.Option("--cache", metavar="FILE", help="Keep the surrogates' answers, for later runs.")
    ] = None,
    trust_config: Annotated[
        bool, typer.Option("--trust-config", help="Run code that CONFIG names: python: victims, FILE.py:CLASS.")
    ] = False,
    trust_code: Annotated[
        bool, typer.Option("--trust-code", help="Run the code that comes with an hf: model.")
    ] = False,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow sklearn: files, which can run code when loaded.")
    ] = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Attack the surrogates of every task, keep the texts that fool all of them and that judges accept, and write them.

    The stages are attack, transfer, fidelity, judge, merge, split and write. Each keeps its result in the folder, so
    the same command goes on where it was cut off, and a changed configuration repeats only what it changes. If people
    are to judge, the build stops until they have, with exit code 5. The result loads with datasets.load_dataset; it has
    a data card (README.md), Croissant metadata and a page (benchmark.html).

    \b
    Examples:
      mohs benchmark build benchmark.yaml --out my-benchmark
      mohs benchmark build benchmark.yaml --out my-benchmark --until fidelity
      mohs benchmark build benchmark.yaml --out my-benchmark --hide-test --workers 2
    """
    from mohs.cli.run_progress import progress_bar
    from mohs.curation.build import build as built
    from mohs.curation.people import Waiting
    from mohs.curation.reading import read_config
    from mohs.curation.suite import How
    from mohs.runs.containment import no_sudden_end, own_output
    from mohs.runs.settings import head_count

    found = read_config(config)
    if not trust_config:
        _refuse_code(config, found)
    if hide_test is not None:
        found = replace(found, hide_test=hide_test)
    try:
        with own_output(), no_sudden_end():
            said = (lambda text: say(text, error=True)) if verbose else None
            some = None if workers is None else head_count(workers)
            how = How(
                some, at_once, cache, trust_code, trust_pickle, None, said, partial(progress_bar, json), runs_at_once
            )
            done = built(found, out, how, only=only, until=until)
    except KeyboardInterrupt:
        say(f"mohs: Interrupted: what is finished is saved in {out}; run the same command again.", error=True)
        raise typer.Exit(130) from None
    except Waiting as waiting:
        if json:
            say_json({"out": str(out), "waiting": str(waiting)})
        say(f"mohs: {waiting}", error=True)
        raise typer.Exit(WAITING) from None
    _finished(done, json=json)


def _refuse_code(path: Path, config: Config) -> None:
    """Refuse a configuration that names code to run."""
    from mohs.runs.trust import runs_code

    named = [config.filters.encoder, config.filters.token_encoder]
    named += [victim for task in config.tasks for victim in task.surrogates.values()]
    for one in config.attacks:
        named.append(one.attack)
        for value in one.options.values():
            named += [str(part) for part in (value if isinstance(value, list) else [value])]
    code = next((one for one in named if runs_code(one)), None)
    if code is not None:
        raise BadInput(f"{path} names code to run ({code}); if you trust it, add --trust-config.")


def _finished(done: Built, *, json: bool) -> None:
    """Say what was built."""
    from mohs.curation.folder import ABOUT, PAGE, open_benchmark
    from mohs.curation.page import headline

    whole = "write" in done.done
    if json:
        stages = {"out": str(done.out), "stages": done.done}
        say_json({**stages, "benchmark": open_benchmark(done.out).about if whole else None})
    elif whole:
        about = open_benchmark(done.out).about
        say(f"{headline(about)}.")
        for note in about["notes"]:
            say(note, error=True)
        say(f"In {done.out}: data, README.md, croissant.json, {ABOUT}, {PAGE}")
    else:
        say(f"Done: {', '.join(done.done)}. `mohs benchmark show {done.out}` says what is left of the texts.")
    if done.errors:
        say(f"mohs: {done.errors} attempts ended in an error; see stages/01-attack-dropped.jsonl.", error=True)
        raise typer.Exit(3)


@app.command("show", short_help="Say what each stage took in, kept and dropped, and why.")
def show(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a benchmark, finished or not.")],
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Say for each task and attack what each stage took in and kept, and why it dropped the others.

    \b
    Examples:
      mohs benchmark show my-benchmark
      mohs benchmark show my-benchmark --json
    """
    from mohs.curation.show import show as shown
    from mohs.curation.show import steps_of
    from mohs.report.terminal import SafeConsole

    steps = steps_of(folder)
    if json:
        say_json([step.to_json() for step in steps])
        return
    shown(SafeConsole(markup=False, emoji=False, highlight=False), steps)


benchmark_score.add(app)
