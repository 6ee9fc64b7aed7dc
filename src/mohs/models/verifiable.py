"""Readers whose bounds are known, in the shapes of Jia et al. 2019 ("Certified Robustness ...", Section 4).

Each word vector goes through its own linear layer and ReLU. A bound computes that for every word that may stand at a
place, and takes intervals only afterwards, where they are tighter. Then come the mean over the text (bow), windows of
three words and their mean (cnn), or the mean of an LSTM's states (lstm, bilstm), and one more layer with a ReLU.
`mohs.bounds.networks` bounds them.

Differs from the released code:
- There is one logit a class, not one for both classes.
- Pooling is by the mean only; the code has maxima and attention too.
- The code's LSTM reads in both directions, which is `bilstm` here; `lstm` reads forwards.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mohs.models.architectures import Architecture, Lengths, Shape, inside_of
from mohs.models.verifiable_transformer import VerifiableAttention


class Verifiable(nn.Module):
    """What the readers share: a layer for single words, a mean over the text, and a layer after it."""

    def __init__(self, shape: Shape, pooled: int) -> None:
        super().__init__()
        self.width = shape.hidden
        self.word = nn.Linear(shape.dim, shape.hidden)
        self.drop = nn.Dropout(shape.dropout)
        self.hidden = nn.Linear(pooled, shape.hidden)

    def forward(self, embedded: Tensor, lengths: Lengths) -> Tensor:
        """Turn each row of word vectors into one vector."""
        words = masked(self.word(embedded).relu(), lengths)
        means = self.states(words, lengths).sum(1) / sizes(words, lengths)
        found: Tensor = self.hidden(self.drop(means)).relu()
        return found

    def states(self, words: Tensor, lengths: Lengths) -> Tensor:
        """What is averaged over the text; zero beyond its end."""
        raise NotImplementedError


class VerifiableBag(Verifiable):
    """The mean of the words."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, shape.hidden)

    def states(self, words: Tensor, lengths: Lengths) -> Tensor:
        """The words themselves."""
        return words


class VerifiableConvolutions(Verifiable):
    """Filters over each word and its two neighbours, which are zero beyond the text."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, shape.hidden)
        # One matrix product over three words: unlike a convolution, its rounding errors are known on every machine.
        self.filters = nn.Linear(3 * shape.hidden, shape.hidden)

    def states(self, words: Tensor, lengths: Lengths) -> Tensor:
        """The heights of the filters at each word."""
        return masked(self.filters(windows(words)).relu(), lengths)


class VerifiableRecurrence(Verifiable):
    """The states of an LSTM layer, or of one in each direction."""

    def __init__(self, shape: Shape, *, directions: int) -> None:
        super().__init__(shape, directions * shape.hidden)
        both = directions == 2
        self.lstm = nn.LSTM(shape.hidden, shape.hidden, batch_first=True, bidirectional=both)
        self.ways = (False, True)[:directions]  # backwards or not

    def states(self, words: Tensor, lengths: Lengths) -> Tensor:
        """The state at each word."""
        if lengths is None:
            found: Tensor = self.lstm(words)[0]
            return found
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.shape[1])
        return found


def windows(words: Tensor) -> Tensor:
    """For each word its left neighbour, itself and its right neighbour, side by side; zero beyond the row."""
    return torch.cat([pad(words, (0, 0, 1, 0))[:, :-1], words, pad(words, (0, 0, 0, 1))[:, 1:]], 2)


def masked(table: Tensor, lengths: Lengths) -> Tensor:
    """The table, zero beyond the end of each row."""
    if lengths is None:
        return table
    return table.masked_fill(~inside_of(table.shape[1], lengths, table.device)[..., None], 0)


def sizes(table: Tensor, lengths: Lengths) -> Tensor | int:
    """The number of words of each row."""
    return table.shape[1] if lengths is None else lengths.to(table)[:, None]


VERIFIABLE = {
    "bow": Architecture(VerifiableBag),
    "cnn": Architecture(VerifiableConvolutions),
    "lstm": Architecture(lambda shape: VerifiableRecurrence(shape, directions=1)),
    "bilstm": Architecture(lambda shape: VerifiableRecurrence(shape, directions=2)),
    "transformer": Architecture(VerifiableAttention),
}
