"""BERTScore (Zhang et al. 2020, section 3): how similar the token vectors of two texts are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.text.questions import TokenVectors


class BertScore(NamedTuple):
    """Three scores of at most 1; nan if a text has no token with a weight."""

    precision: float
    recall: float
    f1: float


def bert_score(
    candidate: TokenVectors, reference: TokenVectors, baseline: tuple[float, float, float] | None = None
) -> BertScore:
    """Match each token greedily to the most similar token of the other text, and take the weighted mean of the cosines.

    Precision averages over the candidate's tokens, recall over the reference's. The baseline gives precision, recall
    and F1 of unrelated texts, measured for the model and layer. It rescales each score to (score - b) / (1 - b).

    As in the released code, tokens of weight zero (special tokens) are not averaged, but others may match them.
    Differs from the released code:
    - A text without tokens gives nan instead of 0.
    - Padding is ignored. There it counts as a match of cosine 0, so a negative cosine depends on the batch.
    - F1 is 0 if precision or recall is not positive, because a harmonic mean needs positive numbers.
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
    return BertScore(*((score - b) / (1 - b) for score, b in zip(found, baseline, strict=True)))


def idf(documents: Iterable[Iterable[Hashable]]) -> tuple[dict[Hashable, float], float]:
    """The inverse document frequency of each token, log((n + 1) / (c + 1)), and that of an unseen token."""
    counts: Counter[Hashable] = Counter()
    number = 0
    for document in documents:
        counts.update(set(document))
        number += 1
    return {token: math.log((number + 1) / (count + 1)) for token, count in counts.items()}, math.log(number + 1)


def _mean(cosines: npt.NDArray[np.float64], weights: npt.NDArray[np.float32]) -> float:
    """The weighted mean of each row's maximum; nan if all weights are zero."""
    total = float(weights.sum(dtype=np.float64))
    if not total or not cosines.size:
        return math.nan
    return float(cosines.max(axis=1) @ weights.astype(np.float64)) / total
