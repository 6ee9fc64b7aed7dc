"""The direction from a sentence vector to the nearest decision boundary: DeepFool (Moosavi-Dezfooli et al. 2016)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, TypeVar

import torch
from torch import Tensor

from mohs.errors import VictimError
from mohs.text.questions import Sentence, SentenceVector

Head = Callable[[Tensor], Tensor]  # logits from sentence vectors

OVERSHOOT, MOST_STEPS = 0.02, 20
_LEAST = 1e-4  # a step, as in the released code of Meng and Wattenhofer 2020

Item = TypeVar("Item")


def boundary_normals(vectors: Tensor, head: Head) -> Tensor:
    """The unit normal of the boundary nearest to each vector, pointing away from its class.

    Algorithm 2: steps to the nearest of the linearised boundaries, until the class changes. The normal is the gradient
    of the new class's logit minus the old one's, at the point that was reached, before the overshoot.
    """
    with torch.inference_mode(False), torch.enable_grad():
        start = vectors.detach().clone()
        old = head(start).argmax(1)
        moved, new = torch.zeros_like(start), old
        for _ in range(MOST_STEPS):
            going = new == old
            if not bool(going.any()):
                break
            step = _step(start + moved, old, head)
            moved = torch.where(going[:, None], moved + step, moved)
            new = torch.where(going, head(start + (1 + OVERSHOOT) * moved).argmax(1), new)
        point = (start + moved).requires_grad_()
        logits = head(point)
        second = logits.detach().scatter(1, old[:, None], float("-inf")).argmax(1)
        new = torch.where(new == old, second, new)  # not reached: the class that came nearest
        margins = (logits.gather(1, new[:, None]) - logits.gather(1, old[:, None])).sum()
        (normal,) = torch.autograd.grad(margins, point)
        found: Tensor = normal / normal.norm(dim=1, keepdim=True).clamp_min(1e-12)
        return found


def _step(point: Tensor, old: Tensor, head: Head) -> Tensor:
    """The shortest way to a boundary between the old class and another, if the head were linear."""
    point = point.detach().requires_grad_()
    logits = head(point)
    own = logits.gather(1, old[:, None])[:, 0]
    best, nearest = torch.zeros_like(point), torch.full_like(own, float("inf"))
    for other in range(logits.shape[1]):
        apart = logits[:, other] - own
        (slope,) = torch.autograd.grad(apart.sum(), point, retain_graph=True)
        size = slope.norm(dim=1)
        distance = apart.detach().abs() / size.clamp_min(1e-12)
        nearer = (old != other) & (size > 0) & (distance < nearest)
        way = distance.clamp_min(_LEAST)[:, None] * slope / size.clamp_min(1e-12)[:, None]
        best, nearest = torch.where(nearer[:, None], way, best), torch.where(nearer, distance, nearest)
    return best.detach()


def sentences(name: str, items: list[SentenceVector], vectors: Tensor, head: Head) -> list[Sentence]:
    """The answers to some questions of one batch, whose vectors are known. Rows beyond the items fill the batch up."""
    vectors = vectors[: len(items)].detach()
    if not bool(torch.isfinite(vectors).all()):
        raise VictimError(f"{name} gave a number that is not finite.")
    wanted = [number for number, item in enumerate(items) if item.normal]
    normals: dict[int, Any] = {}
    if wanted:
        found = boundary_normals(vectors[wanted].float(), head).cpu().numpy()
        normals = dict(zip(wanted, found, strict=True))
    rows = vectors.float().cpu().numpy()
    return [Sentence(row, normals.get(number)) for number, row in enumerate(rows)]


def planned(items: Iterable[Any], plan: Callable[[list[Any]], list[list[Any]]]) -> list[list[Any]]:
    """Batches of one kind of question each: gradients, and sentence vectors."""
    waiting = list(items)
    kinds = [[i for i in waiting if isinstance(i, SentenceVector) == kind] for kind in (False, True)]
    return list(chain.from_iterable(plan(kind) for kind in kinds if kind))
