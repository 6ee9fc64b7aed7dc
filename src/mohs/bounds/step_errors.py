"""By how much a transformer may be off at each step, since it computes with 32-bit numbers.

A sum of n products, in any order of summation, is off by at most n roundings of the sum of their absolute values. Every
formula here allows 16 operations more than the network needs (mohs.bounds.boxes.lost), which covers exponentials and
roots, and the 64-bit rounding of the bounds themselves: that is 2^29 times finer for each operation. Products that are
too small for 32 bits may become zero; `UNDERFLOW` is far above what thousands of them lose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from mohs.bounds.boxes import FLOAT32, Box, lost
from mohs.bounds.streams import Stream
from mohs.models.verifiable_transformer import Centring

UNDERFLOW = 2.0**-100


@dataclass(frozen=True)
class Errors:
    """The errors of the steps by name; none are noted in training, where `on` is False."""

    on: bool
    by: dict[str, Tensor] = field(default_factory=dict)

    def widened(self, name: str, box: Box, error: Callable[[], Tensor]) -> Box:
        """A step's intervals with what the network may be off there."""
        if not self.on:
            return box
        self.by[name] = error() + UNDERFLOW
        return box.wider(self.by[name])

    def beside(self, name: str, stream: Stream, error: Callable[[], Tensor]) -> Stream:
        """The same for a stream."""
        if not self.on:
            return stream
        self.by[name] = error() + UNDERFLOW
        return stream.off_by(self.by[name])


def of_layer(layer: Any, largest: Tensor) -> Tensor:
    """A linear layer, by the largest absolute values of its inputs."""
    found: Tensor = (largest @ layer.weight.abs().T + layer.bias.abs()) * lost(largest.shape[-1] + 1, FLOAT32)
    return found


def of_sum(layer: Any, largest: Tensor, stream: Tensor, norm: Centring) -> Tensor:
    """A linear layer, the sum of its outputs with a stream, and the normalisation of that."""
    sizes = largest @ layer.weight.abs().T + layer.bias.abs() + stream
    return _of_centring(norm, sizes, largest.shape[-1] + 2)


def of_words(reader: Any, embedded: Tensor) -> Tensor:
    """The layer for single words; the largest error of a place's choices."""
    places = reader.positions.weight[: embedded.shape[1]].abs()
    sizes = embedded.abs() @ reader.word.weight.abs().T + reader.word.bias.abs() + places[:, None]
    return _of_centring(reader.enter, sizes, embedded.shape[3] + 3).amax(2) + UNDERFLOW


def of_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The products of queries and keys, by their largest absolute values."""
    size = queries.shape[3]
    found: Tensor = queries @ keys.transpose(2, 3) / size**0.5 * lost(size + 2, FLOAT32)
    return found


def of_shares(shares: Tensor, scores: Tensor) -> Tensor:
    """A softmax: its sum and quotient, and the differences of scores whose exponentials are taken."""
    furthest = scores.amax(3, keepdim=True)
    return shares * (lost(shares.shape[3] + 8, FLOAT32) + 6 * furthest * FLOAT32)


def of_looked(shares: Tensor, values: Tensor, centre: Tensor, share_errors: Tensor) -> Tensor:
    """Sums of values. The shares that the network computes add up to one only nearly; the centre is weighed by that."""
    missing = centre.abs() * share_errors.sum(3, keepdim=True)
    return shares @ values * lost(shares.shape[3] + 2, FLOAT32) + missing


def of_mean(layer: Any, mean: Tensor, words: int) -> Tensor:
    """The layer after a mean over so many words, by the mean of the largest absolute values."""
    found: Tensor = (mean @ layer.weight.abs().T + layer.bias.abs()) * lost(words + mean.shape[-1], FLOAT32)
    return found


def of_margins(out: Any, features: Tensor, margins: Tensor) -> Tensor:
    """Differences of two logits, by the largest features."""
    sizes = features @ out.weight.abs().T + out.bias.abs()
    found: Tensor = (margins.abs() @ sizes[..., None])[..., 0] * lost(out.in_features + 1, FLOAT32)
    return found + UNDERFLOW


def _of_centring(norm: Centring, sizes: Tensor, operations: int) -> Tensor:
    """A normalisation of sums with these sizes, which took so many operations."""
    both = sizes + sizes.mean(-1, keepdim=True)
    size = sizes.shape[-1]
    return (both * norm.weight.abs() + norm.bias.abs()) * (lost(operations, FLOAT32) + lost(size + 4, FLOAT32))
