"""Files of judgements for tests, and what a study holds of them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from mohs.studies.study import Study


def table(path: Path, names: str | list[str], *lines: list[Any], encoding: str = "utf-8") -> Path:
    """A CSV file. names: of the columns, as a list or with spaces between them."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([names.split() if isinstance(names, str) else names, *lines])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def judged(study: Study) -> dict[tuple[str, str], int]:
    """What was answered, by item and annotator."""
    return {(one.item, one.annotator): one.value for one in study.judgements()}
