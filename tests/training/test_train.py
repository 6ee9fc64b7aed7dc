"""`mohs train`: what is learned, the same bits every time, and going on after an end at any moment."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import random
import resource
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from mohs.errors import BadInput, MohsError
from mohs.models.architectures import ARCHITECTURES
from mohs.models.load import load_victim
from mohs.models.neural import NeuralVictim
from mohs.text import Example
from mohs.text.dataset import Dataset
from mohs.text.vectors import read_vectors
from mohs.training import folder as folder_module
from mohs.training.learner import WordLearner
from mohs.training.loop import Progress, Set, batches_of, evaluate
from mohs.training.recipe import recipe_for
from mohs.training.train import Trained, accuracy, train

GOOD, BAD, OTHER = (
    "good great fun fine".split(),
    "bad awful dull poor".split(),
    "the film story and was a of it".split(),
)
TINY: dict[str, Any] = {"vectors": "none", "dim": 8, "hidden": 8, "batch": 8, "lr": 0.02, "dropout": 0.2, "epochs": 4}


def examples(count: int, seed: int = 0, pairs: bool = False) -> list[Example]:
    """Each has two words that give its class away, among others."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        label = number % 2
        words = chance.choices(GOOD if label else BAD, k=2) + chance.choices(OTHER, k=chance.randint(0, 9))
        chance.shuffle(words)
        text = (" ".join(words[::2]), " ".join(words[1::2])) if pairs else " ".join(words)
        found.append(Example.of(text, label, id=str(number)))
    return found


DATA, TEST = examples(80), examples(40, seed=1)


def hashed(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def tiny(arch: str, out: Path, **options: Any) -> Trained:
    return train(arch, options.pop("data", DATA), out, device="cpu", **{**TINY, **options})


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_learns(tmp_path: Path, arch: str) -> None:
    done = tiny(arch, tmp_path / "m", data=examples(160, seed=2), test=TEST, labels=("bad", "good"), epochs=8)
    assert done.fresh
    assert done.metrics["test"]["of"] == 40
    assert done.metrics["test"]["right"] >= 38
    assert done.victim == f"mohs:{tmp_path / 'm'}"
    victim = load_victim(done.victim, device="cpu")
    assert isinstance(victim, NeuralVictim)
    assert victim.fingerprint == done.fingerprint
    assert victim.labels == ("bad", "good")
    assert accuracy(victim, TEST) == done.metrics["test"]
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "training.json",
        "words.txt",
    ]


def test_pairs(tmp_path: Path) -> None:
    done = tiny("bilstm", tmp_path / "m", data=examples(80, pairs=True), test=examples(40, 1, pairs=True), epochs=8)
    assert done.metrics["test"]["right"] >= 36
    assert json.loads((tmp_path / "m" / "config.json").read_text())["text_fields"] == 2


def test_three_classes(tmp_path: Path) -> None:
    more = [Example.of("seldom never", 2, id=f"more {number}") for number in range(20)]
    done = tiny("bow", tmp_path / "m", data=DATA + more, epochs=12)
    victim = load_victim(done.victim, device="cpu")
    (answer,) = victim.collect(victim.launch([("never seldom",)]))
    assert len(answer) == 3
    assert answer[2] > 0.5


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_same_bits_every_time(tmp_path: Path, arch: str) -> None:
    before = torch.random.get_rng_state()
    tiny(arch, tmp_path / "one", epochs=2)
    torch.manual_seed(99)  # whatever happened in the process before
    tiny(arch, tmp_path / "two", epochs=2)
    tiny(arch, tmp_path / "other", epochs=2, seed=1)
    assert hashed(tmp_path / "one") == hashed(tmp_path / "two") != hashed(tmp_path / "other")
    torch.random.set_rng_state(before)
    tiny(arch, tmp_path / "three", epochs=1)
    assert torch.equal(torch.random.get_rng_state(), before)  # and the process is left as it was


# Going on


class Stopped(Exception):
    """Somebody pulled the plug."""


