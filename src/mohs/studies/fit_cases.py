"""Judged texts in the form to which a judge is fitted: the log-odds of their changed words, and people's verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

_EDGE = 1e-6  # of a probability


@dataclass(frozen=True)
class Cases:
    """Texts with the log-odds of their changed words, and whether people found each valid.

    starts: where each text's words begin in `odds`. caps: the most that a word gets whatever its log-odds, as
    reversals do. sources: texts of one source resemble each other.
    """

    odds: Floats
    caps: Floats
    starts: npt.NDArray[np.intp]
    valid: Truths
    sources: tuple[str, ...]
    groups: tuple[str, ...]
    independence: tuple[float, ...]

    @classmethod
    def of(
        cls,
        texts: Sequence[Sequence[tuple[float, float]]],
        valid: Sequence[bool],
        sources: Sequence[str],
        groups: Sequence[str],
        independence: Sequence[float],
    ) -> Cases:
        """texts: of each text its words, as log-odds and cap; at least one."""
        words = np.array([word for text in texts for word in text], np.float64).reshape(-1, 2)
        starts = np.cumsum([0, *map(len, texts)], dtype=np.intp)[:-1]
        truth = np.array(valid, np.bool_)
        return cls(words[:, 0], words[:, 1], starts, truth, tuple(sources), tuple(groups), tuple(independence))

    def __len__(self) -> int:
        return len(self.valid)

    @property
    def center(self) -> float:
        """The mean log-odds of a word."""
        return float(self.odds.mean())

    def only(self, some: Truths) -> Cases:
        """Some of the texts."""
        sizes = np.diff(np.append(self.starts, len(self.odds)))
        words = np.repeat(some, sizes)
        return replace(
            self,
            odds=self.odds[words],
            caps=self.caps[words],
            starts=np.cumsum([0, *sizes[some]], dtype=np.intp)[:-1],
            valid=self.valid[some],
            sources=tuple(one for one, kept in zip(self.sources, some, strict=True) if kept),
            groups=tuple(one for one, kept in zip(self.groups, some, strict=True) if kept),
        )

    def said(self, params: Floats, center: float) -> tuple[Floats, Floats]:
        """The probability of each text, and its derivatives by shift and log stretch (last axis).

        params: shift and log of the stretch, one pair a row.
        """
        shift, stretch = params[:, :1], np.exp(params[:, 1:])
        z = center + shift + stretch * (self.odds - center)
        logs = -np.logaddexp(0.0, -z)
        slope = np.exp(-np.logaddexp(0.0, z))  # of log p by z: 1 - p
        with np.errstate(divide="ignore"):
            held = logs > np.log(self.caps)
            logs = np.where(held, np.log(self.caps), logs)
        slope = np.where(held, 0.0, slope)
        moved = np.stack([slope, slope * stretch * (self.odds - center)], -1)
        worst = np.minimum.reduceat(logs, self.starts, axis=1)
        sizes = np.diff(np.append(self.starts, len(self.odds)))
        least = logs == np.repeat(worst, sizes, axis=1)
        tied = np.add.reduceat(least, self.starts, axis=1, dtype=np.float64)
        own = np.where(least, 1 / np.repeat(tied, sizes, axis=1), 0.0)
        of_worst = np.add.reduceat(own[..., None] * moved, self.starts, axis=1)
        rest = np.add.reduceat(logs, self.starts, axis=1) - worst
        of_rest = np.add.reduceat(moved, self.starts, axis=1) - of_worst
        found, by = np.zeros(worst.shape), np.zeros(of_worst.shape)
        for k in self.independence:
            part = np.exp(worst + k * rest) / len(self.independence)
            found += part
            by += part[..., None] * (of_worst + k * of_rest)
        return np.clip(found, _EDGE, 1 - _EDGE), by
