"""The least value of a function that is linear in the words of a text, when at most so many words may change.

Xu et al. 2020, Section 3.3: dynamic programming over the places, D[i][j] = min(D[i-1][j] + own word of place i,
D[i-1][j-1] + its worst word). Each place adds its own term whatever the others do, so the places with the largest falls
are the best ones to change, and sorting gives the same number.
"""

from __future__ import annotations

import torch
from torch import Tensor


def least(slopes: Tensor, choices: Tensor, budget: int | None) -> Tensor:
    """The least sum of slopes times words: one number for each row and margin.

    slopes: rows x margins x places x numbers. choices: rows x places x choices x numbers, each place's own word first;
    a choice may be repeated. budget: how many words may change; None: all.
    """
    values = torch.einsum("rmpn,rpcn->rmpc", slopes, choices)
    own = values[..., 0]
    falls = own - values.amin(3)
    if budget is not None and budget < falls.shape[2]:
        falls = falls.topk(budget, 2, sorted=False).values
    return own.sum(2) - falls.sum(2)