@pytest.mark.parametrize(
    ("arch", "stops"),
    [
        *(("bow", stops) for stops in ([1], [3], [4, 5], [9], [26], [36])),
        *((arch, [10, 13, 22]) for arch in ARCHITECTURES),
    ],
)
def test_interrupted_and_not(tmp_path: Path, arch: str, stops: list[int]) -> None:
    """Nine steps an epoch, a checkpoint every four: before the first, between two, in an epoch and at its end."""
    for name, where in (("whole", []), ("stopped", stops)):
        for stop in [*where, None]:

            def report(at: Progress, stop: int | None = stop) -> None:
                if at.step == stop:
                    raise Stopped

            try:
                tiny(arch, tmp_path / name, progress=report, save_every=4, patience=9)
                assert stop is None
            except Stopped:
                assert stop is not None
    assert hashed(tmp_path / "whole") == hashed(tmp_path / "stopped")
    whole, stopped = (json.loads((tmp_path / n / "training.json").read_text()) for n in ("whole", "stopped"))
    assert whole["finished"]["metrics"] == stopped["finished"]["metrics"]


def test_it_goes_on_and_does_not_start_again(tmp_path: Path) -> None:
    def stop(at: Progress) -> None:
        if at.step == 15:
            raise Stopped

    with pytest.raises(Stopped):
        tiny("bow", tmp_path / "m", progress=stop, save_every=4)
    seen: list[Progress] = []
    tiny("bow", tmp_path / "m", progress=seen.append, save_every=4)
    assert seen[0].step == 13  # the last checkpoint was after the twelfth


def test_the_seconds_of_each_epoch_are_noted(tmp_path: Path) -> None:
    def stop(at: Progress) -> None:
        if at.step == 13:
            raise Stopped

    with pytest.raises(Stopped):
        tiny("bow", tmp_path / "m", epochs=3, patience=3, save_every=2, progress=stop)
    done = tiny("bow", tmp_path / "m", epochs=3, patience=3, save_every=2)
    seconds = folder_module.seconds_of(tmp_path / "m")
    assert len(seconds) == len(done.metrics["history"]) == 3
    assert all(0 < second < 60 for second in seconds)
    assert f"{sum(seconds) / 3:.2f} seconds on average" in (tmp_path / "m" / "README.md").read_text()
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert "seconds" not in record["identity"]
    del record["finished"]["seconds"], record["checksum"]  # a folder of an earlier version
    (tmp_path / "m" / "training.json").write_text(json.dumps(record))
    assert folder_module.seconds_of(tmp_path / "m") == []


def test_a_finished_training(tmp_path: Path) -> None:
    first = tiny("bow", tmp_path / "m")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "m").iterdir()}
    seen: list[Progress] = []
    again = tiny("bow", tmp_path / "m", progress=seen.append)
    assert not seen
    assert not again.fresh
    assert again == Trained(first.path, first.victim, first.fingerprint, first.metrics, False)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "m").iterdir()} == before
    measured = tiny("bow", tmp_path / "m", test=TEST)
    assert not measured.fresh
    assert measured.metrics["test"] == accuracy(load_victim(first.victim, device="cpu"), TEST)
    assert f"| test | {measured.metrics['test']['right']} | 40 |" in (tmp_path / "m" / "README.md").read_text()
    assert tiny("bow", tmp_path / "m").metrics == measured.metrics


def test_two_at_once(tmp_path: Path) -> None:
    def look(at: Progress) -> None:
        with pytest.raises(BadInput, match=r"Another process is training in .*; wait for it or choose another --out\."):
            tiny("bow", tmp_path / "m")

    tiny("bow", tmp_path / "m", epochs=1, progress=look)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"lr": 0.01}, "  lr: 0.02 in the folder, 0.01 asked for"),
        ({"seed": 7}, "  seed: 0 in the folder, 7 asked for"),
        ({"labels": ("a", "b")}, "  labels: ['0', '1'] in the folder, ['a', 'b'] asked for"),
        ({"data": DATA[:-2]}, "  train_hash: "),
        ({"dev": TEST}, "  dev_hash: "),
        ({"dev_share": 0.3}, "  dev_hash: "),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_another_configuration(tmp_path: Path, options: dict[str, Any], line: str, finished: bool) -> None:
    def stop(at: Progress) -> None:
        raise Stopped

    if finished:
        tiny("bow", tmp_path / "m", epochs=1)
    else:
        with pytest.raises(Stopped):
            tiny("bow", tmp_path / "m", epochs=1, progress=stop)
    with pytest.raises(BadInput) as caught:
        tiny("bow", tmp_path / "m", epochs=1, **options)
    first, *lines, last = str(caught.value).splitlines()
    assert first == f"{tmp_path / 'm'} holds a training with other settings or data:"
    assert any(found.startswith(line) for found in lines)
    assert last == "Use the same settings to resume it, or choose another --out."
    assert (tmp_path / "m" / "checkpoint").exists() != finished
    tiny("bow", tmp_path / "m", epochs=1)


