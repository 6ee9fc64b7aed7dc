"""Robust density estimation (RDE, Yoo et al. 2022): texts with features unlike those of their predicted class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.models.features import Features, features_of, table_of
from mohs.models.victim import Fields, Victim

Numbers = npt.NDArray[np.float64]

_LEAST = 1e-6  # of the largest variance
_ROWS = 256  # texts whose kernel values are in memory together


@dataclass(frozen=True)
class Rde:
    """RDE (Yoo et al. 2022, Section 4): kernel PCA, then a robust Gaussian for each class.

    1. Features: the vector that the victim's last layer reads ([CLS] of the last hidden layer).
    2. Kernel PCA with an RBF kernel, exp(-gamma |x - y|^2), to `dims` dimensions; gamma is 1 / number of features.
    3. For each class the mean and covariance of its training texts by Minimum Covariance Determinant, which leaves out
       the texts that lie apart; `support` is the share that is kept, or 0 for (n + dims + 1) / 2 of n texts.
    4. A text is as suspicious as its squared Mahalanobis distance from the class that the victim predicts is large.

    Differs from the released code: the number of texts is cut to `sample` of the training data that are not held out
    (as there, 8,000 at most), with a seed of its own; the features of `mohs:` networks are what their reader gives.
    """

    dims: int = 100
    sample: int = 8000
    support: float = 0.0

    needs = ()
    scores_needed = False

    def __post_init__(self) -> None:
        if self.dims < 1:
            raise BadInput(f"rde needs at least one dimension, not dims={self.dims}.")
        if self.sample < 2:
            raise BadInput(f"rde needs at least two texts, not sample={self.sample}.")
        if not (self.support == 0 or 0.5 <= self.support <= 1):
            raise BadInput(f"rde has support={self.support}; give a share from 0.5 to 1, or 0 for the usual one.")

    def check(self, victim: Victim) -> None:
        """Refuse a victim without features."""
        features_of(victim)

    def learnt(self, victim: Victim, rows: Any, classes: int, seed: int) -> Mapping[str, npt.NDArray[Any]]:
        """The arrays of a density, from labelled texts (`mohs.defences.fitting.Rows`)."""
        texts, labels = rows.drawn(self.sample, seed)
        counts = np.bincount(labels, minlength=classes).tolist()
        self._enough(counts)
        return density_of(table_of(features_of(victim), texts), np.array(labels), self.dims, self.support, seed)

    def _enough(self, counts: Sequence[int]) -> None:
        """Refuse a class with too few texts for a covariance."""
        fewest = max(2 * self.dims, 4)
        for number, count in enumerate(counts):
            if count < fewest:
                fewer = f" or fewer dimensions, such as dims={count // 2}" if count >= 4 else ""
                raise BadInput(
                    f"rde has {count} training texts of class {number} besides those held out, but dims={self.dims} "
                    f"needs at least {fewest}; give more training data{fewer}."
                )

    def ready(self, victim: Victim, arrays: Mapping[str, npt.NDArray[Any]]) -> Density:
        """The density, for a victim's texts."""
        return Density(features_of(victim), arrays)


class Density:
    """A fitted density: gives each text its squared Mahalanobis distance from its predicted class."""

    def __init__(self, features: Features, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._features = features
        self._known = Known.of(arrays)

    def suspicions(self, texts: Sequence[Fields], answers: Numbers) -> Numbers:
        """How suspicious each text is; `answers` are the victim's probabilities."""
        if not texts:
            return np.zeros(0)
        table = table_of(self._features, texts)
        known = self._known
        parts = [known.distances(known.projected(table[at : at + _ROWS])) for at in range(0, len(table), _ROWS)]
        found: Numbers = np.concatenate(parts)[np.arange(len(texts)), answers.argmax(1)]
        return found


@dataclass(frozen=True, eq=False)
class Known:
    """The arrays of a density, ready for new texts."""

    rows: Numbers  # the features of the training texts
    squares: Numbers  # their squared lengths
    gamma: float
    means: Numbers  # of the training texts' kernel values, for each training text
    mean: float  # of all of them
    directions: Numbers  # one column a dimension
    centres: Numbers  # one row a class
    precisions: Numbers

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Known:
        """From the arrays that are kept."""
        rows = arrays["rows"].astype(np.float64)
        names = ("means", "directions", "centres", "precisions")
        return cls(
            rows=rows,
            squares=(rows**2).sum(1),
            gamma=float(arrays["gamma"]),
            mean=float(arrays["mean"]),
            **{name: arrays[name] for name in names},
        )

    def projected(self, table: npt.NDArray[np.float32]) -> Numbers:
        """New features in the dimensions of the kernel PCA."""
        new = table.astype(np.float64)
        apart = (new**2).sum(1)[:, None] + self.squares - 2 * new @ self.rows.T
        kernel = np.exp(-self.gamma * np.maximum(apart, 0))
        centred = kernel - kernel.mean(1, keepdims=True) - self.means + self.mean
        return np.asarray(centred @ self.directions, np.float64)

    def distances(self, reduced: Numbers) -> Numbers:
        """The squared Mahalanobis distance of each row from each class."""
        columns = []
        for centre, precision in zip(self.centres, self.precisions, strict=True):
            apart = reduced - centre
            columns.append(((apart @ precision) * apart).sum(1))
        return np.stack(columns, 1)


def density_of(
    table: npt.NDArray[np.float32], labels: npt.NDArray[np.int64], dims: int, support: float, seed: int
) -> dict[str, npt.NDArray[Any]]:
    """Kernel PCA and a robust mean and precision for each class.

    The projections of the training texts are the eigenvectors of the centred kernel, here all with a variance of 1: a
    Mahalanobis distance does not depend on the scale. A new text is projected by its centred kernel values with the
    training texts, so these are kept. Directions with hardly any variance hold rounding only, and are left out.
    """
    try:
        from sklearn.covariance import MinCovDet
        from sklearn.decomposition import KernelPCA
    except ImportError as error:
        raise BadInput("rde needs scikit-learn to learn its density: pip install 'mohs[sklearn]'.") from error
    if not np.isfinite(table).all():
        raise BadInput("rde got features that are not finite; the victim's network is damaged.")
    rows = table.astype(np.float64)
    gamma = 1 / rows.shape[1]
    found = KernelPCA(dims, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=seed, n_jobs=1)
    vectors, values = found.fit(rows).eigenvectors_, found.eigenvalues_
    kept = values > _LEAST * values.max()
    reduced = vectors[:, kept] * np.sqrt(len(rows))
    centre = found._centerer  # the kernel's means, needed to centre the kernel values of new texts
    arrays: dict[str, npt.NDArray[Any]] = {
        "gamma": np.array(gamma),
        "rows": table,
        "means": centre.K_fit_rows_,
        "mean": np.array(centre.K_fit_all_),
        "directions": vectors[:, kept] * (np.sqrt(len(rows)) / values[kept]),
    }
    centres, precisions = [], []
    for number in range(int(labels.max()) + 1):
        with warnings.catch_warnings():  # a class without spread in some direction: its precision is a pseudo-inverse
            warnings.simplefilter("ignore")
            try:
                robust = MinCovDet(support_fraction=support or None, random_state=seed).fit(reduced[labels == number])
            except ValueError as error:
                raise BadInput(
                    f"rde finds no spread among most training texts of class {number}: the victim's last layer reads "
                    "them as one; use support=1, or fgws(V)."
                ) from error
        centres.append(robust.location_)
        precisions.append(robust.precision_)
    return arrays | {"centres": np.array(centres), "precisions": np.array(precisions)}
