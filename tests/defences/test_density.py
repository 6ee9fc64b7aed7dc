"""Robust density estimation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from sklearn.covariance import MinCovDet
from sklearn.decomposition import KernelPCA

from mohs.defences import Rde
from mohs.defences.density import Density, Known, density_of
from mohs.detecting.roc import area_of
from mohs.errors import BadInput
from mohs.models.victim import Fields

Table = npt.NDArray[np.float32]
SMALL = 0.01  # features this small make an RBF kernel as good as linear


class Given:
    """Features that are written in the text."""

    name = "given"
    in_flight = 1

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        return [items]

    def launch(self, batch: list[Fields]) -> list[Fields]:
        return batch

    def collect(self, ticket: list[Fields]) -> list[Any]:
        return [np.array(text.split(), np.float32) for (text,) in ticket]


def classes(count: int, dims: int, seed: int) -> tuple[Table, npt.NDArray[np.int64]]:
    """Two round classes at a distance of 12."""
    random = np.random.default_rng(seed)
    table, labels = random.normal(size=(count, dims)), np.arange(count) % 2
    table[:, 0] += 12 * labels
    return (SMALL * table).astype(np.float32), labels


def chance_of_more(dims: int, shift: float) -> float:
    """How often a squared distance is larger after a shift: noncentral against central chi square."""
    at = np.linspace(0, 200, 200_001)
    values = stats.ncx2.sf(at, dims, shift**2) * stats.chi2.pdf(at, dims)
    return float(values.sum() * (at[1] - at[0]))


def suspicions(arrays: Any, table: Table, predicted: int) -> npt.NDArray[np.float64]:
    known = Known.of(arrays)
    found: npt.NDArray[np.float64] = known.distances(known.projected(table))[:, predicted]
    return found


@pytest.mark.parametrize("shift", [1.0, 3.0])
def test_on_a_planted_mixture_the_area_is_the_closed_form(shift: float) -> None:
    dims, count = 6, 1500
    arrays = density_of(*classes(1200, dims, 0), dims, 0.0, 0)
    random = np.random.default_rng(1)
    ordinary, moved = random.normal(size=(2, count, dims))
    ordinary[:, 0] += 12
    moved[:, 0] += 12
    moved[:, 1] += shift
    low, high = (suspicions(arrays, (SMALL * rows).astype(np.float32), 1) for rows in (ordinary, moved))
    names = [str(number) for number in range(count)]
    found = area_of(high, low, names, [f"other {name}" for name in names])
    assert found.value == pytest.approx(chance_of_more(dims, shift), abs=0.03)  # the area's own error is 0.01


def test_the_predicted_class_counts() -> None:
    table, _ = classes(400, 4, 0)
    arrays = density_of(*classes(400, 4, 0), 4, 0.0, 0)
    texts: list[Fields] = [(" ".join(map(str, row.tolist())),) for row in table[:2]]
    right, wrong = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.1, 0.9], [0.8, 0.2]])
    density = Density(Given(), arrays)
    assert (density.suspicions(texts, wrong) > 5 * density.suspicions(texts, right)).all()
    assert density.suspicions([], np.zeros((0, 2))).shape == (0,)


def test_texts_apart_in_training_do_not_move_the_centre() -> None:
    dims = 4
    table, labels = classes(600, dims, 3)
    dirty = table.copy()
    apart = np.flatnonzero(labels == 0)[:75]  # a quarter of the class, far away in one place
    dirty[apart, 1] += SMALL * 9
    strange = (SMALL * (np.random.default_rng(4).normal(size=(300, dims)) + np.array([0, 9, 0, 0]))).astype(np.float32)
    usual = (SMALL * np.random.default_rng(5).normal(size=(300, dims))).astype(np.float32)
    names = [str(number) for number in range(300)]
    areas = {}
    for name, support in (("robust", 0.6), ("plain", 1.0)):  # support=1 keeps all: the plain covariance
        arrays = density_of(dirty, labels, dims, support, 0)
        areas[name] = area_of(suspicions(arrays, strange, 0), suspicions(arrays, usual, 0), names, names).value
    assert areas["robust"] is not None
    assert areas["robust"] > 0.999
    clean = density_of(table, labels, dims, 0.6, 0)
    near = suspicions(clean, usual, 0)
    spoilt = [suspicions(density_of(dirty, labels, dims, support, 0), usual, 0) for support in (0.6, 1.0)]
    errors = [float(np.abs(np.log(one / near)).mean()) for one in spoilt]
    assert errors[0] < 0.5 * errors[1]


def test_new_texts_are_projected_and_measured_as_scikit_learn_does() -> None:
    table, labels = classes(200, 5, 0)
    table *= 30  # where the kernel bends
    arrays = density_of(table, labels, 20, 0.0, 7)
    new = 30 * classes(50, 5, 1)[0]
    reducer = KernelPCA(20, kernel="rbf", gamma=1 / 5, eigen_solver="arpack", random_state=7)
    reduced = reducer.fit_transform(table.astype(np.float64))
    unit = np.sqrt(reducer.eigenvalues_ / len(table))  # the spread of each direction
    known = Known.of(arrays)
    projected = known.projected(new)
    kept = projected.shape[1]
    assert kept >= 10
    np.testing.assert_allclose(projected * unit[:kept], reducer.transform(new.astype(np.float64))[:, :kept], atol=1e-8)
    for number in (0, 1):
        robust = MinCovDet(random_state=7).fit((reduced / unit)[labels == number][:, :kept])
        np.testing.assert_allclose(known.distances(projected)[:, number], robust.mahalanobis(projected), rtol=1e-4)


def test_golden_distances() -> None:
    arrays = density_of(*classes(80, 3, 0), 3, 0.0, 0)
    found = suspicions(arrays, classes(6, 3, 9)[0], 1)
    assert found == pytest.approx(GOLDEN, rel=1e-4)


GOLDEN = [128.9362, 6.5706, 100.1153, 8.9917, 110.2456, 2.504]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dims": 0}, "dims=0"),
        ({"sample": 1}, "sample=1"),
        ({"support": 0.3}, "support=0.3; give a share from 0.5 to 1"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Rde(**settings)


def test_a_class_with_too_few_texts() -> None:
    table, labels = classes(60, 3, 0)
    with pytest.raises(BadInput, match=r"rde has 30 training texts of class 1 .* dims=20 needs at least 40.*dims=15"):
        Rde(dims=20)._enough([50, 30])
    with pytest.raises(BadInput, match=r"rde has 0 training texts of class 1 .*; give more training data\."):
        Rde(dims=20)._enough([50, 0])
    Rde(dims=20)._enough([50, 40])
    with pytest.raises(BadInput, match="not finite"):
        density_of(np.full_like(table, np.nan), labels, 3, 0.0, 0)


def test_texts_that_the_victim_reads_as_one() -> None:
    table, labels = classes(60, 3, 0)
    table[np.flatnonzero(labels == 1)[3:]] = table[1]
    with pytest.raises(BadInput, match="no spread among most training texts of class 1"):
        density_of(table, labels, 2, 0.0, 0)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sklearn.covariance", None)
    with pytest.raises(BadInput, match=r"rde needs scikit-learn .*pip install 'mohs\[sklearn\]'"):
        density_of(*classes(60, 3, 0), 3, 0.0, 0)
