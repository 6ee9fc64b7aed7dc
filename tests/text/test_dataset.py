from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from mohs.errors import BadInput
from mohs.text import Example, Text
from mohs.text.dataset import Dataset, examples_from

ROWS = [
    {"id": "p", "text": "Good, “très” good.", "label": 1},
    {"id": "q", "text": "Bad\tno 😀" + " more" * 3, "label": 0},
    {"id": "r", "text": 'said "no", twice', "label": 1},
]
KINDS = [".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"]


def content(kind: str, rows: Sequence[dict[str, Any]]) -> bytes:
    if kind == ".parquet":
        sink = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), sink)
        return sink.getvalue()
    lines = io.StringIO(newline="")
    if kind == ".csv":
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    elif kind == ".tsv":
        lines.write("\t".join(rows[0]) + "\n")
        lines.writelines("\t".join(str(value) for value in row.values()) + "\n" for row in rows)
    else:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return lines.getvalue().encode()


def put(folder: Path, name: str, data: bytes | str) -> str:
    path = folder / name
    raw = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(raw, mtime=0) if name.lower().endswith(".gz") else raw)
    return str(path)


def refused(dataset: Dataset) -> str:
    """The sentence a dataset is refused with."""
    with pytest.raises(BadInput) as caught:
        dataset.survey()
    sentence = str(caught.value)
    assert len(sentence.splitlines()) == 1
    assert sentence.endswith(".")
    return sentence


@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_examples(tmp_path: Path, kind: str, zipped: str) -> None:
    rows = [{**row, "text": str(row["text"]).replace("\t", " ")} for row in ROWS] if kind == ".tsv" else ROWS
    source = put(tmp_path, f"data{kind}{zipped}", content(kind, rows))
    assert list(Dataset(source)) == [Example.of(str(r["text"]), int(str(r["label"])), id=str(r["id"])) for r in rows]
    assert [example.id for example in Dataset(source, n=2)] == ["p", "q"]
    assert Dataset(source).survey()[:2] == (3, 1)


def test_upper_case_names_of_files(tmp_path: Path) -> None:
    assert len(list(Dataset(put(tmp_path, "DATA.CSV.GZ", content(".csv", ROWS))))) == 3


def test_a_dataset_can_be_read_again(tmp_path: Path) -> None:
    dataset = Dataset(put(tmp_path, "a.csv", content(".csv", ROWS)))
    assert list(dataset) == list(dataset)


def test_texts_keep_every_byte(tmp_path: Path) -> None:
    text = " a\r\nb\rc\n d\u2028\x0b "
    for kind in (".jsonl", ".csv", ".parquet"):
        (example,) = Dataset(put(tmp_path, f"a{kind}", content(kind, [{"text": text, "label": 0}])))
        assert example.text.fields == (text,)


def test_quotation_marks_in_tsv_are_text(tmp_path: Path) -> None:
    source = put(tmp_path, "a.tsv", 'text\tlabel\n"open\t1\nnext "one"\t0\n')
    assert [example.text.fields for example in Dataset(source)] == [('"open',), ('next "one"',)]


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    assert (
        len(list(Dataset(put(tmp_path, "a.jsonl", '\n{"text": "a", "label": 0}\n \n{"text": "b", "label": 0}')))) == 2
    )
    assert len(list(Dataset(put(tmp_path, "a.csv", "text,label\n\na,0\n\nb,1\n")))) == 2


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv"])
@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig"])
def test_a_byte_order_mark_is_no_text(tmp_path: Path, kind: str, encoding: str) -> None:
    rows = [{"text": "a", "label": 0}]
    for name, mark in (("with", b"\xef\xbb\xbf"), ("without", b"")):
        source = put(tmp_path, name + kind, mark + content(kind, rows))
        assert [example.text.fields for example in Dataset(source, encoding=encoding)] == [("a",)]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    source = put(tmp_path, "a.csv", "text,label\nété,1\n".encode(encoding))
    (example,) = Dataset(source, encoding=encoding)
    assert example.text.words == ("été",)


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (("text",), ("a",)),
        (("sentence",), ("a",)),
        (("premise", "hypothesis"), ("a", "b")),
        (("question1", "question2"), ("a", "b")),
        (("sentence1", "sentence2"), ("a", "b")),
        (("question", "sentence"), ("a", "b")),
        (("review",), ("a",)),
        (("content",), ("a",)),
    ],
)
def test_usual_columns_are_found(names: tuple[str, ...], texts: tuple[str, ...]) -> None:
    (example,) = examples_from([{**dict(zip(names, texts, strict=True)), "label": 1}])
    assert example.names == names
    assert example.text.fields == texts


