"""Losses under small changes of the input embeddings: FreeLB and SMART."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax

from mohs.errors import BadInput
from mohs.training.learner import Embedded


@dataclass(frozen=True)
class FreeLB:
    """Zhu et al. 2020, Algorithm 1: the mean gradient over the passes of a few steps of gradient ascent.

    The change of a text starts uniform in a ball, moves `step` along its normalised gradient, and is projected into
    the ball of radius `radius` (0: no limit). All passes of a step have the same dropout. The defaults are those of
    the released command for SST-2.
    """

    steps: int = 2
    step: float = 0.1
    start: float = 0.6
    radius: float = 0.5

    def __post_init__(self) -> None:
        if self.steps < 1 or self.step <= 0 or self.start < 0 or self.radius < 0:
            raise BadInput(f"{self} does not fit; steps and step must be above 0, start and radius at least 0.")

    def backward(self, embedded: Embedded, labels: Tensor, share: float, seed: int) -> float:
        """`steps` passes that move the change, and one more; each counts alike."""
        vectors = embedded.vectors
        passes = self.steps + 1
        change = starting_change(embedded, self.start, seed)
        total = 0.0
        for number in range(passes):
            last = number + 1 == passes
            change = change.detach().requires_grad_(not last)
            torch.manual_seed(seed)  # the same dropout in every pass
            loss = cross_entropy(embedded.read(vectors + change), labels)
            (share / passes * loss).backward(retain_graph=not last)  # type: ignore[no-untyped-call]
            total += float(loss.detach()) / passes
            if not last:
                slope = change.grad
                assert slope is not None
                change = change.detach() + self.step * slope / norm(slope).clamp_min(1e-12)
                if self.radius:
                    change = change * (self.radius / norm(change).clamp_min(1e-12)).clamp_max(1)
        return total


@dataclass(frozen=True)
class Smart:
    """Jiang et al. 2020, the smoothness term: the answer must stay where the input changes a little.

    The change starts as small noise, takes one step along the gradient of the divergence, and is scaled to a largest
    entry of one in each token, as in the released code. The divergence is the sum of both Kullback-Leibler
    divergences. The paper's second part, the Bregman proximal step, is not in the released code and not here.

    Differs from the released code:
    - the step climbs the sum of both divergences, as in the paper; there, the one from the clean answer;
    - a version of that code adds `step` times the normalised gradient to the input instead, a far smaller change.
    """

    weight: float = 1.0
    noise: float = 1e-5
    step: float = 1e-3
    steps: int = 1

    def __post_init__(self) -> None:
        if self.weight < 0 or self.noise <= 0 or self.step <= 0 or self.steps < 1:
            raise BadInput(f"{self} does not fit; noise, step and steps must be above 0, weight at least 0.")

    def backward(self, embedded: Embedded, labels: Tensor, share: float, seed: int) -> float:
        """The plain loss, plus the divergence under the change."""
        vectors, inside = embedded.vectors, embedded.inside[..., None].to(embedded.vectors)
        torch.manual_seed(seed)
        change = torch.randn_like(vectors) * self.noise * inside
        torch.manual_seed(seed)
        clean = embedded.read(vectors)
        for _ in range(self.steps):
            change = change.detach().requires_grad_()
            torch.manual_seed(seed)
            apart = divergence(embedded.read(vectors.detach() + change), clean.detach())
            (slope,) = torch.autograd.grad(apart, change)
            moved = (change + self.step * slope).detach()
            change = moved / (moved.abs().amax(2, keepdim=True) + 1e-6) * inside
        torch.manual_seed(seed)
        apart = divergence(embedded.read(vectors + change.detach()), clean)
        loss = cross_entropy(clean, labels) + self.weight * apart
        (share * loss).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())


def divergence(one: Tensor, other: Tensor) -> Tensor:
    """The sum of both Kullback-Leibler divergences between answers given as logits, averaged over the batch."""
    p, q = log_softmax(one, 1), log_softmax(other, 1)
    both: Tensor = kl_div(p, q, log_target=True, reduction="batchmean") + kl_div(
        q, p, log_target=True, reduction="batchmean"
    )
    return both


def starting_change(embedded: Embedded, size: float, seed: int) -> Tensor:
    """A uniform change of each text's vectors; padding stays as it is."""
    vectors, inside = embedded.vectors, embedded.inside[..., None].to(embedded.vectors)
    torch.manual_seed(seed)
    numbers = inside.sum((1, 2), keepdim=True) * vectors.shape[2]
    change: Tensor = torch.empty_like(vectors).uniform_(-1, 1) * inside * size / numbers.sqrt()
    return change


def norm(change: Tensor) -> Tensor:
    """The length of each text's change."""
    lengths: Tensor = change.flatten(1).norm(dim=1)[:, None, None]
    return lengths
