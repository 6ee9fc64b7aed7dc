"""`mohs entities`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose
from mohs.cli.saying import say, say_json
from mohs.errors import BadInput
from mohs.tasks.reading import comma


def entities(
    data: Annotated[str, typer.Option(metavar="D", help="Training data, named as for `mohs train`.")] = "pocket:train",
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the table.")] = Path("entities.json"),
    tagger: Annotated[
        str, typer.Option(metavar="T", help="auto (default: spaCy if installed), pocket, spacy:NAME.")
    ] = "auto",
    n: Annotated[int | None, typer.Option(min=1, help="The first N examples; all if not given.")] = None,
    fields: Annotated[
        str | None, typer.Option("--text-field", metavar="NAMES", help="Text column, or two for pairs.")
    ] = None,
    label_field: Annotated[str, typer.Option(help="Label column.")] = "label",
    labels: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Class names in the victim's order: negative,positive.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the data file.")] = "utf-8",
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the table of named entities that PWWS inserts, from training data.

    For each class and type of entity it holds one word that is frequent in the other classes and rare in this class.
    A spaCy model with a recogniser finds the entities. Otherwise they are the tagger's proper nouns and numbers.

    \b
    Examples:
      mohs entities --data train.jsonl --labels negative,positive --out entities.json
      mohs attack --attack pwws:released --entities entities.json --data test.jsonl --wordnet ./wordnet
    """
    from json import dumps

    from mohs.attacks.named_entities import recogniser, table_of
    from mohs.models.tagger import load_tagger
    from mohs.text.dataset import Dataset

    examples = Dataset(
        data, fields=comma(fields), label_field=label_field, labels=comma(labels), encoding=encoding, n=n
    )
    table = table_of(examples, recogniser(load_tagger(tagger)))
    rows = table["replacements"]
    if not any(rows.values()):
        raise BadInput(
            f"No class of {data} can take an entity from another; give data of two classes with names or numbers."
        )
    try:
        out.write_text(dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{out} cannot be written ({error.strerror or error}).") from error
    if json:
        say_json({"out": str(out), "replacements": rows, "types": len(table["types"])})
        return
    known = f"; it lists the types of {len(table['types']):,} entities" if table["types"] else ""
    say(f"{out}: a replacement for each type of entity in {len(rows)} classes (-v shows them){known}")
    for label, row in rows.items() if verbose else ():
        say(f"  class {label}: {', '.join(f'{kind} {word}' for kind, word in row.items())}")
