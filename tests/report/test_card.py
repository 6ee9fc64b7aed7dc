"""`mohs card`: what the Hub reads, checked by its own library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from typer.testing import CliRunner

import mohs
from mohs.cli.main import app
from mohs.errors import BadInput, MohsError
from mohs.report.card import card_of
from tests.toys import WordCount

ATTACKS = ["textfooler", "random+fair"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("card") / "run"
    with mohs.attack("pocket", "pocket", ATTACKS, n=12, budget=60, out=folder) as found:
        yield found


def test_the_hub_reads_every_figure(run: Any) -> None:
    card = card_of(run, run.view(), model="me/mine")
    data: Any = ModelCard(card.text).data
    results = data.eval_results
    assert data.model_name == "me/mine"
    assert {result.dataset_type for result in results} == {"custom"}
    by_name = {result.metric_name: result for result in results}
    assert len(by_name) == 8
    for summary in run.summary():
        for figure, share in (
            ("accuracy before", summary.accuracy_before),
            ("accuracy under attack", summary.accuracy_under_attack),
            ("attack success", summary.success),
            ("fair success, estimated by a judge", summary.fair),
        ):
            found = by_name[f"{figure} ({summary.attack})"]
            assert found.metric_value == pytest.approx(share.value, abs=5e-5)
            args = found.metric_args
            name, _, preset = summary.attack.partition(":")
            assert (args["attack"], args["preset"], args["n"]) == (name, preset, share.total)
            assert args["interval_95"] == pytest.approx(share.interval, abs=5e-5)
            assert args["space"].startswith("Neighbours(k=50, min_cosine=0.5")
    spaces = {name: result.metric_args["space"] for name, result in by_name.items()}
    plain, fair = spaces["attack success (textfooler:paper)"], spaces["attack success (random:baseline+fair)"]
    assert "SentenceSimilarity(angular=True, window=15, previous=True) >= 0.841" in plain
    assert "Acceptable(each=False, models=False) >= 0.5" in fair
    assert "Acceptable" not in plain
    assert card.results == {}
    assert "no name on the Hub" in card.notes[0]


def test_eval_results(run: Any) -> None:
    card = card_of(run, run.view(), dataset="stanfordnlp/sst2")
    assert list(card.results) == ["mohs-textfooler-paper", "mohs-random-baseline-fair"]
    for rows, summary in zip(card.results.values(), run.summary(), strict=True):
        (entry,) = parse_eval_result_entries([dict(row) for row in rows])
        assert (entry.dataset_id, entry.task_id) == ("stanfordnlp/sst2", "default")
        assert entry.value == pytest.approx(100 * summary.accuracy_under_attack.value, abs=0.005)
        assert f"Attack {summary.attack}, goal untargeted; n=12 examples scored; 95% interval" in (entry.notes or "")


def test_the_table_names_denominators(run: Any) -> None:
    section = card_of(run, run.view()).section
    rows = [line for line in section.split("\n") if line.startswith("|")]
    assert len({line.count("|") - line.count("\\|") for line in rows}) == 1
    (success,) = (line for line in rows if line.startswith("| attack success"))
    assert success.endswith("| of examples attacked |")


def test_names_are_text_and_no_markup(tmp_path: Path) -> None:
    victim = WordCount({"good": 2.0})
    victim.name = "<img src=x> | `a` \n---\n"
    with mohs.attack(victim, [("a good film", 1)], ["random"], out=tmp_path / "run") as found:
        card = card_of(found, found.view())
    assert not re.search(r"(?<!\\)[<|`]", card.section.split("\n")[2])
    data: Any = ModelCard(card.text).data
    assert data.eval_results is not None
    assert not re.search(r"^---$", card.section, re.MULTILINE)


def test_runs_of_other_verbs_have_a_section(tmp_path: Path) -> None:
    with mohs.radius("pocket", "pocket", n=3, max_r=1, out=tmp_path / "run") as found:
        card = card_of(found, found.view())
    assert card.metadata == {}
    assert card.text.startswith("## Robustness")
    assert "\n    bracketed  " in card.text
    assert "mohs radius" in card.notes[0]


def test_from_python(run: Any, tmp_path: Path) -> None:
    card = run.card(model="me/mine", dataset="me/data")
    assert card == card_of(run, run.view(), model="me/mine", dataset="me/data")
    files = card.write(tmp_path / "card")
    assert [file.read_text("utf-8") for file in files[:1]] == [card.text]
    assert [file.name for file in files[1:]] == ["mohs-textfooler-paper.yaml", "mohs-random-baseline-fair.yaml"]
    with pytest.raises(BadInput, match="is not an empty folder"):
        card.write(tmp_path / "card")
    (tmp_path / "file").write_text("")
    with pytest.raises(MohsError, match="cannot be made"):
        card.write(tmp_path / "file" / "card")


def test_the_command(run: Any, tmp_path: Path) -> None:
    asked = ["card", str(run.folder), "--out", str(tmp_path / "card"), "--dataset", "me/data"]
    ended = CliRunner().invoke(app, asked)
    assert ended.exit_code == 0, ended.output
    (first, _) = sorted((tmp_path / "card" / ".eval_results").iterdir())
    assert yaml.safe_load(first.read_text())[0]["dataset"]["id"] == "me/data"
    assert (tmp_path / "card" / "README.md").read_text().startswith("---\nmodel-index:")
    again = CliRunner().invoke(app, asked)
    assert "is not an empty folder" in str(again.exception)
    assert CliRunner().invoke(app, ["card", str(run.folder)]).stdout.count("## Robustness") == 1
