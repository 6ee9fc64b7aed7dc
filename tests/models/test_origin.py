"""Where a victim's code comes from."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import rich
import yaml

import mohs
from mohs.models.bag import pocket_victim
from mohs.models.load import load_victim
from mohs.models.origin import origin_of
from tests.toys import WordCount, predict

FILES = {
    "shop/__init__.py": "",
    "shop/victim.py": (
        "import json\nfrom .parts import words\n\n\ndef predict(texts):\n    import late_helper\n"
        "    return [[0.5, 0.5] for _ in texts]\n"
    ),
    "shop/parts/__init__.py": "",
    "shop/parts/words.py": "from ..deeper import scale\n",
    "shop/deeper.py": "scale = 1\n",
    "late_helper.py": "import no_such_module\n",
    "unrelated.py": "x = 1\n",
}

Load = Callable[[], dict[str, str]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield lambda: origin_of(load_victim("python:shop.victim:predict"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", [name for name in FILES if name != "unrelated.py"])
def test_a_change_in_a_module_that_it_imports_is_seen(tmp_path: Path, load: Load, name: str) -> None:
    before = load()
    assert list(before) == ["sources"]
    assert load() == before
    (tmp_path / name).write_text(FILES[name] + "# changed\n")
    assert load() != before


def test_other_modules_of_the_folder_do_not_count(tmp_path: Path, load: Load) -> None:
    before = load()
    (tmp_path / "unrelated.py").write_text("x = 2\n")
    assert load() == before


def test_the_module_that_was_named_counts_too(tmp_path: Path, load: Load) -> None:
    (tmp_path / "shop" / "front.py").write_text("from shop.victim import predict\n")
    before = origin_of(load_victim("python:shop.front:predict"))
    (tmp_path / "shop" / "front.py").write_text("from shop.victim import predict  # changed\n")
    assert origin_of(load_victim("python:shop.front:predict")) != before


def test_a_package_is_noted_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import version

    some, other = cast(Any, rich), cast(Any, yaml)

    made = mohs.FunctionVictim(some.get_console, name="odd")
    assert origin_of(made) == {"package": f"rich {version('rich')}"}
    assert origin_of(mohs.FunctionVictim(other.safe_load)) == {"package": f"PyYAML {version('PyYAML')}"}
    monkeypatch.setattr("mohs.models.origin.version", lambda name: "0.0")
    assert origin_of(made) == {"package": "rich 0.0"}


def test_a_victim_in_a_wrapper() -> None:
    assert origin_of(pocket_victim()) == {}
    assert origin_of(mohs.Wrapper(pocket_victim())) == {}
    assert origin_of(WordCount({})) == {}  # it has a fingerprint of its own
    plain = mohs.FunctionVictim(predict)
    assert origin_of(mohs.Wrapper(plain)) == origin_of(plain)
    assert list(origin_of(plain)) == ["sources"]
