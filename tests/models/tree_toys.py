"""Sentences of a few words, and a tree auto-encoder trained on them."""

from __future__ import annotations

from functools import cache
from itertools import product

import torch

from mohs.models.tree_autoencoder import Shape, TreeAutoencoder
from mohs.models.tree_folder import Trees
from mohs.models.tree_rows import Lexicon
from mohs.text.parses import Parse
from mohs.training.hardening import Batch
from mohs.training.recipe import trees_recipe
from mohs.training.trees import TreeTrainer
from tests.toy_parser import parse

SENTENCES = [
    f"the {a} {b} {c} {d}."
    for a, b, c, d in product(
        ("good", "great", "bad", "dull"),
        ("film", "story", "actor"),
        ("bored", "pleased", "moved"),
        ("me", "us", "them"),
    )
]


def parsed(*texts: str) -> list[Parse]:
    return [parse(text) for text in texts]


@cache
def trained() -> Trees:
    """Of every second of the sentences, it learns enough to give all of them back."""
    learned = parsed(*SENTENCES[::2])
    lexicon = Lexicon.of(learned, 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        trainer = TreeTrainer(lexicon, trees_recipe({"hidden": 24}))
        rows = [lexicon.row(one) for one in learned]
        optimizer = torch.optim.Adam(trainer.module.parameters(), lr=0.01)
        for _ in range(120):
            optimizer.zero_grad()
            trainer.backward(Batch(rows, [], []), 0, 1)
            optimizer.step()
    return Trees("t3:toy", lexicon, trainer.module.eval().requires_grad_(False), 1.0)


def small(words: int = 5, relations: int = 4, hidden: int = 6, seed: int = 0) -> TreeAutoencoder:
    """With random weights, in double precision."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = TreeAutoencoder(Shape(words, relations, hidden)).double()
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    return module
