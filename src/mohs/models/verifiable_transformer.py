"""The transformer whose bounds are known (mohs.bounds.transformer_bound).

After Shi et al. 2020 ("Robustness Verification for Transformers", Section 4) and Xu et al. 2020 ("Automatic
Perturbation Analysis", Section 4.2): normalisation without variance, ReLU, four heads, 64 numbers a word and 128
between the two linear layers of a block.

Differs from the released code:
- The text is averaged; the code reads the state of a first token. The layer after that has a ReLU, not a tanh.
- There are learned positions, as in the first paper; the code of the second leaves them out.
- Word vectors start from given ones; the code's are random.
- Dropout is before the layer that closes each part of a block, not after it, and not on the weights of attention. So
  every step between two nonlinear ones is a fixed linear map, and bounds can join them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mohs.models.architectures import Lengths, Shape, inside_of

_START = 0.02  # standard deviation of the blocks' first weights, as in BERT: larger ones would blow intervals up
WIDER = 2  # how many times as many numbers stand between the two layers of a block


class Centring(nn.Module):
    """Subtracts the mean of each vector, then scales and shifts: LayerNorm without the division by the variance."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, stream: Tensor) -> Tensor:
        """The centred vectors."""
        return (stream - stream.mean(-1, keepdim=True)) * self.weight + self.bias


class VerifiableBlock(nn.Module):
    """Self-attention, then two linear layers with a ReLU between; after each part the sum with its input is centred."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        size = shape.hidden
        self.heads = shape.heads
        self.triple = nn.Linear(size, 3 * size)  # queries, keys and values
        self.mix = nn.Linear(size, size)
        self.between = Centring(size)
        self.wide = nn.Linear(size, WIDER * size)
        self.narrow = nn.Linear(WIDER * size, size)
        self.after = Centring(size)
        self.drop = nn.Dropout(shape.dropout)
        for layer in (self.triple, self.mix, self.wide, self.narrow):
            nn.init.normal_(layer.weight, std=_START)
            nn.init.zeros_(layer.bias)

    def forward(self, stream: Tensor, seen: Tensor | None) -> Tensor:
        """The stream after one block; `seen` masks out the padding."""
        rows, length, size = stream.shape
        queries, keys, values = by_head(self.triple(stream), self.heads).chunk(3, 3)
        scores = queries @ keys.transpose(2, 3) / (size // self.heads) ** 0.5
        if seen is not None:
            scores = scores.masked_fill(~seen, float("-inf"))
        looked = (scores.softmax(3) @ values).transpose(1, 2).reshape(rows, length, size)
        stream = self.between(stream + self.mix(self.drop(looked)))
        found: Tensor = self.after(stream + self.narrow(self.drop(self.wide(stream).relu())))
        return found


class VerifiableAttention(nn.Module):
    """A layer for single words, blocks, the mean over the text, and one more layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.width = shape.hidden
        self.word = nn.Linear(shape.dim, shape.hidden)
        self.positions = nn.Embedding(shape.max_words, shape.hidden)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.enter = Centring(shape.hidden)
        self.drop = nn.Dropout(shape.dropout)
        self.blocks = nn.ModuleList(VerifiableBlock(shape) for _ in range(shape.layers))
        self.hidden = nn.Linear(shape.hidden, shape.hidden)

    def words(self, embedded: Tensor) -> Tensor:
        """What is read of single words, rows x places x any more x numbers; it enters the first block."""
        places = self.positions.weight[: embedded.shape[1]]
        found: Tensor = self.enter(self.word(embedded) + places.view(len(places), *[1] * (embedded.ndim - 3), -1))
        return found

    def forward(self, embedded: Tensor, lengths: Lengths) -> Tensor:
        """Turn each row of word vectors into one vector."""
        stream = self.drop(self.words(embedded))
        inside = None if lengths is None else inside_of(embedded.shape[1], lengths, embedded.device)
        for block in self.blocks:
            stream = block(stream, None if inside is None else inside[:, None, None])
        if inside is None or lengths is None:
            pooled = stream.mean(1)
        else:
            pooled = stream.masked_fill(~inside[..., None], 0).sum(1) / lengths.to(stream)[:, None]
        found: Tensor = self.hidden(pooled).relu()
        return found


def by_head(table: Tensor, heads: int) -> Tensor:
    """Rows x places x numbers, as rows x heads x places x numbers of the head; three times as many for a triple."""
    rows, length, size = table.shape
    parts = size // heads
    return table.view(rows, length, heads, parts).transpose(1, 2)
