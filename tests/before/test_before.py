"""Run folders of version 0.1.0 stay good, and the same calls give the same bytes."""

from __future__ import annotations

import io
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import mohs
from mohs.bounds import Certificate
from mohs.bounds.finding import RadiusFinding
from mohs.errors import BadInput
from mohs.records import Record
from mohs.records.export import export
from tests.before.cases import CASES, victim

HERE = Path(__file__).parent
each_case = pytest.mark.parametrize("case", list(CASES))


def exported(run: mohs.Run, format: str) -> str:
    written = io.StringIO(newline="")
    export(map(as_before, run.records()), format, None, written)
    return written.getvalue()


def as_before(record: Record) -> Record:
    """The record with a certificate as 0.1.0 wrote it, which did not say how its space was built."""
    if not isinstance(record.finding, RadiusFinding) or record.finding.certificate is None:
        return record
    certificate = Certificate.from_json(record.finding.certificate)
    if (
        certificate.built is not None and certificate.by == "closed form"
    ):  # the number of texts asked stood for the size
        levels = tuple(replace(level, size=1) for level in certificate.levels)
        certificate = replace(certificate, levels=levels)
    own = replace(certificate, built=None).to_json()
    return replace(record, finding=replace(record.finding, certificate=own))


def kept(case: str, format: str) -> str:
    return (HERE / case / f"export.{format}").read_bytes().decode("utf-8")


@pytest.fixture
def folder(case: str, tmp_path: Path) -> Path:
    """A copy of a folder that 0.1.0 wrote."""
    return Path(shutil.copytree(HERE / case, tmp_path / case))


@each_case
def test_the_same_call_gives_the_same_bytes(case: str) -> None:
    with CASES[case](None) as run:
        _order_as_before(run)
        assert exported(run, "jsonl") == kept(case, "jsonl")
        assert exported(run, "csv") == kept(case, "csv")


def _order_as_before(run: mohs.Run) -> None:
    """Attacks over a changed space came in alphabetical order; today they keep the order asked for."""
    asked = run.manifest["config"].get("attacks", [])
    run.manifest["tasks"].sort(key=lambda name: (asked.index(name) if name in asked else len(asked), name))


@each_case
def test_an_old_folder_opens_exports_and_reports(case: str, folder: Path) -> None:
    with mohs.Run.open(folder) as run:
        assert exported(run, "jsonl") == kept(case, "jsonl")
        assert run.planned == len(run)
        assert len(repr(run)) > 10
        assert "<table" in run._repr_html_()
        assert run.report().read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("case", "facts"),
    [
        ("attack", ["textfooler:paper, standard, pwws:released", "300 an example"]),
        ("second-order", ["so-beam", "wordlike"]),
        ("bias", ["gender"]),
        ("radius", ["pdp:paper, textfooler:paper", "neighbours:k=5,min_cosine=0.5"]),
    ],
)
def test_the_page_of_an_old_folder_names_what_was_asked_for(case: str, facts: list[str], folder: Path) -> None:
    with mohs.Run.open(folder) as run:
        page = run.report().read_text("utf-8").replace("<wbr>", "")
    for fact in facts:
        assert fact in page


@each_case
def test_an_old_folder_resumes(case: str, folder: Path) -> None:
    with sqlite3.connect(folder / "journal.sqlite") as journal:
        journal.execute("DELETE FROM records WHERE number % 2 = 1")
    journal.close()
    with mohs.Run.open(folder) as run:
        left = len(run)
    steps: list[int] = []
    with CASES[case](folder, progress=lambda record, finished, total: steps.append(finished)) as run:
        assert steps[0] == left < steps[-1]
        assert exported(run, "jsonl") == kept(case, "jsonl")


@each_case
def test_another_seed_is_refused_in_an_old_folder(case: str, folder: Path) -> None:
    with pytest.raises(BadInput, match=r"seed: \d in the folder, 77 asked for"):
        CASES[case](folder, seed=77)


def test_old_certificates_hold(tmp_path: Path) -> None:
    for case, model in (("radius", victim()), ("radius-pocket", "pocket")):
        folder = shutil.copytree(HERE / case, tmp_path / case)
        found = mohs.verify(folder, model)
        assert found
        assert not any(checked.sound for _, checked in found)
        assert all(checked.unstated for _, checked in found)
        found = mohs.verify(folder, model, accept_old=True)
        assert all(checked.sound and not checked.unstated for _, checked in found)
        assert all("does not say how its space was built" in checked.notes[0] for _, checked in found)
        with pytest.raises(BadInput, match="does not say how its space was built; run mohs radius again"):
            mohs.verify(folder, model, rebuild=True, accept_old=True)
