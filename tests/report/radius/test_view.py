"""What a radius run shows machines, on a terminal and in a notebook."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import mohs
from mohs.records import Outcome, Record
from mohs.report.radius.figures import (
    radius_lines,
)
from mohs.report.radius.view import RadiusView
from mohs.report.table import rate
from mohs.report.terminal import print_run
from tests.report.made import Parsed
from tests.report.radius.made import bounded, misread, mixed, parsed, run_of, share, summary_of


def test_machines_get_rates_with_intervals_and_no_lists_of_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with run_of(*mixed()) as run:
        print_run(run, run.view(), as_json=True, verbose=False, page="x.html")
    row = json.loads(capsys.readouterr().out)
    assert (row["finished"], row["page"]) == (9, "x.html")
    found = row["radius"]
    assert found["curve"][0]["proven"]["hits"] == 5
    assert found["curve"][0]["possible"]["interval"] == list(summary_of(*mixed()).curve[0].possible.interval or ())
    assert found["kinds"]["bracketed"]["value"] == pytest.approx(2 / 7)
    assert found["attacks"][0]["success"]["interval"] is not None
    (of_share,) = found["shares"]
    assert of_share["above"][1]["low"]["hits"] == 3
    assert "values" not in of_share
    json.dumps(summary_of().to_json(), allow_nan=False)


def test_the_terminal_shows_tables_and_diffs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    with run_of(*mixed()) as run:
        errors = print_run(run, run.view(), as_json=False, verbose=False, diffs=1)
    said = capsys.readouterr().out
    found = summary_of(*mixed())
    for name, value, note in radius_lines(found):
        assert all(part in said for part in (name, value, note))
    for step in found.curve:
        assert re.search(rf"^{step.r} +{re.escape(rate(step.proven))} +{re.escape(rate(step.possible))}$", said, re.M)
    assert re.search(r"^#Win +1 +0 *$", said, re.M)
    assert re.search(r"^25% +0\.9 +42\.9% \(3/7\) \S+ \S+ {37\.5, 50\.0} +57\.1% \(4/7\)", said, re.M)
    assert "`mohs verify RUN` checks the 5 certificates of this run." in said
    assert "e0: L 0, U 1, by enumeration, PR 0.6000 (r 2)\n  A good→dull, good Film." in said
    assert "e2:" not in said, "one diff was asked for"
    assert errors.startswith("1 of 9 attempts ended in an error")


def test_a_narrow_terminal_names_the_denominators_below() -> None:
    console = Console(width=70, file=StringIO())
    with run_of(*mixed()) as run:
        RadiusView(run).show(console, 0)
    said = " ".join(console.file.getvalue().split()) if isinstance(console.file, StringIO) else ""
    assert "read right: of examples scored; upper bound: over " in said
    assert " examples with an upper bound; all other figures: of examples the model got right" in said


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], "Nothing has been measured yet."),
        ([mixed()[-1]], "Every example ended in an error."),
        (
            [misread(n) for n in range(3)],
            "The model got none of 3 examples right, so there is no radius to measure.",
        ),
        (
            [bounded(0, 0, None, whole=True, positions=0, share=share(1, 1, 1, n=1, r=0, size=1, method="counted"))],
            "No word can be replaced in any of 1 examples the model got right, so there was nothing to withstand.",
        ),
    ],
)
def test_empty_runs_are_one_sentence(
    records: list[Record], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = parsed(run_of(*records), tmp_path)
    assert said in found.text
    right = any(record.outcome is Outcome.MEASURED for record in records)
    assert ("svg" in [tag for tag, _ in found.tags]) == right
    with run_of(*records) as run:
        print_run(run, run.view(), as_json=False, verbose=False)
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_real_run_ends_in_a_page_a_table_and_a_notebook(tmp_path: Path) -> None:
    with mohs.radius("pocket", "pocket", n=4, attacks="random", share=mohs.bounds.Share("1")) as run:
        page = Parsed(run.report(tmp_path / "r.html").read_text("utf-8"))
        cells = re.findall(r"<td>(.*?)</td>", run._repr_html_())
    assert len(page.data()["rows"]) == 4
    assert "too few for a violin" in page.text
    assert "as wide as examples are frequent" not in page.text
    assert (
        "examples the model got right provably withstand any one substitution; the radius is exact for all."
        in page.text
    )
    assert "radius exact" in cells
    assert "r = 1" in cells