def test_every_setting_counts(tmp_path: Path) -> None:
    base: dict[str, Any] = {"warmup": 0.1, "decay": 0.1, "clip": 1.0, "min_count": 1, "max_words": 12, "epochs": 2}
    changes: dict[str, Any] = {"lr": 0.03, "warmup": 0.5, "decay": 0.5, "clip": 0.01, "min_count": 18, "max_words": 5}
    changes |= {"dropout": 0.4, "hidden": 6, "batch": 7, "seed": 1, "dim": 6, "dev_share": 0.2}
    seen = set()
    for name, value in [("nothing", None), *changes.items()]:
        tiny("bow", tmp_path / name, **{**base, name: value} if value else base)
        seen.add(hashed(tmp_path / name))
    assert len(seen) == len(changes) + 1


# Early stopping


@pytest.mark.parametrize("noise", [True, False])
def test_the_best_epoch_is_kept(tmp_path: Path, noise: bool) -> None:
    seen: list[Progress] = []
    data = [Example.of(e.text.fields[0], e.label ^ (noise and int(e.id) % 3 == 0), id=e.id) for e in DATA]
    done = tiny("bow", tmp_path / "m", data=data, dev=TEST, epochs=30, patience=2, lr=0.05, progress=seen.append)
    ends = [at for at in seen if at.right is not None]
    rights = [at.right or 0 for at in ends]
    best = rights.index(max(rights))
    assert len(ends) == best + 3 < 30  # two more that were not better, and the end
    assert (rights[-1] == max(rights)) != noise  # not worse either, if all is right already
    assert [at.best for at in ends] == [right > max(rights[:n], default=-1) for n, right in enumerate(rights)]
    assert done.metrics["best_epoch"] == best + 1
    assert done.metrics["dev"] == {"right": max(rights), "of": 40}
    assert accuracy(load_victim(done.victim, device="cpu"), TEST) == done.metrics["dev"]
    assert [right for _, right in done.metrics["history"]] == rights


def test_dev_is_measured_without_dropout() -> None:
    texts = [example.text.fields for example in DATA]
    recipe = recipe_for("cnn", {"vectors": "none", "dropout": 0.9})
    learner = WordLearner(recipe, texts, ("a", "b"))
    data = Set(learner.rows(texts), [example.label for example in DATA])
    learner.module.train()
    right, loss = evaluate(learner, data)
    logits = [learner.logits([row])[0].detach() for row in data.rows]  # one by one, and no padding
    assert right == sum(int(row.argmax()) == label for row, label in zip(logits, data.labels, strict=True))
    each = [float(row.logsumexp(0) - row[label]) for row, label in zip(logits, data.labels, strict=True)]
    assert loss == pytest.approx(sum(each) / len(each), rel=1e-5)


def test_progress(tmp_path: Path) -> None:
    seen: list[Progress] = []
    tiny("bow", tmp_path / "m", epochs=2, progress=seen.append)
    assert [at.step for at in seen] == [*range(1, 10), 9, *range(10, 19), 18]
    assert {at.steps for at in seen} == {18}
    assert [at.of for at in seen if at.of] == [8, 8]
    assert seen[-1].loss < seen[0].loss


