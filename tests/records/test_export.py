from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TextIO

import pyarrow.parquet
import pytest

from mohs.errors import BadInput, MohsError
from mohs.records import Outcome, Record
from mohs.records.export import FORMATS, export
from mohs.text import Edit

HIT = Record(
    attack="textfooler",
    example_id="é-1",
    outcome=Outcome.SUCCESS,
    label=1,
    names=("text",),
    original=('A "good", film\r\nby me\n',),
    seed=7,
    words=5,
    positions=2,
    perturbed=('A "fine", film\r\nby me\n',),
    edits=(Edit(1, "good", "fine", "wordnet"),),
    scores_before=(0.1, 0.9),
    scores_after=(0.6, 0.4),
    queries=12,
    measures={"sentence similarity": 0.95, "perplexity": float("nan")},
    beyond_window=3,
    near_tie=True,
    finding={"patch": {"old": "é", "gap": 0.5}},
)
MISS = Record("random", "2", Outcome.FAILED, 0, ("text",), ("a b",), 7, 2, perturbed=("a c",), queries=1)
BROKEN = Record("random", "3", Outcome.ERROR, 0, ("text",), ("",), 7, 0, error="ValueError: é", traceback="line\nline")
PAIR = Record("random", "4", Outcome.SUCCESS, 2, ("premise", "hypothesis"), ("a", "b c"), 0, 3, perturbed=("a", "b 😀"))
COLUMNS = [
    "attack",
    "example_id",
    "outcome",
    "label",
    "seed",
    "words",
    "positions",
    "edits",
    "scores_before",
    "scores_after",
    "queries",
    "measures",
    "beyond_window",
    "near_tie",
    "details",
    "by",
    "error",
    "traceback",
    "original_text",
    "adversarial_text",
]


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_json(text: str) -> list[dict[str, Any]]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in text.removesuffix("\n").split("\n")]


