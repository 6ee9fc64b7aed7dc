"""Training that makes a classifier harder to fool: `mohs train --harden METHOD[:NAME=VALUE,...]`.

There are three kinds of methods. An augmentation writes another text for each text of a batch, which is learnt with the
same label. An objective replaces the plain loss of a batch. They combine: the objective then applies to the original
texts and to the new ones. A method that trains bounds has a training of its own, and stands alone.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from random import Random
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.text import Example
from mohs.training.learner import Embedded, Learner

Fields = tuple[str, ...]


class Batch(NamedTuple):
    """Some training examples."""

    rows: list[Any]
    labels: list[Any]
    texts: list[Fields]


class Augmentation(Protocol):
    """Writes another text for each text of a batch."""

    @property
    def wants_slopes(self) -> bool:
        """Whether it weighs words by the gradient of the loss."""
        ...

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch. `importance` has a number for each word of each text."""
        ...


class Objective(Protocol):
    """A loss in place of the plain one."""

    def backward(self, embedded: Embedded, labels: Tensor, share: float, seed: int) -> float:
        """Add `share` times the gradient of the loss to the weights, and return the loss."""
        ...


class Trainer(Protocol):
    """Trains bounds of one network: its loss changes over the epochs, and the best is what has most certified."""

    @property
    def digest(self) -> str:
        """A hash of what it trains against, without which a training cannot be resumed."""
        ...

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        ...

    def first(self, epochs: int) -> int:
        """The first epoch whose weights may be kept, from 0."""
        ...

    def backward(self, batch: Batch, epoch: float, epochs: int) -> float:
        """Add the gradient of a batch's loss to the weights, and return the loss.

        Epochs count from 0, with a fraction for how much of the epoch is over.
        """
        ...

    def check(self, learner: Learner, data: Any) -> tuple[int, float]:
        """The number of examples that are certified, and a loss."""
        ...


class Certified(Protocol):
    """A method that trains bounds."""

    def trainer(self, learner: Learner, examples: Sequence[Example]) -> Trainer:
        """The training of one network. `examples` are those of training and dev."""
        ...


Hardening = Augmentation | Objective | Certified


class Plain:
    """The ordinary loss."""

    def backward(self, embedded: Embedded, labels: Tensor, share: float, seed: int) -> float:
        """One pass."""
        loss = cross_entropy(embedded.read(embedded.vectors), labels)
        (share * loss).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())


def hard_step(learner: Learner, batch: Batch, harden: Sequence[Any], seed: int) -> float:
    """The gradients of one step: the mean over the batch and its augmented copies. Returns the loss.

    The gradient that weighs words is taken from the pass over the original texts, so augmentation costs no pass more
    than the doubled batch does.
    """
    chance = Random(seed)
    augmentations = [method for method in harden if hasattr(method, "texts")]
    objective = next((method for method in harden if hasattr(method, "backward")), Plain())
    share = 1 / (1 + len(augmentations))
    embedded = learner.embed(batch.rows)
    labels = torch.tensor(batch.labels).to(embedded.vectors.device)
    if not embedded.vectors.requires_grad:
        embedded.vectors.requires_grad_()  # frozen word vectors
    embedded.vectors.retain_grad()
    loss = share * objective.backward(embedded, labels, share, seed)
    importance = importances(learner, batch, embedded) if any(m.wants_slopes for m in augmentations) else None
    for number, method in enumerate(augmentations):
        rows = learner.rows(method.texts(learner, batch, importance, chance))
        loss += share * objective.backward(learner.embed(rows), labels, share, seed + number + 1)
    return loss


def importances(learner: Learner, batch: Batch, embedded: Embedded) -> list[list[float]]:
    """Eq. 7.1 of Hauser et al. 2021: for each word the sum over its tokens of vector times gradient of the loss."""
    slope = embedded.vectors.grad
    assert slope is not None
    products = (embedded.vectors.detach() * slope).sum(2).double().cpu().tolist()
    return [
        [sum(places[place] for place in word) for word in learner.places(row, text)]
        for places, row, text in zip(products, batch.rows, batch.texts, strict=True)
    ]


def methods() -> Mapping[str, type]:
    """The methods by name."""
    from mohs.training.augmentation import Augment, RandomWords
    from mohs.training.certified import IBP
    from mohs.training.lirpa import Lirpa
    from mohs.training.perturbation import FreeLB, Smart

    plain: dict[str, type] = {"augment": Augment, "random": RandomWords, "freelb": FreeLB, "smart": Smart}
    return {**plain, "ibp": IBP, "lirpa": Lirpa}


def hardenings(given: Sequence[Any]) -> list[Any]:
    """The methods by their names with settings, or the objects themselves."""
    found = [_made(one) if isinstance(one, str) else one for one in given]
    objectives = [method for method in found if hasattr(method, "backward")]
    if len(objectives) > 1:
        names = " and ".join(type(method).__name__ for method in objectives)
        raise BadInput(f"--harden takes one method that perturbs embeddings, not {names} together.")
    if len(found) > 1 and certified_of(found):
        names = " and ".join(type(method).__name__ for method in found)
        raise BadInput(f"--harden takes a method that trains bounds alone, not {names} together; give one.")
    return found


def certified_of(methods: Sequence[Any]) -> Certified | None:
    """The method that trains bounds, if there is one."""
    return next((method for method in methods if hasattr(method, "trainer")), None)


def _made(spec: str) -> Any:
    name, _, rest = spec.partition(":")
    table = methods()
    if name not in table:
        raise BadInput(f"Unknown hardening method {name!r}; use {', '.join(table)}.")
    hints = typing.get_type_hints(table[name])
    known = {f.name: hints[f.name] for f in fields(table[name]) if f.repr}
    values: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = (side.strip() for side in part.partition("="))
        if key not in known or not equals:
            raise BadInput(f"--harden {spec} has the part {part!r}; {name} takes NAME=VALUE with {', '.join(known)}.")
        try:
            values[key] = known[key](value)
        except ValueError:
            raise BadInput(f"--harden {spec} has {key}={value}, which does not fit; give a number.") from None
    return table[name](**values)
