"""`mohs study calibrate` and `mohs study ask-model`: judges that are no people, beside people."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import Json, Verbose
from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import BadInput
from mohs.tasks.option import option

if TYPE_CHECKING:
    from mohs.models.chat import ChatModel
    from mohs.studies.calibrating import Fitted
    from mohs.studies.model_judges import ModelJudge
    from mohs.studies.study import Study

_USUAL_KEY = "OPENAI_API_KEY"
Place = Annotated[str, typer.Argument(metavar="STUDY", help="The folder of a study, or its PostgreSQL address.")]


def add(app: typer.Typer) -> None:
    """Give a command group these commands."""
    app.command("calibrate", short_help="Fit the judge of substitutions to what people said.")(calibrate)
    app.command("ask-model", short_help="Let a language model judge the items, beside people.")(
        command([AskModel], _ask_model, help_of(AskModel.__doc__), first=["study"])
    )


def calibrate(
    study: Place,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="A new folder for the judge; by default judge in the study's."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", metavar="T", help="When an item is valid; by default as the design says."),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Write it even if it does not do better on items it has not seen.")
    ] = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Fit the bundled judge's probabilities to the people of a study, and write a judge for --judge refit:FOLDER.

    The judge keeps its order of substitutions. Its log-odds are shifted and stretched so that its probabilities are
    shares of people's verdicts: how often an item like this one was valid in the study. A prior holds both numbers near
    the bundled judge, so that few items move it little. Only people count, without those set aside.

    Cross-validation over source texts says whether that helps on texts that were not seen. If it does not, nothing is
    written without --anyway, and the exit code is 1.

    \b
    Examples:
      mohs study calibrate my-study
      mohs report mohs-runs/RUN --judge refit:my-study/judge
      mohs study calibrate my-study --out my-judge --threshold 5.5
    """
    from mohs.cli.study import opened
    from mohs.studies.calibrating import calibrated, write

    with opened(study) as found:
        folder = out if out is not None else found.folder / "judge" if found.folder is not None else None
        if folder is None:
            raise BadInput("A study in a database has no folder for the judge; name one with --out FOLDER.")
        fitted = calibrated(found, threshold=threshold)
        helps = fitted.check.helps
        written = write(fitted, folder) if helps or anyway else None
    if json:
        say_json({**fitted.to_json(), "judge": None if written is None else f"refit:{written}"})
    else:
        _show(fitted)
        if written is not None:
            say(f"Use it with --judge refit:{written}")
    if not helps:
        ending = "it is written all the same" if written else "nothing is written; --anyway writes it"
        say(f"mohs: The fit does no better on texts it has not seen, so keep the bundled judge: {ending}.", error=True)
    if written is None:
        raise typer.Exit(1)


def _show(fitted: Fitted) -> None:
    from rich.table import Table

    from mohs.report.terminal import SafeConsole

    console = SafeConsole(markup=False, emoji=False, highlight=False)
    console.print(fitted.sentence)
    for note in fitted.notes:
        console.print(note, style="yellow")
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "before", "after"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_column("", style="dim")
    for name, before, after, about in fitted.rows():
        table.add_row(name, before, after, about)
    console.print(table)
    console.print(f"\n{fitted.moved}")


@dataclass(frozen=True, kw_only=True)
class AskModel:
    """Let a language model judge a study's items over an OpenAI-compatible endpoint.

    Its answers are marked as a model's: they are in no figure about people, and take nobody's place. What is printed is
    how often it agrees with people. Replies that are no answer are counted and never guessed. Run the same command
    again to go on; items with an answer are not asked about again.

    The key is read from the environment. Texts of the study go to the endpoint.

    Examples:
      mohs study ask-model my-study --model my-model --url http://127.0.0.1:8000/v1
      mohs study ask-model my-study --model NAME --url https://api.example.org/v1 --api-key-env MY_KEY --n 50
    """

    study: str = option("The folder of a study, or its PostgreSQL address.", metavar="STUDY", argument=True)
    model: str = option("The model's name at the endpoint.", default="", metavar="NAME")
    url: str = option("An OpenAI-compatible endpoint, up to /v1.", default="http://127.0.0.1:8000/v1", metavar="URL")
    name: str = option("Its name in the study.", default="", metavar="NAME", shown="model:NAME")
    n: int | None = option("Only the first so many main items.", metavar="ITEMS", least=1)
    statement: str | None = option(
        "plain or negated, if there are two statements; by default models take turns.", metavar="S"
    )
    temperature: float = option("Temperature of the model.", default=0.0, least=0)
    max_tokens: int = option("Tokens of an answer; 0: as the endpoint does.", default=1000, least=0)
    concurrency: int = option("Questions at once.", default=4, least=1)
    rate: float = option("Questions a second at most; 0: no limit.", default=0.0, least=0)
    timeout: float = option("Seconds to wait for a part of an answer.", default=60.0, least=1)
    retries: int = option("More tries after a failure that may pass.", default=5, least=0)
    api_key_env: str = option("The environment variable with the key.", default=_USUAL_KEY, metavar="NAME")
    again: bool = option("Ask again where the reply could not be read.", default=False)

    def chat(self) -> ChatModel:
        """The model at its endpoint, with the key from the environment."""
        from mohs.models.chat import ChatModel

        key = os.environ.get(self.api_key_env, "")
        if not key and self.api_key_env != _USUAL_KEY:
            raise BadInput(f"The environment variable {self.api_key_env} is not set; put the key into it.")
        return ChatModel(
            self.url,
            self.model,
            key=key,
            temperature=self.temperature,
            most_tokens=self.max_tokens,
            timeout=self.timeout,
            retries=self.retries,
            rate=self.rate,
        )


