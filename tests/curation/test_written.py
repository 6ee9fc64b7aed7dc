"""The folder that others load: rows, data card, Croissant, page."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

import mohs
from mohs.curation.build import build
from mohs.curation.config import Config
from mohs.curation.folder import open_benchmark
from mohs.curation.rows import columns, rows_of
from mohs.errors import BadInput
from tests.curation.toys import config, item, values, write_rows

needs_datasets = pytest.mark.skipif(not importlib.util.find_spec("datasets"), reason="pip install datasets to run this")
needs_croissant = pytest.mark.skipif(
    not importlib.util.find_spec("mlcroissant"), reason="pip install mlcroissant to run this"
)
quiet = pytest.mark.filterwarnings("ignore")  # of other packages


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark with two tasks, the second of pairs and of examples that people made alone."""
    folder = tmp_path_factory.mktemp("made")
    found = values(folder, hide_test=True, about="Texts | with <b>signs</b>.")
    data = write_rows(
        folder / "pairs.jsonl", [{"p": "It rains.", "h": f"It is wet {n}.", "y": n % 3} for n in range(6)]
    )
    hard = [{"p": f"{n} men sing.", "h": f"{n + n % 3} men sing.", "y": n % 3} for n in range(12)]
    pairs = {
        "kind": "nli",
        "data": data,
        "fields": ["p", "h"],
        "label_field": "y",
        "labels": ["entailment", "neutral", "contradiction"],
        "surrogates": {"none": "python:tests.curation.toys:first"},
        "only": ["numbers"],
        "group": "mnli",
    }
    found["tasks"]["pairs"] = pairs
    found["attacks"] = found["attacks"][:3]
    found["crafted"].append(
        {
            "name": "numbers", "task": "pairs", "file": write_rows(folder / "numbers.jsonl", hard),
            "family": "stresstest", "fields": ["p", "h"], "label_field": "y", "licence": "MIT",
        }
    )  # fmt: skip
    mohs.build_benchmark(found, folder / "out")
    return folder / "out"


def test_benchmark_json(made: Path) -> None:
    found = open_benchmark(made)
    assert list(found.tasks) == ["pairs", "reviews"]
    pairs = found.tasks["pairs"]
    assert pairs["names"] == ["premise", "hypothesis"]
    assert pairs["group"] == "mnli"
    assert pairs["counts"] == {"dev": 2, "test": 10}  # a fifth of twelve
    assert pairs["label_counts"]["test"] is None  # nothing is told of hidden labels
    assert found.tasks["reviews"]["files"] == {
        "dev": "data/reviews/dev.jsonl", "test": "data/reviews/test.jsonl", "answers": "private/reviews.jsonl",
    }  # fmt: skip
    about = found.about
    assert about["judging"] == {"by": "simulated", "simulated": True, "judges": 5, "agreeing": 4}
    assert [one["name"] for one in about["methods"]] == ["textfooler", "pruthi", "random", "ours", "numbers"]
    lines = {(line["task"], line["split"]): line for line in about["table1"]}
    for task, said in found.tasks.items():
        for split in ("dev", "test"):
            rows = found.rows(task, split, answers=True)
            assert lines[task, split]["all"] == said["counts"][split] == len(rows)
            counts = [sum(row["label"] == n for row in rows) for n in range(len(said["labels"]))]
            assert said["label_counts"][split] == (counts if split == "dev" else None)


def test_the_order_of_the_test_set_tells_no_label(tmp_path: Path) -> None:
    """The rows of a method are in no order of the data, which may be sorted by label; methods stay together."""
    hard = [{"text": f"Number {n} is there.", "label": int(n >= 40)} for n in range(80)]
    one = {"name": "ours", "task": "reviews", "file": write_rows(tmp_path / "own.jsonl", hard)}
    own = config(tmp_path, crafted=[one], attacks=[])
    build(own, tmp_path / "out")
    found = open_benchmark(tmp_path / "out")
    assert sum(map(sum, found.tasks["reviews"]["label_counts"].values())) == 80
    said = [row["label"] for row in found.rows("reviews")]
    turns = sum(one != other for one, other in itertools.pairwise(said))
    assert turns > 20  # one, if they were sorted


def test_rows_have_the_same_keys(made: Path) -> None:
    found = open_benchmark(made)
    for task, said in found.tasks.items():
        for split in ("dev", "test"):
            for row in found.rows(task, split) + found.rows(task, split, answers=True):
                assert list(row) == list(columns(said["names"]))


def test_a_row_by_hand(tmp_path: Path) -> None:
    own = config(tmp_path)
    votes = tuple((f"judge-{n}", label) for n, label in enumerate((1, 1, 1, 1, 0)))
    one = item("pruthi", "r7", label=1, votes=votes, judged="imported")
    assert rows_of(own, own.tasks[0], ["sentence"], [one]) == [
        {
            "idx": 0, "task": "reviews", "sentence": "pruthi r7 0", "label": 1, "method": "pruthi", "class": "word",
            "family": "typo", "original_sentence": "original r7", "original_id": "r7", "share_changed": 0.1,
            "similarity": None, "agreement": 0.8, "judges": 5, "judged": "imported",
        }
    ]  # fmt: skip


