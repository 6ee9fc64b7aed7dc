"""`mohs study analyse` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Mohs

ROWS = "item,text_1,text_2,annotator,statement,answer\n" + "".join(
    f"i{n},the film was good {n},the film was fine {n},{who},plain,{1 + (n + place) % 5}\n"
    for n in range(8)
    for place, who in enumerate(("ada", "grace", "joan"))
)


@pytest.fixture
def study(tmp_path: Path, mohs: Mohs) -> Path:
    (tmp_path / "answers.csv").write_text(ROWS)
    made = mohs("study", "import", "study", "answers.csv", "--new", "meaning", "--judges", 3)
    assert made.returncode == 0, made.stderr
    return tmp_path / "study"


def test_a_study_is_at_100_percent_only_at_its_end(tmp_path: Path, mohs: Mohs) -> None:
    rows = [f"i{n},one {n},other {n},{who},plain,1" for n in range(100) for who in ("ada", "bob", "cem")]
    (tmp_path / "most.csv").write_text("\n".join([ROWS.splitlines()[0], *rows[:-1]]) + "\n")
    assert mohs("study", "import", "study", "most.csv", "--new", "meaning", "--judges", 3).returncode == 0
    said = mohs("study", "status", "study").stdout
    assert "299 of 300 judgements (99%)\n99 of 100 items complete\n" in said


def test_analyse(study: Path, mohs: Mohs, cold: Mohs) -> None:
    ended = cold("study", "analyse", "study", "--out", "items.csv")
    assert ended.returncode == 0, ended.stderr
    for said in (
        "24 judgements of 8 items by 3 people",
        "valid: mean <= 2",
        "Krippendorff's alpha",
        "by the encoder's similarity",
    ):
        assert said in ended.stdout, said
    assert ended.stdout.endswith("Items: items.csv\nPage: study/analyse.html\n")
    assert "Valid by similarity" in (study / "analyse.html").read_text("utf-8")
    assert len((study.parent / "items.csv").read_text("utf-8").splitlines()) == 9

    machine = json.loads(mohs("study", "analyse", "study", "--json", "--page", "page.html").stdout)
    assert machine["page"] == "page.html"
    assert machine["out"] is None
    assert machine["all"]["valid"]["items"] == 8
    assert machine["all"]["name"] in ended.stdout
    assert sum(one["count"] for one in machine["relations"]["similarity"]["buckets"]) == 8
    assert (study.parent / "page.html").is_file()


def test_options(study: Path, mohs: Mohs) -> None:
    ended = mohs(
        "study", "analyse", "study", "--threshold", 5, "--without", "joan", "--no-measures", "--json", "--no-page"
    )
    found = json.loads(ended.stdout)
    assert found["threshold"] == 5.0
    assert found["all"]["valid"]["value"] == 1.0
    assert found["counted"]["left_out"] == 8
    assert found["relations"] is None
    assert found["page"] is None
    assert not (study / "analyse.html").exists()
    few = json.loads(
        mohs("study", "analyse", "study", "--least-judges", 4, "--no-measures", "--json", "--no-page").stdout
    )
    assert few["all"]["valid"]["undecided"] == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study", "--threshold", 9], "The threshold is 9; the mean of an item's answers lies between 1 and 5."),
        (["study", "--without", "eve"], "There is no annotator 'eve' in study; `mohs study status -v` lists them."),
        (["study", "--kind", "dogs"], "There is no kind of judge 'dogs'; use people or simulated."),
        (["study", "--kind", "simulated"], "No simulated judge has judged an item of study; leave out --kind."),
        (["study", "--encoder", "nothing"], "nothing"),
        (["nowhere"], "nowhere holds no study"),
        (["study", "--no-measures", "--out", "none/x.csv"], "none/x.csv cannot be written"),
    ],
)
def test_bad_input(study: Path, mohs: Mohs, arguments: list[object], message: str) -> None:
    ended = mohs("study", "analyse", *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
