"""A victim that wraps another one: the base of defences, ensembles and detectors."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from mohs.models.victim import Fields, Scores, Victim, traits_of


class Wrapper:
    """Passes every question on to the wrapped victim. It changes nothing itself; a subclass overrides what it changes.

    `changed` are the traits that differ. A wrapper that answers differently must set `inside=None`; otherwise
    gradients, rows of tokens, bounds and closed forms would be those of the wrapped victim. It must set `exact=False`
    if its answers depend on the other texts in the batch. A wrapper that changes answers needs its own name and
    fingerprint. Its network is never lent.
    """

    def __init__(
        self, victim: Victim, *, name: str | None = None, fingerprint: str | None = None, **changed: Any
    ) -> None:
        self.victim = victim
        self.name = name or victim.name
        self.fingerprint = fingerprint or victim.fingerprint
        self.in_flight = victim.in_flight
        self.labels = victim.labels
        self.hard = self.exact = False  # set below, with the other traits
        kept = replace(traits_of(victim), **{"lends": False, **changed})
        if kept.verdict is victim:
            kept = replace(kept, verdict=None)
        elif kept.verdict is not None and "verdict" not in changed:
            kept = replace(kept, verdict=self._around(kept.verdict))
        for f in fields(kept):
            setattr(self, f.name, getattr(kept, f.name))

    def _around(self, verdict: Victim) -> Victim:
        """The same wrapper around the judging victim; a subclass with its own settings passes them on."""
        return type(self)(verdict)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Split waiting texts into batches."""
        return self.victim.plan(items)

    def launch(self, batch: list[Fields]) -> Any:
        """Start a batch."""
        return self.victim.launch(batch)

    def collect(self, ticket: Any) -> list[Scores]:
        """Finish a batch."""
        return list(self.victim.collect(ticket))

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """The number of characters inside the victim's window, for each field; None if everything fits."""
        return self.victim.visible(fields)