def test_unknown_tasks_and_folders(made: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no task 'rte'; it has pairs, reviews"):
        open_benchmark(made).rows("rte")
    with pytest.raises(BadInput, match="There is no split 'train'; use dev or test"):
        open_benchmark(made).rows("reviews", "train")
    with pytest.raises(BadInput, match="holds no finished benchmark"):
        open_benchmark(tmp_path)
    (tmp_path / "benchmark.json").write_text('{"format": "other"}')
    with pytest.raises(BadInput, match="is not of a benchmark that this version reads"):
        open_benchmark(tmp_path)


def card_of(made: Path) -> tuple[dict[str, Any], str]:
    _, head, body = (made / "README.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


def test_the_card_says_what_counts(made: Path) -> None:
    head, body = card_of(made)
    assert head["license"] == "cc-by-4.0"
    assert [one["config_name"] for one in head["configs"]] == ["reviews", "pairs"]
    for part in ("## Counts", "## How the attacks fared", "## What the filters took", "## Agreement", "## Licence"):
        assert part in body
    assert "The judges were simulated" in body
    assert "Simulated judges gave each text a label" in body
    assert "| numbers | " in body
    assert "MIT" in body
    assert "CC0-1.0" in body
    heads = [line for line in body.split("\n") if line.startswith("|---")]
    tables = re.findall(r"((?:^\|.*\n)+)", body, re.MULTILINE)
    assert len(tables) == len(heads)
    for table in tables:
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in table.strip().split("\n")}
        assert len(widths) == 1, table


@needs_datasets
@quiet
def test_datasets_loads_every_task(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets

    datasets.disable_progress_bars()
    found = open_benchmark(made)
    for task, said in found.tasks.items():
        loaded = datasets.load_dataset(str(made), task, cache_dir=str(tmp_path))
        assert set(loaded) == {"dev", "test"}
        for split, rows in loaded.items():
            assert rows.features["label"].names == said["labels"]
            assert list(rows) == found.rows(task, split)


@needs_croissant
@quiet
def test_croissant_is_valid_and_finds_the_rows(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlcroissant

    read = mlcroissant.Dataset(jsonld=str(made / "croissant.json"))
    assert not read.metadata.issues.errors
    found = open_benchmark(made)
    for task, said in found.tasks.items():
        for split in ("dev", "test"):
            own = f"{task}-{split}"
            records = [
                {name: value.decode() if isinstance(value, bytes) else value for name, value in record.items()}
                for record in read.records(own)
            ]
            rows = found.rows(task, split)
            for name in ("idx", "label", *said["names"]):
                assert [record[f"{own}/{name}"] for record in records] == [row[name] for row in rows]


class _Tables(HTMLParser):
    """The cells of a page's tables."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        self._in = tag in ("td", "th") or (self._in and tag in ("b", "wbr"))
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = self._in and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in:
            self.rows[-1][-1] += data


def test_the_page_has_the_figures(made: Path) -> None:
    page = (made / "benchmark.html").read_text("utf-8")
    about = open_benchmark(made).about
    read = _Tables()
    read.feed(page)
    for one in about["validity"]:
        (row,) = [row for row in read.rows if row[:2] == [one["task"], one["method"]] and len(row) == 8]
        assert row[2] == f"{100 * one['asr']:.2f}"
        assert row[3] == f"{100 * one['curated_asr']:.2f}"
    for step in about["funnel"]:
        (row,) = [row for row in read.rows if row[:3] == [step["task"], step["method"], step["stage"]]]
        assert row[3:5] == [str(step["given"]), str(step["kept"])]
    assert "The judges were simulated" in page
    assert "<script" not in page.split("</head>")[1]


def test_names_cannot_break_out_of_page_or_card(tmp_path: Path) -> None:
    nasty = "python:tests.curation.toys:first"
    found = values(tmp_path, about="<script>alert(1)</script>", licence="<img src=x>")
    found["tasks"]["reviews"] |= {"surrogates": {"one": nasty}, "licence": "a|b <script>"}
    found["attacks"] = [{"attack": "random", "class": "word", "family": "typo"}]
    found["filters"] = {"word_change": 1.0}
    found["judging"] = {"by": "none"}
    mohs.build_benchmark(found, tmp_path / "out")
    assert "<img" not in (tmp_path / "out" / "benchmark.html").read_text("utf-8")
    head, body = card_of(tmp_path / "out")
    assert "a\\|b &lt;script>" in body
    assert (head["license"], head["license_name"]) == ("other", "<img src=x>")  # no id of a licence
    assert "Nobody judged the texts" in body


def test_a_task_without_texts_is_left_out(tmp_path: Path) -> None:
    found = values(tmp_path)
    found["tasks"]["empty"] = {**found["tasks"]["reviews"], "only": ["dud"]}
    found["attacks"].append({"attack": "random", "name": "dud", "class": "word", "family": "typo"})
    found["tasks"]["reviews"]["without"] = ["dud"]
    found["filters"] = {"word_change": 0.0}
    own: Config = config(tmp_path, **{name: found[name] for name in ("tasks", "attacks", "filters")})
    build(own, tmp_path / "out")
    about = json.loads((tmp_path / "out" / "benchmark.json").read_text())
    assert list(about["tasks"]) == ["reviews"]
    assert "empty kept no text, so the benchmark is without it." in about["notes"]
