"""The options for reading data, and comma-separated lists of names."""

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
    """Split `a,b` into a tuple; a name with a comma needs double quotation marks."""
    if not isinstance(value, str):
        return tuple(value or ())
    return tuple(part.strip() for row in csv.reader([value], skipinitialspace=True) for part in row if part.strip())


def joined(parts: Sequence[str]) -> str:
    """The inverse of `comma`."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(parts)
    return line.getvalue()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which rows of a file are used, and the names of their columns."""

    n: int | None = option("Use the first N examples, or draw N with --sample; by default all.", least=1)
    sample: int | None = option(
        "Draw the N examples of --n at random with this seed, instead of the first N.", metavar="SEED"
    )
    least_words: int | None = option("Leave out texts with fewer words, before --n counts.", least=1)
    most_words: int | None = option("Leave out texts with more words, before --n counts.", least=1)
    fields: Sequence[str] = option(
        "Text column, or two columns for text pairs: premise,hypothesis.",
        "--text-field",
        default=(),
        metavar="NAMES",
        read=comma,
    )
    label_field: str = option("Label column.", default="label")
    id_field: str = option("Id column, if there is one.", default="id")
    encoding: str = option("Encoding of the data file.", default="utf-8")

    def dataset(self, source: str, **more: Any) -> Dataset:
        """The dataset in a file."""
        from mohs.text.dataset import Dataset

        told = {name: getattr(self, name) for name in Reading.__dataclass_fields__}
        return Dataset(source, **{**told, "fields": tuple(self.fields), **more})
