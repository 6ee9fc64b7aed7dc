"""`mohs train --task acceptability`: reading judgements, calibration, learning, going on, and the command."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

from mohs.cli.main import app
from mohs.errors import BadInput
from mohs.models.judge import FILE, CrossEncoderJudge
from mohs.text.calibration import Calibration
from mohs.text.judge import bundled
from mohs.training import calibrating, swords
from mohs.training.acceptability import TrainedJudge, measured, train_judge
from mohs.training.judgements import Judgement, read_judgements, split
from mohs.training.loop import Progress
from tests.models.conftest import save, small_model, tiny_tokenizer
from tests.training.test_train import Stopped

# People accept the one kind of word and refuse the other, whatever stands around.
YES, NO = "story film actor time".split(), "people music great it".split()
OLD, AROUND = "plot scene drama end".split(), "the a was and is of this that one very".split()
SMALL: dict[str, Any] = {"epochs": 3, "batch": 16, "lr": 2e-3, "device": "cpu"}


def judgements(targets: int, seed: int = 0) -> list[Judgement]:
    chance = random.Random(seed)
    found = []
    for number in range(targets):
        words = [*chance.choices(AROUND, k=5), str(number)]
        place = chance.randrange(5)
        words[place] = chance.choice(OLD)
        start = len(" ".join(words[:place])) + (place > 0)
        for word in YES + NO:
            share = chance.choice((0.6, 0.9, 1.0) if word in YES else (0.0, 0.1, 0.4))
            found.append(Judgement(" ".join(words), start, start + len(words[place]), word, share))
    return found


DATA, TEST = judgements(40), judgements(12, seed=1)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder that can still learn."""
    model = small_model("bert", tiny_tokenizer("wordpiece"), classes=2)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(0.1)  # the numbers of the fixture are too wild to learn from
    return save(tmp_path_factory.mktemp("start"), "bert", tiny_tokenizer("wordpiece"), model)


def tune(start: Path, out: Path, **options: Any) -> TrainedJudge:
    return train_judge(f"hf:{start}", options.pop("data", DATA), out, **{**SMALL, **options})


