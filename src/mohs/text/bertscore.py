"""BERTScore (Zhang et al. 2020, section 3): how well the tokens of two texts match, by their vectors in a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.text.questions import TokenVectors


class BertScore(NamedTuple):
    """Three figures of at most 1; nan where a text has no token that counts."""

    precision: float
    recall: float
    f1: float


def bert_score(
    candidate: TokenVectors, reference: TokenVectors, baseline: tuple[float, float, float] | None = None
) -> BertScore:
    """Match each token greedily to the most similar one of the other text, and average the cosines by weight.

    Precision is taken over the candidate's tokens, recall over the reference's. A baseline (precision, recall and F1
    of unrelated texts, measured for the model and layer) rescales each figure b to (figure - b) / (1 - b).

    As in the released code, tokens of weight nought (special ones) are not averaged, but others may match them.
    Differs from the released code: a text without tokens gives nan where that gives 0; no padding takes part, which
    there counts as a match of cosine 0, so that a negative cosine depends on the batch; and since a harmonic mean is
    one of positive numbers, F1 is 0 where precision or recall is not positive.
    """
    cosines = candidate.vectors.astype(np.float64) @ reference.vectors.astype(np.float64).T
    precision = _mean(cosines, candidate.weights)
    recall = _mean(cosines.T, reference.weights)
    if math.isnan(precision) or math.isnan(recall):
        return BertScore(math.nan, math.nan, math.nan)
    f1 = 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0
    found = BertScore(precision, recall, f1)
    if baseline is None:
        return found
    return BertScore(*((figure - b) / (1 - b) for figure, b in zip(found, baseline, strict=True)))


def idf(documents: Iterable[Iterable[Hashable]]) -> tuple[dict[Hashable, float], float]:
    """The inverse document frequency of each token, log((n + 1) / (c + 1)), and that of a token never seen."""
    counts: Counter[Hashable] = Counter()
    number = 0
    for document in documents:
        counts.update(set(document))
        number += 1
    return {token: math.log((number + 1) / (count + 1)) for token, count in counts.items()}, math.log(number + 1)


def _mean(cosines: npt.NDArray[np.float64], weights: npt.NDArray[np.float32]) -> float:
    """The weighted mean of each row's best; nan if nothing counts."""
    total = float(weights.sum(dtype=np.float64))
    if not total or not cosines.size:
        return math.nan
    return float(cosines.max(axis=1) @ weights.astype(np.float64)) / total
