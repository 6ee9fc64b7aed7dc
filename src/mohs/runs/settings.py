"""The options that all runs share (see `mohs.tasks.option`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import option
from mohs.tasks.reading import Reading, comma
from mohs.text.addresses import without_credentials

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
            raise BadInput(f"The victim option {value!r} must have the form NAME=VALUE.")
        found[name.strip()] = rest
    return found


def head_count(value: Any) -> Any:
    """A number of workers, auto or auto:N, as it was typed or given."""
    written = str(value).strip()
    number = re.fullmatch("(?:auto:)?(-?[0-9]+)", written)
    if number is not None and int(number[1]) < 1:
        raise BadInput(f"workers is {written}; it must be at least 1.")
    if number is None and written != "auto":
        raise BadInput(f"workers is {written!r}; it is a whole number, auto, or auto:N for at most N.")
    return written if written.startswith("auto") else int(written)


def public(options: Mapping[str, str] | None) -> dict[str, str]:
    """Victim options without secrets."""
    return {name: value for name, value in (options or {}).items() if name not in PRIVATE}


@dataclass(frozen=True, kw_only=True)
class VictimSettings:
    """The victim and how to load it."""

    victim: AnyVictim = option(
        "The classifier: pocket (bundled), hf:PATH_OR_ID, python:module:function, sklearn:PATH, http://URL or "
        "mohs:PATH. A defence stands around it: ensemble(V), masking(V), encoding(V), safer(V), ranmask(V) or "
        "mean(V, W); a detector, which rejects texts: rde(V, train=FILE) or fgws(V, train=FILE).",
        default="pocket",
        metavar="V",
        secret=without_credentials,
    )
    device: str = option("Device for the models: auto, cpu, cuda or cuda:N.", default="auto")
    labels: str | Sequence[str] = option(
        "Class names in the victim's order, such as negative,positive.", default=(), metavar="NAMES", read=comma
    )
    victim_options: Mapping[str, str] | None = option(
        "A setting of the victim: output=logits, batch=64, dtype=bf16, rate=10 ...; repeat for several.",
        "--victim-option",
        metavar="NAME=VALUE",
        many=True,
        read=pairs,
        secret=public,
    )
    trust_pickle: bool = option("Allow sklearn: files, which can run code when loaded.", default=False, counts=False)
    trust_code: bool = option("Run the code that comes with an hf: model.", default=False, counts=False)


@dataclass(frozen=True, kw_only=True)
class Settings(VictimSettings, Reading):
    """The options of every run: a victim, data, a seed, and how the work is done."""

    device: str = option(
        "Device for the models: auto, cpu, cuda or cuda:N; several, such as cuda:0,1 or cuda:all, share the examples.",
        default="auto",
    )
    data: AnyExamples = option(
        "The data: pocket (bundled), hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz).",
        default="pocket",
        metavar="D",
    )
    seed: int = option("Random seed.", default=0)
    shard: str | None = option(
        "Only part K of N of the examples, by a hash of their ids: for many machines. `mohs merge` joins the parts.",
        metavar="K/N",
    )
    at_once: int | None = option(
        "How many searches run at once; by default what suits the command and the victim's device.",
        least=1,
        counts=False,
    )
    workers: int | str | None = option(
        "Processes that share the examples, or auto (auto:N: at most N), as many as are measured to help; with several "
        "devices auto is the default. On a CPU each has its own copy of the models.",
        shown="1",
        metavar="N|auto",
        read=head_count,
        counts=False,
    )
    on: str | None = option(
        "Share the examples among the machines of a Ray cluster: ray:HOST:PORT or ray:auto; ray alone starts one here.",
        metavar="CLUSTER",
        counts=False,
    )
    most_memory: float | None = option(
        "The most memory, in GB, that the candidates of one example may take; by default half of what is free, divided "
        "by the workers. A longer text ends in an error.",
        metavar="GB",
        counts=False,
    )
    cache: str | Path | None = option(
        "Keep the victim's answers to searches in this file, for later runs; verdicts, proofs and bias are asked anew.",
        metavar="FILE",
        counts=False,
    )
    change: Sequence[str] = option(
        "For text pairs: the columns that may change; by default the last.", default=(), metavar="NAMES", read=comma
    )