def hashed(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def trained(start: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainedJudge:
    return tune(start, tmp_path_factory.mktemp("judge") / "m", test=TEST)


def like_swords(rows: list[Judgement]) -> dict[str, Any]:
    """These judgements in the form of SWORDS, ten people each."""
    keys = {target: f"t{number}" for number, target in enumerate(dict.fromkeys(row.target for row in rows))}
    people = [["TRUE"] * round(10 * row.share) + ["FALSE"] * (10 - round(10 * row.share)) for row in rows]
    return {
        "contexts": {f"c{key}": {"context": target[0]} for target, key in keys.items()},
        "targets": {
            key: {"context_id": f"c{key}", "target": context[start:end], "offset": start, "pos": "NOUN"}
            for (context, start, end), key in keys.items()
        },
        "substitutes": {
            f"s{n}": {"target_id": keys[row.target], "substitute": row.substitute} for n, row in enumerate(rows)
        },
        "substitute_labels": {f"s{number}": labels for number, labels in enumerate(people)},
    }


# Reading


def test_a_file_of_swords(tmp_path: Path) -> None:
    content = json.dumps(like_swords(DATA[:40]))
    (tmp_path / "plain.json").write_text(content)
    (tmp_path / "zipped.json.gz").write_bytes(gzip.compress(content.encode()))
    plain = read_judgements(tmp_path / "plain.json")
    assert plain == read_judgements(tmp_path / "zipped.json.gz")
    wanted = [(row.context, row.start, row.end, row.share) for row in DATA[:40]]
    assert [(row.context, row.start, row.end, row.share) for row in plain] == wanted
    assert [row.substitute for row in plain[:2]] == ["story", "film"]
    targets, rows = swords.read(tmp_path / "plain.json")
    assert (len(targets), len(rows)) == (5, 40)


def test_rows(tmp_path: Path) -> None:
    lines = [
        {"context": "a good film", "start": 2, "end": 6, "substitute": "fine", "accepted": 0.75},
        {"context": "a good film", "word": "good", "substitute": "blue", "accepted": 0},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["context", "start", "end", "word", "substitute", "accepted"])
        writer.writeheader()
        writer.writerows([lines[0], {**lines[1], "accepted": "no"}])
    wanted = [Judgement("a good film", 2, 6, "fine", 0.75), Judgement("a good film", 2, 6, "blue", 0.0)]
    assert read_judgements(tmp_path / "rows.jsonl") == wanted
    assert read_judgements(str(tmp_path / "rows.csv")) == wanted


GOOD_ROW = {"context": "a good film", "start": 2, "end": 6, "substitute": "fine", "accepted": 1}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"accepted": 2}, "accepted is 2, not a share from 0 to 1"),
        ({"accepted": "many"}, "accepted is 'many', not a share from 0 to 1"),
        ({"start": 90, "end": 95}, "there is no word from 90 to 95 of its context"),
        ({"start": "x"}, "its start is 'x', not a whole number"),
        ({"word": "bad"}, "its context has 'good' there, not 'bad'"),
        ({"start": None, "word": "food"}, "the word 'food' stands 0 times in its context, so start and end are needed"),
        ({"substitute": " "}, "its substitute is empty"),
        ({"context": None}, "there is no word from 2 to 6"),
    ],
)
def test_rows_that_cannot_be_read(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(GOOD_ROW) + "\n" + json.dumps({**GOOD_ROW, **changes}) + "\n")
    if changes == {"context": None}:  # the text None
        path.write_text(json.dumps({**GOOD_ROW, "context": ""}))
    with pytest.raises(BadInput) as caught:
        read_judgements(path)
    row = 1 if changes == {"context": None} else 2
    assert str(caught.value).startswith(f"{path}, row {row}: {fault}")
    assert str(caught.value).endswith("; a row has context, start and end (or word), substitute, accepted.")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def refused(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(BadInput) as caught:
            read_judgements(path)
        assert "\n" not in str(caught.value)
        return str(caught.value).replace(f"{path}", name)

    whole = like_swords(DATA[:40])
    lacking = {name: part for name, part in whole.items() if name != "substitutes"}
    assert refused("a.json", json.dumps(lacking)) == (
        "a.json is not a file of SWORDS ('substitutes' is missing); give swords-v1.1_dev.json.gz."
    )
    moved = json.loads(json.dumps(whole))
    moved["targets"]["t0"]["offset"] += 1
    assert "the target t0 does not stand where it says" in refused("b.json", json.dumps(moved))
    assert "nobody judged the substitute s0" in refused(
        "c.json", json.dumps({**whole, "substitute_labels": {**whole["substitute_labels"], "s0": []}})
    )
    assert "is not a complete gzip file" in refused("d.json.gz", gzip.compress(json.dumps(whole).encode())[:-20])
    assert refused("e.jsonl", "") == (
        "e.jsonl has no judgements; a row has context, start and end (or word), substitute, accepted."
    )
    assert refused("f.jsonl", json.dumps(GOOD_ROW)) == (
        "f.jsonl has people accept every substitute; give judgements of both kinds."
    )
    assert "line 1 is not JSON" in refused("g.jsonl", "{no")
    for name in ("none.json.gz", "a" * 5000):
        with pytest.raises(BadInput, match=r"There is no file .*; give a file of SWORDS, or rows with context"):
            read_judgements(tmp_path / name)
    (tmp_path / "named.jsonl").write_text(json.dumps({"context": "a", "accepted": 1}))
    with pytest.raises(BadInput, match="row 1: it has no substitute; a row has context"):
        read_judgements(tmp_path / "named.jsonl")


def test_targets_are_set_aside_whole() -> None:
    kept, held = split(DATA, 0.25, 3)
    assert len({row.target for row in held}) == 10
    assert not {row.target for row in kept} & {row.target for row in held}
    assert sorted(kept + held) == sorted(DATA)
    assert split(DATA, 0.25, 3) == (kept, held)
    assert split(DATA, 0.25, 4) != (kept, held)
    with pytest.raises(BadInput, match="about one word in one context"):
        split(DATA[:4], 0.25, 3)


# Figures


def test_pairs_in_order() -> None:
    chance = np.random.default_rng(0)
    scores, accepted = chance.integers(0, 9, 60).astype(float), chance.random(60) < 0.3
    ours = [(a > b) + (a == b) / 2 for a in scores[accepted] for b in scores[~accepted]]
    assert calibrating.ordered_pairs(scores.tolist(), accepted.tolist()) == (math.floor(sum(ours)), len(ours))
    assert calibrating.auc([0, 1], [False, True]) == 1
    assert math.isnan(calibrating.auc([0, 1], [True, True]))


def drawn(count: int, offset: float, slope: float) -> tuple[Any, Any]:
    chance = np.random.default_rng(1)
    scores = chance.normal(0, 2, count)
    return scores, chance.random(count) < 1 / (1 + np.exp(-(offset + slope * scores)))


def test_the_curve_finds_what_the_scores_mean() -> None:
    scores, accepted = drawn(20_000, -1.0, 0.7)
    offset, slope = calibrating.logistic(scores, accepted)
    assert offset == pytest.approx(-1, abs=0.07)
    assert slope == pytest.approx(0.7, abs=0.04)
    points, values = calibrating.curve(scores, accepted)
    assert (np.diff(points) > 0).all()
    assert (np.diff(values) > 0).all()
    said = np.interp(scores, points, values)
    assert calibrating.calibration_error(calibrating.reliability(said, accepted)) < 0.015
    assert calibrating.calibration_error(calibrating.reliability(1 / (1 + np.exp(-scores)), accepted)) > 0.1
    assert calibrating.curve(-scores, accepted)[1] == (accepted.mean(),)  # upside down: nothing can be said
    assert len(calibrating.curve(np.zeros(9), np.arange(9) < 3)[0]) == 1
    sure, _ = calibrating.curve(np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, False, True, True]))
    assert np.isfinite(sure).all()


