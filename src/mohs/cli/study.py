"""`mohs study`: ask people about the texts of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mohs.cli import study_analyse, study_files, study_judges
from mohs.cli.options import Json, Verbose
from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import BadInput
from mohs.studies.settings import NewStudy

if TYPE_CHECKING:
    from mohs.studies.study import Invitation, Study

app = typer.Typer(
    help=(
        "Ask people about the texts of a run: make a study, serve it, read what they said.\n\n\b\nExamples:\n"
        "  mohs study new my-study --from mohs-runs/RUN --design meaning\n  mohs study invite my-study --n 10\n"
        "  mohs study serve my-study\n  mohs study analyse my-study"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

Place = Annotated[str, typer.Argument(metavar="STUDY", help="The folder of a study, or its PostgreSQL address.")]


@contextmanager
def opened(place: str) -> Iterator[Study]:
    """A study, closed at the end."""
    from mohs.studies.study import Study

    with Study.open(place) as study:
        yield study


@app.command("designs", short_help="List the designs, or print one to start your own from.")
def designs(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print this design as YAML.")] = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """List the bundled designs: what is asked, on which scale, by how many judges, and after which paper.

    \b
    Examples:
      mohs study designs
      mohs study designs fragments > my-design.yaml
    """
    from dataclasses import asdict

    from mohs.studies.design import bundled_names, bundled_text, read_design

    if name is not None:
        design = read_design(name)
        if json:
            say_json(asdict(design))
        else:  # as it was written, which is easier to change
            print(bundled_text(name) if name in bundled_names() else design.to_yaml(), end="")
        return
    found = [read_design(one) for one in bundled_names()]
    if json:
        say_json([asdict(one) for one in found])
        return
    from rich.padding import Padding
    from rich.text import Text

    from mohs.report.terminal import SafeConsole

    console = SafeConsole(markup=False, emoji=False, highlight=False)
    for one in found:
        console.print(Text(f"{one.name}  ", style="bold") + Text(one.title, style="dim"))
        scale = " / ".join(f"{len(q.answers)} answers" if q.answers else "the classes" for q in one.questions)
        about = f"{one.about} {one.judges} judges an item, {one.n} of each attack, {scale}."
        for paragraph in (about, *filter(None, [one.valid and f"Valid: {one.valid}.", one.paper])):
            console.print(Padding(Text(str(paragraph)), (0, 0, 0, 4)))
    console.print("\nUse one with --design NAME, or write your own: mohs study designs NAME > my-design.yaml")


def _new(asked: NewStudy, *, json: bool, verbose: bool) -> None:
    """Make the study and say what it holds."""
    if not asked.runs:
        raise BadInput("No run was given; name the folder of a finished run with --from.")
    study, notes = asked.carry_out()
    with study:
        from mohs.studies.item import Role

        items = study.items()
        main = sum(item.role is Role.MAIN for item in items)
        if json:
            roles = {str(role): sum(item.role is role for item in items) for role in Role}
            told = {"study": study.place, "design": study.design.name, "items": roles, "judges": study.design.judges}
            say_json({**told, "notes": notes})
            return
        for note in notes:
            say(note, error=True)
        say(f"{study.place}: {main} items, {study.design.judges} judges each, {main * study.design.judges} judgements.")
        say(f"Next: mohs study invite {study.place} --n 5, then mohs study serve {study.place}")


app.command("new", short_help="Make a study from finished runs.")(
    command([NewStudy], _new, help_of(NewStudy.__doc__), first=["study"])
)


@app.command("invite", short_help="Add annotators and print their secret links.")
def invite(
    study: Place,
    n: Annotated[int, typer.Option("--n", min=0, help="How many annotators to add.")] = 0,
    name: Annotated[
        list[str] | None, typer.Option("--name", metavar="NAME", help="Add one by this name; repeat for several.")
    ] = None,
    again: Annotated[
        list[str] | None,
        typer.Option("--again", metavar="NAME", help="A new link for somebody who lost theirs; the old one ends."),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Where the study is served, for whole links.")
    ] = "http://127.0.0.1:8000",
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Add annotators and print a secret link for each. Links are shown once: the study keeps only their hashes.

    Names can be numbers; no personal data is needed.

    \b
    Examples:
      mohs study invite my-study --n 5
      mohs study invite my-study --name ada --name grace --url https://study.example.org
      mohs study invite my-study --again ada
    """
    if not (n or name or again):
        raise BadInput("Nobody was named; say how many with --n, or a name with --name.")
    with opened(study) as found:
        links: list[Invitation] = found.invite(name or (), n) if n or name else []
        links += [found.link_again(one) for one in again or ()]
    rows = [{"name": one.name, "link": f"{url.rstrip('/')}/a/{one.token}"} for one in links]
    if json:
        say_json(rows)
        return
    for row in rows:
        say(f"{row['name']}  {row['link']}")


@app.command("status", short_help="Say how far a study is.")
def status(study: Place, json: Json = False, verbose: Verbose = False) -> None:
    """Say how many judgements there are, and how far each annotator is.

    \b
    Examples:
      mohs study status my-study
      mohs study status my-study --json
    """
    from dataclasses import asdict

    with opened(study) as found:
        progress, people = found.progress(), found.annotators()
        design = found.design
    if json:
        say_json({**asdict(progress), "design": design.name, "people": [asdict(one) for one in people]})
        return
    share = 100 * progress.judgements // progress.wanted if progress.wanted else 0  # 100% only at the end
    say(f"{design.title} ({design.name})")
    say(f"{progress.judgements:,} of {progress.wanted:,} judgements ({share}%)")
    say(f"{progress.complete:,} of {progress.items:,} items complete")
    states = ", ".join(f"{count} {state}" for state, count in progress.by_state.items())
    say(f"{progress.annotators} people: {states}" if states else "Nobody was invited yet.")
    for one in people if verbose else ():
        say(f"  {one.name}: {one.kind}, {one.state}")


@app.command("set-aside", short_help="Stop counting an annotator's answers.")
def set_aside(
    study: Place,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Who.")],
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Stop counting what annotators judged, for example after failed controls; their items go to others.

    Their answers stay in the database and in exports, where their state is `set aside`.

    \b
    Examples:
      mohs study set-aside my-study annotator-3
    """
    with opened(study) as found:
        gone = {name: found.set_aside(name) for name in names}
    if json:
        say_json(gone)
        return
    for name, count in gone.items():
        say(f"{name}: {count} judgements set aside")


@app.command("serve", short_help="Serve the pages for annotators and the organiser.")
def serve(
    study: Place,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free port.")] = 8000,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="The address that people use, if a proxy stands before the server."),
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Serve the annotators' pages and the organiser's page, until Ctrl-C. Answers are kept the moment they are given.

    The organiser's secret is printed at the start; MOHS_ORGANISER sets another one. Behind a proxy with HTTPS, people
    elsewhere can take part; mohs itself speaks HTTP.

    \b
    Examples:
      mohs study serve my-study
      mohs study serve my-study --host 0.0.0.0 --port 8080
      mohs study serve my-study --url https://study.example.org
    """
    import os
    import sys

    try:
        from mohs.studies.web import serve as start
    except ImportError as error:
        raise BadInput(
            f"The pages need packages that are not installed ({error.name}); pip install 'mohs[studies]'."
        ) from error

    def said(text: str) -> None:
        say(text)
        sys.stdout.flush()  # also where the output goes into a file: the server does not end soon

    with opened(study) as found:
        start(found, host=host, port=port, organiser=os.environ.get("MOHS_ORGANISER"), public=url, said=said)


study_analyse.add(app)
study_files.add(app)
study_judges.add(app)