def _ask_model(asked: AskModel, *, json: bool, verbose: bool) -> None:
    """Ask, and print how the model agrees with people."""
    from mohs.cli.run_progress import progress_bar
    from mohs.cli.study import opened
    from mohs.studies import asking
    from mohs.studies.asked_models import asked_models

    chat = asked.chat()
    if chat.open_key:
        say(f"The key goes to {chat.url} without encryption; use https if that can be.", error=True)
    with opened(asked.study) as found:
        try:
            with progress_bar(json, doing="asking") as step:
                replies = asking.ask_model(
                    found,
                    chat,
                    name=asked.name,
                    n=asked.n,
                    statement=None if asked.statement is None else _statement(found, asked.statement),
                    concurrency=asked.concurrency,
                    again=asked.again,
                    progress=None if step is None else lambda done, total: step(None, done, total),
                )
        except KeyboardInterrupt:
            say("mohs: Interrupted: what was answered is stored; run the same command again to go on.", error=True)
            raise typer.Exit(130) from None
        finally:
            chat.close()
        beside = _beside(found, replies.annotator)
        how = asked_models(found)[replies.annotator]
    if json:
        say_json({**replies.to_json(), "asked": how, "agreement": [one.to_json() for one in beside]})
    else:
        _told(replies, beside)
    if replies.declined:
        say(f"mohs: The endpoint did not answer {replies.declined} questions; run the command again.", error=True)
        raise typer.Exit(3)


def _statement(study: Study, wanted: str) -> int:
    """The number of the plain or of the negated statement."""
    if wanted not in ("plain", "negated"):
        raise BadInput(f"There is no statement {wanted!r}; use plain or negated.")
    for question in study.design.questions:
        for number, one in enumerate(question.statements):
            if one.negated == (wanted == "negated"):
                return number
    raise BadInput(f"The design {study.design.name} has no {wanted} statement; leave out --statement.")


def _beside(study: Study, name: str) -> tuple[ModelJudge, ...]:
    """How the model agrees with people so far."""
    from mohs.studies.model_judges import model_judges
    from mohs.studies.pool import gathered
    from mohs.studies.verdict_rule import rule_of

    found = gathered(study, "people")
    return model_judges(found.pool, [one for one in found.models if one.whose == name], rule_of(study.design))


def _told(replies: Any, beside: tuple[ModelJudge, ...]) -> None:
    from mohs.report.table import rate
    from mohs.studies.lines import share
    from mohs.studies.ratings import Estimate

    def figure(found: Estimate) -> str:
        if found.value is None:
            return "-"
        ends = "[-]" if found.low is None or found.high is None else f"[{found.low:.2f}, {found.high:.2f}]"
        return f"{found.value:.2f} {ends}"

    answered = f"{replies.answered:,} of {replies.items:,} items answered, {replies.new:,} now"
    say(f"{replies.annotator} (a model): {answered}.")
    if replies.unreadable:
        say(f"{replies.unreadable:,} of {replies.answered + replies.unreadable:,} replies were no answer.")
    for one in beside:
        if not one.agreeing.total:
            say(f"{one.question}: no item has two people's answers yet, so there is nobody to compare it with.")
            continue
        say(f"{one.question}: {rate(one.agreeing)} of {one.agreeing.of}")
        say(f"  beyond chance: {figure(one.beyond_chance)} ({one.beyond_chance.of})")
        if one.correlation is not None:
            say(f"  rank correlation with people's means: {figure(one.correlation)}")
        if one.difference is not None:
            say(f"  its mean less people's: {one.difference:+.2f}")
        if one.same_verdict is not None:
            say(f"  the same verdict (valid or not): {rate(one.same_verdict)} of {one.same_verdict.of}")
        say(f"  one person, for comparison: {share(one.people)} of {one.people.of}")