def test_what_is_not_known_shrinks_with_more_targets() -> None:
    whole = Calibration((0.5,), spread=0.7)
    wide, narrow = (
        calibrating.uncertain(*drawn(count, 0.0, 1.0), [number // 10 for number in range(count)], 0, whole)
        for count in (200, 5000)
    )
    assert wide.offset > 2 * narrow.offset > 0
    assert wide.slope > 2 * narrow.slope > 0
    assert narrow.offset == pytest.approx(0.04, abs=0.02)
    assert -1 < narrow.correlation < 1
    assert (narrow.independence, narrow.spread) == ((0.5,), 0.7)
    few = calibrating.uncertain(*drawn(200, 0.0, 1.0), [number // 100 for number in range(200)], 0, whole)
    assert few == Calibration((0.5,), spread=0.7)


# Learning


def test_a_judge_is_trained(trained: TrainedJudge) -> None:
    dev, test = trained.metrics["dev"], trained.metrics["test"]
    assert dev["of"] == 64  # a fifth of the targets
    assert dev["auc"] > 0.9
    assert test["auc"] > 0.9
    assert test["ece"] < 0.25
    assert (test["of"], test["accepted"]) == (96, 48)
    assert sum(count for *_, count in test["reliability"]) == 96
    folder = trained.path
    judge = CrossEncoderJudge(str(folder), device="cpu")
    assert judge.fingerprint == trained.fingerprint
    assert measured(judge, TEST) == test
    assert trained.judge == f"hf:{folder}"
    assert not (folder / "checkpoint").exists()
    card = (folder / "README.md").read_text()
    assert f"| test | 96 | 48 | {test['auc']:.3f} | {test['ece']:.3f} |" in card
    assert f"mohs attack --measure acceptable --judge hf:{folder}" in card
    written = json.loads((folder / FILE).read_text())
    assert written["measured"] == dev
    assert judge.calibration.independence == getattr(bundled(), "calibration", Calibration()).independence
    assert judge.form.ceiling == bundled().ceiling  # there is no antonym in the data


def test_a_finished_judge_is_not_trained_again(trained: TrainedJudge, start: Path) -> None:
    before = hashed(trained.path)
    again = tune(start, trained.path, test=TEST[:48])
    assert not again.fresh
    assert again.metrics["test"]["of"] == 48
    assert hashed(trained.path) == before
    assert tune(start, trained.path, test=TEST).metrics == trained.metrics


def test_going_on_after_an_end(start: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"epochs": 2, "save_every": 2, "data": DATA[:120]}

    def stop(at: Progress) -> None:
        if at.step == 7:
            raise Stopped

    whole = tune(start, tmp_path / "whole", **options)
    with pytest.raises(Stopped):
        tune(start, tmp_path / "stopped", progress=stop, **options)
    assert not (tmp_path / "stopped" / FILE).exists()
    seen: list[Progress] = []
    stopped = tune(start, tmp_path / "stopped", progress=seen.append, **options)
    assert seen[0].step == 7
    assert hashed(tmp_path / "stopped") == hashed(tmp_path / "whole")
    assert (tmp_path / "stopped" / FILE).read_text() == (tmp_path / "whole" / FILE).read_text()
    assert stopped.metrics == whole.metrics
    assert {at.of for at in seen if at.of is not None} == {144}  # three targets: 12 accepted, 12 refused


def test_some_of_the_data(start: Path, tmp_path: Path) -> None:
    tune(start, tmp_path / "first", epochs=1, n=80)
    tune(start, tmp_path / "drawn", epochs=1, n=80, sample=2, form="texts")
    assert CrossEncoderJudge(str(tmp_path / "first"), device="cpu").form.form == "words"
    assert CrossEncoderJudge(str(tmp_path / "drawn"), device="cpu").form.form == "texts"
    facts = [json.loads((tmp_path / n / "training.json").read_text())["finished"]["data"] for n in ("first", "drawn")]
    assert [one["train"]["examples"] for one in facts] == [80, 80]
    assert [one["train"]["targets"] > 10 for one in facts] == [False, True]


def test_what_does_not_fit(start: Path, tmp_path: Path, trained: TrainedJudge) -> None:
    with pytest.raises(BadInput) as caught:
        train_judge("cnn", DATA, tmp_path / "m")
    assert str(caught.value) == (
        "--task acceptability fine-tunes a pre-trained encoder, not cnn; use --arch hf:PATH_OR_ID."
    )
    with pytest.raises(BadInput, match="give only one"):
        tune(start, tmp_path / "m", dev=TEST, dev_share=0.1)
    with pytest.raises(BadInput, match=r"--dev-share is 1\.5"):
        tune(start, tmp_path / "m", dev_share=1.5)
    with pytest.raises(BadInput, match="Unknown form 'letters'; use words or texts"):
        tune(start, tmp_path / "m", form="letters")
    with pytest.raises(BadInput, match="--sample needs --n"):
        tune(start, tmp_path / "m", sample=1)
    with pytest.raises(BadInput, match="holds a training with other settings or data"):
        tune(start, trained.path, seed=7)
    assert not (tmp_path / "m").exists()


# The command


def command(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    words = [*map(str, arguments)]
    monkeypatch.setattr(sys, "argv", ["mohs", *words])
    return CliRunner().invoke(app, words)


def test_the_command(start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dev.json.gz").write_bytes(gzip.compress(json.dumps(like_swords(DATA)).encode()))
    options = ["--arch", f"hf:{start}", "--data", "dev.json.gz", "--epochs", 2, "--batch", 16, "--lr", 0.003]
    options = ["train", "--task", "acceptability", *options, "--device", "cpu"]
    ended = command(monkeypatch, *options, "--out", "m")
    assert ended.exit_code == 0, ended.exception
    dev = json.loads(Path("m/training.json").read_text())["finished"]["metrics"]["dev"]
    lines = ended.stdout.splitlines()
    assert lines[0] == (
        f"dev: AUC {dev['auc']:.3f}, calibration error {dev['ece']:.3f}, 64 substitutes, 32 of them accepted"
    )
    assert lines[1].split() == ["said", "found", "count"]
    assert len(lines) == 2 + 15 + 1
    assert lines[-1] == "In m: use it with --measure acceptable --judge hf:m"
    assert "of 1024 pairs in the right order" in ended.stderr
    repeated = command(monkeypatch, "train", "--config", "m/training.json", "--out", "same", "--json")
    assert repeated.exit_code == 0, repeated.exception
    assert json.loads(repeated.stdout)["dev"] == dev
    assert hashed(Path("m")) == hashed(Path("same"))

    attack = ["attack", "--n", 2, "--attack", "random", "--measure", "acceptable", "--device", "cpu"]
    used = command(monkeypatch, *attack, "--judge", "hf:m", "--out", "run")
    assert used.exit_code == 0, used.exception
    assert "judge: hf:m" in Path("run/manifest.yaml").read_text()
    for arguments, said in (
        ([*attack, "--judge", f"hf:{start}"], "has no judge.json, so it was not trained as a judge"),
        ([*attack, "--judge", "hf:m", "--measure", "acceptable:models=yes"], "is for the bundled judge, not for hf:m;"),
        ([*attack, "--judge", "hf:m", "--constraint", "acceptable:models=yes>=0"], "is for the bundled judge, not for"),
        ([*attack, "--judge", "mine"], "Unknown judge 'mine'; use pocket, refit:FOLDER or hf:PATH_OR_ID."),
        ([*options, "--arch", "cnn", "--out", "x"], "fine-tunes a pre-trained encoder, not cnn"),
        (
            [*options, "--data", "pocket:train", "--out", "x"],
            "There is no file pocket:train; give a file of SWORDS, or",
        ),
        ([*options, "--labels", "a,b", "--out", "x"], "--labels does not apply to --task acceptability"),
        ([*options, "--text-field", "a", "--out", "x"], "--text-field does not apply to --task acceptability"),
        (
            [*options, "--task", "tagging", "--out", "x"],
            "Unknown task 'tagging'; use classification, acceptability, scpn or",
        ),
    ):
        failed = command(monkeypatch, *arguments)
        assert failed.exit_code != 0
        assert said in str(failed.exception)
    shown = command(monkeypatch, "train", "--help").stdout
    assert "mohs train --task acceptability --arch hf:./minilm --data swords-v1.1_dev.json.gz" in " ".join(
        shown.split()
    )
