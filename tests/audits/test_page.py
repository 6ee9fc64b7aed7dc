"""The page and the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.console import Console

import mohs
from mohs.audits.charts import rule_bars
from mohs.audits.figures import Rule
from tests.audits.test_figures import drawn, made_with
from tests.audits.toys import Checker, Lm, record, run_of, tools
from tests.report.made import EVIL, Parsed, needs_nothing_else


class Naming(Checker):
    """Its rule has a nasty name."""

    def answer(self, item: str) -> tuple[str, ...]:
        return (EVIL,) * item.count("bad")


def printed(audit: mohs.audits.Audit, width: int = 80) -> str:
    console = Console(width=width, record=True, file=Path("/dev/null").open("w"), markup=False)  # noqa: SIM115
    audit.show(console)
    console.file.close()
    return console.export_text()


def test_nothing_in_a_run_becomes_markup(tmp_path: Path) -> None:
    name = f"attack {EVIL}"
    records = [record(0, f"good {EVIL} film", {0: "bad"}, name, example_id=EVIL)]
    run_of(records, tmp_path / "run", labels=[EVIL, f"{EVIL}2"]).close()
    audit = mohs.audit(tmp_path / "run", **tools(grammar=Naming()))
    page = Parsed(audit.page().read_text("utf-8"))
    assert needs_nothing_else(page)
    assert EVIL in page.text
    (row,) = page.data()["rows"]
    assert row["id"] == EVIL
    assert row["errors"] == 1
    assert row["rules"] == EVIL


def test_the_page_has_all_parts(tmp_path: Path) -> None:
    run_of(drawn(), tmp_path / "run").close()
    audit = mohs.audit(tmp_path / "run", **tools(lm=Lm()), absolute=["grammar-errors<=1"])
    assert audit.page() == tmp_path / "run" / "audit.html"
    page = Parsed(audit.page(tmp_path / "elsewhere.html").read_text("utf-8"))
    for said in (
        "Success against a threshold on sentence cosine",
        "Success against a threshold on word cosine",
        "Grammar errors against substitutions",
        "Rules broken more often",
        "text alone: grammar-errors<=1",
        "fluency: median perplexity after",
        "bad read as good",
        "Constraint classes",
        "Only final texts were filtered",
    ):
        assert said in page.text, said
    assert len(page.data()["rows"]) == audit.summary()[0].examples
    assert needs_nothing_else(page)


def test_the_page_draws_synonyms_and_several_runs() -> None:
    audit = mohs.audit([made_with(50), made_with(8)], **tools())
    from mohs.audits.page import audit_page

    page = Parsed(audit_page(audit))
    assert "Success against the number of synonyms" in page.text
    assert {row["attack"] for row in page.data()["rows"]} == {0, 1}


def test_a_run_without_successes_has_a_page() -> None:
    from mohs.audits.page import audit_page

    page = Parsed(audit_page(mohs.audit(run_of([record(0, "aa bb")]), **tools())))
    assert "has no adversarial example" in page.text


@pytest.mark.parametrize("width", [80, 200])
def test_the_terminal_fits(width: int) -> None:
    audit = mohs.audit([made_with(50), made_with(8)], **tools())
    said = printed(audit, width)
    assert max(map(len, said.splitlines())) <= width
    assert "k = 8" in said
    assert "not measured" in said
    assert "Not measured: BERTScore (needs --token-encoder)." in " ".join(said.split())


def test_one_attack_says_why_beside_each_measure() -> None:
    said = printed(mohs.audit(run_of(drawn()), **tools()))
    assert max(map(len, said.splitlines())) <= 80
    assert "not measured: needs --lm" in said
    assert "rules broken, textfooler:paper" in said
    assert re.search(r"^BADGE +\d+ +\d+ +[\d.]+$", said, re.MULTILINE)


def test_bars_show_what_grew() -> None:
    bars = rule_bars([Rule("A", 1, 4), Rule("B", 0, 2), Rule("C", 3, 3)])
    assert [(bar["rule"], bar["said"]) for bar in bars] == [("A", "1 → 4, ratio 4.0"), ("B", "0 → 2, new")]
    assert bars[0]["after"] == 4 * bars[0]["before"] == 2 * bars[1]["after"]


def test_a_notebook_shows_it() -> None:
    shown = mohs.audit(run_of([record(0, "aa bb", {0: "a"}, EVIL)]), **tools())._repr_html_()
    assert "with grammar-errors&lt;=0" in shown
    assert "<script>" not in shown
