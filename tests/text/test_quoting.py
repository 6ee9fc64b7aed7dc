"""Quoted TSV and TSV with quotation marks in its texts. The oracle is Python's csv.writer, and plain joined lines."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.runs.api import attack
from mohs.text.dataset import Dataset

QUOTES = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]
Pair = tuple[str, int]


def texts_of(letters: str) -> st.SearchStrategy[list[Pair]]:
    return st.lists(st.tuples(st.text(letters, min_size=1, max_size=8), st.integers(0, 1)), min_size=1, max_size=5)


def written(rows: Sequence[Pair], quoting: int, label_first: bool) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter="\t", quoting=quoting)  # type: ignore[arg-type]
    for text, label in [("text", "label"), *rows]:
        writer.writerow([label, text] if label_first else [text, label])
    return stream.getvalue()


def plain(rows: Sequence[Pair]) -> str:
    return "".join(f"{text}\t{label}\n" for text, label in [("text", "label"), *rows])


def read(content: str, name: str = "a.tsv") -> list[Pair]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        data = content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return [(found.text.fields[0], found.label) for found in Dataset(str(path))]


@given(texts_of('ab",1 \t\n\r'), st.sampled_from(QUOTES), st.booleans())
@example([("a\tb", 0)], csv.QUOTE_MINIMAL, False)
@example([("two\nlines", 0), ('"', 1)], csv.QUOTE_MINIMAL, True)
@example([('"', 0), ("a", 1)], csv.QUOTE_MINIMAL, False)
def test_what_csv_writer_writes_is_read_back(rows: list[Pair], quoting: int, label_first: bool) -> None:
    content = written(rows, quoting, label_first)
    lines = [line for line in content.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line]
    swallowing = any("\t" in text and set("\r\n") & set(text) for text, _ in rows)
    assume(not (swallowing and all(line.count("\t") == 1 for line in lines)))  # as well a table without quoting
    assert read(content) == rows


@given(texts_of('ab", '), st.sampled_from(['"open', '"', '"one" and two', '""both""', '"odd""" one"']), st.data())
def test_one_cell_that_no_writer_writes_shows_that_a_file_is_unquoted(
    rows: list[Pair], witness: str, data: st.DataObject
) -> None:
    rows.insert(data.draw(st.integers(0, len(rows))), (witness, 1))
    assert read(plain(rows)) == rows


@given(texts_of('ab", '))
def test_marks_inside_texts_stay(rows: list[Pair]) -> None:
    rows = [(f"x{text}", label) for text, label in rows]
    assert read(plain(rows)) == rows


@pytest.mark.parametrize(
    ("lines", "quoted"),
    [
        (['"The Wire"', "a good one"], False),  # no writer quotes the first and not the second
        (['"He said ""no"""', "a good one"], True),
        (['"The Wire"', '"a good one"'], True),
        (['"long, and dull"', "short"], True),  # a spreadsheet
        (['"long, and dull"', "short, and dull"], False),
        (['"He said ""no"""', 'a "good" one'], False),  # one for it, one against it
        (['"He said ""no"""', '"and ""no"" again"', '"The Wire"', "a good one"], True),  # two parts, put together
        (['""Wow""', '"He said ""no"""'], False),
    ],
)
def test_files_that_both_could_have_written(tmp_path: Path, lines: list[str], quoted: bool) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(plain([(line, 1) for line in lines]))
    texts = [line[1:-1].replace('""', '"') if quoted and line[0] == '"' else line for line in lines]
    assert [found.text.fields[0] for found in Dataset(str(path))] == texts
    (note,) = Dataset(str(path)).notes()
    assert note.startswith(f"{path} was taken for {'quoted TSV: quotation' if quoted else 'TSV without quoting, al'}")


def test_a_quoted_header_shows_that_a_file_is_quoted() -> None:
    assert read('"text"\t"label"\n"The Wire"\t1\na good one\t0\n') == [("The Wire", 1), ("a good one", 0)]


def test_gzipped_and_with_a_byte_order_mark() -> None:
    content = "\ufeff" + written([("two\nlines", 1), ('"no"', 0)], csv.QUOTE_MINIMAL, False)
    assert read(content, "a.tsv.gz") == [("two\nlines", 1), ('"no"', 0)]


def test_a_file_without_marks_has_no_note(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(plain([('a "good" one', 1)]))
    assert Dataset(str(path)).notes() == []


def test_rows_before_the_first_mark_need_no_look_at_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(plain([("a", 1), ("b", 0), *[("c", 1)] * 20_000, ('"d"', 1)]).encode() + b"\xff")
    assert [found.text.fields[0] for found in Dataset(str(path), n=2)] == ["a", "b"]
    assert Dataset(str(path), n=2).notes() == []
    with pytest.raises(BadInput, match="is not utf-8"):
        Dataset(str(path)).notes()


def test_a_mark_late_in_a_file_counts_as_one_at_its_start(tmp_path: Path) -> None:
    rows = [("a", 1)] * 12_000 + [("two\nlines", 0), ('a "b" c', 1)]
    path = tmp_path / "a.tsv"
    path.write_text(written(rows, csv.QUOTE_MINIMAL, False), newline="")
    assert [found.text.fields[0] for found in Dataset(str(path))][-3:] == ["a", "two\nlines", 'a "b" c']
    path.write_text(path.read_text() + "more\tthan\ttwo\n")
    with pytest.raises(BadInput, match=r"as quoted TSV line 12005 has 3 columns instead of 2; put"):
        list(Dataset(str(path)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            'text\tlabel\n"two\nlines"\t1\nthree\tfour\t0\n',
            "line 2 has fewer columns than the header, and as quoted TSV line 4 has 3 columns instead of 2; put texts",
        ),
        (
            'text\tlabel\n"open\t1\nthree\tfour\t0\n',
            "line 3 has more columns than the header, and as quoted TSV it cannot be read from line 2 on (unexpected",
        ),
        ("text\tlabel\na\n", "line 2 has fewer columns than the header; remove tabs inside texts, or put"),
    ],
)
def test_a_file_that_is_neither_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(content)
    with pytest.raises(BadInput) as refused:
        list(Dataset(str(path)))
    assert message in str(refused.value)


def test_a_run_says_what_was_assumed(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(written([('a "good" film', 1), ("a bad film", 0)], csv.QUOTE_MINIMAL, False))
    said: list[str] = []
    run = attack("pocket", str(path), "random", said=said.append)
    assert [record.original for record in run.records()] == [('a "good" film',), ("a bad film",)]
    assert f"{path} was taken for quoted TSV: quotation marks around cells were removed" in said[0]
    assert said[0] in run.view().notes
