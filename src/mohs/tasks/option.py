"""An option of a command, defined once, as a field of a frozen dataclass.

These fields give the options of the command line, the keyword arguments in Python, the keys of `--config`, the name of
the run folder, the manifest, and what a resumed run must match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from mohs.errors import BadInput
from mohs.text.addresses import without_credentials

_KEY = "mohs"


@dataclass(frozen=True)
class Option:
    """What an option field has besides its type and default."""

    help: str
    flags: tuple[str, ...] = ()  # by default the field's name with dashes
    metavar: str | None = None
    least: int | None = None  # the smallest number allowed
    many: bool = False  # may be given several times
    read: Callable[[Any], Any] | None = None  # from the command line's strings to the value
    shown: str | None = None  # the default that help shows, if not the field's own
    counts: bool = True  # part of what a resumed run must match
    kind: str | None = None  # for a model or word book: its kind of service
    secret: Callable[[Any], Any] | None = None  # removes secrets from the value before it is stored
    command: bool = True  # available on the command line
    argument: bool = False  # positional, without a flag
    before: Any = ...  # what runs did that were started before there was this option, if not the default


def option(help: str, *flags: str, default: Any = None, **settings: Any) -> Any:
    """A field of a settings class."""
    return field(default=default, metadata={_KEY: Option(help, flags, **settings)})


def model(kind: str) -> Any:
    """The field for a model or word book that a verb may use: its name, or the object itself."""
    metavar, help = _MODELS[kind]
    return option(help, metavar=metavar, kind=kind, secret=without_credentials)


def several(help: str, flag: str, metavar: str, default: tuple[str, ...] = ()) -> Any:
    """The field for an option that may be repeated."""
    return option(help, flag, default=default, metavar=metavar, many=True)


def budget() -> Any:
    """The field for the query budget."""
    return option("The most queries per example.", least=1)


def change_placeholders() -> Any:
    """The field that lets placeholders change."""
    help = "Also change words in placeholders (@USER, [NAME], URL), links and tags (<br />)."
    return option(help, default=False, before=True)


def blacklist() -> Any:
    """The field for words that no neighbour may bring in."""
    return option("Words that are never inserted, one per line.", metavar="FILE")


def no_judge() -> Any:
    """The field that leaves out fair success."""
    return option("Leave fair success out of the report.", default=False, counts=False)


def floor() -> Any:
    """The field for the fluency of neighbours."""
    return option("Leave out texts whose perplexity under --lm is more than R times the original's.", metavar="R")


_MODELS: Mapping[str, tuple[str, str]] = {
    "encoder": ("E", "Sentence encoder: pocket (default), use, hf:PATH_OR_ID, or an asset such as minilm."),
    "token_encoder": ("E", "Token vectors for BERTScore: pocket (default), hf:PATH_OR_ID, or an asset."),
    "masked_lm": ("M", "Masked language model: hf:PATH_OR_ID, or an asset such as minilm-mlm."),
    "lm": ("M", "Causal language model: hf:PATH_OR_ID, gguf:FILE, or an asset such as smollm2."),
    "tagger": ("T", "Part-of-speech tagger: auto (default: spaCy if installed), pocket or spacy:NAME."),
    "parser": ("P", "Dependency parser: auto (default: spaCy's small English model), spacy:NAME or parses:FILE."),
    "paraphraser": ("S", "Paraphraser: hf:PATH_OR_ID, a sequence-to-sequence model; no default."),
    "autoencoder": ("FOLDER", "Tree auto-encoder for t3, made by `mohs train --task t3`; no default."),
    "grammar": ("G", "Grammar checker: harper (default) or languagetool:URL."),
    "judge": (
        "J",
        "Judge of substitutions: pocket (default), refit:FOLDER (see `mohs study calibrate`) or hf:PATH_OR_ID (see "
        "`mohs train --task`).",
    ),
    "vectors": ("FILE", "Word vectors: pocket (default), a file or folder, or an asset (see `mohs assets`)."),
    "wordnet": ("FOLDER", "WordNet's database files; by default the asset wordnet."),
    "sememes": ("FILE", "Table of sememe substitutes; by default the asset hownet."),
}


def options_of(settings: Any) -> Iterator[tuple[Field[Any], Option]]:
    """The option fields of a settings class or object."""
    for found in fields(settings):
        if _KEY in found.metadata:
            yield found, found.metadata[_KEY]


def models_of(settings: Any) -> dict[str, Any]:
    """The model given for each kind; None if none was given."""
    return {told.kind: getattr(settings, f.name) for f, told in options_of(settings) if told.kind}


def check_numbers(*settings: Any) -> None:
    """Refuse numbers below the minimum of their option."""
    for one in settings:
        for found, told in options_of(one):
            value = getattr(one, found.name)
            if told.least is not None and value is not None and value < told.least:
                raise BadInput(f"{found.name} is {value}; it must be at least {told.least}.")


def given(settings: Any) -> dict[str, Any]:
    """The options that count and differ from their defaults; the run folder is named after them."""
    found = {}
    for f, told in options_of(settings):
        value = getattr(settings, f.name)
        default = None if f.default is MISSING else f.default
        if told.counts and value != default:
            found[f.name] = told.secret(value) if told.secret else value
    return found