@given(st.lists(st.integers(1, 40), min_size=1, max_size=300), st.integers(1, 9), st.integers(0, 9))
def test_batches(sizes: list[int], batch: int, seed: int) -> None:
    batches = batches_of(sizes, batch, str(seed))
    assert sorted(number for part in batches for number in part) == list(range(len(sizes)))
    assert sorted(map(len, batches), reverse=True) == [batch] * (len(sizes) // batch) + [len(sizes) % batch] * bool(
        len(sizes) % batch
    )
    assert batches_of(sizes, batch, str(seed)) == batches
    if len(sizes) <= 50 * batch:  # all are sorted together: two batches overlap in nothing but one size
        ranges = sorted((min(sizes[n] for n in part), max(sizes[n] for n in part)) for part in batches)
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))


def test_batches_are_drawn() -> None:
    assert batches_of(list(range(64)), 8, "0") != batches_of(list(range(64)), 8, "1")
    assert batches_of([5] * 64, 8, "0") != [list(range(start, start + 8)) for start in range(0, 64, 8)]


# Vectors


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    folder = tmp_path / "vectors"
    folder.mkdir()
    words = [*GOOD, *BAD, *OTHER, "unseen", "Upper", ","]
    table = np.random.default_rng(0).normal(size=(len(words), 5)).astype(np.float32)
    np.save(folder / "vectors.npy", table)
    (folder / "words.txt").write_text("\n".join(words))
    return folder


def test_vectors(tmp_path: Path, vectors: Path) -> None:
    given = read_vectors(str(vectors))
    rare = [*DATA, Example.of("rare once good twice twice", 1, id="rare")]
    folders = {}
    for name, options in {"tuned": {}, "frozen": {"freeze": True}, "all": {"all_vectors": True}}.items():
        own = {**TINY, "vectors": str(vectors), "dim": None, "epochs": 2, **options}
        folders[name] = tmp_path / name
        train("bow", rare, folders[name], device="cpu", dev=TEST, **own)
    words = {name: (folder / "words.txt").read_text().split("\n") for name, folder in folders.items()}
    weights = {name: load_file(folder / "model.safetensors")["embedding.weight"] for name, folder in folders.items()}
    assert set(words["tuned"]) == {*GOOD, *BAD, *OTHER, "twice"}  # seen twice, or once and with a vector
    assert set(words["all"]) == {*words["tuned"], "unseen"}  # not what no text can hold
    assert words["all"][-1] == "unseen"
    for number, word in enumerate(words["frozen"]):
        if word != "twice":
            assert torch.equal(weights["frozen"][number + 3], torch.from_numpy(given.table[given.index[word]]))
    assert not weights["frozen"][:2].any()
    assert torch.equal(weights["all"][-1], torch.from_numpy(given.table[given.index["unseen"]]))
    moved = [not torch.equal(a, b) for a, b in zip(weights["tuned"], weights["frozen"], strict=True)]
    assert moved[:3] == [False, True, False]  # padding stays, and there was no separator
    assert all(moved[3:])


def test_the_pocket_vectors(tmp_path: Path) -> None:
    done = train("bow", "pocket:train", tmp_path / "m", test="pocket", freeze=True, lr=0.01, epochs=4, device="cpu")
    assert done.metrics["test"]["right"] >= 150  # of 208
    assert load_victim(done.victim, device="cpu").labels == ("negative", "positive")
    card = (tmp_path / "m" / "README.md").read_text()
    right = done.metrics["test"]["right"]
    for part in (
        f"| test | {right} | 208 | {right / 208:.2%} |",
        f"| train | pocket:train | 864 | {Dataset('pocket:train').survey()[2]} |",
        "Learned from 778 examples. Classes: negative, positive.",
        "| seed | 0 |",
        f"| torch | {torch.__version__} |",
        "mohs.training.train.train('bow', ...)",
        f"mohs attack --victim mohs:{tmp_path / 'm'}",
    ):
        assert part in card


