"""What stands at each place of a text between the nonlinear steps of a verifiable transformer.

Residual sums, normalisations and the layers after them are linear, so they are joined before intervals are taken: a
stream is a linear map of its words plus a linear map of boxes. Step by step, every normalisation would double widths.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mohs.bounds.boxes import Box, affine, plus
from mohs.models.verifiable_transformer import Centring


@dataclass(frozen=True)
class Stream:
    """A linear map of the words of each place, plus one of the boxes that earlier steps gave."""

    words: Tensor  # rows x places x choices x numbers
    of_words: Tensor
    constant: Tensor
    box: Box | None = None  # rows x places x any number of numbers
    of_box: Tensor | None = None

    @classmethod
    def of(cls, words: Tensor) -> Stream:
        """The words themselves."""
        size = words.shape[3]
        one = torch.eye(size, dtype=words.dtype, device=words.device)
        return cls(words, one, words.new_zeros(size))

    def through(self, weight: Tensor, bias: Tensor) -> Box:
        """The intervals of a linear layer's outputs. Each word that may stand at a place goes through it."""
        each = self.words @ (weight @ self.of_words).T
        found, constant = Box(each.amin(2), each.amax(2)), bias + weight @ self.constant
        if self.box is None or self.of_box is None:
            return found.map(lambda end: end + constant)
        return plus(found, affine(self.box, weight @ self.of_box, constant))

    @property
    def largest(self) -> Tensor:
        """The largest absolute values."""
        size = len(self.constant)
        one = torch.eye(size, dtype=self.words.dtype, device=self.words.device)
        return self.through(one, torch.zeros_like(self.constant)).largest

    def plus(self, box: Box, weight: Tensor, bias: Tensor) -> Stream:
        """The sum with a linear map of a box."""
        if self.box is None or self.of_box is None:
            joined, of_box = box, weight
        else:
            joined = Box(torch.cat([self.box.low, box.low], 2), torch.cat([self.box.high, box.high], 2))
            of_box = torch.cat([self.of_box, weight], 1)
        return Stream(self.words, self.of_words, self.constant + bias, joined, of_box)

    def off_by(self, by: Tensor) -> Stream:
        """The stream, where the network may give other numbers by so much."""
        one = torch.eye(len(self.constant), dtype=by.dtype, device=by.device)
        return self.plus(Box(-by, by), one, torch.zeros_like(self.constant))

    def centred(self, norm: Centring) -> Stream:
        """The stream after a normalisation."""
        of_box = None if self.of_box is None else _centred(norm, self.of_box)
        constant = _centred(norm, self.constant[:, None])[:, 0] + norm.bias
        return Stream(self.words, _centred(norm, self.of_words), constant, self.box, of_box)


def _centred(norm: Centring, columns: Tensor) -> Tensor:
    """The columns of a matrix after a normalisation, without its bias."""
    return norm.weight[:, None] * (columns - columns.mean(0))
