"""The options that all runs share, written once (see `mohs.tasks.option`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import option
from mohs.tasks.reading import Reading, comma

if TYPE_CHECKING:
    from mohs.models.load import AnyVictim
    from mohs.text.dataset import AnyExamples

PRIVATE = ("header",)  # victim options that are secrets: neither stored nor compared


def pairs(values: Any) -> dict[str, str]:
    """`NAME=VALUE` options as a dictionary."""
    if isinstance(values, Mapping):
        return dict(values)
    found = {}
    for value in values or ():
        name, equals, rest = value.partition("=")
        if not equals or not name:
            raise BadInput(f"Victim option {value!r} is not of the form NAME=VALUE.")
        found[name.strip()] = rest
    return found


def public(options: Mapping[str, str] | None) -> dict[str, str]:
    """Victim options that may be written down."""
    return {name: value for name, value in (options or {}).items() if name not in PRIVATE}


@dataclass(frozen=True, kw_only=True)
class VictimSettings:
    """Which victim, and how it is loaded."""

    victim: AnyVictim = option(
        "pocket, hf:PATH_OR_ID, python:module:function, sklearn:PATH, http://URL or mohs:PATH.",
        default="pocket",
        metavar="V",
    )
    device: str = option("auto, cpu, cuda or cuda:N.", default="auto")
    labels: str | Sequence[str] = option(
        "Class names in the victim's order: negative,positive.", default=(), metavar="NAMES", read=comma
    )
    victim_options: Mapping[str, str] | None = option(
        "output=logits, batch=64, dtype=bf16, rate=10 ...",
        "--victim-option",
        metavar="NAME=VALUE",
        many=True,
        read=pairs,
        secret=public,
    )
    trust_pickle: bool = option("Open sklearn: files, which can run code.", default=False, counts=False)
    trust_code: bool = option("Run code that an hf: model brings along.", default=False, counts=False)


@dataclass(frozen=True, kw_only=True)
class Settings(VictimSettings, Reading):
    """What every run has: a victim, data, a seed, and how the work is done."""

    data: AnyExamples = option(
        "pocket, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz).",
        default="pocket",
        metavar="D",
    )
    seed: int = option("Seed of everything random.", default=0)
    at_once: int | None = option(
        "How many searches are alive at once; by default as many as suit the verb and the victim's device.",
        least=1,
        counts=False,
    )
    workers: int = option(
        "Processes that share the examples, each with its own copy of the models.", default=1, least=1, counts=False
    )
    cache: str | Path | None = option(
        "Keep the victim's answers here, for later runs too.", metavar="FILE", counts=False
    )
    change: Sequence[str] = option(
        "Of a pair, the columns that may change; by default the last.", default=(), metavar="NAMES", read=comma
    )