def test_columns_can_be_named(tmp_path: Path) -> None:
    source = put(tmp_path, "a.csv", "key,p,h,gold,text\nk1,a b,c,2,no\n")
    dataset = Dataset(source, fields=("p", "h"), label_field="gold", id_field="key", change=("p",))
    (example,) = dataset
    assert example == Example("k1", Text("a b", "c"), 2, ("p", "h"), ("p",))
    assert example.positions == (0, 1)


def test_without_ids_rows_are_numbered(tmp_path: Path) -> None:
    source = put(tmp_path, "a.csv", "text,label\na,0\nb,1\n")
    assert [example.id for example in Dataset(source)] == ["0", "1"]
    source = put(tmp_path, "a.jsonl", '{"text": "a", "label": 0, "id": null}\n{"text": "b", "label": 0, "id": "x"}\n')
    assert [example.id for example in Dataset(source)] == ["0", "x"]


@pytest.mark.parametrize(("written", "read"), [("7", "7"), ('"007"', "007"), ("1.5", "1.5"), ("0", "0"), ('""', "")])
def test_ids_become_strings(tmp_path: Path, written: str, read: str) -> None:
    source = put(tmp_path, "a.jsonl", f'{{"text": "a", "label": 0, "id": {written}}}\n')
    assert [example.id for example in Dataset(source)] == [read]
    assert Dataset(source).survey()[0] == 1


def test_the_same_id_twice_is_refused(tmp_path: Path) -> None:
    source = put(tmp_path, "a.jsonl", '{"text": "a", "label": 0, "id": 1}\n{"text": "b", "label": 0, "id": "1"}\n')
    assert refused(Dataset(source)) == (
        f"{source}: the id '1' occurs twice; make ids unique or name another id column with --id-field."
    )
    assert Dataset(source, n=1).survey()[0] == 1


@pytest.mark.parametrize(
    ("written", "labels", "number"),
    [
        ("0", (), 0),
        ("3", (), 3),
        ("1.0", (), 1),
        ('"2"', (), 2),
        ('" 2 "', (), 2),
        ('"1.0"', (), 1),
        ('"positive"', ("negative", "positive"), 1),
        ('"negative"', ("negative", "positive"), 0),
        ("1", ("negative", "positive"), 1),
        ('"1"', ("negative", "positive"), 1),
        ("1", ("1", "2", "3"), 0),  # names in the order of the classes, also where they look like numbers
        ('"1"', ("1", "2", "3"), 0),
        ('"true"', ("false", "true"), 1),
    ],
)
def test_labels(tmp_path: Path, written: str, labels: tuple[str, ...], number: int) -> None:
    source = put(tmp_path, "a.jsonl", f'{{"text": "a", "label": {written}}}\n')
    (example,) = Dataset(source, labels=labels)
    assert example.label == number


@pytest.mark.parametrize("labels", [(), ("negative", "positive")])
@pytest.mark.parametrize(
    "written",
    [
        "7.5",
        "-1",
        "true",
        "false",
        "null",
        "NaN",
        "Infinity",
        '"7.5"',
        '"-1"',
        '"1_0"',
        '"٣"',
        '""',
        '"x"',
        "[1]",
        "{}",
    ],
)
def test_labels_that_are_none(tmp_path: Path, written: str, labels: tuple[str, ...]) -> None:
    source = put(tmp_path, "a.jsonl", f'{{"text": "a", "label": 0}}\n{{"text": "a", "label": {written}}}\n')
    allowed = "negative, positive, or 0 to 1" if labels else "whole numbers from 0"
    assert refused(Dataset(source, labels=labels)) == (
        f"{source}, row 2: label {json.loads(written)!r} is not a class; labels are {allowed}; fix the row, or give "
        "all names in the order of the victim's classes, as in --labels negative,positive."
    )


