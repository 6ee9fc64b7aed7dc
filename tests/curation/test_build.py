"""Builds that are killed, changed and gone on with: the folder is the same to the byte."""

from __future__ import annotations

import doctest
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.curation import api, merged, parted, place, stage, suite, transferred, writing
from mohs.curation import build as building
from mohs.curation.build import build
from mohs.curation.folder import open_benchmark
from mohs.curation.measured import validity
from mohs.curation.reading import config_from
from mohs.curation.show import steps_of
from mohs.curation.stage import STAGES
from mohs.curation.suite import How
from mohs.errors import BadInput, MohsError
from mohs.records.store import JOURNAL
from mohs.space import SentenceSimilarity
from tests.curation.toys import config, content, reviews, values, write_rows


class Killed(BaseException):
    """As an interrupt: nothing catches it."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody interrupts; its data lie beside it."""
    folder = tmp_path_factory.mktemp("whole")
    build(config(folder), folder / "out")
    return folder / "out"


def test_a_build_has_texts_of_every_kind(whole: Path) -> None:
    found = open_benchmark(whole)
    rows = [row for split in ("dev", "test") for row in found.rows("reviews", split)]
    assert {row["method"] for row in rows} == {"textfooler", "pruthi", "random", "distraction", "ours"}
    assert {row["class"] for row in rows} == {"word", "sentence", "human"}
    assert len({row["sentence"] for row in rows}) == len(rows)
    for split in ("dev", "test"):
        assert [row["idx"] for row in found.rows("reviews", split)] == list(
            range(found.tasks["reviews"]["counts"][split])
        )


def test_no_benign_source_is_on_both_sides(whole: Path) -> None:
    found = open_benchmark(whole)
    dev, test = ({row["original_id"] for row in found.rows("reviews", split)} - {None} for split in ("dev", "test"))
    assert dev
    assert test
    assert not dev & test


def test_every_row_holds_what_the_filters_say(whole: Path) -> None:
    """Asked again by hand: every attacked text fools all three, and word-level ones change few words."""
    from tests.curation import toys

    found = open_benchmark(whole)
    for split in ("dev", "test"):
        for row in found.rows("reviews", split):
            if row["class"] == "human":
                assert row["original_sentence"] is None
                continue
            for victim in (toys.first, toys.second, toys.third):
                (before,), (after,) = victim([row["original_sentence"]]), victim([row["sentence"]])
                assert before.index(max(before)) == row["label"]
                assert after.index(max(after)) != row["label"]
            if row["class"] == "word":
                one, other = row["original_sentence"].split(), row["sentence"].split()
                assert sum(a != b for a, b in zip(one, other, strict=True)) / len(one) <= 0.08
                assert row["agreement"] >= 0.8


def test_runs_side_by_side_find_the_same(whole: Path, tmp_path: Path) -> None:
    build(config(whole.parent), tmp_path / "out", How("auto", runs_at_once=2))
    assert content(tmp_path / "out") == content(whole)


def test_a_process_of_the_suite_that_is_killed_is_told_and_what_was_finished_stays(whole: Path, tmp_path: Path) -> None:
    given = values(tmp_path)
    given["tasks"]["reviews"]["surrogates"]["third"] = "python:tests.curation.toys:killing"
    with pytest.raises(MohsError, match="ended without a word"):
        build(config_from(given, "toy"), tmp_path / "out", How(runs_at_once=2))
    finished = [cell for cell in suite.cells(config_from(given, "toy"), tmp_path / "out") if cell.finished]
    assert {cell.surrogate for cell in finished} <= {"first", "second"}
    assert len(finished) >= 7  # two processes, and all runs of the first two surrogates begin before those of the third


@pytest.fixture(scope="module")
def runs(whole: Path) -> Path:
    return whole / "runs"


def started(tmp_path: Path, whole: Path, runs: Path | None = None) -> tuple[Any, Path]:
    """The configuration of the whole build, and a new folder, perhaps with finished runs."""
    out = tmp_path / "out"
    if runs is not None:
        shutil.copytree(runs, out / "runs")
        (out / "stages").mkdir()
    return config(whole.parent), out


