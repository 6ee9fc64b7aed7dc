"""The sums of what a run costs."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "costs.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("costs_benchmark", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


sums = loaded()
COSTS = sums.Costs(
    per_word=1.0,
    per_candidate=0.5,
    host=1e-5,
    load=10.0,
    read=0.5,
    survey=1.0,
    survey_bytes=8.0,
    record=1e-3,
    record_bytes=100.0,
    opened=1e-3,
    merged=2e-3,
    reported=3e-3,
    reported_bytes=50.0,
)


def need(parts: int, workers: int = 1, **costs: float) -> Any:
    machine = sums.Machine("any", forwards=10.0, workers=workers)
    return sums.need(replace(COSTS, **costs), machine, 1000, 20.0, parts)


def test_a_forward_pass_of_bert() -> None:
    base = sums.Network(12, 768)
    assert base.flops(1) == pytest.approx(2 * 85e6, rel=0.01)  # BERT-base has 85 million weights without its words
    assert base.flops(512) / base.flops(256) > 2  # attention


def test_questions_grow_with_words_times_candidates() -> None:
    assert COSTS.questions(10, 4) == 30.0
    assert COSTS.questions(20, 4) == 60.0


def test_one_part_by_one_process() -> None:
    found = need(1)
    assert found.searching == 2000.0
    assert found.surveying == 1000 * 1.5 + 10
    assert found.machine_hours == pytest.approx(3510 / 3600)
    assert (found.journal, found.whole, found.survey_memory) == (100_000.0, 100_000.0, 8000.0)
    assert (found.merging, found.page, found.page_memory) == pytest.approx((2.0, 4.0, 50_000.0))


def test_parts_share_the_search_and_nothing_else() -> None:
    one, ten = need(1), need(10)
    assert ten.searching == one.searching / 10
    assert ten.journal == one.journal / 10
    assert ten.surveying == one.surveying
    assert ten.machine_hours == pytest.approx((2000 + 10 * 1510) / 3600)
    assert ten.wasted > one.wasted


def test_workers_load_once_more_and_do_not_survey() -> None:
    assert need(1, workers=4).surveying == 1000 * 1.5 + 20
    assert need(1, workers=4).survey_memory == 8000.0


def test_the_number_of_parts_where_reading_takes_as_long_as_searching() -> None:
    machine = sums.Machine("any", forwards=10.0)
    parts = sums.best_parts(COSTS, machine, 1000, 20.0)
    found = sums.need(COSTS, machine, 1000, 20.0, parts)
    assert found.searching == pytest.approx(found.surveying)
