"""Data files: what is written is read again, in every format, as a stream, and whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from mohs.errors import BadInput, MohsError
from mohs.runs.data_file import write_data
from mohs.text.dataset import Dataset

NAMES = ["d.jsonl", "d.ndjson", "d.csv", "d.tsv", "d.jsonl.gz", "d.csv.gz", "d.tsv.gz", "d.parquet"]
AWKWARD = st.text(
    st.one_of(st.sampled_from("\",\t\n\r'= \u2028\u00e9\U0001f600"), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(AWKWARD, AWKWARD, st.integers(0, 3)), min_size=1, max_size=6), st.sampled_from(NAMES))
def test_every_format_is_read_again(rows: list[tuple[str, str, int]], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / name
        made = [{"id": str(n), "premise": a, "hypothesis": b, "label": y} for n, (a, b, y) in enumerate(rows)]
        assert write_data(out, iter(made)) == len(rows)
        first = out.read_bytes()
        found = [(*example.text.fields, example.label) for example in Dataset(str(out))]
        assert found == rows
        write_data(out, iter(made))
        assert out.read_bytes() == first
        assert list(Path(folder).iterdir()) == [out]


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_written_as_they_come(tmp_path: Path, name: str) -> None:
    """At no time more rows are alive than a Parquet batch has."""
    alive: list[int] = [0, 0]

    class Row(dict[str, Any]):
        def __init__(self, number: int) -> None:
            super().__init__(id=str(number), text="a" * 10, label=number % 2)
            alive[0] += 1
            alive[1] = max(alive)

        def __del__(self) -> None:
            alive[0] -= 1

    assert write_data(tmp_path / name, (Row(n) for n in range(3000))) == 3000
    assert alive[1] <= 1026
    assert len(list(Dataset(str(tmp_path / name)))) == 3000


def test_columns_that_would_be_lost_are_refused(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"text": "a", "label": 1}, {"text": "b", "label": 0, "more": 2}]
    for name in ("d.csv", "d.tsv", "d.parquet"):
        with pytest.raises(BadInput, match="has the column 'more', which the first row does not have"):
            write_data(tmp_path / name, rows)
        write_data(tmp_path / name, rows[::-1])  # a value that is missing is empty
    assert write_data(tmp_path / "d.jsonl", rows) == 2
    mixed = [{"text": "a", "label": n % 2, "more": 1 if n < 2000 else "x"} for n in range(3000)]
    with pytest.raises(BadInput, match="A column holds values of several kinds"):
        write_data(tmp_path / "m.parquet", mixed)
    assert not (tmp_path / "m.parquet").exists()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_half_written_is_left(tmp_path: Path, name: str) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"text": "a", "label": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_data(tmp_path / name, rows())
    assert not list(tmp_path.iterdir())
    with pytest.raises(MohsError, match="cannot be written"):
        write_data(tmp_path / "no" / name, rows())