def before(where: str, tmp_path: Path, whole: Path) -> tuple[Any, Path]:
    """A build that has come to a stage."""
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    for stage_name in STAGES[STAGES.index(where) :]:
        for path in (out / "stages").glob(f"*-{stage_name}*"):
            path.unlink()
    for name in content(whole):
        if not name.startswith("stages/"):
            (out / name).unlink()
    return config(whole.parent), out


@pytest.mark.parametrize("where", STAGES)
def test_killed_at_every_file_of_every_stage(
    where: str, tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, in and after each file: what is left is nothing, half a file beside its place, or the file."""
    real = stage.write_whole
    files = 3 + (where == "write") * len([name for name in content(whole) if not name.startswith("stages/")])
    for number in range(files):
        settings, out = before(where, tmp_path / str(number), whole)
        left = [number]

        def dying(path: Path, text: bytes, left: list[int] = left, number: int = number) -> Path:
            if left[0] == 0:
                if number % 3 == 1:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.with_name(f"{path.name}.part").write_bytes(text[: len(text) // 2])
                if number % 3 == 2:
                    real(path, text)
                raise Killed
            left[0] -= 1
            return real(path, text)

        with monkeypatch.context() as patch:
            patch.setattr(stage, "write_whole", dying)
            patch.setattr(writing, "write_whole", dying)
            patch.setattr(writing, "written", lambda page, path, write=dying: write(path, page.encode("utf-8")))
            with pytest.raises(Killed):
                build(settings, out)
        build(settings, out)
        assert content(out) == content(whole), number
        shutil.rmtree(tmp_path / str(number))


MIDDLES = {
    "attack": (suite.Cell, "carry_out", 5),
    "transfer": (transferred, "_ask", 4),
    "fidelity": (SentenceSimilarity, "of_vectors", 3),
    "judge": (building, "simulated_votes", 1),
    "merge": (merged, "fitting", 2),
    "split": (parted, "in_chance", 5),
    "write": (writing, "rows_of", 2),
}


@pytest.mark.parametrize("where", STAGES)
def test_killed_in_the_middle_of_every_stage(
    where: str, tmp_path: Path, whole: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, out = started(tmp_path, whole, None if where == "attack" else runs)
    if where == "transfer":
        for path in out.glob("runs/*/*/*/transfer-*"):
            path.unlink()
    owner, name, calls = MIDDLES[where]
    real, left = getattr(owner, name), [calls]

    def dying(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return real(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, dying)
        with pytest.raises(Killed):
            build(settings, out)
    assert left == [0]
    assert (out / "stages" / f"{STAGES.index(where) + 1:02}-{where}.json").exists() is False
    build(settings, out)
    assert content(out) == content(whole)


def test_killed_in_the_middle_of_a_run(tmp_path: Path, whole: Path) -> None:
    settings, out = started(tmp_path, whole)
    kills = 0
    for at in (7, 40, 90):

        def progress(record: Any, finished: int, total: int, at: int = at) -> None:
            if record is not None and finished >= at:
                raise Killed

        with pytest.raises(Killed):
            build(settings, out, How(progress=progress))
        kills += 1
    build(settings, out)
    assert kills == 3
    assert content(out) == content(whole)


def test_killed_before_the_journal_of_a_run_was_made(tmp_path: Path, whole: Path, runs: Path) -> None:
    """The manifest comes first: then no journal, an empty file, or a database without tables."""
    settings, out = started(tmp_path, whole, runs)
    cells = list(suite.cells(settings, out))
    for cell, size in zip(cells, (None, 0, 4096), strict=False):
        journal = cell.folder / JOURNAL
        journal.unlink()
        if size == 0:
            journal.touch()
        elif size:
            with closing(sqlite3.connect(journal)) as db:
                db.execute("PRAGMA journal_mode=WAL")
            assert journal.stat().st_size == size
    assert [cell.finished for cell in cells] == [False] * 3 + [True] * (len(cells) - 3)
    build(settings, out)
    assert content(out) == content(whole)


def test_a_finished_build_does_nothing(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite.Cell, "carry_out", None)
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*") if path.is_file() and path.name != ".lock"}
    done = build(config(whole.parent), whole)
    assert done.done == dict.fromkeys(STAGES, False)
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_changed_setting_repeats_what_depends_on_it(tmp_path: Path, whole: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    other = config(whole.parent, filters={"word_change": 0.01})
    done = build(other, out)
    assert [name for name, now in done.done.items() if now] == ["fidelity", "judge", "merge", "split", "write"]
    assert content(out) != content(whole)
    back = build(config(whole.parent), out)
    assert back.done["fidelity"]
    assert content(out) == content(whole)


@pytest.mark.parametrize("change", ["a surrogate that no attack is on", "class", "by_definition"])
def test_a_setting_that_leaves_the_attacks_as_they_are_still_counts_later(change: str, tmp_path: Path) -> None:
    """The texts of the first stage stay the same, and the benchmark is that of a fresh build."""
    given = values(tmp_path)
    given["attacks"] = [{**one, "on": ["first"]} for one in (given["attacks"][0], given["attacks"][2])]
    surrogates = given["tasks"]["reviews"]["surrogates"]
    given["tasks"]["reviews"]["surrogates"] = {name: surrogates[name] for name in ("first", "second")}
    out = tmp_path / "out"
    build(config_from(given, "toy"), out)
    first = (out / "stages" / "01-attack.jsonl").read_bytes()
    if change == "class":
        given["attacks"][0] |= {"class": "sentence", "family": "syntactic"}
    elif change == "by_definition":
        given["attacks"][1] |= {"by_definition": True}
    else:
        given["tasks"]["reviews"]["surrogates"] = surrogates
    build(config_from(given, "toy"), out)
    build(config_from(given, "toy"), tmp_path / "fresh")
    assert content(out) == content(tmp_path / "fresh")
    assert (out / "stages" / "01-attack.jsonl").read_bytes() == first


def test_changed_data_start_the_runs_anew(tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = config(tmp_path, attacks=[{"attack": "random", "class": "word", "family": "embedding"}])
    build(settings, out, until="attack")
    write_rows(tmp_path / "reviews.jsonl", reviews(10))
    done = build(settings, out, until="attack")
    assert done.done == {"attack": True}
    assert done.stages.facts("attack")["examples"] == {"reviews": 10}


def test_a_damaged_file_is_written_again(tmp_path: Path, whole: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    (out / "README.md").write_text("gone")
    (out / "stages" / "05-merge.jsonl").write_text("")
    done = build(config(whole.parent), out)
    assert [name for name, now in done.done.items() if now] == ["merge", "write"]
    assert content(out) == content(whole)


def test_a_file_that_says_nothing_is_refused(tmp_path: Path, whole: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    for text in ("[]", '{"id": 1}', "{"):
        (out / "stages" / "03-fidelity.jsonl").write_text(text)
        with pytest.raises(BadInput, match=r"03-fidelity\.jsonl cannot be read .*; delete it and build again"):
            steps_of(out)


def test_only_and_until(tmp_path: Path, whole: Path) -> None:
    settings, out = started(tmp_path, whole, whole / "runs")
    assert list(build(settings, out, until="fidelity").done) == ["attack", "transfer", "fidelity"]
    with pytest.raises(BadInput, match=r"judge comes before merge and is not done"):
        build(settings, out, only="merge")
    assert build(settings, out, only="judge").done == {"judge": True}
    with pytest.raises(BadInput, match="There is no stage 'train'; there are attack, "):
        build(settings, out, only="train")
    build(settings, out)
    assert content(out) == content(whole)


def test_a_hidden_test_set_has_no_labels(tmp_path: Path, whole: Path) -> None:
    shutil.copytree(whole, tmp_path / "out")
    found = mohs.build_benchmark(config(whole.parent), tmp_path / "out", hide_test=True)
    shown = open_benchmark(whole)
    assert found.hidden_test
    assert found.hash == shown.hash
    rows, answers = found.rows("reviews"), found.rows("reviews", answers=True)
    assert answers == shown.rows("reviews")
    assert found.rows("reviews", "dev") == shown.rows("reviews", "dev")
    assert {row["label"] for row in rows} == {-1}
    assert found.tasks["reviews"]["label_counts"]["test"] is None
    assert sum(shown.tasks["reviews"]["label_counts"]["test"]) == len(rows)
    for row, answer in zip(rows, answers, strict=True):
        assert list(row) == list(answer)
        assert (row["idx"], row["sentence"], row["method"]) == (answer["idx"], answer["sentence"], answer["method"])
        for name in ("original_sentence", "original_id", "agreement", "similarity", "share_changed", "judges"):
            assert row[name] is None
    mohs.build_benchmark(config(whole.parent), tmp_path / "out")
    assert content(tmp_path / "out") == content(whole)
    assert not (tmp_path / "out" / "private").exists()


def test_other_files_are_left_alone(tmp_path: Path, whole: Path) -> None:
    (tmp_path / "mine" / "data").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"holds other files \(data\) and no benchmark"):
        build(config(whole.parent), tmp_path / "mine")
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    (out / "data" / "notes.txt").write_text("mine")
    build(replace(config(whole.parent), about="Another."), out)
    assert (out / "data" / "notes.txt").read_text() == "mine"


def test_one_build_at_a_time(tmp_path: Path, whole: Path) -> None:
    settings, out = started(tmp_path, whole)
    with place.alone_in(out, out / "stages"), pytest.raises(BadInput, match="Another build is writing"):
        build(settings, out)


def test_a_build_without_texts_says_so(tmp_path: Path) -> None:
    more = {"filters": {"word_change": 0.0}, "crafted": []}
    plain = [{"attack": "textfooler", "class": "word", "family": "embedding"}]
    with pytest.raises(BadInput, match=r"No text is left for the benchmark \(`mohs benchmark show` says"):
        build(config(tmp_path, attacks=plain, **more), tmp_path / "out")
    assert not (tmp_path / "out" / "benchmark.json").exists()


def test_the_docstring_runs() -> None:
    found = doctest.testmod(api)
    assert found.failed == 0
    assert found.attempted > 0


def test_the_order_of_keys_changes_nothing(tmp_path: Path, whole: Path, runs: Path) -> None:
    _, out = started(tmp_path, whole, runs)
    turned = json.loads(json.dumps(dict(reversed(values(whole.parent).items()))))
    mohs.build_benchmark(turned, out)
    assert content(out) == content(whole)


def test_an_attack_on_some_surrogates_asks_the_others_about_its_texts(tmp_path: Path) -> None:
    given = values(tmp_path)
    given["attacks"] = [{**given["attacks"][0], "on": ["second"]}]
    found = build(config_from(given, "toy"), tmp_path / "out")
    items = found.stages.items("transfer")
    assert items
    assert {item.found_on for item in items} == {("second",)}
    counts = found.stages.facts("attack")["counts"]["reviews"]["textfooler"]
    assert list(counts) == ["second"]
    (cell,) = (one for one in validity(found.config, found.stages) if one.method == "textfooler")
    assert cell.mean_success == cell.success["second"].value


def test_a_white_box_attack_on_a_black_box_is_refused_before_anything_is_attacked(tmp_path: Path) -> None:
    given = values(tmp_path)
    given["attacks"].append({"attack": "hotflip", "class": "word", "family": "embedding"})
    with pytest.raises(BadInput, match=r"hotflip needs gradients, which the surrogate first of reviews does not give"):
        build(config_from(given, "toy"), tmp_path / "out")
    assert not list((tmp_path / "out").rglob("journal.sqlite"))


def test_a_model_of_the_filters_that_is_not_there_is_refused_before_anything_is_attacked(tmp_path: Path) -> None:
    own = config(tmp_path, filters={"similarity": "bertscore", "token_encoder": "hf:./nowhere"})
    with pytest.raises(BadInput, match=r"There is no folder \./nowhere"):
        build(own, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("journal.sqlite"))
