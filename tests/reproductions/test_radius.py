"""The tables of the radius reproduction."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parents[2] / "reproductions" / "radius.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("radius_reproduction", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def part_of(script: ModuleType, *edits: tuple[int | None, int | None, int | None]) -> Any:
    names = list(script.METHODS)
    rows = [{"id": n, "words": 20, "attacks": dict(zip(names, own, strict=True))} for n, own in enumerate(edits)]
    return script.Part(rows, 0, 0, 0, None)


def test_figure_3_counts_texts_over_on_and_under_the_diagonal(script: ModuleType) -> None:
    # SememePSO, TextFooler, PDP; six changes of twenty words are more than a quarter and count as failed.
    part = part_of(script, (3, 5, 2), (2, 2, 2), (1, None, 2), (6, 3, 2), (None, None, None))
    assert script.diagonal_lines("mr", "bilstm", part) == [
        "| mr | bilstm | SememePSO | 3 | 1 | 1 | 1 | 0.00 | 3 |",
        "| mr | bilstm | TextFooler | 3 | 2 | 1 | 0 | 1.33 | 5 |",
    ]


def test_with_full_every_cell_has_as_many_examples_and_the_levels_of_the_paper(script: ModuleType) -> None:
    def setting(full: bool) -> Any:
        return script.Setting(
            Path(), Path(), 200, None, 1, "sequential", {}, [], "cpu", quick=False, encoder="x", full=full
        )

    pairs = [(data, arch) for data in ("mr", "snli", "imdb") for arch in ("bilstm", "minilm")]
    assert {setting(True).examples(*pair) for pair in pairs} == {200}
    assert [setting(True).levels(*pair) for pair in pairs] == [4, 4, 4, 4, 3, 3]
    assert [setting(False).examples(*pair) for pair in pairs] == [200, 40, 200, 40, 60, 40]
    assert [setting(False).levels(*pair) for pair in pairs] == [3, 2, 4, 2, 1, 1]


def test_every_cell_of_the_papers_tables_is_there(script: ModuleType) -> None:
    cells = {(data, arch) for data in ("mr", "snli", "imdb") for arch in ("bilstm", "minilm")}
    assert set(script.ATTACKS) == set(script.CERTIFIED) == cells
    assert all(len(levels) == script.FULL_LEVELS[data] for (data, _), levels in script.CERTIFIED.items())
