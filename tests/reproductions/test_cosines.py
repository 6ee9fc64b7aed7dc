"""The two fits of reproductions/cosines.py, against their definitions."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "reproductions" / "cosines.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cosines_reproduction", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_isotonic_fit_is_the_nearest_rising_one(script: ModuleType) -> None:
    """At each place: the largest, over where a stretch begins, of the smallest mean of a stretch from there."""
    random = np.random.default_rng(0)
    for _ in range(50):
        x, y = random.permutation(12).astype(float), random.normal(size=12)
        places, values = script.isotonic(x, y)
        sorted_y = y[np.argsort(x)]
        assert places.tolist() == sorted(x)
        for i, value in enumerate(values):
            means = [min(sorted_y[a : b + 1].mean() for b in range(i, 12)) for a in range(i + 1)]
            assert value == pytest.approx(max(means))


def test_a_straight_line_is_found(script: ModuleType) -> None:
    x = np.linspace(0.3, 1, 200)
    assert script.fitted(x, 2 * x - 1, np.array([0.5, 0.7])) == pytest.approx([0, 0.4], abs=1e-9)


def test_the_same_share_passes(script: ModuleType) -> None:
    there, here = np.arange(100) / 100, np.arange(1000) / 2000  # half as large, ten times as many
    at = np.array([0.5, 0.9])
    found = script.same_share(there, here, at)
    assert found == pytest.approx([0.25, 0.45], abs=1e-3)
    assert [(here >= threshold).mean() for threshold in found] == pytest.approx([0.5, 0.1], abs=2e-3)
