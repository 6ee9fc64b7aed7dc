"""A victim around another: what a defence, an ensemble or a detector is made of."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from mohs.models.victim import Fields, Scores, Victim, traits_of


class Wrapper:
    """Gives every question on to the victim inside. By itself it changes nothing; a subclass overrides what it changes.

    `changed` are traits that it does not keep: one that answers differently must say `inside=None`, or gradients, rows
    of tokens, bounds and closed forms would be those of the victim inside; and `exact=False` if companions matter to
    it. A wrapper has a name and a fingerprint of its own if it changes answers. Its network is never lent.
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
        """The same wrapper around the victim that judges; a subclass with settings of its own passes them on."""
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
        """How many characters of each field fit into the victim's window; None if everything does."""
        return self.victim.visible(fields)
