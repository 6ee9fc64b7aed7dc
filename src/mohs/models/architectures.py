"""Small classifiers over word embeddings: a bag, convolutions, recurrences and a transformer encoder.

Each has three parts: an embedding, a reader that turns a row of word vectors into one vector, and a linear layer. A
reader gets the length of each row and ignores padding exactly, so padding changes no answer beyond rounding. Without
lengths, no row is padded. `Classifier.read` starts from the word vectors, for gradients and bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mohs.models.vocabulary import PADDING

Lengths = Tensor | None  # one length per row, on the CPU

FILTERS = (3, 4, 5)  # the widths of a CNN's filters, in words


@dataclass(frozen=True)
class Shape:
    """The sizes of a classifier."""

    architecture: str
    words: int  # rows of the embedding
    dim: int  # columns of the embedding
    hidden: int  # size of bow's hidden layer, the lstm's state, the transformer's stream; cnn: filters per width
    classes: int
    dropout: float
    max_words: int
    layers: int = 2  # of the transformer
    heads: int = 4
    verifiable: bool = False  # the shape whose bounds are known (mohs.models.verifiable)

    def told(self) -> dict[str, Any]:
        """The sizes by name, as model folders and fingerprints have them: those of older models do not change."""
        found = asdict(self)
        if not self.verifiable:
            del found["verifiable"]
        return found


class Bag(nn.Module):
    """The mean of the word vectors, then a hidden layer. Ignores word order."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.width = shape.hidden
        self.drop = nn.Dropout(shape.dropout)
        self.hidden = nn.Linear(shape.dim, shape.hidden)

    def forward(self, embedded: Tensor, lengths: Lengths) -> Tensor:
        """Turn each row of word vectors into one vector."""
        found: Tensor = self.hidden(self.drop(_mean(embedded, lengths))).relu()
        return found


