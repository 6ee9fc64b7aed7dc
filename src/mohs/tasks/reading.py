"""The options that say how data is read, and lists of names as people type them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mohs.tasks.option import option

if TYPE_CHECKING:
    from mohs.text.dataset import Dataset


def comma(value: Any) -> tuple[str, ...]:
    """`a,b` as a tuple; a name with a comma in it stands in double quotation marks."""
    if not isinstance(value, str):
        return tuple(value or ())
    return tuple(part.strip() for row in csv.reader([value], skipinitialspace=True) for part in row if part.strip())


def joined(parts: Sequence[str]) -> str:
    """The other way round."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(parts)
    return line.getvalue()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which rows of a file are taken, and what their columns are called."""

    n: int | None = option("The first N examples, or see --sample; all if not given.", least=1)
    sample: int | None = option(
        "Draw the N examples of --n at random with this seed; by default the first.", metavar="SEED"
    )
    fields: Sequence[str] = option(
        "Text column, or two for pairs: premise,hypothesis.", "--text-field", default=(), metavar="NAMES", read=comma
    )
    label_field: str = option("Label column.", default="label")
    id_field: str = option("Id column, where there is one.", default="id")
    encoding: str = option("Encoding of the data file.", default="utf-8")

    def dataset(self, source: str, **more: Any) -> Dataset:
        """The data in a file."""
        from mohs.text.dataset import Dataset

        told = {name: getattr(self, name) for name in Reading.__dataclass_fields__}
        return Dataset(source, **{**told, "fields": tuple(self.fields), **more})
