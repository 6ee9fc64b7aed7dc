"""What all verbs that walk through natural neighbourhoods share: how many examples at once, and how much is to come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mohs.engine import Service
from mohs.errors import BadInput, ServiceFailed
from mohs.space import Services
from mohs.space.natural import Neighbourhood, size_of
from mohs.tasks.subject import Subject, Target, answered
from mohs.text import Example

_SAMPLE_FOR_LENGTH = 1000  # examples by whose length memory is reckoned
_SAMPLE_FOR_SIZE = 8  # examples by which the size of neighbourhoods is estimated
_WORDS_SQUARED = 5_000_000  # of all texts that are walked from at once: a few gigabytes
_SHARE_OF_CROWD = 8  # each search asks hundreds of texts at a time, and what is finished early is safe early


def crowd(subject: Subject) -> int:
    """How many examples to walk from at once: a long text has many neighbours, and all of them are long."""
    sizes = [len(example.text) ** 2 for _, example in zip(range(_SAMPLE_FOR_LENGTH), subject.data, strict=False)]
    fit = _WORDS_SQUARED * len(sizes) // max(1, sum(sizes))
    return max(1, min(subject.target.traits.crowd // _SHARE_OF_CROWD, fit))


def known_to(masked_lm: Service[Any, Any], words: Iterable[str]) -> None:
    """Refuse a masked language model that knows none of the patch words."""
    entries = getattr(masked_lm.model, "entries", None)
    wanted = set(words)
    if entries is not None and not wanted & {text.lower() for text in entries.texts}:
        raise BadInput(
            f"{masked_lm.model.name} has none of the patch words ({', '.join(sorted(wanted)[:3])} ...) in its "
            "vocabulary; use a masked language model of the language of the data."
        )


def first_steps(
    target: Target, examples: Iterable[Example], near: Neighbourhood, ask: Services
) -> list[tuple[Example, float, Sequence[int]]]:
    """For a few examples, how many texts one step leads to, and from which positions."""
    found: list[tuple[Example, float, Sequence[int]]] = []
    for _, example in zip(range(_SAMPLE_FOR_SIZE), examples, strict=False):
        positions = target.sees(example)[1:]  # one word is the patch
        try:
            first = answered(size_of(example.text, 1, near, positions, ask), ask)
        except ServiceFailed:
            raise
        except Exception:  # that example will say so itself
            continue
        found.append((example, first, positions))
    return found
