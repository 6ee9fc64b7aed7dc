"""Adversarial training: the model of the moment is attacked, and learns from the texts that fooled it.

The texts count with the originals: each row of a step has the same weight, and the label of its original.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from mohs.attacks.geometry import Geometry
from mohs.attacks.method import Attack
from mohs.errors import BadInput
from mohs.training.hardening import Batch, Examples, Made
from mohs.training.learner import Learner
from mohs.training.opponent import Opponent, attack_for_training

_LEAST_AT_ONCE = 64


@dataclass(frozen=True)
class _Searching:
    @cached_property
    def _set_up(self) -> list[tuple[Learner, Opponent]]:
        return []  # at most one: loaded when a training first needs it

    def _opponent(self, learner: Learner, name: str, attack: Attack, budget: int) -> Opponent:
        if not self._set_up or self._set_up[0][0] is not learner:
            device = str(next(learner.module.parameters()).device)
            self._set_up[:] = [(learner, Opponent(name, attack, learner.victim(), budget, device))]
        return self._set_up[0][1]


@dataclass(frozen=True)
class OnFly(_Searching):
    """Yoo and Qi 2021, Algorithm 1: before each epoch, the model of the moment is attacked on the training data.

    Examples are attacked in random order until there are adversarial texts for a `share` of the data; share=1 attacks
    all of it. The first `clean` epochs are ordinary ones. Each text is learnt in the step that learns its original, so
    that the number of steps stays the same. Texts are made once an epoch and not in each step, as in the paper:
    hundreds of searches then share large batches, where a step has 32, and a resumed training finds them on disk.

    Differs from the released code:
    - adversarial texts stand in the steps of their originals; there, they are further examples of a longer epoch;
    - the attack, a2t by default, asks the bundled sentence encoder, and its own encoder there;
    - at most `budget` queries are spent on an example (200, as there; 0: no limit).
    """

    attack: str = "a2t"
    budget: int = 200
    share: float = 0.2
    clean: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise BadInput(f"onfly's share={self.share} must be above 0 and at most 1, such as 0.2.")
        if self.budget < 0 or self.clean < 0:
            raise BadInput(f"{self} does not fit; budget and clean must be at least 0.")
        attack_for_training(self.attack, "onfly")

    def of_epoch(self, learner: Learner, examples: Examples, epoch: int, seed: int) -> list[Made]:
        """The texts to learn in an epoch, each with the number of its original."""
        if epoch < self.clean:
            return []
        opponent = self._opponent(learner, *attack_for_training(self.attack, "onfly"), self.budget)
        order = list(range(len(examples)))
        Random(seed).shuffle(order)
        wanted = max(1, int(self.share * len(order) + 0.5))
        found: list[Made] = []
        while order and len(found) < wanted:
            size = max(_LEAST_AT_ONCE, wanted - len(found))
            chunk, order = order[:size], order[size:]
            texts = opponent.texts([examples[number] for number in chunk], seed)
            found += [(number, text) for number, text in zip(chunk, texts, strict=True) if text is not None]
        return found[:wanted]


@dataclass(frozen=True)
class GeometrySteps(_Searching):
    """Meng and Wattenhofer 2020, adversarial training (ADV): in each step, the geometry attack on the step's texts.

    Only texts that the model classifies correctly are attacked, and only texts that fool it are learnt, with their
    originals. See mohs.attacks.geometry for the attack; `words` are its synonyms from wordnet, or neighbours.
    """

    loops: int = 50
    words: str = "wordnet"

    def __post_init__(self) -> None:
        if self.loops < 1:
            raise BadInput(f"geometry needs at least one loop, not loops={self.loops}.")
        if self.words not in ("wordnet", "neighbours"):
            raise BadInput(f"geometry takes its words from wordnet or neighbours, not from {self.words!r}.")

    @property
    def attack(self) -> Geometry:
        """The attack."""
        return Geometry(self.loops) if self.words == "wordnet" else Geometry.neighbours(self.loops)

    def of_step(self, learner: Learner, batch: Batch, seed: int) -> list[Made]:
        """The texts to learn in a step, each with the number of its original in the batch."""
        texts = self._opponent(learner, "geometry", self.attack, 0).texts(batch.examples, seed)
        return [(number, text) for number, text in enumerate(texts) if text is not None]


def summary(made: list[Any]) -> list[int]:
    """How many texts each method made for an epoch."""
    return [len(texts) for texts in made]
