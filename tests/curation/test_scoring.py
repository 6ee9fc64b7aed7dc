"""Scores of victims and of predictions, on a small benchmark written by hand."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import mohs
from mohs.cli import benchmark_score
from mohs.curation import score_api
from mohs.curation.asking import label_order, victims_by_task
from mohs.curation.leaderboard import leaderboard
from mohs.curation.predictions import read_predictions
from mohs.curation.score_api import read_benchmark, score_benchmark
from mohs.curation.scored import ScoredTask, read_advglue
from mohs.errors import BadInput

TASK: dict[str, Any] = {"kind": "sentiment", "group": "", "metrics": ["accuracy"], "licence": "", "data": "x"}
NLI = ("entailment", "neutral", "contradiction")


def command(*arguments: str) -> Result:
    app = typer.Typer()
    benchmark_score.add(app)
    ended = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended


def row(
    idx: int, text: str, label: int, method: str = "", family: str = "", source: str = "", original: str = ""
) -> Any:
    return {
        "idx": idx,
        "sentence": text,
        "label": label,
        "method": method,
        "family": family,
        "original_sentence": original or None,
        "original_id": source or None,
    }


# The victim says 1 if it sees "good". Four texts of two originals, and one without.
ROWS = [
    row(0, "a g00d film", 1, "typos", "typo", "a", "a good film"),
    row(1, "a fine film", 1, "words", "embedding", "a", "a good film"),
    row(2, "a good bad film", 0, "words", "embedding", "b", "a bad film"),
    row(3, "a bad movie", 0, "words", "embedding", "b", "a bad film"),
    row(4, "not a good film", 0, "negation", "checklist"),
]


def good(texts: list[str]) -> list[list[float]]:
    return [[0.1, 0.9] if "good" in text else [0.9, 0.1] for text in texts]


def stars(texts: list[str]) -> list[list[float]]:
    if any("bad movie" in text for text in texts):
        raise ValueError("no stars today")
    return good(texts)


GOOD = mohs.FunctionVictim(good, labels=["negative", "positive"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tasks = {}
    for name, group in (("film", ""), ("nli", "mnli"), ("nli-mm", "mnli")):
        places = {split: f"data/{name}/{split}.jsonl" for split in ("dev", "test")}
        (tmp_path / "data" / name).mkdir(parents=True)
        hidden = [{**one, "label": -1, "original_sentence": None, "original_id": None} for one in ROWS]
        (tmp_path / places["dev"]).write_text("".join(f"{json.dumps(one)}\n" for one in ROWS[:2]))
        (tmp_path / places["test"]).write_text("".join(f"{json.dumps(one)}\n" for one in hidden))
        (tmp_path / "private").mkdir(exist_ok=True)
        (tmp_path / f"private/{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in ROWS))
        files = {**places, "answers": f"private/{name}.jsonl"}
        tasks[name] = {
            **TASK,
            "names": ["sentence"],
            "labels": ["negative", "positive"],
            "group": group,
            "files": files,
            "counts": {"dev": 2, "test": 5},
        }
    about = {"format": "mohs-benchmark-1", "name": "films", "hash": "h", "hidden_test": True, "tasks": tasks}
    (tmp_path / "benchmark.json").write_text(json.dumps(about))
    return tmp_path


def test_by_hand(folder: Path) -> None:
    found = score_benchmark(folder, GOOD)
    (film, *_), figures = found.tasks, found.tasks[0].families
    assert film.score.value == pytest.approx(1 / 5)  # only the bad movie is read right
    assert {name: (one.value, one.n) for name, one in figures.items()} == {
        "typo": (0.0, 1),
        "embedding": (pytest.approx(1 / 3), 3),
        "checklist": (0.0, 1),
    }
    assert {name: one.n for name, one in film.methods.items()} == {"typos": 1, "words": 3, "negation": 1}
    assert film.benign is not None
    assert (film.benign.value, film.benign.n) == (1.0, 2)
    assert film.gap is not None
    assert film.gap.value == pytest.approx(1 - 1 / 5)
    assert found.average.value == pytest.approx(1 / 5)
    assert found.average.of == "2 tasks"  # nli and nli-mm are one
    assert found.families["embedding"].value == pytest.approx(1 / 3)


def test_tasks_of_a_group_count_once(folder: Path) -> None:
    def never(texts: list[str]) -> list[list[float]]:
        return [[0.9, 0.1] for _ in texts]

    found = score_benchmark(folder, {"film": GOOD, "nli": never, "nli-mm": GOOD}, labels=("negative", "positive"))
    values = [task.score.value for task in found.tasks]
    assert values == [pytest.approx(0.2), pytest.approx(0.6), pytest.approx(0.2)]
    assert found.average.value == pytest.approx((0.2 + (0.6 + 0.2) / 2) / 2)
    part = score_benchmark(folder, {"film": GOOD})
    assert part.average.value == pytest.approx(0.2)
    assert any("nli, nli-mm" in note for note in part.notes)


def test_errors_are_no_wrong_answers(folder: Path) -> None:
    found = score_benchmark(folder, mohs.FunctionVictim(stars, labels=["negative", "positive"]))
    assert found.tasks[0].score.value == 0.0
    assert (found.tasks[0].score.n, found.tasks[0].score.errors, found.errors) == (4, 1, 3)
    assert any("no stars today" in note for note in found.notes)


def test_classes_go_by_their_names(folder: Path) -> None:
    turned = mohs.FunctionVictim(lambda texts: [row[::-1] for row in good(texts)], labels=["Positive", "negative"])
    found, plain = score_benchmark(folder, turned), score_benchmark(folder, GOOD)
    assert [task.score.value for task in found.tasks] == [task.score.value for task in plain.tasks]
    task = ScoredTask("rte", ("sentence1", "sentence2"), ("entailment", "not_entailment"), ("accuracy",), ())
    assert label_order(task, ["not entailment", "ENTAILMENT"], 2) == ([1, 0], [])
    order, notes = label_order(task, ["LABEL_0", "LABEL_1"], 2)
    assert order == [0, 1]
    assert "does not name its classes" in notes[0]
    with pytest.raises(BadInput, match=r"has 2 classes .* and the victim has 3"):
        label_order(task, NLI, 3)
    with pytest.raises(BadInput, match="calls its classes entailment, other"):
        label_order(task, ["entailment", "other"], 2)


def test_predictions_give_the_same_score(folder: Path, tmp_path: Path) -> None:
    args = ["--victim", "python:tests.curation.test_scoring:good", "--labels", "negative,positive"]
    file, out = tmp_path / "said.jsonl", tmp_path / "score.json"
    done = command("predict", "--benchmark", str(folder), "--out", str(file), *args)
    assert "15 predictions" in done.stdout, done.stderr
    first = json.loads(file.read_text().split("\n")[0])
    assert first == {"task": "film", "split": "test", "idx": 0, "label": "negative"}
    asked = ["score", "--benchmark", str(folder), "--predictions", str(file), "--name", "<b>mine</b>"]
    done = command(*asked, "--out", str(out))
    assert "20.0%" in done.stdout, done.stderr
    told, direct = json.loads(out.read_text()), score_benchmark(folder, GOOD).to_json()
    assert told["average"] == direct["average"]
    assert told["tasks"][0]["families"] == direct["tasks"][0]["families"]
    page = tmp_path / "page.html"
    done = command("leaderboard", str(out), "--reported", "advglue", "--out", str(page))
    assert "measured" in done.stdout
    assert "DeBERTa (Large)" in done.stdout
    assert "<b>mine</b>" not in page.read_text()
    assert "&lt;b&gt;mine" in page.read_text()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([(0, "negative"), (1, "negative"), (2, 0), (3, 1)], "lacks 1 of the 5 texts of film, the first 4"),
        ([(n, "negative") for n in range(6)], "has text 5 of film"),
        ([*((n, "negative") for n in range(5)), (0, "negative")], "second prediction for text 0"),
        ([(0, "nice")], "has the label 'nice'; use negative, positive"),
        ([("x", "negative")], "has the idx 'x'"),
        ([(0.7, "negative")], "has the idx 0.7"),
    ],
)
def test_predictions_must_be_about_exactly_the_texts(folder: Path, lines: Any, message: str) -> None:
    file = folder / "said.jsonl"
    rows = [{"task": "film", "split": "test", "idx": idx, "label": label} for idx, label in lines]
    file.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    with pytest.raises(BadInput, match=message):
        read_predictions(file, read_benchmark(folder))


def test_a_hidden_test_set_is_scored_by_those_who_have_its_labels(folder: Path) -> None:
    (folder / "private" / "film.jsonl").unlink()
    with pytest.raises(BadInput, match=r"private/film\.jsonl cannot be read"):
        score_benchmark(folder, GOOD)
    for one in (folder / "private").iterdir():
        one.unlink()
    with pytest.raises(BadInput, match=r"films holds back labels of its test set; .*`mohs benchmark predict`"):
        score_benchmark(folder, GOOD)
    assert score_benchmark(folder, GOOD, split="dev").tasks[0].score.n == 2
    about = json.loads((folder / "benchmark.json").read_text())
    for told in about["tasks"].values():
        told["files"]["answers"] = None
    (folder / "benchmark.json").write_text(json.dumps(about))
    with pytest.raises(BadInput, match="films holds back labels of its test set"):
        score_benchmark(folder, GOOD)


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("files.test", "../rows.jsonl", "files of film are not in its folder"),
        ("files.answers", "/etc/passwd", "files of film are not in its folder"),
        ("files", {}, "film lacks 'dev'"),
        ("names", [], "names, labels or metrics of film are no list of words"),
        ("labels", 3, "names, labels or metrics of film are no list of words"),
        ("metrics", ["recall"], "film has the metric recall"),
        ("counts.dev", None, "counts of film are no numbers"),
        ("surrogates", ["pocket"], "surrogates of film have no names"),
    ],
)
def test_a_benchmark_of_somebody_else_is_checked(folder: Path, where: str, value: Any, message: str) -> None:
    about = json.loads((folder / "benchmark.json").read_text())
    *above, last = where.split(".")
    told = about["tasks"]["film"]
    for name in above:
        told = told[name]
    told[last] = value
    (folder / "benchmark.json").write_text(json.dumps(about))
    with pytest.raises(BadInput, match=message):
        read_benchmark(folder)
    (folder / "benchmark.json").write_text(json.dumps({**about, "tasks": {}}))
    with pytest.raises(BadInput, match="it has no name or no tasks"):
        read_benchmark(folder)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:4], r"The test set of film in .* has 4 texts and should have 5; restore it"),
        ([*ROWS[:4], [1]], "has a row without a whole idx, sentence and label"),
        ([*ROWS[:4], {"idx": 4, "label": 0}], "has a row without a whole idx, sentence and label"),
        ([*ROWS[:4], {**ROWS[4], "label": 2}], "has the label 2 in row 4, and there are 2 classes"),
        ([*ROWS[:4], ROWS[0]], "has the idx 0 twice"),
    ],
)
def test_rows_that_were_damaged_are_refused(folder: Path, rows: list[Any], message: str) -> None:
    (folder / "private" / "film.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    with pytest.raises(BadInput, match=message):
        read_benchmark(folder)


def test_a_task_without_texts_in_a_split_is_left_out(folder: Path) -> None:
    about = json.loads((folder / "benchmark.json").read_text())
    for names, left in ((["film"], ["nli", "nli-mm"]), (["nli", "nli-mm"], [])):
        for name in names:
            about["tasks"][name]["counts"]["dev"] = 0
            (folder / "data" / name / "dev.jsonl").write_text("")
        (folder / "benchmark.json").write_text(json.dumps(about))
        if left:
            assert [one.task for one in score_benchmark(folder, GOOD, split="dev").tasks] == left
        else:
            with pytest.raises(BadInput, match="has no text in its dev set; use the other split"):
                read_benchmark(folder, "dev")


def test_which_victim_for_which_task(folder: Path) -> None:
    texts = read_benchmark(folder)
    assert victims_by_task(texts, ["ensemble(pocket, n=4)"]) == dict.fromkeys(
        ["film", "nli", "nli-mm"], "ensemble(pocket, n=4)"
    )
    assert victims_by_task(texts, ["film=pocket", "nli=hf:a=b"]) == {"film": "pocket", "nli": "hf:a=b"}
    with pytest.raises(BadInput, match="Two victims are given for film"):
        victims_by_task(texts, ["film=pocket", "pocket"])
    for given in ({"flim": "pocket"}, ["flim=pocket"]):
        with pytest.raises(BadInput, match="has no task 'flim'"):
            victims_by_task(texts, given)


def test_a_surrogate_is_no_fair_victim(folder: Path) -> None:
    about = json.loads((folder / "benchmark.json").read_text())
    about["tasks"]["film"]["surrogates"] = {"one": "pocket", "other": "hf:./other"}
    (folder / "benchmark.json").write_text(json.dumps(about))
    (note,) = score_benchmark(folder, {"film": "pocket"}).notes[:1]
    assert note == "film: pocket is one of its surrogates, so every text that an attack made fools it."


def test_places_are_checked_before_anything_is_asked(folder: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    benchmark_score.add(app)
    asked = ["--benchmark", str(folder), "--victim", "python:nowhere:never", "--out"]
    for arguments in (["score", *asked], ["predict", *asked], ["leaderboard", "nothing.json", "--out"]):
        for place, message in ((tmp_path / "no" / "x", "needs the folder"), (tmp_path, "is a folder")):
            ended = CliRunner().invoke(app, [*arguments, str(place)])
            assert message in str(ended.exception)


def test_published_advglue_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(
        json.dumps(
            {
                "sst2": [{"idx": 0, "sentence": "good", "label": 1}, {"idx": 1, "sentence": "good", "label": 0}],
                "qqp": [
                    {"idx": n, "question1": one, "question2": "b", "label": label}
                    for n, (one, label) in enumerate([("good", 1), ("good", 0), ("bad", 1)])
                ],
            }
        )
    )

    def pairs(texts: list[Any]) -> list[list[float]]:
        return good([text if isinstance(text, str) else text[0] for text in texts])

    found = score_benchmark(f"advglue:{path}", pairs)
    assert found.benchmark == "AdvGLUE"
    assert found.tasks[0].score.value == 0.5
    assert {name: one.value for name, one in found.tasks[1].metrics.items()} == {
        "accuracy": pytest.approx(1 / 3),
        "f1": pytest.approx(2 / 4),
    }
    assert found.average.value == pytest.approx((0.5 + (1 / 3 + 0.5) / 2) / 2)
    assert found.gap is None
    for content, message in (
        ("[]", "has none of the tasks"),
        ("{", "is not JSON"),
        ('{"sst2": [{"idx": 0}]}', "lacks"),
        ('{"sst2": 5}', "sst2 is no list of texts"),
        ('{"sst2": []}', "sst2 is no list of texts"),
        (json.dumps({"sst2": [{"idx": 0, "sentence": "good", "label": 1}] * 2}), "sst2 has the idx 0 twice"),
    ):
        path.write_text(content)
        with pytest.raises(BadInput, match=message):
            read_advglue(path)


def test_leaderboards(folder: Path, tmp_path: Path) -> None:
    one = score_benchmark(folder, GOOD, name="good").write(tmp_path / "one.json")
    other = score_benchmark(folder, GOOD, split="dev", name="other").write(tmp_path / "other.json")
    ranked = leaderboard([one, other])
    assert [row.name for row in ranked.rows] == ["good", "other"]
    assert ranked.page(tmp_path / "page.html").read_text("utf-8").count("<table") == 2
    assert json.loads(json.dumps(ranked.to_json()))["rows"][0]["average"] == list(ranked.rows[0].average or ())
    assert "different benchmarks or splits" in ranked.notes[0]
    (tmp_path / "told.yaml").write_text("source: me\nsystems:\n- {name: told, average: 99, benign: 99.5}\n")
    ranked = leaderboard([one], [tmp_path / "told.yaml"])
    assert [(row.name, row.measured) for row in ranked.rows] == [("told", False), ("good", True)]
    assert ranked.rows[0].gap is not None
    assert ranked.rows[0].gap[0] == pytest.approx(0.005)
    for text, message in (("systems: 3", "no list"), ("systems: [{name: a, average: 300}]", "300"), ("[", "not YAML")):
        (tmp_path / "told.yaml").write_text(text)
        with pytest.raises(BadInput, match=message):
            leaderboard([], [tmp_path / "told.yaml"])
    some = score_benchmark(folder, {"film": GOOD}, name="some").write(tmp_path / "some.json")
    assert leaderboard([one, some]).notes == ("some was not scored on nli, nli-mm; its average is without.",)
    found = json.loads(one.read_text())
    one.write_text(json.dumps({**found, "average": {**found["average"], "value": float("nan")}}))
    with pytest.raises(BadInput, match="is not a whole score file"):
        leaderboard([one])
    one.write_text("{}")
    with pytest.raises(BadInput, match="is no score file"):
        leaderboard([one])


def test_the_docstring_runs() -> None:
    ended = doctest.testmod(score_api)
    assert ended.attempted
    assert not ended.failed