def test_a_label_beyond_the_names(tmp_path: Path) -> None:
    source = put(tmp_path, "a.csv", "text,label\na,2\n")
    assert "row 1: label '2' is not a class; labels are no, yes, or 0 to 1;" in refused(
        Dataset(source, labels=("no", "yes"))
    )
    assert Dataset(source).survey()[1] == 2


def test_labels_are_not_rounded() -> None:
    for label in (Decimal("1.5"), Decimal(1), np.bool_(True), b"1"):
        with pytest.raises(BadInput, match="is not a class"):
            examples_from([{"text": "a", "label": label}])
    assert examples_from([{"text": "a", "label": np.int32(1)}])[0].label == 1


def test_a_long_value_is_cut_short(tmp_path: Path) -> None:
    source = put(tmp_path, "a.jsonl", json.dumps({"text": "a", "label": "x" * 10_000 + "\n"}) + "\n")
    assert len(refused(Dataset(source))) < len(source) + 400


def test_wrong_columns(tmp_path: Path) -> None:
    source = put(tmp_path, "a.csv", 'body,"two\nlines",label\na,b,0\n')
    assert refused(Dataset(source)) == (
        f"{source}, row 1: no text column among body, two lines, label; name it with --text-field."
    )
    assert refused(Dataset(source, fields=("txt",))) == (
        f"{source}, row 1: there is no field 'txt'; the fields are body, two lines, label; "
        "name the right one with --text-field."
    )
    assert refused(Dataset(source, fields=("body",), label_field="gold")) == (
        f"{source}, row 1: there is no label field 'gold'; the fields are body, two lines, label; "
        "name it with --label-field."
    )
    assert refused(Dataset(source, fields=("body",), id_field="key")) == (
        f"{source}, row 1: there is no id field 'key'; the fields are body, two lines, label; "
        "name the right one with --id-field."
    )
    assert refused(Dataset(source, fields=("body",), change=("head",))) == (
        "Field 'head' cannot change: the fields are body."
    )


def test_the_columns_of_the_first_row_hold_for_all(tmp_path: Path) -> None:
    source = put(tmp_path, "a.jsonl", '{"text": "a", "label": 0}\n{"sentence": "b", "label": 0}\n')
    assert refused(Dataset(source)) == (
        f"{source}, row 2: there is no field 'text'; the fields are sentence, label; "
        "name the right one with --text-field."
    )


@pytest.mark.parametrize("value", [None, 5, ["a"], {"a": 1}, True])
def test_a_text_that_is_none(tmp_path: Path, value: Any) -> None:
    source = put(tmp_path, "a.jsonl", json.dumps({"text": value, "label": 0}) + "\n")
    assert refused(Dataset(source)) == (
        f"{source}, row 1: field 'text' holds {value!r}, which is not a text; "
        "fix the row or name another field with --text-field."
    )


@pytest.mark.parametrize("field", ["text", "id"])
def test_half_a_surrogate_pair(tmp_path: Path, field: str) -> None:
    row = {"text": "a", "id": "b", "label": 0, field: "\ud800"}
    source = put(tmp_path, "a.jsonl", '{"text": "\\ud83d\\ude00", "label": 0}\n' + json.dumps(row) + "\n")
    assert refused(Dataset(source)) == (
        f"{source}, row 2: field {field!r} holds half a surrogate pair, which is not valid text; fix the row."
    )
    assert next(iter(Dataset(source))).text.fields == ("😀",)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != ".parquet"])
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_an_empty_file(tmp_path: Path, kind: str, zipped: str) -> None:
    source = put(tmp_path, f"a{kind}{zipped}", b"")
    assert refused(Dataset(source)) == f"{source} has no examples; give at least one row."


