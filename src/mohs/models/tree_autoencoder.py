"""A tree auto-encoder (T3, Wang et al. 2020): a sentence becomes the vector of its dependency tree's root, and back.

Up the tree goes a child-sum TreeLSTM (Tai et al. 2015). Down the same tree goes an LSTM that reads, at each token, the
relation to the head and the head's word. Differs from the released code of T3 in how a child's memory joins its head's:

- A forget gate lies between -1 and 1, depends on the relation, and starts near one of both. The memory is moved on by
  one place at each step. So the memories of children are added under different signs, and the way back down, with the
  same gates, takes apart what the way up has put together. With gates between 0 and 1, siblings would mix.
- The root's vector is its memory. The hidden state is bounded and would round it.
- The relation's vector stands on each edge. There, one of all children is added to each.
- Word vectors are learned; there, GloVe's.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mohs.models.tree_rows import UNKNOWN, Forest

_RELATION = 50  # size of a relation's vector, as in the released code
_WORD_NORM = 6.0  # of a word's vector at the start: about GloVe's
_SURE = 1.5  # the forget gates start at tanh(+-1.5)


@dataclass(frozen=True)
class Shape:
    """The sizes of a tree auto-encoder."""

    words: int  # known ones, without the unknown word
    relations: int
    hidden: int = 300  # size of a word's vector and of a memory

    def told(self) -> dict[str, Any]:
        """The sizes by name."""
        return asdict(self)


class TreeAutoencoder(nn.Module):
    """The encoder, the decoder, and the word vectors of each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        size = shape.hidden
        self.shape = shape
        self.read = nn.Embedding(shape.words + 1, size)
        self.write = nn.Embedding(shape.words + 1, size)
        self.popular = nn.Parameter(torch.zeros(shape.words + 1))  # how likely a word is anyway
        self.gates = nn.Embedding(shape.relations + 1, size)
        self.relation = nn.Embedding(shape.relations + 1, _RELATION)
        self.up_word, self.up_state = nn.Linear(size, 3 * size), nn.Linear(size, 3 * size, bias=False)
        self.keep_word, self.keep_state = nn.Linear(size, size, bias=False), nn.Linear(size, size, bias=False)
        self.down = nn.Linear(2 * size + _RELATION, 3 * size)
        self.tell = nn.Linear(2 * size, size)
        self._start(size)

    def _start(self, size: int) -> None:
        """Start near a code that can be taken apart: a sum of the words' vectors under signs that tell their places."""
        nn.init.normal_(self.read.weight, std=_WORD_NORM / math.sqrt(size))
        nn.init.normal_(self.write.weight, std=0.1)
        with torch.no_grad():
            self.gates.weight.copy_(_SURE * (2.0 * torch.randint(0, 2, self.gates.weight.shape) - 1))
            for layer in (self.up_state, self.keep_word, self.keep_state, self.down):
                nn.init.normal_(layer.weight, std=0.01)
            nn.init.orthogonal_(self.up_word.weight[2 * size :], gain=math.sqrt(size) / _WORD_NORM)
            self.up_word.bias.zero_()
            self.up_word.bias[:size] = 2.0  # the input gate is open
            self.down.bias.zero_()
            self.down.bias[:size] = -1.0

    def encode(self, forest: Forest) -> Tensor:
        """The vectors of the roots, in the order in which they stand in the forest."""
        return self.climb(forest, self.read(forest.words))

    def climb(self, forest: Forest, vectors: Tensor) -> Tensor:
        """The vectors of the roots, from those of the words."""
        levels = forest.levels
        words, keeping = self.up_word(vectors), self.keep_word(vectors)
        gates = self.gates(forest.relations)
        memory = state = vectors.new_zeros(0, self.shape.hidden)
        for start, end in zip(levels[-2::-1], levels[:0:-1], strict=True):
            if end < levels[-1]:
                below = slice(end, end + len(memory))
                above = forest.parents[below]
                kept = torch.tanh(gates[below] + keeping[start:end][above] + self.keep_state(state))
                children = vectors.new_zeros(end - start, self.shape.hidden)
                memories = children.index_add(0, above, kept * memory.roll(1, 1))
                states = children.index_add(0, above, state)
            else:
                memories = states = vectors.new_zeros(end - start, self.shape.hidden)
            into, out, new = (words[start:end] + self.up_state(states)).chunk(3, 1)
            memory = into.sigmoid() * new.tanh() + memories
            state = out.sigmoid() * memory.tanh()
        return memory

    def decode(self, roots: Tensor, forest: Forest, said: Tensor | None = None, choose: Any = None) -> Tensor:
        """What is told of the word at each place of the forest: a vector, of which `scores` makes a score a word.

        said: the right words, for training. Without them, each token reads the word that was chosen for its head, by
        default the best. `choose(start, scores)` may choose otherwise.
        """
        size = self.shape.hidden
        gates, relations = torch.tanh(self.gates(forest.relations)), self.relation(forest.relations)
        found = []
        memory, state, chosen = roots, torch.zeros_like(roots), None
        for start, end in zip(forest.levels, forest.levels[1:], strict=False):
            level = slice(start, end)
            if chosen is None:
                head = roots.new_zeros(end - start, size)
            else:
                above = forest.parents[level]
                memory, state, head = memory[above], state[above], self.read(chosen[above])
            into, out, new = self.down(torch.cat([head, relations[level], state], 1)).chunk(3, 1)
            memory = memory + 2 * into.sigmoid() * new.tanh()
            if start:
                memory = (gates[level] * memory).roll(-1, 1)
            state = out.sigmoid() * memory.tanh()
            found.append(self.tell(torch.cat([memory, state], 1)))
            if said is not None:
                chosen = said[level]
            else:
                scores = self.scores(found[-1])
                chosen = scores.argmax(1) if choose is None else choose(start, scores)
        return torch.cat(found)

    def scores(self, told: Tensor, words: Tensor | None = None) -> Tensor:
        """The score of each word, or of some words, for some places. The unknown word is never the best."""
        if words is not None:
            found: Tensor = told @ self.write(words).T + self.popular[words]
            return found
        found = told @ self.write.weight.T + self.popular
        return found.index_fill(1, torch.tensor([UNKNOWN], device=found.device), float("-inf"))
