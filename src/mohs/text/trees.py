"""Boosted trees as arrays: a sum of small decision trees, walked for many rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Trees:
    """Decision trees in one table of nodes.

    At node i a row goes to `left[i]` if its value of `feature[i]` is at most `threshold[i]`, or is missing (nan) and
    `missing_left[i]`, and otherwise to the node after that one. A leaf has feature -1. A row's score is `base` and the
    values of the leaves it comes to.
    """

    roots: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int64]
    threshold: Floats
    missing_left: npt.NDArray[np.bool_]
    left: npt.NDArray[np.int64]
    value: Floats
    base: float

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> Trees:
        """The trees in the arrays that `arrays` gives."""
        return cls(
            roots=parts["roots"].astype(np.int64),
            feature=parts["feature"].astype(np.int64),
            threshold=parts["threshold"].astype(np.float32),
            missing_left=parts["missing_left"].astype(np.bool_),
            left=parts["left"].astype(np.int64),
            value=parts["value"].astype(np.float32),
            base=float(parts["base"]),
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What to store."""
        return {
            "roots": self.roots.astype(np.int32),
            "feature": self.feature.astype(np.int16),
            "threshold": self.threshold,
            "missing_left": self.missing_left,
            "left": self.left.astype(np.int32),
            "value": self.value,
            "base": np.array(self.base),
        }

    @cached_property
    def _inner(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
        """Feature and left child of each node, a leaf being its own left child, and how deep the trees are."""
        leaf = self.feature < 0
        left = np.where(leaf, np.arange(len(leaf)), self.left)
        nodes, depth = self.roots, 0
        while not leaf[nodes].all():
            nodes = nodes[~leaf[nodes]]
            nodes = np.concatenate([left[nodes], left[nodes] + 1])
            depth += 1
        return np.where(leaf, 0, self.feature), left, depth

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        """The threshold of each node for a value, and for a missing one; no row leaves a leaf."""
        leaf = self.feature < 0
        known = np.where(leaf, np.inf, self.threshold).astype(np.float32)
        unknown = np.where(leaf | self.missing_left, np.inf, -np.inf).astype(np.float32)
        return known, unknown

    def __call__(self, rows: Floats) -> npt.NDArray[np.float64]:
        """The score of each row; a row's score does not depend on the others."""
        feature, left, depth = self._inner
        known, unknown = self._limits
        count, width = rows.shape
        flat = np.ascontiguousarray(rows, np.float32).ravel()
        missing = bool(np.isnan(flat).any())
        nodes = np.repeat(self.roots[None, :], count, axis=0)
        starts = (np.arange(count) * width)[:, None]
        for _ in range(depth):
            values = np.take(flat, np.take(feature, nodes) + starts)
            right = values > np.take(known, nodes)
            if missing:
                right |= np.isnan(values) & (np.take(unknown, nodes) < 0)
            nodes = np.take(left, nodes) + right
        scores: npt.NDArray[np.float64] = self.base + np.take(self.value, nodes).sum(axis=1, dtype=np.float64)
        return scores
