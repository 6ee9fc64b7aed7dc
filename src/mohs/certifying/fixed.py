"""Certificates of victims that draw nothing: a closed form, or bounds of a network over a whole space."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from mohs.bounds.additive import agrees, some_texts, worst_of
from mohs.bounds.cnn_bound import CnnBound, bound_of
from mohs.bounds.networks import network_bound
from mohs.bounds.prover import margin_of
from mohs.models.bag import BagVictim
from mohs.models.victim import answers_of, traits_of
from mohs.space import Space

Lower = Callable[[int | None], float]  # a bound on the margin, for a budget; above 0 it certifies

CLOSED = "closed form"
CNN = "cnn bound"


def fixed_bound(model: Any, space: Space, label: int, random: Random) -> tuple[str, Lower] | None:
    """The name of the certificate and the bound; None if there is none for this victim and space.

    The margins are those of probabilities for the closed form, and of logits for networks.
    """
    found = _closed(model, space, label) or _network(model, space, label) or _cnn(model, space, label)
    compared = [] if found is None else some_texts(model, space, random)
    if compared and not agrees(model, compared, traits_of(model).tolerance):
        return None  # it is a bound of the model inside, which answers otherwise
    return found


def can_be_bounded(model: Any, space: Space) -> str | None:
    """The name of the certificate that a victim has for a plain space; None if it has none."""
    found = fixed_bound(model, space, 0, Random(0))
    return None if found is None else found[0]


def _closed(model: Any, space: Space, label: int) -> tuple[str, Lower] | None:
    if type(traits_of(model).inside) is not BagVictim:
        return None
    worst = worst_of(model, space, label)
    if worst is None:
        return None
    tolerance = traits_of(model).tolerance

    def lower(budget: int | None) -> float:
        steps = len(worst.steps) if budget is None else budget
        text = space.text.replace_all(worst.edits(steps)).fields
        return margin_of(answers_of(model, [text])[text], label) - tolerance

    return CLOSED, lower


def _network(model: Any, space: Space, label: int) -> tuple[str, Lower] | None:
    bound = network_bound(model, space, label)
    return None if bound is None else (bound.method, bound.lower)


def _cnn(model: Any, space: Space, label: int) -> tuple[str, Lower] | None:
    bound = bound_of(model, space, label)
    return None if bound is None else (CNN, lambda budget: _of_cnn(bound, len(space.choices), budget))


def _of_cnn(bound: CnnBound, positions: int, budget: int | None) -> float:
    """The better of two bounds: any words at so many positions, and any words at all positions."""
    nowhere = np.full((1, 1), -1)
    found = [-math.inf]
    most = positions if budget is None else min(budget, positions)
    found.append(float(bound.lower(nowhere, nowhere, more=most)[0]))
    if positions:
        everywhere = np.arange(positions)[None]
        found.append(float(bound.lower(everywhere, np.full_like(everywhere, -1))[0]))
    return max(found)
