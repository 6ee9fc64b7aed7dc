"""`mohs study import` and `mohs study export`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mohs.cli.options import Json, Verbose
from mohs.cli.saying import Terminal, say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import BadInput, MohsError
from mohs.tasks.option import option, several

if TYPE_CHECKING:
    from mohs.studies.forms import Given
    from mohs.studies.importing import Imported
    from mohs.studies.study import Study

_Place = Annotated[str, typer.Argument(metavar="STUDY", help="The folder of a study, or its PostgreSQL address.")]
_REASONS = 5  # kinds of rows left out that are printed without --verbose


def add(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("export", short_help="Write judgements as a table, or items for a platform.")(export_)
    app.command("import", short_help="Read judgements made elsewhere.")(
        command([Import], _import, help_of(Import.__doc__), first=["study", "file"])
    )


def export_(
    study: _Place,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="PATH", help="Where to; without it a table goes to standard output.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", help="csv, jsonl, mturk or label-studio; default: the ending of --out, or jsonl."),
    ] = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write all judgements as a table (csv, jsonl), or the items for Mechanical Turk or Label Studio.

    A table has a row a judgement: who said what about which item, where the item comes from, and whether it counts.
    `mohs study import` reads it back. For a platform there are two files for each question: the items (CSV or JSON),
    which say nothing about what was done to a text, and the page (HTML or XML).

    \b
    Examples:
      mohs study export my-study --out judgements.csv
      mohs study export my-study --format jsonl | head -1
      mohs study export my-study --format mturk --out batch
      mohs study export my-study --format label-studio --out tasks
    """
    from mohs.studies.exporting import PLATFORMS, TABLES, check_format, export, refuse_empty, table_text
    from mohs.studies.platforms import notes_on
    from mohs.studies.study import Study

    ending = out.suffix.removeprefix(".").lower() if out else ""
    if format is None and out is not None and ending not in TABLES:
        raise BadInput(f"The ending of --out {out} is no format; use .csv or .jsonl, or give one with --format.")
    format = format or ending or "jsonl"
    check_format(format)
    with Study.open(study) as found:
        if out is None:
            if format not in TABLES:
                raise BadInput(f"--format {format} writes files; say where with --out, as in --out batch.")
            refuse_empty(found)
            _printed(table_text(found, format))
            return
        files = export(found, out, format)
        notes = notes_on(found, found.items()) if format in PLATFORMS else []
    if json:
        say_json({"format": format, "files": [str(path) for path in files], "notes": notes})
        return
    for path in files:
        say(f"{path} written")
    for note in notes:
        say(note, error=True)


@dataclass(frozen=True, kw_only=True)
class Import:
    """Read judgements made elsewhere: exports of mohs, results of Mechanical Turk, exports of Label Studio, tables.

    Rows are matched to the study's items by their key, by the code that a platform was given, or by their texts. A
    file can be imported again: what is there already is left as it is. Worker ids are not kept; a code stands for each.

    With --new the study itself is made of the file: each text (or pair of texts) becomes an item. A file without
    answers gives a study to be judged. The columns have our names (item, text or text_1 and text_2, annotator, answer,
    truth, group, role, seconds, fact_...) or are named with --column.

    Examples:
      mohs study import my-study judgements.csv
      mohs study import my-study Batch_123_results.csv --dry-run
      mohs study import my-study ratings.csv --column answer=Rating --column annotator=Judge --answers "Fake=Altered"
      mohs study import other-study answers.csv.gz --new real-or-altered
      mohs study import my-study gpt.jsonl --kind model
    """

    study: str = option("The folder of a study, or its PostgreSQL address.", metavar="STUDY", argument=True)
    file: Path = option("CSV, TSV, JSONL, JSON or Parquet, also with .gz.", metavar="FILE", argument=True)
    new: str | None = option(
        "Make STUDY first: the items are those of the file. A name or a YAML file.", metavar="DESIGN"
    )
    labels: str = option("With --new: the classes, for a design that asks for them.", default="", metavar="A,B")
    judges: int | None = option("With --new: judges for each item; default: as the design.", least=1)
    seed: int = option("With --new: decides the order of the items.", default=0)
    columns: Sequence[str] = several(
        "Which column is what, as in answer=Rating; repeat.", "--column", metavar="OURS=NAME"
    )
    answers: Sequence[str] = several("What an answer in the file means; repeat.", "--answers", metavar="THEIRS=OURS")
    question: str = option("The question that rows answer which do not say it.", default="", metavar="NAME")
    kind: str = option("imported (people), model or simulated; these are never mixed.", default="imported")
    unnamed: str = option("What judges are called if the file does not say who judged.", default="", metavar="NAME")
    encoding: str = option("How the file encodes letters.", default="utf-8")
    skip_bad: bool = option("Leave out rows that do not fit, and count them.", default=False)
    dry_run: bool = option("Only say what would be imported.", default=False)


