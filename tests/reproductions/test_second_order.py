"""The tables of the second-order reproduction, and the memory that its runs share."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mohs.bias import PairBias
from mohs.engine import Service
from mohs.records import Outcome, Record
from mohs.report.second_order.figures import summarise_second_order
from mohs.text.text import Edit

FILE = Path(__file__).parents[2] / "reproductions" / "second_order.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("second_order_reproduction", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


class Lengths:
    """Says how long a word is, in batches of two, and notes what it was asked."""

    name, fingerprint, in_flight = "lengths", "0", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def plan(self, items: list[str]) -> list[list[str]]:
        return [items[at : at + 2] for at in range(0, len(items), 2)]

    def launch(self, batch: list[str]) -> list[str]:
        self.asked += batch
        return batch

    def collect(self, ticket: list[str]) -> list[int]:
        return [len(item) for item in ticket]


def answers(model: Any, items: list[str]) -> list[int]:
    service: Service[str, int] = Service(model)
    ask = service.ask(items)
    while ask.missing:
        list(service.launch())
        list(service.collect())
    return [int(answer) for answer in ask.answers]


def test_a_question_reaches_the_model_once_whichever_run_asks(script: ModuleType) -> None:
    model = Lengths()
    shared = script.Remembered(model)
    assert answers(shared, ["a", "to", "the"]) == [1, 2, 3]
    assert answers(shared, ["from", "to", "a", "where"]) == [4, 2, 1, 5]
    assert sorted(model.asked) == sorted(["a", "to", "the", "from", "where"])
    assert shared.asked == 7  # each run's own questions, known or not
    assert shared.name == "lengths"


def test_a_full_memory_still_answers(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "REMEMBERED", 0)
    model = Lengths()
    shared = script.Remembered(model)
    assert answers(shared, ["a", "to"]) == answers(shared, ["a", "to"]) == [1, 2]
    assert model.asked == ["a", "to"] * 2


def record(number: int, outcome: Outcome, words: int = 0) -> Record:
    edits = tuple(Edit(at, "x", "y") for at in range(words))
    return Record(
        "so-beam",
        str(number),
        outcome,
        0,
        ("text",),
        ("a",),
        0,
        5,
        edits=edits,
        queries=0 if outcome == "skipped" else 8,
    )


def test_examples_without_a_pair_count_among_all_and_not_among_those_with_one(script: ModuleType) -> None:
    outcomes = [Outcome.SUCCESS, Outcome.SUCCESS, Outcome.FAILED, Outcome.SKIPPED]
    records = [record(number, outcome, number) for number, outcome in enumerate(outcomes)]
    (summary,) = summarise_second_order(records)
    cells = [cell.strip() for cell in script.line("lstm", "so-beam", summary, 12.0, 6.0).strip("|").split("|")]
    heads = [cell.strip() for cell in script.HEAD.splitlines()[0].strip("|").split("|")]
    assert len(cells) == len(heads)
    row = dict(zip(heads, cells, strict=True))
    assert row["found, % of all"].startswith("50.0 (2/4)")
    assert row["of those with a pair"] == "66.7 (2/3)"
    assert row["paper, % of 872"] == "99.5"  # Table 2, base LSTM, SO-Beam
    assert row["original itself"] == "1"
    assert row["l0"] == "0.50"
    assert row["paper (GPT-2)"] == "166 → 204"
    assert row["seconds"] == "1.5"  # six seconds, four examples


def test_the_paper_prints_no_random_walk_on_base_models(script: ModuleType) -> None:
    (summary,) = summarise_second_order([record(0, Outcome.SUCCESS, 1)])
    cells = [cell.strip() for cell in script.line("bow", "random", summary, 1.0, 1.0).strip("|").split("|")]
    assert [cells[at] for at in (4, 7, 9, 13)] == [""] * 4


def measured(old: str, new: str, k: int, sentences: int, neighbours: int, value: float) -> PairBias:
    low, high = (value - 0.01, value + 0.01) if sentences > 1 else (math.nan, math.nan)
    return PairBias(old, new, k, sentences, neighbours, value, low, high, 0.001, 0.002, True, {})


def test_pairs_weigh_by_their_neighbours_in_the_total(script: ModuleType) -> None:
    group = [measured("he", "she", 1, 5, 300, 0.02), measured("son", "daughter", 1, 1, 100, -0.02)]
    total = script.total(group, 1)
    assert (total.sentences, total.neighbours) == (6, 400)
    assert total.bias == pytest.approx(0.01)
    assert script.total(group, 2).neighbours == 0


def test_a_pair_with_one_sentence_is_in_the_total_alone(script: ModuleType) -> None:
    base = [
        measured(old, new, k, sentences, sentences * 10**k, 0.02)
        for old, new, sentences in (("he", "she", 5), ("son", "daughter", 1))
        for k in (0, 1)
    ]
    head, rule, pair, total = script.bias_table({"base": base, "debiased": []}, 1).splitlines()
    assert {row.count("|") for row in (head, rule, pair, total)} == {9}
    assert pair.startswith("| he, she | 5, 0 | 50, 0 | 5 → 325,401 | +2.00 [+1.00, +3.00]* | ")
    assert pair.endswith("| - | - |")
    assert total.startswith("| all 2 pairs | 6, 0 | 60, 0 |")
