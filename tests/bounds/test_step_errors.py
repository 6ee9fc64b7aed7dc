"""What each step of a transformer may lose in 32 bits, against the same step in 64."""

from __future__ import annotations

import copy
from typing import Any

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from torch import Tensor

from mohs.bounds.step_errors import UNDERFLOW, of_layer, of_looked, of_mean, of_scores, of_shares, of_sum, of_words
from mohs.models.architectures import Shape
from mohs.models.verifiable_transformer import VerifiableAttention

SIZE = 16


def off(single: Tensor, double: Tensor) -> Tensor:
    return (single.double() - double).abs()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.1, 1.0, 30.0]))
def test_no_step_loses_more_than_is_allowed(seed: int, spread: float) -> None:
    torch.manual_seed(seed)
    single = VerifiableAttention(Shape("transformer", 9, SIZE, SIZE, 2, 0.0, 7, layers=1, heads=2, verifiable=True))
    double = copy.deepcopy(single).double()
    block: Any = single.blocks[0]
    exact: Any = double.blocks[0]
    stream, inner = spread * torch.randn(2, 5, SIZE), spread * torch.randn(2, 5, SIZE)
    scores = spread * torch.randn(2, 2, 5, 5)
    wide, wider = inner.double(), stream.double()
    with torch.no_grad():
        embedded = spread * torch.randn(2, 5, 3, SIZE)
        found = off(single.words(embedded), double.words(embedded.double())).amax(2)
        assert (found <= of_words(double, embedded.double())).all()
        found = off(block.triple(stream), exact.triple(wider))
        assert (found <= of_layer(exact.triple, wider.abs())).all()
        found = off(block.between(stream + block.mix(inner)), exact.between(wider + exact.mix(wide)))
        assert (found <= of_sum(exact.mix, wide.abs(), wider.abs(), exact.between)).all()
        queries, keys = stream[:, None], inner[:, None]
        found = off(
            queries @ keys.transpose(2, 3) / SIZE**0.5, wider[:, None] @ wide[:, None].transpose(2, 3) / SIZE**0.5
        )
        assert (found <= of_scores(wider[:, None].abs(), wide[:, None].abs())).all()
        shares, true = scores.softmax(3), scores.double().softmax(3)
        errors = of_shares(true, scores.double().abs()) + UNDERFLOW
        assert (off(shares, true) <= errors).all()
        # A sum of values with the network's shares, against their centre and differences from it.
        values, centre = inner[:, None].double(), inner[:, None].double().mean(2, keepdim=True)
        around = shares.double() @ (values - centre) + centre
        assert (off(shares @ inner[:, None], around) <= of_looked(true + errors, values.abs(), centre, errors)).all()
        found = off(single.hidden(stream.mean(1)), double.hidden(wider.mean(1)))
        assert (found <= of_mean(double.hidden, wider.abs().mean(1), 5)).all()