def _import(asked: Import, *, json: bool, verbose: bool) -> None:
    from mohs.studies.forms import Given
    from mohs.studies.importing import imported
    from mohs.studies.item import Kind
    from mohs.studies.study import Study

    known = [one for one in Kind if one is not Kind.PERSON]
    if asked.kind not in known:
        raise BadInput(f"Unknown kind {asked.kind!r}; use {', '.join(known)}.")
    given = Given(
        columns=_pairs(asked.columns, "--column", "answer=Rating"),
        answers=_pairs(asked.answers, "--answers", "Fake=Altered"),
        question=asked.question,
        kind=Kind(asked.kind),
        unnamed=asked.unnamed,
        encoding=asked.encoding,
        skip_bad=asked.skip_bad,
    )
    if asked.new is not None:
        if asked.dry_run:
            raise BadInput("A study made with --new cannot be tried with --dry-run; make it in another folder.")
        _new(asked, asked.new, given, json=json, verbose=verbose)
        return
    if asked.labels or asked.judges is not None or asked.seed:
        raise BadInput("--labels, --judges and --seed are for a new study; give its design with --new.")
    with Study.open(asked.study) as found:
        _say(found, imported(found, asked.file, given, dry_run=asked.dry_run), json=json, verbose=verbose)


def _new(asked: Import, name: str, given: Given, *, json: bool, verbose: bool) -> None:
    from dataclasses import replace

    from mohs.studies.design import read_design
    from mohs.studies.importing import study_of
    from mohs.tasks.reading import comma

    design = read_design(name)
    design = replace(design, judges=asked.judges or design.judges)
    study, told = study_of(asked.study, asked.file, design, given, labels=comma(asked.labels), seed=asked.seed)
    with study:
        _say(study, told, json=json, verbose=verbose, made=True)


def _say(study: Study, told: Imported, *, json: bool, verbose: bool, made: bool = False) -> None:
    """Say what became of a file."""
    if json:
        say_json({"study": study.place, **told.to_json()})
        return
    for note in told.notes:
        say(note, error=True)
    if verbose:
        for one in told.left_out:
            say(f"{one.where}: {one.reason}", error=True)
    else:
        reasons = Counter(one.reason for one in told.left_out)
        for reason, count in reasons.most_common(_REASONS):
            say(f"{count} left out: {reason}", error=True)
        if len(reasons) > _REASONS:
            rest = len(told.left_out) - sum(count for _, count in reasons.most_common(_REASONS))
            say(f"{rest} left out for other reasons; --verbose lists them.", error=True)
    if made:
        say(f"{study.place}: {study.progress().items:,} items of {study.design.name}")
    judges = f" by {told.judges:,} judges" if told.judges else ""
    parts = [f"{told.new:,} judgements{judges} {'would be imported' if told.dry else 'imported'}"]
    parts += [f"{told.there:,} were there already"] if told.there else []
    parts += [f"{told.repeated:,} rows repeat others"] if told.repeated else []
    say(f"{told.form[0].upper()}{told.form[1:]}, {told.rows:,} rows: {', '.join(parts)}.")


def _pairs(given: Sequence[str], flag: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        first, sign, second = one.partition("=")
        if not (sign and first.strip() and second.strip()):
            raise BadInput(f"{flag} {one!r} is not NAME=NAME; write it as {flag} {example}.")
        if first.strip() in found:
            raise BadInput(f"{flag} names {first.strip()!r} twice; name it once.")
        found[first.strip()] = second.strip()
    return found


def _printed(parts: Any) -> None:
    """Write a table to standard output; on a terminal without control characters."""
    import sys

    stdout = Terminal(sys.stdout)
    try:
        for part in parts:
            stdout.write(part)
        stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe, as `head` does
        raise
    except OSError as error:
        fault = error.strerror or error
        raise MohsError(f"Standard output cannot be written ({fault}); name a file with --out.") from error
    except UnicodeEncodeError as error:
        raise MohsError(f"Standard output accepts only {error.encoding}; name a file with --out.") from error
