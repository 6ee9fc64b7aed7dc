"""Texts whose answers are known from before a run: they show whether the victim is still the one that was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from mohs.models.victim import Fields, Scores, Victim, answers_of, differ, traits_of

_COARSE = 0.1  # a victim of low precision rounds by less

Known = Mapping[Fields, Scores]


def answers_alone(model: Victim, texts: Sequence[Fields]) -> dict[Fields, Scores]:
    """The answers of a victim to some texts, each asked by itself.

    Texts that it cannot read are left out: they are the business of their own examples.
    """
    found: dict[Fields, Scores] = {}
    waiting: deque[tuple[tuple[Fields, ...], Any]] = deque()

    def take() -> None:
        batch, ticket = waiting.popleft()
        with suppress(Exception):
            found.update(zip(batch, model.collect(ticket), strict=True))

    for text in dict.fromkeys(texts):
        while len(waiting) >= max(1, model.in_flight):  # an endpoint answers several at once
            take()
        with suppress(Exception):
            waiting.extend((tuple(batch), model.launch(batch)) for batch in model.plan([text]))
    while waiting:
        take()
    return found


def alike_in_batches(model: Victim, known: Known) -> bool:
    """Whether a victim answers some texts in a batch, and in a batch in another order, as it did alone."""
    try:
        several = [answers_of(model, items) for items in (list(known), list(known)[::-1])]
    except Exception:  # asked one by one when it happens again
        return True
    return not any(_apart(model, known, found) for found in several)


def changed(model: Victim, known: Known) -> int:
    """How many of some texts a victim answers otherwise than it did, alone or in a batch; an error counts too."""
    now = answers_alone(model, list(known))
    odd = {*_apart(model, known, now), *(text for text in known if text not in now)}
    with suppress(Exception):  # an error in a batch is no other answer
        odd.update(_apart(model, known, answers_of(model, list(known))))
    return len(odd)


def _apart(model: Victim, known: Known, found: Known) -> list[Fields]:
    """The texts with other scores than before, by more than rounding."""
    traits = traits_of(model)
    most = traits.tolerance if traits.verdict in (None, model) else _COARSE
    return [text for text, scores in found.items() if differ(scores, known[text], most)]
