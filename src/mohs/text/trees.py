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
    def _depth(self) -> int:
        nodes, depth = self.roots, 0
        while len(nodes := nodes[self.feature[nodes] >= 0]):
            nodes = np.concatenate([self.left[nodes], self.left[nodes] + 1])
            depth += 1
        return depth

    @cached_property
    def _packed(self) -> npt.NDArray[np.int64]:
        """Each node in eight bytes, so that one look-up gets all of it.

        Four bytes hold how far on its left child lies and where it looks in a row laid out twice (see `__call__`), the
        other four its threshold. A leaf is its own child, and no row leaves it.
        """
        leaf = self.feature < 0
        column = np.where(leaf, 0, 2 * self.feature + self.missing_left)
        ahead = np.where(leaf, 0, self.left - np.arange(len(leaf)))
        if column.max(initial=0) >= 1 << 16 or ahead.max(initial=0) >= 1 << 15:
            raise ValueError("Trees this large cannot be packed.")
        pairs = np.empty((len(leaf), 2), np.int32)
        pairs[:, 0] = (ahead << 16) | column
        pairs[:, 1] = np.where(leaf, np.inf, self.threshold).astype(np.float32).view(np.int32)
        return pairs.view(np.int64)[:, 0]

    def __call__(self, rows: Floats) -> npt.NDArray[np.float64]:
        """The score of each row; a row's score does not depend on the others.

        Each value stands twice in a row: where it is missing, once as +inf, which goes right, once as -inf, which goes
        left. So a step down is two look-ups and a comparison, for all rows and trees at once.
        """
        packed = self._packed
        count, width = rows.shape
        twice = np.repeat(rows.astype(np.float32, copy=False), 2, axis=1)
        missing = np.isnan(twice)
        if missing.any():
            np.copyto(twice, np.tile(np.array([np.inf, -np.inf], np.float32), width), where=missing)
        flat = twice.ravel()
        nodes = np.repeat(self.roots[None, :], count, axis=0)
        starts = (np.arange(count) * (2 * width))[:, None]
        node, at, value = np.empty_like(nodes), np.empty_like(nodes), np.empty(nodes.shape, np.float32)
        halves = node.view(np.int32).reshape(*nodes.shape, 2)
        way, limit = halves[:, :, 0], halves.view(np.float32)[:, :, 1]
        for _ in range(self._depth):
            np.take(packed, nodes, out=node, mode="clip")
            np.add(way & 0xFFFF, starts, out=at)
            np.take(flat, at, out=value, mode="clip")
            nodes += way >> 16
            nodes += value > limit
        scores: npt.NDArray[np.float64] = self.base + np.take(self.value, nodes).sum(axis=1, dtype=np.float64)
        return scores
