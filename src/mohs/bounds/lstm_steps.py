"""Bounds on the states of an LSTM, step by step, in batches of boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mohs.bounds.boxes import Box, affine, hull, lost, plus, sigmoid, tanh, times


@dataclass(frozen=True)
class Steps:
    """One direction of an LSTM layer."""

    enter: Tensor  # from a word to the four gates
    stay: Tensor  # from the state to the four gates
    biases: tuple[Tensor, Tensor]
    unit: float = 0.0  # the rounding of the network (see mohs.bounds.boxes)

    @classmethod
    def of(cls, weights: Mapping[str, Tensor], *, backwards: bool, unit: float = 0.0) -> Steps:
        """The layer of the weights, under the names that torch gives them."""
        end = "_l0_reverse" if backwards else "_l0"
        biases = weights[f"bias_ih{end}"], weights[f"bias_hh{end}"]
        return cls(weights[f"weight_ih{end}"], weights[f"weight_hh{end}"], biases, unit)

    def entering(self, words: Box) -> Box:
        """What words add to the four gates, with the biases."""
        terms = self.stay.shape[1] + 3
        found, bias = affine(words, self.enter, None, self.unit, terms), self.biases[0] + self.biases[1]
        found = Box(found.low + bias, found.high + bias)
        if not self.unit:
            return found
        sizes = self.biases[0].abs() + self.biases[1].abs()
        return found.wider(sizes * lost(terms + self.enter.shape[1], self.unit))

    def __call__(self, entering: Box, hidden: Box, cell: Box) -> tuple[Box, Box]:
        """The hidden state and the cell after one word."""
        unit = self.unit
        staying = affine(hidden, self.stay, None, unit, self.enter.shape[1] + 3)
        gates = plus(entering, staying)
        size = cell.low.shape[-1]
        enter, forget, new, leave = (gates[..., size * number : size * (number + 1)] for number in range(4))
        kept = times(sigmoid(forget, unit), cell, unit)
        cell = plus(kept, times(sigmoid(enter, unit), tanh(new, unit), unit), unit)
        return times(sigmoid(leave, unit), tanh(cell, unit), unit), cell


def summed_states(steps: Steps, own: Box, changed: Box, most: int | None) -> Box:
    """The sum of the states over a text of which at most so many words change; None: any number.

    own, changed: what enters the gates, a row a word. There is one box for each number j of words changed so far: the
    next word either stays as it is, or it changes, and one fewer had changed before. (Xu et al. 2020 have such a
    dynamic program for linear bounds.)
    """
    zero = own.low.new_zeros(1 if most is None else most + 1, steps.stay.shape[1])
    hidden = cell = total = Box(zero, zero)
    for at in range(len(own.low)):
        before = hidden, cell, total
        hidden, cell, total = _after(steps, (changed if most is None else own)[at], *before)
        if most:
            changes = _after(steps, changed[at], *(box[:-1] for box in before))
            hidden, cell, total = map(_either, (hidden, cell, total), changes)
    return total[-1]


def _after(steps: Steps, entering: Box, hidden: Box, cell: Box, total: Box) -> tuple[Box, Box, Box]:
    hidden, cell = steps(entering, hidden, cell)
    return hidden, cell, plus(total, hidden)


def _either(stays: Box, changes: Box) -> Box:
    """For each number of changed words: the word stays, or it changes."""
    both = hull(stays[1:], changes)
    return Box(torch.cat([stays.low[:1], both.low]), torch.cat([stays.high[:1], both.high]))
