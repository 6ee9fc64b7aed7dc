"""Lower bounds on a label's margin for the networks of `mohs train --verifiable`, over a whole space."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from mohs.bounds.word_numbers import WordNumbers, word_numbers_of
from mohs.models.victim import Victim, traits_of
from mohs.space import Space


class NetworkBound(Protocol):
    """Bounds on one label's margin over the texts of one space."""

    @property
    def method(self) -> str:
        """The name of the certificate: ibp or lirpa."""
        ...

    def lower(self, budget: int | None) -> float:
        """A lower bound on how far the label's logit leads all others, for at most so many changed words."""
        ...


def network_bound(model: Victim, space: Space, label: int) -> NetworkBound | None:
    """The bound for a verifiable network of `mohs train` that reads a space word by word; None for others."""
    if "mohs.models.neural" not in sys.modules:  # no such victim is loaded, so skip the slow import
        return None
    import torch

    from mohs.bounds.interval_bound import interval_bound
    from mohs.bounds.transformer_bound import transformer_bound
    from mohs.models.neural import NeuralVictim
    from mohs.models.verifiable import Verifiable
    from mohs.models.verifiable_transformer import VerifiableAttention

    inside = traits_of(model).inside
    if type(inside) is not NeuralVictim or inside.model.out.weight.dtype != torch.float32:
        return None
    bound: Callable[[Any, WordNumbers, int], NetworkBound]
    if isinstance(inside.model.reader, Verifiable):
        bound = interval_bound
    elif isinstance(inside.model.reader, VerifiableAttention):
        bound = transformer_bound
    else:
        return None
    numbers = word_numbers_of(inside.vocabulary, space)
    return None if numbers is None else bound(inside.model, numbers, label)