def test_files_without_rows(tmp_path: Path) -> None:
    assert "has no examples" in refused(Dataset(put(tmp_path, "a.csv", "text,label\n")))
    assert "has no examples" in refused(Dataset(put(tmp_path, "b.jsonl", "\n\n")))
    none = pyarrow.table({"text": pyarrow.array([], pyarrow.string())})
    pyarrow.parquet.write_table(none, tmp_path / "c.parquet")
    assert "has no examples" in refused(Dataset(str(tmp_path / "c.parquet")))
    assert "is not a complete Parquet file" in refused(Dataset(put(tmp_path, "d.parquet", b"")))


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv"])
def test_bytes_that_are_not_utf_8(tmp_path: Path, kind: str) -> None:
    source = put(tmp_path, f"a{kind}", content(kind, [{"text": "é", "label": 0}]).decode().encode("latin-1"))
    assert refused(Dataset(source)) == (
        f"{source} is not utf-8 (byte 0xe9); give its encoding, as in --encoding latin-1."
    )
    assert next(iter(Dataset(source, encoding="latin-1"))).text.fields == ("é",)


def test_wrong_encodings(tmp_path: Path) -> None:
    source = put(tmp_path, "a.csv", "text,label\na,0\n")
    for encoding in ("nonsense", "hex", "rot13", "", "a\0b"):
        assert refused(Dataset(source, encoding=encoding)).startswith(f"Unknown encoding {encoding!r}; use utf-8,")
    assert "is not utf-16 (UTF-16 stream does not start with BOM)" in refused(Dataset(source, encoding="utf-16"))


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".parquet"])
def test_broken_gzip(tmp_path: Path, kind: str) -> None:
    noise = random.Random(0)
    rows = [{"text": f"row {noise.random()}", "label": 0} for _ in range(2000)]
    whole = gzip.compress(content(kind, rows), mtime=0)
    middle = len(whole) // 2
    broken = {
        "plain": content(kind, rows),
        "cut": whole[:middle],
        "changed": whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 500]) + whole[middle + 500 :],
        "sum": whole[:-8] + b"\0" * 8,
        "more": whole + b"junk",
    }
    for name, data in broken.items():
        path = tmp_path / f"{name}{kind}.gz"
        path.write_bytes(data)
        sentence = refused(Dataset(str(path)))
        expected = (
            "is not a complete gzip file",
            "is not utf-8",
            "is not JSON",
            "is not CSV",
            "columns than the header",
        )
        assert sentence.startswith(str(path))
        assert any(part in sentence for part in (expected if name == "changed" else expected[:1]))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"text": "a", ', "is not JSON (Expecting property name enclosed in double quotes)"),
        ("text,label", "is not JSON (Expecting value)"),
        ('{"text": "a", "label": 0} {}', "is not JSON (Extra data)"),
        ('{"label": ' + "9" * 5000 + "}", "is not JSON (Exceeds the limit"),
        ("[" * 100_000, "is not JSON (maximum recursion depth exceeded"),
        ('[{"text": "a"}]', "holds list"),
        ("5", "holds int"),
        ("null", "holds NoneType"),
    ],
)
def test_lines_that_are_not_json_objects(tmp_path: Path, line: str, fault: str) -> None:
    source = put(tmp_path, "a.jsonl", f'{{"text": "a", "label": 0}}\n\n{line}\n')
    sentence = refused(Dataset(source))
    assert sentence.startswith(f"{source}, line 3 {fault}")
    assert "object per line." in sentence


@pytest.mark.parametrize(
    ("name", "lines", "fault"),
    [
        ("a.csv", "text,label\na,0\na,b,0\n", "line 3 has more columns than the header; put texts with commas in"),
        ("a.csv", "text,label\na\n", "line 2 has fewer columns than the header"),
        ("a.tsv", "text\tlabel\na\tb\t0\n", "line 2 has more columns than the header; remove tabs inside texts"),
        ("a.csv", 'text,label\n"a,0\nb,1\n', "from line 2 on, is not CSV (unexpected end of data)"),
        ("a.csv", 'text,label\n"a"b,0\n', "from line 2 on, is not CSV (',' expected after '\"')"),
    ],
)
def test_ragged_tables(tmp_path: Path, name: str, lines: str, fault: str) -> None:
    source = put(tmp_path, name, lines)
    assert refused(Dataset(source)).startswith(f"{source}, {fault}")