def test_vectors_that_do_not_fit(tmp_path: Path, vectors: Path) -> None:
    foreign = [Example.of(f"mot autre{number % 2}", number % 2, id=str(number)) for number in range(8)]
    own = {**TINY, "vectors": str(vectors), "dim": None}
    with pytest.raises(
        BadInput, match=r"No word of the data has a vector in .*; name other vectors, or use --vectors none\."
    ):
        train("bow", foreign, tmp_path / "m", device="cpu", **own)
    with pytest.raises(BadInput, match="nowhere"):
        train("bow", DATA, tmp_path / "m", device="cpu", **{**own, "vectors": "nowhere"})
    assert not (tmp_path / "m").exists()


# What goes wrong


def test_a_loss_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        tiny("bow", tmp_path / "m", lr=1e30, clip=1e30)
    assert str(caught.value).startswith("The loss became infinite or NaN in epoch 1 with --lr 1e+30; use a lower rate")
    assert str(caught.value).endswith(f"such as --lr 1e+29, and another --out than {tmp_path / 'm'}.")


def test_no_words(tmp_path: Path) -> None:
    blank = [Example.of("...", number % 2, id=str(number)) for number in range(8)]
    with pytest.raises(BadInput, match=r"No word of the data occurs 2 times; lower --min-count\."):
        tiny("bow", tmp_path / "m", data=blank)


def test_some_empty_texts(tmp_path: Path) -> None:
    blank = [Example.of("", number % 2, id=f"blank {number}") for number in range(8)]
    tiny("cnn", tmp_path / "m", data=DATA + blank, epochs=1)


@pytest.mark.parametrize("arguments", [{"save_every": 0}, {"epochs": 0}, {"device": "tpu"}])
def test_bad_options_leave_no_folder(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        train("bow", DATA, tmp_path / "m", **arguments)
    assert not (tmp_path / "m").exists()


def test_folders_of_others(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    with pytest.raises(BadInput, match=r"photos holds other files \(cat\.jpg\) and no training; choose a new folder"):
        tiny("bow", tmp_path / "photos")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]
    (tmp_path / "theirs" / "checkpoint").mkdir(parents=True)
    (tmp_path / "theirs" / "checkpoint" / "weights.bin").write_bytes(b"theirs")
    with pytest.raises(BadInput, match=r"holds other files \(checkpoint\) and no training"):
        tiny("bow", tmp_path / "theirs")
    with pytest.raises(BadInput, match=r"cat\.jpg is a file; --out names a folder for the model\."):
        tiny("bow", tmp_path / "photos" / "cat.jpg")
    with pytest.raises(BadInput, match="cannot be written"):
        tiny("bow", tmp_path / "photos" / "cat.jpg" / "m")


def test_killed_before_anything_was_said(tmp_path: Path) -> None:
    (tmp_path / "m" / "checkpoint").mkdir(parents=True)
    (tmp_path / "m" / "checkpoint" / "lock").touch()
    (tmp_path / "m" / "training.json.new").write_text('{"half')
    assert tiny("bow", tmp_path / "m", epochs=1).fresh


@pytest.mark.parametrize("text", ["", "[]", '{"identity": {}}', '{"identity": 3, "config": {}, "finished": null}'])
def test_a_record_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "training.json").write_text(text)
    with pytest.raises(BadInput, match=r"training\.json cannot be read .*; restore it from a copy or choose another"):
        tiny("bow", tmp_path / "m")


def test_a_damaged_checkpoint(tmp_path: Path) -> None:
    def stop(at: Progress) -> None:
        if at.step == 12:
            raise Stopped

    with pytest.raises(Stopped):
        tiny("bow", tmp_path / "m", progress=stop)
    (tmp_path / "m" / "checkpoint" / "state.safetensors").write_bytes(b"junk")
    with pytest.raises(BadInput, match=r"The checkpoint .* cannot be read \(.*\); delete the folder .*checkpoint to"):
        tiny("bow", tmp_path / "m")
    shutil.rmtree(tmp_path / "m" / "checkpoint")
    tiny("bow", tmp_path / "m")
    tiny("bow", tmp_path / "whole")
    assert hashed(tmp_path / "m") == hashed(tmp_path / "whole")