class Convolutions(nn.Module):
    """The CNN of Kim 2014, section 2: filters over three, four and five words, each maximised over the text.

    Rows have at least five words. Shorter texts are padded, and that padding counts as part of the text.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.width = shape.hidden * len(FILTERS)
        self.filters = nn.ModuleList(nn.Conv1d(shape.dim, shape.hidden, size) for size in FILTERS)

    def forward(self, embedded: Tensor, lengths: Lengths) -> Tensor:
        """Turn each row of word vectors into one vector."""
        columns = embedded.transpose(1, 2)
        found = []
        for size, layer in zip(FILTERS, self.filters, strict=True):
            heights: Tensor = layer(columns)
            if lengths is not None:
                beyond = ~inside_of(heights.shape[2], lengths - size + 1, heights.device)
                heights = heights.masked_fill(beyond[:, None], float("-inf"))
            found.append(heights.max(2).values.relu())
        return torch.cat(found, 1)


class Recurrence(nn.Module):
    """An LSTM layer, or one per direction with half the state each. The state is maximised over the text."""

    def __init__(self, shape: Shape, *, directions: int) -> None:
        super().__init__()
        self.width = shape.hidden
        self.drop = nn.Dropout(shape.dropout)
        self.lstm = nn.LSTM(shape.dim, shape.hidden // directions, batch_first=True, bidirectional=directions == 2)

    def forward(self, embedded: Tensor, lengths: Lengths) -> Tensor:
        """Turn each row of word vectors into one vector."""
        embedded = self.drop(embedded)
        if lengths is None:
            states: Tensor = self.lstm(embedded)[0]
        else:
            packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, padding_value=float("-inf"))
        return states.max(1).values


class Block(nn.Module):
    """Self-attention, then two linear layers; each part has a LayerNorm before it and a residual connection."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        size = shape.hidden
        self.heads = shape.heads
        self.before = nn.LayerNorm(size)
        self.triple = nn.Linear(size, 3 * size)  # queries, keys and values
        self.mix = nn.Linear(size, size)
        self.between = nn.LayerNorm(size)
        self.wide = nn.Linear(size, 4 * size)
        self.narrow = nn.Linear(4 * size, size)
        self.drop = nn.Dropout(shape.dropout)

    def forward(self, stream: Tensor, seen: Tensor | None) -> Tensor:
        """The stream after one block; `seen` masks out the padding."""
        rows, length, size = stream.shape
        parts = self.triple(self.before(stream)).view(rows, length, 3, self.heads, size // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        looked = scaled_dot_product_attention(queries, keys, values, attn_mask=seen)
        stream = stream + self.drop(self.mix(looked.transpose(1, 2).reshape(rows, length, size)))
        out: Tensor = stream + self.drop(self.narrow(self.wide(self.between(stream)).relu()))
        return out


class Attention(nn.Module):
    """A small transformer encoder with learned positions, averaged over the text."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.width = shape.hidden
        self.enter = nn.Linear(shape.dim, shape.hidden)
        self.positions = nn.Embedding(shape.max_words, shape.hidden)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.drop = nn.Dropout(shape.dropout)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.leave = nn.LayerNorm(shape.hidden)

    def forward(self, embedded: Tensor, lengths: Lengths) -> Tensor:
        """Turn each row of word vectors into one vector."""
        size = embedded.shape[1]
        stream = self.drop(self.enter(embedded) + self.positions.weight[:size])
        seen = None if lengths is None else inside_of(size, lengths, embedded.device)[:, None, None]
        for block in self.blocks:
            stream = block(stream, seen)
        return _mean(self.leave(stream), lengths)


@dataclass(frozen=True)
class Architecture:
    """How to make a reader, and the fewest words it can read."""

    reader: Callable[[Shape], nn.Module]
    least: int = 1


ARCHITECTURES = {
    "bow": Architecture(Bag),
    "cnn": Architecture(Convolutions, max(FILTERS)),
    "lstm": Architecture(lambda shape: Recurrence(shape, directions=1)),
    "bilstm": Architecture(lambda shape: Recurrence(shape, directions=2)),
    "transformer": Architecture(Attention),
}


def architecture_of(name: str, *, verifiable: bool = False) -> Architecture:
    """The architecture of a name; the verifiable one, if it is to be bounded."""
    if not verifiable:
        return ARCHITECTURES[name]
    from mohs.models.verifiable import VERIFIABLE  # which imports this file

    return VERIFIABLE[name]


class Classifier(nn.Module):
    """Takes rows of word ids and gives one logit per class."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embedding = nn.Embedding(shape.words, shape.dim, padding_idx=PADDING)
        reader: Any = architecture_of(shape.architecture, verifiable=shape.verifiable).reader(shape)
        self.reader = reader
        self.drop = nn.Dropout(shape.dropout)
        self.out = nn.Linear(reader.width, shape.classes)

    def forward(self, rows: Tensor, lengths: Lengths = None) -> Tensor:
        """Logits for rows of word ids."""
        return self.read(self.embedding(rows), lengths)

    def read(self, embedded: Tensor, lengths: Lengths = None) -> Tensor:
        """Logits for rows of word vectors."""
        return self.decide(self.drop(self.reader(embedded, lengths)))

    def decide(self, features: Tensor) -> Tensor:
        """Logits for the vectors that the reader gives."""
        # Sums, not a matrix product: with so few columns its rounding depends on where a row starts in memory.
        return (features[:, None] * self.out.weight).sum(2) + self.out.bias


def precisely() -> AbstractContextManager[None]:
    """On CUDA: full precision and a fixed order of summation. By default cuDNN rounds factors to ten bits."""
    return torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)


def inside_of(size: int, lengths: Tensor, device: torch.device) -> Tensor:
    """A mask: True where a place is within its row's length."""
    return torch.arange(size, device=device)[None] < lengths.to(device)[:, None]


def _mean(table: Tensor, lengths: Lengths) -> Tensor:
    if lengths is None:
        return table.mean(1)
    inside = inside_of(table.shape[1], lengths, table.device)[..., None]
    return table.masked_fill(~inside, 0).sum(1) / lengths.to(table)[:, None]
