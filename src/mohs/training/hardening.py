"""Training that makes a classifier harder to fool: `mohs train --harden METHOD[:NAME=VALUE,...]`.

There are three kinds of methods. Some give more texts, with the labels of their originals: an augmentation writes
another for each text of a batch, adversarial training attacks the model of the moment, and naive adversarial training
attacks a model trained before (mohs.training.naive). An objective replaces the plain loss of a batch. These combine,
each once, and with at most one objective, which then applies to the original texts and to the new ones; all rows of a
step count alike. A method that trains bounds has a training of its own, and stands alone.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from random import Random
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.text import Example, Text
from mohs.training.learner import Embedded, Learner

Fields = tuple[str, ...]


Made = tuple[int, Fields]  # another text for an example, by its number
Examples = Sequence[Example]


class Batch(NamedTuple):
    """Some training examples."""

    rows: list[Any]
    labels: list[Any]
    texts: list[Fields]
    examples: Examples = ()  # the same, for attacks
    made: Sequence[Made] = ()  # texts made before, for examples of the batch

    def parsed(self) -> list[Text]:
        """The texts with their words."""
        return [example.text for example in self.examples] or [Text(*fields) for fields in self.texts]


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


class Epochly(Protocol):
    """Makes texts before each epoch, with the model as it is then."""

    def of_epoch(self, learner: Learner, examples: Examples, epoch: int, seed: int) -> list[Made]:
        """The texts, each with the number of its original."""
        ...


class Stepwise(Protocol):
    """Makes texts in each step, with the model as it is then."""

    def of_step(self, learner: Learner, batch: Batch, seed: int) -> list[Made]:
        """The texts, each with the number of its original in the batch."""
        ...


class First(Protocol):
    """Makes more training examples before the training."""

    @property
    def attack(self) -> str:
        """The attack that makes them."""
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


Hardening = Augmentation | Epochly | Stepwise | First | Objective | Certified


class Plain:
    """The ordinary loss."""

    def backward(self, embedded: Embedded, labels: Tensor, share: float, seed: int) -> float:
        """One pass."""
        loss = cross_entropy(embedded.read(embedded.vectors), labels)
        (share * loss).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())


def hard_step(learner: Learner, batch: Batch, harden: Sequence[Any], seed: int) -> float:
    """The gradients of one step: the mean over the batch and all texts made of it. Returns the loss.

    The gradient that weighs words is taken from the pass over the original texts, so augmentation costs no pass more
    than the doubled batch does.
    """
    chance = Random(seed)
    augmentations = [method for method in harden if hasattr(method, "texts")]
    objective = next((method for method in harden if hasattr(method, "backward")), Plain())
    made = [*batch.made]
    for number, method in enumerate(m for m in harden if hasattr(m, "of_step")):
        made += method.of_step(learner, batch, seed + number)
    count = len(batch.rows)
    rows = count * (1 + len(augmentations)) + len(made)
    share = count / rows
    embedded = learner.embed(batch.rows)
    labels = torch.tensor(batch.labels).to(embedded.vectors.device)
    if not embedded.vectors.requires_grad:
        embedded.vectors.requires_grad_()  # frozen word vectors
    embedded.vectors.retain_grad()
    loss = share * objective.backward(embedded, labels, share, seed)
    importance = importances(learner, batch, embedded) if any(m.wants_slopes for m in augmentations) else None
    for number, method in enumerate(augmentations):
        copies = learner.rows(method.texts(learner, batch, importance, chance))
        loss += share * objective.backward(learner.embed(copies), labels, share, seed + number + 1)
    if made:
        share = len(made) / rows
        others = learner.embed(learner.rows([text for _, text in made]))
        theirs = labels[[number for number, _ in made]]
        loss += share * objective.backward(others, theirs, share, seed + len(augmentations) + 1)
    return loss


def importances(learner: Learner, batch: Batch, embedded: Embedded) -> list[list[float]]:
    """Eq. 7.1 of Hauser et al. 2021: for each word the sum over its tokens of vector times gradient of the loss.

    A word without a token, because it lies beyond the window, has minus infinity.
    """
    slope = embedded.vectors.grad
    assert slope is not None
    products = (embedded.vectors.detach() * slope).sum(2).double().cpu().tolist()
    return [
        [sum(places[place] for place in word) if word else -math.inf for word in learner.places(row, text)]
        for places, row, text in zip(products, batch.rows, batch.parsed(), strict=True)
    ]


def methods() -> Mapping[str, type]:
    """The methods by name."""
    from mohs.training.adversarial import GeometrySteps, OnFly
    from mohs.training.augmentation import Augment, RandomWords
    from mohs.training.certified import IBP
    from mohs.training.infobert import InfoBERT
    from mohs.training.lirpa import Lirpa
    from mohs.training.masking import Mask, SaferWords
    from mohs.training.naive import Naive
    from mohs.training.perturbation import FreeLB, Smart

    return {
        "augment": Augment,
        "random": RandomWords,
        "mask": Mask,
        "safer": SaferWords,
        "naive": Naive,
        "onfly": OnFly,
        "geometry": GeometrySteps,
        "freelb": FreeLB,
        "smart": Smart,
        "infobert": InfoBERT,
        "ibp": IBP,
        "lirpa": Lirpa,
    }


def hardenings(given: Sequence[Any]) -> list[Any]:
    """The methods by their names with settings, or the objects themselves."""
    found = [_made(one) if isinstance(one, str) else one for one in given]
    objectives = [method for method in found if hasattr(method, "backward")]
    if len(objectives) > 1:
        names = " and ".join(type(method).__name__ for method in objectives)
        raise BadInput(f"--harden takes one method that perturbs embeddings, not {names} together.")
    twice = next((type(m).__name__ for n, m in enumerate(found) if any(type(m) is type(o) for o in found[:n])), None)
    if twice:
        raise BadInput(f"--harden has {twice} twice; give each method once, with all of its settings.")
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
