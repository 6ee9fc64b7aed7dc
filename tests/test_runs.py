"""The Python interface."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

import mohs
import mohs.runs
from mohs.errors import BadInput, MohsError, VictimError
from tests.toys import WordCount, predict

ROWS = [("a good film", 1), ("a bad film", 0), ("an awful story", 1)]


def test_five_lines_of_python() -> None:
    run = mohs.attack(predict, ROWS, attacks=["textfooler", "random"], seed=0)
    assert [summary.attack for summary in run.summary()] == ["textfooler:paper", "random:baseline"]
    records = list(run.records())
    assert len(records) == len(run) == 6
    assert [record.example_id for record in records[:3]] == ["0", "1", "2"]
    assert records[2].outcome is mohs.Outcome.SKIPPED
    assert "accuracy under attack" in run._repr_html_()


def test_the_docstrings_run() -> None:
    assert doctest.testmod(mohs.runs).failed == 0
    assert doctest.testmod(mohs.runs).attempted > 0


def test_rows_and_pairs() -> None:
    rows = [{"premise": "a man sleeps", "hypothesis": "a good man", "label": 1}]
    with mohs.attack(predict, rows, ["random"]) as run:
        (record,) = run.records()
    assert record.names == ("premise", "hypothesis")
    assert record.original == ("a man sleeps", "a good man")


def test_attack_objects_and_victim_objects() -> None:
    victim = WordCount({"good": 2.0, "bad": -2.0})
    with mohs.attack(victim, ROWS, [mohs.RandomWords(walks=1), mohs.TextFooler()]) as run:
        assert [summary.attack for summary in run.summary()] == ["RandomWords(walks=1)", "textfooler:paper"]


def test_a_folder_makes_it_resumable(tmp_path: Path) -> None:
    first = WordCount({"good": 2.0})
    with mohs.attack(first, ROWS, ["random"], out=tmp_path / "run") as run:
        expected = list(run.records())
    second = WordCount({"good": 2.0})
    with mohs.attack(second, ROWS, ["random"], out=tmp_path / "run") as run:
        assert list(run.records()) == expected
    assert {fields for fields in second.asked if "day" not in fields[0]} == set()
    with mohs.Run.open(tmp_path / "run") as run:
        assert list(run.records()) == expected
        assert run.manifest["config"]["attacks"] == ["random:baseline"]


def test_only_what_is_missing_is_done(tmp_path: Path) -> None:
    """Stopping after any number of records and going on gives the records of an uninterrupted run."""

    class Stop(Exception):
        pass

    examples = [mohs.Example.of(f"a good film {i}", 1, id=str(i)) for i in range(12)]
    with mohs.attack("pocket", examples, ["random", "textfooler"]) as run:
        expected = list(run.records())
    for stop in (1, 5, 13, 23):
        folder = tmp_path / str(stop)

        def halt(record: Any, finished: int, total: int, stop: int = stop) -> None:
            if finished >= stop:
                raise Stop

        with pytest.raises(Stop):
            mohs.attack("pocket", examples, ["random", "textfooler"], out=folder, at_once=2, progress=halt)
        with mohs.attack("pocket", examples, ["random", "textfooler"], out=folder) as run:
            assert list(run.records()) == expected


def test_secrets_are_not_written_down(tmp_path: Path) -> None:
    options = {"header": "Authorization: Bearer hunter2", "retries": "0", "timeout": "0.2"}
    with pytest.raises(MohsError):
        mohs.attack("http://127.0.0.1:9/", ROWS, ["random"], victim_options=options, out=tmp_path / "run")
    assert not any("hunter2" in file.read_text("utf-8", "replace") for file in tmp_path.rglob("*") if file.is_file())


def test_effort_counts_real_forwards(tmp_path: Path) -> None:
    with mohs.attack("pocket", ROWS, ["random"], cache=tmp_path / "answers") as run:
        cold = run.effort()
    with mohs.attack("pocket", ROWS, ["random"], cache=tmp_path / "answers") as run:
        warm = run.effort()
    assert cold["forwards"] > 0
    assert warm["forwards"] == 0
    assert warm["reused"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"attacks": []}, "No attack was named"),
        ({"n": 0}, "n is 0; it must be at least 1"),
        ({"budget": 0}, "budget is 0; it must be at least 1"),
        ({"at_once": 0}, "at_once is 0; it must be at least 1"),
        ({"examples": []}, "has no examples"),
        ({"examples": [("x", 5)]}, "label 5, but .* has 2 classes"),
        ({"victim": 5}, "A int is no victim"),
    ],
)
def test_mistakes(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"victim": predict, "examples": ROWS, "attacks": ["random"], **arguments}
    with pytest.raises(BadInput, match=message):
        mohs.attack(given.pop("victim"), given.pop("examples"), given.pop("attacks"), **given)


def test_a_victim_that_gives_nonsense_is_found_at_once() -> None:
    with pytest.raises(VictimError, match="not finite"):
        mohs.attack(lambda texts: [[float("nan")] * 2] * len(texts), ROWS, ["random"])


def test_nothing_heavy_is_imported() -> None:
    import subprocess
    import sys

    program = "import sys, mohs.cli; bad = {'torch', 'transformers', 'numpy', 'pyarrow', 'scipy'} & set(sys.modules); "
    program += "print(sorted(bad))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