def test_a_checkpoint_with_other_numbers(tmp_path: Path) -> None:
    def stop(at: Progress) -> None:
        if at.step == 12:
            raise Stopped

    with pytest.raises(Stopped):
        tiny("bow", tmp_path / "m", progress=stop)
    path = tmp_path / "m" / "checkpoint" / "state.safetensors"
    with safe_open(path, "pt") as file:
        told = file.metadata()
    tensors = load_file(path)
    save_file(tensors, path, {"place": told["place"]})  # as earlier versions wrote it
    shutil.copytree(tmp_path / "m", tmp_path / "old")
    tiny("bow", tmp_path / "old")
    tiny("bow", tmp_path / "whole")
    assert hashed(tmp_path / "old") == hashed(tmp_path / "whole")
    next(iter(tensors.values())).view(-1)[0] += 1e-3
    save_file(tensors, path, told)
    with pytest.raises(BadInput, match=r"The checkpoint .* cannot be read \(it is not what was written\); delete the"):
        tiny("bow", tmp_path / "m")


def test_a_record_with_other_numbers(tmp_path: Path) -> None:
    done = tiny("bow", tmp_path / "m")
    path = tmp_path / "m" / "training.json"
    record = json.loads(path.read_text())
    del record["checksum"]  # as earlier versions wrote it
    path.write_text(json.dumps(record))
    assert tiny("bow", tmp_path / "m").metrics == done.metrics
    record["checksum"] = "0" * 16
    path.write_text(json.dumps(record))
    with pytest.raises(BadInput, match=r"training\.json cannot be read \(it is not what the training wrote\); restore"):
        tiny("bow", tmp_path / "m")


@pytest.fixture
def room() -> Iterator[Any]:
    """A way to let files grow to so many bytes only."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fills_up(tmp_path: Path, room: Any) -> None:
    def fill(at: Progress) -> None:
        if at.step == 10:
            room(1000)

    with pytest.raises(MohsError) as caught:
        tiny("bow", tmp_path / "m", progress=fill, save_every=4)
    room(1 << 40)
    assert str(caught.value).startswith(f"{tmp_path / 'm'} cannot be saved (")
    assert str(caught.value).endswith("the last checkpoint is kept; make room and run the same command again.")
    assert sorted(path.name for path in (tmp_path / "m" / "checkpoint").iterdir()) == [
        "best-0.safetensors",
        "lock",
        "state.safetensors",
    ]
    seen: list[Progress] = []
    tiny("bow", tmp_path / "m", progress=seen.append, save_every=4)
    assert seen[0].step == 10
    tiny("bow", tmp_path / "whole", save_every=4)
    assert hashed(tmp_path / "m") == hashed(tmp_path / "whole")


def test_a_full_disk_at_the_start_and_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\); make room or choose"):
            tiny("bow", tmp_path / "m")

    def last(at: Progress) -> None:
        if at.right is not None and at.epoch == at.epochs:
            monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(
        MohsError, match=r"cannot be saved \(No space left on device\), but the last checkpoint is kept"
    ):
        tiny("bow", tmp_path / "m", progress=last)
    monkeypatch.undo()
    seen: list[Progress] = []
    assert tiny("bow", tmp_path / "m", progress=seen.append).fresh
    assert not seen  # the training itself was over
    tiny("bow", tmp_path / "whole")
    assert hashed(tmp_path / "m") == hashed(tmp_path / "whole")


def test_a_training_whose_end_cannot_be_noted_keeps_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = folder_module._settle

    def full(beside: Path, place: Path) -> None:
        if place.name == "training.json" and '"finished": null' not in beside.read_text("utf-8"):
            raise OSError(errno.ENOSPC, "No space left on device")
        settle(beside, place)

    with monkeypatch.context() as patched:
        patched.setattr(folder_module, "_settle", full)
        with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\); make room or choose"):
            tiny("bow", tmp_path / "m")
    seen: list[Progress] = []
    assert tiny("bow", tmp_path / "m", progress=seen.append).fresh
    assert not seen  # the training itself was over


def test_a_lock_that_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(file: Any, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(BadInput, match=r"cannot be written \(No locks available\)"):
        tiny("bow", tmp_path / "m")
