"""The tree auto-encoder against its definition, one node after the other."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from mohs.models.tree_autoencoder import Shape, TreeAutoencoder
from mohs.models.tree_rows import Row, forest_of
from mohs.text.parses import children, depths, roots
from tests.models.tree_toys import SENTENCES, parsed, small, trained
from tests.text.test_parses import tokens


def row(heads: tuple[int, ...], words: tuple[int, ...], relations: tuple[int, ...]) -> Row:
    return Row(words, relations, heads, tuple(depths(tokens(*heads))))


# Two sentences in one row, a single token, and a chain with branches.
ROWS = [
    row((1, 1, 1, 2, 5, 5), (1, 2, 3, 4, 5, 0), (1, 0, 2, 3, 1, 0)),
    row((0,), (3,), (0,)),
    row((1, 2, 2, 2, 3, 3), (5, 4, 3, 2, 2, 1), (2, 3, 0, 4, 1, 2)),
]


def climbed(net: Any, one: Row, node: int) -> tuple[Tensor, Tensor]:
    """Memory and state of a node, by the equations of a child-sum TreeLSTM."""
    below = children(tokens(*one.heads))[node]
    word = net.read.weight[one.words[node]]
    memory = state = torch.zeros(net.shape.hidden, dtype=torch.float64)
    for child in below:
        its_memory, its_state = climbed(net, one, child)
        gate = net.gates.weight[one.relations[child]]
        kept = torch.tanh(gate + net.keep_word(word) + net.keep_state(its_state))
        memory = memory + kept * torch.cat([its_memory[-1:], its_memory[:-1]])
        state = state + its_state
    into, out, new = (net.up_word(word) + net.up_state(state)).view(3, -1)
    memory = torch.sigmoid(into) * torch.tanh(new) + memory
    return memory, torch.sigmoid(out) * torch.tanh(memory)


def descended(net: Any, one: Row, root: int, up: Tensor, said: bool) -> tuple[dict[int, Tensor], dict[int, int]]:
    """The scores of each token below a root, and the chosen words, by the definition of the decoder."""
    below = children(tokens(*one.heads))
    scores: dict[int, Tensor] = {}
    chosen: dict[int, int] = {}

    def visit(node: int, memory: Tensor, state: Tensor, head: Tensor, top: bool) -> None:
        into, out, new = net.down(torch.cat([head, net.relation.weight[one.relations[node]], state])).view(3, -1)
        memory = memory + 2 * torch.sigmoid(into) * torch.tanh(new)
        if not top:
            memory = torch.tanh(net.gates.weight[one.relations[node]]) * memory
            memory = torch.cat([memory[1:], memory[:1]])
        state = torch.sigmoid(out) * torch.tanh(memory)
        told = net.tell(torch.cat([memory, state]))
        scores[node] = net.write.weight @ told + net.popular
        chosen[node] = one.words[node] if said else 1 + int(scores[node][1:].argmax())
        for child in below[node]:
            visit(child, memory, state, net.read.weight[chosen[node]], False)

    zeros = torch.zeros(net.shape.hidden, dtype=torch.float64)
    visit(root, up, zeros, zeros, True)
    return scores, chosen


def test_up_the_tree_as_defined() -> None:
    net = small()
    found = net.encode(forest_of(ROWS))
    wanted = [climbed(net, one, root)[0] for one in ROWS for root in roots(tokens(*one.heads))]
    assert torch.allclose(found, torch.stack(wanted), atol=1e-12)


@pytest.mark.parametrize("said", [True, False])
def test_down_the_tree_as_defined(said: bool) -> None:
    net = small(seed=1)
    forest = forest_of(ROWS)
    up = net.encode(forest)
    found = net.scores(net.decode(up, forest, forest.words if said else None))[forest.places]
    start, number = 0, 0
    for one in ROWS:
        for root in roots(tokens(*one.heads)):
            scores, chosen = descended(net, one, root, up[number], said)
            number += 1
            for node, wanted in scores.items():
                assert torch.allclose(found[start + node, 1:], wanted[1:], atol=1e-12)
                assert said or int(found[start + node].argmax()) == chosen[node]
        start += len(one)


def test_a_decoding_by_hand() -> None:
    net = TreeAutoencoder(Shape(words=3, relations=3, hidden=3))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.write.weight[1:] = torch.eye(3)  # each word reads one number of the memory
        net.tell.weight[:, :3] = torch.eye(3)
        net.gates.weight[1:] = 20 * torch.tensor([[1.0, 1, 1], [-1, 1, 1], [1, 1, -1]])
    one = row((0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 2, 3))
    forest = forest_of([one])
    scores = net.scores(net.decode(torch.tensor([[3.0, 1.0, -5.0]]), forest))
    # The root reads (3, 1, -5). Its children read (1, -5, 3), (1, -5, -3) and (1, 5, 3).
    assert scores[:, 1:].tolist() == [[3, 1, -5], [1, -5, 3], [1, -5, -3], [1, 5, 3]]
    assert scores.argmax(1).tolist() == [1, 3, 1, 2]  # and never 0, the unknown word


def test_a_choice_is_read_by_the_next_level() -> None:
    net = small(seed=2)
    one = row((0, 0), (1, 2), (0, 1))
    forest = forest_of([one])
    up = net.encode(forest)
    seen = []

    def choose(start: int, scores: Tensor) -> Tensor:
        seen.append((start, len(scores)))
        return torch.tensor([4] * len(scores))

    found = net.decode(up, forest, choose=choose)
    assert seen == [(0, 1), (1, 1)]
    assert torch.equal(found, net.decode(up, forest, torch.tensor([4, 4])))
    assert not torch.equal(found[1], net.decode(up, forest, torch.tensor([3, 3]))[1])


def test_gradients_by_finite_differences() -> None:
    net = small(words=4, relations=3, hidden=4)
    forest = forest_of([row((1, 1, 1, 2), (1, 2, 3, 4), (1, 0, 2, 3))])

    def of_roots(up: Tensor) -> Tensor:
        return net.scores(net.decode(up, forest, forest.words))[:, 1:]

    def of_words(vectors: Tensor) -> Tensor:
        return of_roots(net.climb(forest, vectors))

    assert torch.autograd.gradcheck(of_roots, net.encode(forest).detach().requires_grad_())
    assert torch.autograd.gradcheck(of_words, net.read(forest.words).detach().requires_grad_())


def test_it_learns_to_give_back_sentences_that_it_has_not_seen() -> None:
    trees = trained()
    rows = [trees.lexicon.row(one) for one in parsed(*SENTENCES[1::2])]
    forest = forest_of(rows)
    found = trees.module.scores(trees.module.decode(trees.module.encode(forest), forest)).argmax(1)
    assert (found == forest.words).float().mean() >= 0.9
    alone = [trees.module.encode(forest_of([one])) for one in rows[:5]]
    assert torch.allclose(torch.cat(alone), trees.module.encode(forest_of(rows[:5])), atol=1e-5)
