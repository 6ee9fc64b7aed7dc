"""`mohs bias` and `mohs second-order`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Mohs
from tests.models.conftest import save, small_masked, tiny_tokenizer

ROWS = [
    {"text": "he said it was a good film", "label": 1},
    {"text": "a bad film", "label": 0},
    {"text": "his film was very bad", "label": 0},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = tiny_tokenizer("wordpiece")
    save(tmp_path / "mlm", "", tokenizer, small_masked("Bert", tokenizer))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "pairs.json").write_text(json.dumps({"film": ["movie"], "a": ["the"], "was": ["is"]}))
    return tmp_path


def test_bias(folder: Path, mohs: Mohs) -> None:
    arguments = ["bias", "--data", "rows.jsonl", "--masked-lm", "hf:mlm", "-k", "1", "--out", "run", "--device", "cpu"]
    ended = mohs(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert "he|she" in ended.stdout
    assert "In run: report.html" in ended.stdout
    assert "<html" in (folder / "run" / "report.html").read_text()
    again = mohs(*arguments)
    assert again.stdout == ended.stdout
    assert mohs("report", "run", "--no-page").returncode == 0
    found = json.loads(mohs("report", "run", "--json", "--no-page").stdout)
    assert "he" in json.dumps(found)
    assert found["effort"]["masked_lm_asked"] > 0
    wide = json.loads(mohs("report", "run", "--json", "--filter-epsilon", "0.9").stdout)["bias"]
    assert (wide["epsilon"], wide["filtered"], wide["whole"]) == (0.9, wide["whole"], found["bias"]["whole"])
    assert found["bias"]["filtered"] != wide["filtered"]
    assert "is below 0.9" in (folder / "run" / "report.html").read_text()
    told = mohs("export", "run", "--outcome", "success")
    assert told.stderr == "mohs: No record of run has the outcome success; its outcomes are measured, skipped.\n"
    assert mohs("bias", "--config", "run/manifest.yaml", "--out", "run").stdout == ended.stdout
    plain = mohs("bias", "--data", "rows.jsonl", "-k", 0, "--out", "plain")
    assert plain.returncode == 0, plain.stderr
    told = mohs("report", "run", "--against", "plain")
    assert told.returncode == 2
    assert len(told.stderr.strip().splitlines()) == 1


def test_second_order(folder: Path, mohs: Mohs) -> None:
    arguments = ["second-order", "--data", "rows.jsonl", "--masked-lm", "hf:mlm", "--synonyms", "thesaurus:pairs.json"]
    arguments += ["--method", "so-enum", "-k", "1", "--out", "run", "--device", "cpu"]
    ended = mohs(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert "In run: report.html" in ended.stdout
    assert "<html" in (folder / "run" / "report.html").read_text()
    assert mohs(*arguments).stdout == ended.stdout
    assert "masked_lm asked " in mohs("report", "run", "--no-page", "-v").stdout
    told = mohs("report", "run", "--filter-epsilon", "0.1")
    assert told.stderr == "mohs: run is a run of `mohs second-order`; --filter-epsilon is for runs of `mohs bias`.\n"
    told = mohs("verify", "run")
    said = "mohs: run is a run of `mohs second-order`; certificates come from runs of `mohs radius`.\n"
    assert (told.returncode, told.stderr) == (2, said)
    lines = mohs("export", "run").stdout.splitlines()
    assert len(lines) == 3
    assert json.loads(mohs(*arguments, "--json").stdout)
    again = mohs("second-order", "--config", "run/manifest.yaml", "--out", "run")
    assert again.stdout == ended.stdout, again.stderr
    told = mohs("bias", "--config", "run/manifest.yaml")
    assert "is the manifest of a `mohs second-order` run; use it with `mohs second-order`." in told.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["second-order"], "This needs a masked language model, and none is given; use --masked-lm hf:PATH_OR_ID."),
        (["second-order", "--method", "so-tree"], "Unknown method 'so-tree'; use so-enum, so-beam, random."),
        (["bias"], "use --masked-lm hf:PATH_OR_ID, or -k 0, which needs no model."),
        (["bias", "-k", "0", "--preset", "released"], "or -k 0 and --preset paper, which needs no model."),
        (["bias", "-k", "0", "--preset", "other"], "Unknown preset 'other'; use paper or released."),
        (["bias", "--pairs", "none.csv"], "Unknown pairs 'none.csv'; use gender, nationality"),
        (["bias", "-k", "0", "--label", "joy"], "There is no label 'joy': pocket has the classes negative, positive."),
        (["bias", "-k", "0", "--pairs", "country", "--n", "3"], "fits any of the 3 examples"),
    ],
)
def test_messages(arguments: list[str], sentence: str, mohs: Mohs) -> None:
    ended = mohs(*arguments)
    assert ended.returncode == 2
    assert sentence in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert "Traceback" not in ended.stderr


def test_help_has_examples(mohs: Mohs) -> None:
    for command in ("bias", "second-order"):
        shown = mohs(command, "--help").stdout
        assert f"mohs {command} --" in shown or f"mohs {command} -k" in shown
