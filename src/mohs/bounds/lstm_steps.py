"""Bounds on the states of an LSTM, step by step, in batches.

Inside, a box is one tensor whose last axis but one holds the *sides* (-low, high). Both are then maxima: what widens
the box makes them larger, hulls and products are maxima of entries, and tanh, which is odd, goes through unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear

from mohs.bounds.boxes import CURVES, Box, affine, lost


@dataclass(frozen=True)
class Steps:
    """One direction of an LSTM layer; its gates in the order enter, forget, leave, new."""

    enter: Tensor  # from a word to the four gates
    stay: Tensor  # from the sides of the state to the sides of the four gates
    biases: tuple[Tensor, Tensor]
    signs: Tensor  # of the sides: made once, because a device waits for each new number
    unit: float = 0.0  # the rounding of the network (see mohs.bounds.boxes)

    @classmethod
    def of(cls, weights: Mapping[str, Tensor], *, backwards: bool, unit: float = 0.0) -> Steps:
        """The layer of the weights, under the names that torch gives them."""
        end = "_l0_reverse" if backwards else "_l0"
        enter, stay, *biases = (
            _leave_before_new(weights[name + end]) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        more, less = stay.relu(), (-stay).relu()
        sides = torch.cat([torch.cat([more, less], 1), torch.cat([less, more], 1)])
        return cls(enter, sides, (biases[0], biases[1]), stay.new_tensor([[-1.0], [1.0]]), unit)

    @property
    def size(self) -> int:
        """Numbers in a state."""
        return self.stay.shape[1] // 2

    def nothing(self, ways: int) -> Tensor:
        """The sides of a state before any word, for so many rows."""
        return self.stay.new_zeros(ways, 2, self.size)

    def entering(self, words: Box) -> Tensor:
        """The sides of what words add to the four gates, with the biases."""
        terms = self.size + 3
        found, bias = affine(words, self.enter, None, self.unit, terms), self.biases[0] + self.biases[1]
        sides = torch.stack([-found.low - bias, found.high + bias], -2)
        if not self.unit:
            return sides
        sizes = self.biases[0].abs() + self.biases[1].abs()
        return sides + sizes * lost(terms + self.enter.shape[1], self.unit)

    def __call__(self, entering: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The sides of the hidden state and of the cell after one word."""
        size = self.size
        sums = entering + linear(hidden.flatten(-2), self.stay).view(*hidden.shape[:-1], 4 * size)
        if self.unit:
            sizes = linear(
                hidden.abs().amax(-2, keepdim=True), self.stay[: 4 * size, :size] + self.stay[: 4 * size, size:]
            )
            sums = sums + sizes * lost(size + self.enter.shape[1] + 3, self.unit)
        gates = (sums[..., : 3 * size] * self.signs).sigmoid()  # (low, high), and never negative
        if self.unit:
            gates = (gates + CURVES * self.signs).clamp_min(0)
        both = torch.cat([self._tanh(sums[..., 3 * size :]), cell], -1)
        entered, kept = self._times(gates[..., : 2 * size], both).chunk(2, -1)
        cell = entered + kept
        if self.unit:
            cell = cell + cell.abs().amax(-2, keepdim=True) * lost(1, self.unit)
        return self._times(gates[..., 2 * size :], self._tanh(cell)), cell

    def _tanh(self, sides: Tensor) -> Tensor:
        return sides.tanh() + CURVES if self.unit else sides.tanh()

    def _times(self, gates: Tensor, sides: Tensor) -> Tensor:
        """The sides of a product with numbers that are not negative: the larger of two corners."""
        found = torch.maximum(gates * sides, gates.flip(-2) * sides)
        return found + found.abs().amax(-2, keepdim=True) * lost(1, self.unit) if self.unit else found


def summed_states(steps: Steps, own: Tensor, changed: Tensor, most: int | None) -> Box:
    """The sum of the states over a text of which at most so many words change; None: any number.

    own, changed: what enters the gates, a row a word. There is one state for each number j of words changed so far: the
    next word either stays as it is, or it changes, and one fewer had changed before. (Xu et al. 2020 have such a
    dynamic program for linear bounds.)
    """
    hidden = cell = total = steps.nothing(1 if most is None else most + 1)
    for at in range(len(own)):
        before = hidden, cell, total
        hidden, cell, total = _after(steps, (changed if most is None else own)[at], *before)
        if most:
            changes = _after(steps, changed[at], *(sides[:-1] for sides in before))
            hidden, cell, total = map(_either, (hidden, cell, total), changes)
    return Box(-total[-1, 0], total[-1, 1])


def _after(steps: Steps, entering: Tensor, hidden: Tensor, cell: Tensor, total: Tensor) -> tuple[Tensor, ...]:
    hidden, cell = steps(entering, hidden, cell)
    return hidden, cell, total + hidden


def _either(stays: Tensor, changes: Tensor) -> Tensor:
    """For each number of changed words: the word stays, or it changes."""
    return torch.cat([stays[:1], torch.maximum(stays[1:], changes)])


def _leave_before_new(rows: Tensor) -> Tensor:
    """Rows of the four gates, which torch has in the order enter, forget, new, leave."""
    enter, forget, new, leave = rows.chunk(4)
    return torch.cat([enter, forget, leave, new])
