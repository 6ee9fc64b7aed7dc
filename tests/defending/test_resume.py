"""Answers and adaptive runs are kept: a reading that was cut short ends as one that was not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.defending.answers import JOURNAL, Answers
from mohs.defending.result import Defended
from mohs.models.victim import Fields
from tests.defending.toys import ROWS, Counting, Dropped, attacked, victim
from tests.toys import bundled

TOLD = "the user wants to stop"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "run"
    attacked(place).close()
    return place


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "run"))


def judged(place: Path, **more: Any) -> Defended:
    options = {"keys": 3, "adaptive_keys": 2, "draws": 4, "average": 2, "victim": victim(), "again": bundled()}
    return mohs.defend(place, Dropped(), **{**options, **more})


def figures(found: Defended) -> Any:
    return found.to_json(), [{**row, "run": ""} for row in found.rows()]


def test_a_second_reading_asks_nothing_and_says_the_same(copy: Path) -> None:
    first = judged(copy)
    lines = (copy / JOURNAL).read_text("utf-8")
    runs = sorted(path.name for path in (copy / "defended").iterdir())
    assert [name.rpartition("-")[0] for name in runs] == ["Dropped-key-0", "Dropped-key-1", "Dropped-mean-of-2"]
    second = judged(copy)
    assert figures(first) == figures(second)
    assert (copy / JOURNAL).read_text("utf-8") == lines
    for name in runs:
        with mohs.Run.open(copy / "defended" / name) as own:
            assert own.command == "attack"
            assert len(own) == own.planned
    memory = judged(copy, keys=3)
    assert figures(memory) == figures(first)


@pytest.mark.parametrize("stop", [0, 7, 40, 80])
def test_a_reading_that_was_cut_short_is_gone_on_with(copy: Path, folder: Path, tmp_path: Path, stop: int) -> None:
    whole = judged(Path(shutil.copytree(folder, tmp_path / "whole")))

    def step(record: Any, finished: int, total: int) -> None:
        if finished > stop:
            raise KeyboardInterrupt(TOLD)

    with pytest.raises(KeyboardInterrupt, match=TOLD):
        judged(copy, progress=step)
    if (copy / JOURNAL).exists():
        text = (copy / JOURNAL).read_text("utf-8")
        (copy / JOURNAL).write_text(text[: int(len(text) * 0.7)], "utf-8")  # the last line is cut
    found = judged(copy)
    assert figures(found)[1] == figures(whole)[1]
    told, expected = found.to_json(), whole.to_json()
    for one, other in zip(told.pop("attacks"), expected.pop("attacks"), strict=True):
        assert {**one, "run": ""} == {**other, "run": ""}


class Once(Counting):
    """Raises when asked again about what it was asked."""

    def collect(self, ticket: list[Fields]) -> Any:
        for fields in ticket:
            assert self.asked.count(fields) == 1, fields
        return super().collect(ticket)


def test_answers(tmp_path: Path) -> None:
    texts = [(text,) for text, _ in ROWS]
    told: list[int] = []
    one = Once({"good": 1.0})
    kept = Answers(tmp_path)
    first = kept.of(one, texts[:5], told.append)
    assert kept.of(one, texts, told.append) | first == {text: one.scores(text) for text in texts}
    kept.close()
    assert told == [0, 5, 5, 3]
    path = tmp_path / JOURNAL
    lines = path.read_text("utf-8").splitlines(keepends=True)
    assert len(lines) == len(texts)
    damaged = [lines[0].replace("0.", "0.1", 1), *lines[1:4], "[1, 2]\n", "{\n", lines[4], *lines[5:7], lines[7][:30]]
    path.write_text("".join(damaged), "utf-8")
    again = Answers(tmp_path)
    assert again.broken == 4
    other = Once({"good": 1.0})
    assert again.of(other, texts, told.append) == {text: one.scores(text) for text in texts}
    again.close()
    assert sorted(other.asked) == sorted([texts[0], texts[7]])
    third = Answers(tmp_path)
    silent = Once({"good": 1.0})
    assert third.of(silent, texts, told.append) == {text: one.scores(text) for text in texts}
    assert not silent.asked
    other_weights = Once({"good": 2.0})
    assert third.of(other_weights, texts[:1], told.append) == {texts[0]: other_weights.scores(texts[0])}
    third.close()


class Unreadable(Counting):
    """Cannot read the texts about music."""

    def collect(self, ticket: list[Fields]) -> Any:
        if any("music" in field for fields in ticket for field in fields):
            raise ValueError("too loud")
        return super().collect(ticket)


def test_errors_are_asked_again(tmp_path: Path) -> None:
    texts = [(text,) for text, _ in ROWS]
    for _ in range(2):
        kept = Answers(tmp_path)
        found = kept.of(Unreadable({"good": 1.0}), texts, lambda count: None)
        kept.close()
        assert [text for text, said in found.items() if isinstance(said, str)] == [texts[2]]
        assert found[texts[2]] == "ValueError: too loud"
    assert len((tmp_path / JOURNAL).read_text("utf-8").splitlines()) == len(texts) - 1


def test_what_cannot_be_read_is_in_no_denominator() -> None:
    class Deaf(Dropped):
        def versions(self, fields: Fields, random: Any) -> list[Fields]:
            if "music" in fields[0]:
                raise ValueError("too loud")
            return super().versions(fields, random)

    with attacked(None) as run:
        found = mohs.defend(run, Deaf(), keys=2, draws=2, victim=victim(), again=bundled())
    (one,) = found.parts[0].defences
    assert [(rate.total, rate.errors) for rate in one.clean.rates] == [(len(ROWS) - 1, 1)] * 2
    assert all(rate.errors == 1 for rate in one.left.rates)
    assert one.adaptive is not None
    assert one.adaptive.errors == 1
    assert found.errors > 0
