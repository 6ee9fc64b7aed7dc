"""An attack of the catalogue against a model in training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mohs import engine
from mohs.attacks.catalogue import find_attack
from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.attacks.method import Attack, goal_of, needs
from mohs.attacks.trial import Trial
from mohs.engine import Service
from mohs.errors import BadInput
from mohs.models.neural import NeuralVictim
from mohs.models.victim import Victim, service_of, traits_of
from mohs.records import Outcome, Record
from mohs.space.services import KINDS
from mohs.tasks.services import DEFAULTS, fingerprint, load_services
from mohs.tasks.subject import Target
from mohs.text import Example
from mohs.training.hardening import Fields


def attack_for_training(spec: str, method: str) -> tuple[str, Attack]:
    """The full name and the attack. Refuses one that is of no use in training, or that nobody can answer there."""
    name, attack = find_attack(spec)
    if keeps_label(goal_of(name, attack, UNTARGETED)):
        raise BadInput(f"{name} shortens texts and keeps the label, so {method} learns nothing from it; use another.")
    wanting = [kind for kind in needs(attack) if kind != "gradients" and kind not in DEFAULTS]
    if wanting:
        kinds = " and ".join(KINDS[kind][0] for kind in wanting)
        raise BadInput(
            f"{name} needs {kinds}, which a training cannot ask; use --harden {method} with another attack, or "
            "attack the training data with `mohs attack` and give the file of `mohs augment --run RUN` to --data."
        )
    return name, attack


class Opponent:
    """An attack with what it asks, set up once for a victim whose weights may change between its searches."""

    def __init__(self, name: str, attack: Attack, victim: Victim, budget: int, device: str) -> None:
        self.name, self.attack, self.victim = name, attack, victim
        self.budget = budget or None
        self._parts = load_services(needs(attack), {}, victim=victim, device=device)

    @property
    def identity(self) -> dict[str, str]:
        """The names and hashes of what it asks."""
        return {kind: fingerprint(part) for kind, part in sorted(self._parts.items())}

    def records(
        self, examples: Iterable[tuple[int, Example]], seed: int, *, alone: bool
    ) -> Iterable[tuple[int, Record]]:
        """The records of some numbered examples, as their searches end; many search at once.

        alone: let no verdict depend on the other texts of a batch, which costs more where the victim is not exact.
        """
        if isinstance(self.victim, NeuralVictim):
            self.victim.renew()
        traits = traits_of(self.victim)
        service = service_of(self.victim)
        judge = service_of(self.victim, judge=True) if alone and not traits.exact else service
        target = Target(model=self.victim, victim=service, judge=judge, classes=len(self.victim.labels))
        parts: Mapping[str, Any] = {  # services of its own: no search depends on what earlier ones left waiting
            kind: Service(part.model) if isinstance(part, Service) else part for kind, part in self._parts.items()
        }
        trial = Trial(self.name, self.attack, target, parts, seed=seed, budget=self.budget)
        asked = [*dict.fromkeys([service, judge]), *(part for part in parts.values() if isinstance(part, Service))]
        for ended in engine.run(((number, trial(example)) for number, example in examples), asked, traits.crowd):
            if ended.error is not None or ended.result is None:
                raise ended.error or AssertionError("a search gave no record")
            yield ended.key, ended.result

    def texts(self, examples: Sequence[Example], seed: int) -> list[Fields | None]:
        """For each example a text that fools the victim; None if none was found, or if the original does."""
        found: list[Fields | None] = [None] * len(examples)
        errors: list[str] = []
        for number, record in self.records(enumerate(examples), seed, alone=False):
            found[number] = fooling(record)
            if record.outcome is Outcome.ERROR:
                errors.append(str(record.error))
        refuse_only_errors(self.name, errors, len(examples))
        return found


def fooling(record: Record) -> Fields | None:
    """The text of a successful attack."""
    return record.perturbed if record.outcome is Outcome.SUCCESS else None


def refuse_only_errors(name: str, errors: Sequence[str], of: int) -> None:
    """An attack that fails on single texts is a pity; one that fails on every text does not fit the model."""
    if errors and len(errors) == of:
        raise BadInput(f"{name} cannot attack the model in training: {errors[0]}")