def test_jsonl_gives_the_values_back(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    assert export([HIT, MISS, BROKEN], "jsonl", out, io.StringIO()) == 3
    hit, miss, broken = read_json(out.read_bytes().decode())
    assert list(hit) == COLUMNS
    assert hit["edits"] == [{"position": 1, "old": "good", "new": "fine", "source": "wordnet"}]
    assert (hit["outcome"], hit["example_id"], hit["near_tie"]) == ("success", "é-1", True)
    assert (hit["original_text"], hit["adversarial_text"]) == (HIT.original[0], 'A "fine", film\r\nby me\n')
    assert hit["measures"] == {"sentence similarity": 0.95, "perplexity": None}
    assert (hit["details"], miss["details"]) == (HIT.finding, {})
    assert (hit["scores_before"], hit["scores_after"]) == ([0.1, 0.9], [0.6, 0.4])
    assert miss["adversarial_text"] is None  # what a failed search ended with is not adversarial
    assert (miss["error"], miss["scores_after"], miss["edits"]) == (None, [], [])
    assert (broken["error"], broken["traceback"], broken["original_text"]) == ("ValueError: é", "line\nline", "")
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


def test_csv_gives_the_values_back(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    assert export(iter([HIT, MISS]), "csv", out, io.StringIO()) == 2
    hit, miss = read_csv(out.read_bytes().decode())
    assert list(hit) == COLUMNS
    assert json.loads(hit["edits"]) == [{"position": 1, "old": "good", "new": "fine", "source": "wordnet"}]
    assert json.loads(hit["scores_after"]) == [0.6, 0.4]
    assert json.loads(hit["measures"]) == {"sentence similarity": 0.95, "perplexity": None}
    assert (json.loads(hit["details"]), json.loads(miss["details"])) == (HIT.finding, {})
    assert (hit["original_text"], hit["adversarial_text"]) == (HIT.original[0], 'A "fine", film\r\nby me\n')
    assert (hit["label"], hit["queries"], hit["near_tie"], hit["outcome"]) == ("1", "12", "True", "success")
    assert (miss["adversarial_text"], miss["error"], miss["edits"]) == ("", "", "[]")


def test_parquet_gives_the_values_back(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    assert export([MISS, HIT, BROKEN], "parquet", out, io.StringIO()) == 3
    table = pyarrow.parquet.read_table(out)
    miss, hit, broken = table.to_pylist()
    assert table.column_names == COLUMNS
    kinds = {field.name: str(field.type) for field in table.schema}
    assert (kinds["label"], kinds["near_tie"], kinds["scores_before"]) == ("int64", "bool", "list<element: double>")
    assert (kinds["error"], kinds["adversarial_text"]) == ("string", "string")  # though the first row has none
    assert hit["edits"] == [{"position": 1, "old": "good", "new": "fine", "source": "wordnet"}]
    assert (hit["scores_before"], hit["seed"], hit["near_tie"]) == ([0.1, 0.9], 7, True)
    assert json.loads(hit["measures"]) == {"sentence similarity": 0.95, "perplexity": None}
    assert (json.loads(hit["details"]), json.loads(miss["details"])) == (HIT.finding, {})
    assert (hit["original_text"], hit["adversarial_text"]) == (HIT.original[0], 'A "fine", film\r\nby me\n')
    assert (miss["adversarial_text"], miss["error"], miss["edits"]) == (None, None, [])
    assert (broken["error"], broken["original_text"]) == ("ValueError: é", "")
    assert [p.name for p in tmp_path.iterdir()] == ["a.parquet"]


def test_parquet_of_many_records(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    assert export((MISS for _ in range(10_001)), "parquet", out, io.StringIO()) == 10_001
    assert pyarrow.parquet.read_table(out).num_rows == 10_001


def test_pairs_have_a_column_for_each_text(tmp_path: Path) -> None:
    texts = {
        "original_premise": "a",
        "adversarial_premise": "a",
        "original_hypothesis": "b c",
        "adversarial_hypothesis": "b 😀",
    }
    found = []
    for format in FORMATS:
        out = tmp_path / f"pair.{format}"
        export([PAIR], format, out, io.StringIO())
        found.append(
            pyarrow.parquet.read_table(out).to_pylist()[0]
            if format == "parquet"
            else (read_csv if format == "csv" else read_json)(out.read_bytes().decode())[0]
        )
    for row in found:
        assert dict(list(row.items())[-4:]) == texts


def test_standard_output_holds_what_a_file_would(tmp_path: Path) -> None:
    for format in ("csv", "jsonl"):
        out, stdout = tmp_path / format, io.StringIO(newline="")
        assert export([HIT, MISS], format, None, stdout) == 2
        export([HIT, MISS], format, out, io.StringIO())
        assert stdout.getvalue() == out.read_bytes().decode()


def test_parquet_needs_a_file() -> None:
    with pytest.raises(BadInput, match=r"^Parquet is binary; name a file with --out\.$"):
        export([HIT], "parquet", None, io.StringIO())


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^Unknown format 'xls'; use parquet, csv, jsonl\.$"):
        export([HIT], "xls", tmp_path / "a.xls", io.StringIO())


@pytest.mark.parametrize("format", FORMATS)
def test_a_run_without_records(tmp_path: Path, format: str) -> None:
    out = tmp_path / "a"
    out.write_text("before")
    with pytest.raises(BadInput, match="The run has no records to export yet; let it finish an example first"):
        export([], format, out, io.StringIO())
    assert out.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_older_file_is_replaced_only_by_a_whole_one(tmp_path: Path, format: str) -> None:
    out = tmp_path / "a"
    out.write_text("before")

    def broken() -> Iterator[Record]:
        yield HIT
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(broken(), format, out, io.StringIO())
    assert out.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    export([HIT], format, out, io.StringIO())
    assert out.read_bytes() != b"before"


@pytest.mark.parametrize("format", FORMATS)
def test_a_full_disk(format: str) -> None:
    full = Path("/dev/full")
    with pytest.raises(MohsError) as caught:
        export([HIT], format, full, io.StringIO())
    assert str(caught.value) == ("/dev/full cannot be written (No space left on device); the run itself is untouched.")
    assert not Path("/dev/full.part").exists()
    assert full.is_char_device()


@pytest.mark.parametrize("format", FORMATS)
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, mode: str = "w", *, special: bool = False, **settings: Any) -> IO[Any]:
        path.touch()
        return open("/dev/full", mode, **settings)

    monkeypatch.setattr("mohs.records.export.opened_for_writing", full)
    with pytest.raises(MohsError, match="a cannot be written \\(No space left on device\\)"):
        export([HIT], format, tmp_path / "a", io.StringIO())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_places_that_cannot_be_written(tmp_path: Path, format: str) -> None:
    (tmp_path / "file").touch()
    for out, fault in (
        (tmp_path / "missing" / "a", "cannot be written (No such file or directory)"),
        (tmp_path / "file" / "a", "cannot be written (Not a directory)"),
        (tmp_path, "is a folder; name a file with --out."),
        (Path("."), "is a folder; name a file with --out."),
        (Path("/"), "is a folder; name a file with --out."),
    ):
        with pytest.raises(MohsError) as caught:
            export([HIT], format, out, io.StringIO())
        assert str(caught.value).startswith(f"{out} {fault}")
        assert len(str(caught.value).splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path, start: str) -> None:
    """Spreadsheets run cells such as =HYPERLINK(...); an apostrophe in front makes them text. Numbers stay numbers."""
    evil = f"{start}1+cmd|' /C calc'!A0"
    record = replace(HIT, example_id=evil, error=evil, original=(evil, *HIT.original[1:]), seed=-3)
    export([record], "csv", tmp_path / "a.csv", io.StringIO(), lambda _: {"extra": -0.5})
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert not [value for value in row.values() if value.startswith(start) and value not in ("-3", "-0.5")]
    assert row["example_id"] == row["error"] == row[f"original_{HIT.names[0]}"] == f"'{evil}"
    assert (row["seed"], row["extra"]) == ("-3", "-0.5")
    export([record], "jsonl", tmp_path / "a.jsonl", io.StringIO())
    assert json.loads((tmp_path / "a.jsonl").read_text("utf-8"))["example_id"] == evil


def test_a_device_is_written_to_and_not_replaced() -> None:
    for format in ("csv", "jsonl"):
        assert export([HIT], format, Path("/dev/null"), io.StringIO()) == 1
        assert Path("/dev/null").is_char_device()


def opened(descriptor: int, encoding: str = "utf-8") -> TextIO:
    return open(descriptor, "w", encoding=encoding, newline="")


def test_a_full_standard_output() -> None:
    stdout = opened(os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(MohsError) as caught:
        export([HIT], "jsonl", None, stdout)
    assert str(caught.value) == ("Standard output cannot be written (No space left on device); name a file with --out.")
    with pytest.raises(OSError, match="No space left"):
        stdout.close()


def test_a_reader_that_has_gone() -> None:
    read, write = os.pipe()
    os.close(read)
    stdout = opened(write)
    with pytest.raises(BrokenPipeError):
        export([HIT], "csv", None, stdout)
    with pytest.raises(BrokenPipeError):
        stdout.close()


def test_a_standard_output_of_another_encoding(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w", encoding="ascii") as stdout, pytest.raises(MohsError) as caught:
        export([HIT], "csv", None, stdout)
    assert str(caught.value) == "Standard output accepts only ascii; name a file with --out."


@pytest.mark.parametrize("format", FORMATS)
def test_records_with_other_fields_are_not_mixed(tmp_path: Path, format: str) -> None:
    with pytest.raises(BadInput) as caught:
        export([HIT, PAIR], format, tmp_path / "a", io.StringIO())
    assert str(caught.value) == "Example '4' has other text fields than the first; give all examples the same ones."
    assert list(tmp_path.iterdir()) == []


def test_a_seed_beyond_64_bits(tmp_path: Path) -> None:
    large = Record("a", "1", Outcome.FAILED, 0, ("text",), ("a",), 2**70, 1)
    with pytest.raises(BadInput, match=r"^A number is too large for Parquet, probably the seed; use csv or jsonl\.$"):
        export([large], "parquet", tmp_path / "a", io.StringIO())
    assert list(tmp_path.iterdir()) == []
    export([large], "jsonl", tmp_path / "a", io.StringIO())
    assert read_json((tmp_path / "a").read_text())[0]["seed"] == 2**70