def test_a_column_named_twice(tmp_path: Path) -> None:
    source = put(tmp_path, "a.csv", "text,label,text,,\na,0,b,,\n")
    assert refused(Dataset(source)) == f"{source} has the column 'text' twice; rename one of them."
    assert len(list(Dataset(put(tmp_path, "b.csv", "text,label,,\na,0,,\n")))) == 1


def test_files_that_are_none(tmp_path: Path) -> None:
    for missing in (tmp_path / "no.csv", tmp_path, Path("x" * 5000 + ".csv")):
        assert refused(Dataset(str(missing))) == (f"There is no file {missing}; name a file, `pocket`, or hf:NAME.")
    source = put(tmp_path, "a.xlsx", b"")
    assert refused(Dataset(source)) == (
        f"{source}: unknown file format; use .jsonl, .ndjson, .json, .csv, .tsv, .parquet, each also with .gz."
    )
    assert "unknown file format" in refused(Dataset(put(tmp_path, "a.gz", b"")))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = put(tmp_path, "a.csv", content(".csv", ROWS))

    def forbidden(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert refused(Dataset(source)) == (
        f"{source} cannot be read (Permission denied); check the file and its permissions."
    )


def test_options_that_make_no_sense() -> None:
    for options, sentence in (
        ({"n": 0}, "n is 0; it must be at least 1."),
        ({"n": -3}, "n is -3; it must be at least 1."),
        ({"labels": ("a", "b", "a")}, "A label is named twice in a, b, a; name each once."),
        ({"fields": ("a", "a")}, "A text field is named twice in a, a; name each once."),
    ):
        with pytest.raises(BadInput) as caught:
            Dataset("pocket", **options)
        assert str(caught.value) == sentence


@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_lines_after_the_first_n_are_not_looked_at(tmp_path: Path, zipped: str) -> None:
    lines = "".join(f'{{"text": "row {number}", "label": 0}}\n' for number in range(1000))
    source = put(tmp_path, f"a.jsonl{zipped}", lines + "{broken\n")
    assert Dataset(source, n=100).survey()[0] == 100
    assert Dataset(source, n=1000).survey()[0] == 1000
    assert "line 1001 is not JSON" in refused(Dataset(source))


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv"])
def test_only_the_beginning_of_a_large_gzip_is_read(tmp_path: Path, kind: str) -> None:
    noise = random.Random(0)
    rows = [{"text": f"row {noise.random()}", "label": 0} for _ in range(20_000)]
    whole = gzip.compress(content(kind, rows), mtime=0)
    path = tmp_path / f"a{kind}.gz"
    path.write_bytes(whole[: len(whole) // 10])
    assert Dataset(str(path), n=100).survey()[0] == 100
    assert "is not a complete gzip file" in refused(Dataset(str(path)))


@pytest.mark.parametrize("kind", [".jsonl", ".csv"])
def test_rows_are_read_as_they_are_needed(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"text": f"row {number}", "label": 0} for number in range(50_000)]
    source = put(tmp_path, f"a{kind}", content(kind, rows))
    opened: list[Any] = []
    plain_open = Path.open

    def watched(self: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(plain_open(self, *arguments, **options))
        return opened[-1]

    monkeypatch.setattr(Path, "open", watched)
    reader = iter(Dataset(source))
    for _ in range(100):
        next(reader)
    assert opened[0].tell() < Path(source).stat().st_size / 10
    reader.close()  # type: ignore[attr-defined]
    del reader
    assert opened[0].closed


def test_only_the_first_row_group_of_parquet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    schema = pyarrow.schema([("text", pyarrow.string()), ("label", pyarrow.int64())])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(2):
            writer.write_table(pyarrow.table({"text": ["a b"] * 500, "label": [0] * 500}, schema=schema))
    with pyarrow.parquet.ParquetFile(path) as file:
        column = file.metadata.row_group(1).column(0)
    start, size = column.data_page_offset, column.total_compressed_size
    data = bytearray(path.read_bytes())
    data[start : start + size] = b"\xff" * size
    path.write_bytes(data)
    assert Dataset(str(path), n=500).survey()[0] == 500
    assert refused(Dataset(str(path))).startswith(f"{path} is not a complete Parquet file (")


def test_parquet_that_is_none(tmp_path: Path) -> None:
    for number, data in enumerate((b"PAR1", b"junk" * 10, b"PAR1xxxxxxxxPAR1")):
        source = put(tmp_path, f"{number}.parquet", data)
        assert refused(Dataset(source)).startswith(f"{source} is not a complete Parquet file (")


def test_parquet_values_of_other_types(tmp_path: Path) -> None:
    table = pyarrow.table(
        {
            "text": pyarrow.array(["a", "b"], pyarrow.large_string()).dictionary_encode(),
            "label": pyarrow.array([0, 1], pyarrow.int8()),
            "id": pyarrow.array([10, None], pyarrow.int64()),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    found = list(Dataset(str(tmp_path / "a.parquet")))
    assert [(e.id, e.text.fields, e.label) for e in found] == [("10", ("a",), 0), ("1", ("b",), 1)]
    table = pyarrow.table({"text": ["a"], "label": pyarrow.array([None], pyarrow.int64())})
    pyarrow.parquet.write_table(table, tmp_path / "b.parquet")
    assert "row 1: label None is not a class" in refused(Dataset(str(tmp_path / "b.parquet")))


def test_a_hub_dataset_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert refused(Dataset("hf:imdb")) == ("hf: datasets need the package `datasets`: pip install 'mohs[datasets]'.")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []

    class LibraryError(Exception):
        pass

    def load_dataset(name: str, config: str = "", *, split: str, streaming: bool) -> Iterator[dict[str, Any]]:
        calls.append((name, config, split, streaming))
        if name == "missing":
            raise LibraryError("no such\n  dataset")

        def rows() -> Iterator[dict[str, Any]]:
            for number in range(3):
                yield {"text": f"row {number}", "label": number % 2}
            raise ConnectionError("gone")

        return rows()

    module = ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)
    return calls


def test_a_hub_dataset_is_streamed(hub: list[tuple[Any, ...]]) -> None:
    found = list(Dataset("hf:owner/name", n=3))
    assert [example.text.fields for example in found] == [("row 0",), ("row 1",), ("row 2",)]
    assert Dataset("hf:owner/name:validation", n=1).survey()[0] == 1
    assert Dataset("hf:glue:sst2:train", n=1).survey()[0] == 1
    assert hub == [
        ("owner/name", "", "test", True),
        ("owner/name", "", "validation", True),
        ("glue", "sst2", "train", True),
    ]


def test_a_hub_dataset_that_fails(hub: list[tuple[Any, ...]]) -> None:
    assert refused(Dataset("hf:missing")) == (
        "The dataset 'missing' cannot be read (no such dataset); check its name and split, as in hf:NAME:SPLIT or "
        "hf:NAME:CONFIG:SPLIT, "
        "and the network."
    )
    assert "The dataset 'owner/name' cannot be read (gone)" in refused(Dataset("hf:owner/name"))


def test_rows_drawn_at_random(tmp_path: Path) -> None:
    path = tmp_path / "sorted.jsonl"
    path.write_text("".join(json.dumps({"text": f"text {i}", "label": int(i >= 300)}) + "\n" for i in range(600)))
    drawn = list(Dataset(str(path), n=100, sample=1))
    numbers = [int(example.id) for example in drawn]
    assert numbers == sorted(set(numbers))
    assert [example.text.fields[0] for example in drawn] == [f"text {i}" for i in numbers]
    assert 30 < sum(example.label for example in drawn) < 70  # 50, give or take four standard deviations
    assert numbers == [int(example.id) for example in Dataset(str(path), n=100, sample=1)]
    assert numbers != [int(example.id) for example in Dataset(str(path), n=100, sample=2)]
    assert len(list(Dataset(str(path), n=1000, sample=1))) == 600
    assert len(list(Dataset(str(path), sample=1))) == 600


def test_texts_of_some_lengths(tmp_path: Path) -> None:
    path = tmp_path / "lengths.jsonl"
    path.write_text("".join(json.dumps({"text": "w, " * (i % 7), "label": i % 2}) + "\n" for i in range(70)))

    def lengths(**how: Any) -> list[tuple[int, int]]:
        return [(int(example.id), len(example.text)) for example in Dataset(str(path), **how)]

    every = [(i, i % 7) for i in range(70)]
    assert lengths(most_words=3) == [pair for pair in every if pair[1] <= 3]
    assert lengths(least_words=2, most_words=3) == [pair for pair in every if 2 <= pair[1] <= 3]
    assert lengths(least_words=6, n=4) == [(6, 6), (13, 6), (20, 6), (27, 6)]  # the first four that are long enough
    drawn = lengths(least_words=5, n=8, sample=1)
    assert drawn == sorted(set(drawn)) == lengths(least_words=5, n=8, sample=1)
    assert len(drawn) == 8
    assert drawn != lengths(least_words=5, n=8, sample=2)
    assert {words for _, words in drawn} == {5, 6}
    assert len(lengths(least_words=5, n=100, sample=1)) == 20
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"premise": "a b c", "hypothesis": "d e", "label": 0}) + "\n")
    assert len(list(Dataset(str(pairs), most_words=5))) == 1  # both texts count
    assert refused(Dataset(str(pairs), most_words=4)) == (
        f"{pairs} has no examples of at most 4 words; change --least-words or --most-words."
    )
    with pytest.raises(BadInput, match="No text has at least 3 and at most 2 words"):
        Dataset(str(pairs), least_words=3, most_words=2)


def test_the_survey_notices_every_change() -> None:
    def digest(*examples: Example) -> str:
        return Dataset("here").survey(examples)[2]

    one, two = Example.of("a", 0, id="1"), Example.of("b", 1, id="2")
    assert digest(one, two) == digest(one, two)
    others = [
        (two, one),
        (one,),
        (one, Example.of("b", 0, id="2")),
        (one, Example.of("b ", 1, id="2")),
        (one, Example.of("b", 1, id="3")),
    ]
    assert len({digest(one, two), *(digest(*other) for other in others)}) == 6
    assert Dataset("here").survey([one, two])[:2] == (2, 1)


def test_examples_with_other_fields_are_refused() -> None:
    with pytest.raises(BadInput) as caught:
        Dataset("here").survey([Example.of("a", 0, id="1"), Example.of(("a", "b"), 0, id="2")])
    assert str(caught.value) == (
        "here: example '2' has the fields premise, hypothesis, but the first has text; "
        "give all examples the same fields."
    )


def test_examples_from_what_is_at_hand() -> None:
    given = Example.of("own", 1, id="mine")
    values: list[Any] = [given, ("a", 1), ["b", 0], {"text": "c", "label": 1, "id": 9}, (("p", "h"), 2)]
    found = examples_from(values)
    assert found[0] is given
    assert [(e.id, e.text.fields, e.label) for e in found[1:]] == [
        ("1", ("a",), 1),
        ("2", ("b",), 0),
        ("9", ("c",), 1),
        ("4", ("p", "h"), 2),
    ]
    assert examples_from(iter([("a", 1)]))[0].id == "0"


@pytest.mark.parametrize("value", ["ab", "text", ("a",), ("a", 1, 2), 5, None])
def test_values_that_are_no_examples(value: Any) -> None:
    with pytest.raises(BadInput) as caught:
        examples_from([("a", 1), value])
    assert str(caught.value).startswith(f"Example 1 is {value!r}; give an Example, a pair (text, label), or a row")
