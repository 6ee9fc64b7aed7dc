"""Shared by all verbs that walk through natural neighbourhoods: how many examples at once, and expected sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mohs.engine import Service
from mohs.errors import BadInput, ServiceFailed
from mohs.space import Services
from mohs.space.natural import Neighbourhood, size_of
from mohs.tasks.subject import Subject, Target, answered
from mohs.text import Example

_SAMPLE_FOR_LENGTH = 1000  # examples whose length is used to estimate memory
_SAMPLE_FOR_SIZE = 8  # examples used to estimate the size of neighbourhoods
_WORDS_SQUARED = 5_000_000  # sum over all texts walked from at once: a few gigabytes
_SHARE_OF_CROWD = 8  # few, because each search asks hundreds of texts at a time, and finished ones are saved early


def crowd(subject: Subject) -> int:
    """How many examples to walk from at once. Long texts need more memory: they have many long neighbours."""
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
            "vocabulary; use a masked language model for the language of the data."
        )


def first_steps(
    target: Target, examples: Iterable[Example], near: Neighbourhood, ask: Services
) -> list[tuple[Example, float, Sequence[int]]]:
    """A few examples, each with the number of texts one step away and the positions that may change."""
    found: list[tuple[Example, float, Sequence[int]]] = []
    for _, example in zip(range(_SAMPLE_FOR_SIZE), examples, strict=False):
        positions = target.sees(example)[1:]  # one word is the patch
        try:
            first = answered(size_of(example.text, 1, near, positions, ask), ask)
        except ServiceFailed:
            raise
        except Exception:  # its own search will report this
            continue
        found.append((example, first, positions))
    return found
