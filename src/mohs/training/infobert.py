"""InfoBERT: perturbed embeddings, and two regularisers by information theory (Wang et al. 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.training.learner import CRITIC, Embedded, Learner, States
from mohs.training.perturbation import norm, starting_change

_PAIRS = 32  # of tokens and sentences that InfoNCE tells apart at once: the released batch size
_CRITIC_SIZE = 300


class Critic(nn.Module):
    """Says how well a token fits a sentence: the learned function of InfoNCE."""

    def __init__(self, token: int, sentence: int) -> None:
        super().__init__()
        layers = [nn.Linear(token + sentence, _CRITIC_SIZE), nn.ReLU(), nn.Linear(_CRITIC_SIZE, 1), nn.Softplus()]
        self.layers = nn.Sequential(*layers)

    def forward(self, tokens: Tensor, sentences: Tensor) -> Tensor:
        """InfoNCE: a lower bound on the mutual information of the pairs in the rows of both."""
        count = len(tokens)
        own = self.layers(torch.cat([tokens, sentences], 1))
        each, every = tokens[None].expand(count, -1, -1), sentences[:, None].expand(-1, count, -1)
        others = self.layers(torch.cat([each, every], 2))[..., 0]
        bound: Tensor = own.mean() - (others.logsumexp(1).mean() - math.log(count))
        return bound


@dataclass(frozen=True)
class InfoBERT:
    """Wang et al. 2021: FreeLB's passes with two more terms in each.

    `beta` times an upper bound on what the input embeddings tell (the spread of the tokens' embeddings), minus `alpha`
    times a lower bound on what robust tokens tell of the sentence (InfoNCE of their embeddings and the first token's
    last state). A text's robust tokens are those whose gradient has a norm between the shares `low` and `high` of the
    ascending order: the rest are of no use, or easily attacked. The defaults are those of the released command.

    Differs from the released code:
    - the critic of InfoNCE is learnt with the model, as there, but its gradient counts in the clipped norm too;
    - the pairs for both bounds are drawn anew in each pass from the step's seed; there, tokens are shuffled alike in
      every step.
    """

    steps: int = 3  # passes
    step: float = 0.04
    start: float = 0.08
    alpha: float = 5e-3
    beta: float = 5e-3
    low: float = 0.5
    high: float = 0.9

    def __post_init__(self) -> None:
        if self.steps < 1 or self.step <= 0 or min(self.start, self.alpha, self.beta) < 0:
            raise BadInput(f"{self} does not fit; steps and step must be above 0, start, alpha and beta at least 0.")
        if not 0 <= self.low < self.high <= 1:
            raise BadInput(f"infobert's low={self.low} and high={self.high} must be shares, the first the smaller.")

    @cached_property
    def _critics(self) -> list[Critic]:
        return []  # the one of the training at hand

    def check(self, learner: Learner, text: tuple[str, ...]) -> States:
        """The hidden states of a text. Refuses a model without them."""
        with torch.random.fork_rng(devices=[]):
            embedded = learner.embed(learner.rows([text]))
            if embedded.states is None:
                raise BadInput(
                    "infobert needs the hidden states of an encoder; give --arch hf:PATH_OR_ID, or use freelb."
                )
            try:
                with torch.no_grad():
                    return embedded.states(embedded.vectors)
            except (TypeError, AttributeError, IndexError) as error:
                reason = " ".join(str(error).split())[:200]
                raise BadInput(
                    f"infobert needs hidden states, which {type(learner.module).__name__} does not give ({reason}); "
                    "use freelb."
                ) from error

    def attach(self, learner: Learner, text: tuple[str, ...], seed: int) -> None:
        """Make the critic a part of what is trained."""
        found = self.check(learner, text)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            critic = Critic(found.first.shape[2], found.last.shape[2])
        self._critics[:] = [critic]
        learner.module.add_module(CRITIC, critic)

    def backward(self, embedded: Embedded, labels: Tensor, share: float, seed: int) -> float:
        """The mean gradient over the passes."""
        assert embedded.states is not None
        vectors = embedded.vectors
        change = starting_change(embedded, self.start, seed)
        total = 0.0
        for number in range(self.steps):
            last = number + 1 == self.steps
            change = change.detach().requires_grad_()
            torch.manual_seed(seed)  # the same dropout in every pass
            found = embedded.states(vectors + change)
            chance = torch.Generator().manual_seed(seed + number)
            loss = cross_entropy(found.logits, labels) + self.beta * spread(found.first[embedded.inside], chance)
            (share / self.steps * loss).backward(retain_graph=True)  # type: ignore[no-untyped-call]
            slope = change.grad
            assert slope is not None
            slope = slope.clone()
            tokens = robust_tokens(slope, embedded.inside, self.low, self.high)
            told = self.alpha * self._told(found, tokens, chance)
            (-share / self.steps * told).backward(retain_graph=not last)  # type: ignore[no-untyped-call]
            total += float((loss - told).detach()) / self.steps
            change = change.detach() + self.step * slope / norm(slope).clamp_min(1e-12)
        return total

    def _told(self, found: States, tokens: list[tuple[int, int]], chance: torch.Generator) -> Tensor:
        """What tokens tell of their sentences: the mean of InfoNCE over groups of pairs."""
        order = torch.randperm(len(tokens), generator=chance).tolist()
        texts, places = (torch.tensor([tokens[n][side] for n in order], device=found.first.device) for side in (0, 1))
        ours, sentences = found.first[texts, places], found.last[texts, 0]
        (critic,) = self._critics
        groups = range(0, len(tokens), _PAIRS)
        return torch.stack([critic(ours[at : at + _PAIRS], sentences[at : at + _PAIRS]) for at in groups]).mean()


def spread(tokens: Tensor, chance: torch.Generator) -> Tensor:
    """The released upper bound: half the squared distance of tokens to others drawn at random."""
    other = torch.randint(len(tokens), (len(tokens),), generator=chance).to(tokens.device)
    found: Tensor = ((tokens - tokens[other]) ** 2 / 2).sum(1).mean()
    return found


def robust_tokens(slope: Tensor, inside: Tensor, low: float, high: float) -> list[tuple[int, int]]:
    """The tokens in the middle of the ascending order of the gradient's norm, as numbers of text and place.

    A text with no token between the shares gives the one next to them.
    """
    sizes: list[list[Any]] = slope.norm(dim=2).tolist()
    found = []
    for number, (row, count) in enumerate(zip(sizes, inside.sum(1).tolist(), strict=True)):
        order = sorted(range(count), key=row.__getitem__)
        first, end = math.ceil(count * low), math.ceil(count * high)
        found += [(number, place) for place in order[first:end] or order[first : first + 1] or order[-1:]]
    return found
