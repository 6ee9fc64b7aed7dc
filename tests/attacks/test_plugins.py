"""A user's own attack, from a file or an installed package."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks import plugins
from mohs.attacks.catalogue import entries, find_attack
from mohs.errors import BadInput

PAGE = Path(__file__).parents[2] / "docs" / "write-an-attack.md"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The code of the page, saved as it says."""
    code, _ = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    path = tmp_path / "shortest_first.py"
    path.write_text(code, "utf-8")
    return path


def test_the_page_shows_an_attack_that_works(file: Path) -> None:
    name = f"{file}:ShortestFirst"
    with mohs.attack("pocket", "pocket", [name, "random"], n=30, seed=1) as run:
        records = [record for record in run.records() if record.attack == name]
        assert [record.error for record in records] == [None] * 30
        own, chance = run.summary()
    assert own.success.hits >= chance.success.hits > 0
    assert all(record.measures["sentence similarity"] >= 0.8 for record in records if record.edits)


def test_the_page_shows_about_twenty_lines(file: Path) -> None:
    lines = [line for line in file.read_text("utf-8").splitlines() if line.strip() and "import" not in line]
    assert len(lines) <= 26


def test_a_run_with_it_can_be_continued(file: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with mohs.attack("pocket", "pocket", [f"{file}:ShortestFirst"], n=3, out=tmp_path / "run") as run:
            assert len(run) == 3
    file.write_text(file.read_text("utf-8").replace("return best", "return x"), "utf-8")
    with pytest.raises(BadInput, match="settings"):
        mohs.attack("pocket", "pocket", [f"{file}:ShortestFirst"], n=3, out=tmp_path / "run")


@pytest.mark.parametrize(
    ("code", "name", "sentence"),
    [
        ("x = 1", "Mine", "own.py has no class 'Mine'; it defines nothing that can be called."),
        ("class Mime: pass\ndef x(): pass", "Mine", "no class 'Mine' (did you mean 'Mime'?); it defines Mime, x."),
        ("Mine = None", "Mine", "own.py:Mine is None; name a class."),
        ("1 / 0", "Mine", "own.py cannot be read as Python: ZeroDivisionError: division by zero"),
        (
            "class Mine: pass",
            "Mine",
            "is not an attack: it lacks source, constraints, stopwords, needs_scores; see docs",
        ),
        ("class Mine:\n    def __init__(self, k): pass", "Mine", "cannot be created without arguments: TypeError"),
    ],
)
def test_what_is_no_attack_is_one_sentence(tmp_path: Path, code: str, name: str, sentence: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(code, "utf-8")
    with pytest.raises(BadInput, match=re.escape(sentence)):
        find_attack(f"{path}:{name}")


def test_a_missing_file() -> None:
    with pytest.raises(BadInput, match=r"There is no file nowhere\.py; name an attack of your own as"):
        find_attack("nowhere.py:Mine")


def test_an_installed_plugin_is_found_and_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def announced(**query: Any) -> list[EntryPoint]:
        assert query == {"group": "mohs.attacks"}
        return [EntryPoint("mine", "mohs.attacks.random_words:RandomWords", "mohs.attacks")]

    monkeypatch.setattr(plugins, "entry_points", announced)
    name, attack = find_attack("mine")
    assert (name, attack) == ("mine", mohs.RandomWords())
    assert next(entry for entry in entries() if entry.name == "mine").presets == ("plug-in",)


def test_a_broken_plugin_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("mine", "mohs.nothing:Attack", "mohs.attacks")
    monkeypatch.setattr(plugins, "entry_points", lambda **query: [broken])
    with pytest.raises(
        BadInput, match=r"The plug-in mine \(mohs.nothing:Attack\) cannot be loaded: ModuleNotFoundError"
    ):
        find_attack("mine")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The source and the measure of the page."""
    _, code = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    path = tmp_path / "mine.py"
    path.write_text(code, "utf-8")
    return path


def test_a_source_and_a_measure_of_the_users_own(mine: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "source": f"{mine}:Shouted:marks=1+neighbours:k=4",
        "constraints": [f"{mine}:Longer<=2"],
        "n": 12,
        "out": tmp_path / "run",
    }
    with mohs.attack("pocket", "pocket", ["random"], **options) as run:
        records = list(run.records())
    assert [record.error for record in records] == [None] * 12
    edits = [edit for record in records for edit in record.edits]
    assert any(edit.source == "shouted" and edit.new == edit.old.upper() + "!" for edit in edits)
    assert any(edit.source == "neighbours" for edit in edits)
    assert all(record.measures["characters more"] <= 2 for record in records if record.edits)
    mine.write_text(mine.read_text("utf-8").replace('"!"', '"?"'), "utf-8")
    with pytest.raises(BadInput, match="settings"):
        mohs.attack("pocket", "pocket", ["random"], **options)


def test_a_rewriter_of_the_users_own(mine: Path) -> None:
    with mohs.attack(
        lambda texts: [[0.9, 0.1] if "Well then" in text else [0.2, 0.8] for text in texts],
        [("a good film", 1)],
        ["rewriting"],
        source=f"{mine}:Insisting:words=Well then",
        labels=("no", "yes"),
    ) as run:
        (record,) = run.records()
    assert record.perturbed == ("Well then a good film",)
    assert [edit.source for edit in record.edits] == ["rewrite: insisting"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("none.py:Mine", "There is no file none.py; name a source of your own as path/to/file.py:CLASS."),
        ("{}:Shout", "has no class 'Shout' (did you mean 'Shouted'?)"),
        ("{}:Longer", "Longer is not a source: it lacks __call__; see docs/write-an-attack.md."),
        ("{}:Family", "Family is not a source: it lacks needs, __call__; see docs"),
        ("{}:Shouted:size=2", "Shouted takes NAME=VALUE with marks."),
        ("{}:Shouted:marks=two", "the value of marks is 'two', which does not fit; give a whole number."),
        ("shouted", "or your own as path/to/file.py:CLASS."),
    ],
)
def test_sources_that_are_none(mine: Path, spec: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        mohs.attack("pocket", "pocket", ["random"], n=1, source=spec.format(mine))
    assert sentence in str(caught.value)


def test_an_attack_that_returns_nothing_says_so(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "from mohs.attacks.random_words import RandomWords\n\n\n"
        "class Mine(RandomWords):\n    async def __call__(self, x, goal, space, ask):\n        return None\n"
    )
    with mohs.attack("pocket", "pocket", [f"{path}:Mine"], n=3) as run:
        errors = {record.error for record in run.records() if record.error}
    assert errors == {f"{path}:Mine returned None; an attack must return a Text, the original if it found none."}
