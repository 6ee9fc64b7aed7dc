"""Several victims that answer as one: the mean of their probabilities."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mohs.errors import BadInput, VictimError
from mohs.models.victim import Fields, Scores, Victim, answers_of, traits_of


class Mean:
    """The mean of the probabilities of several victims; a vote where they give labels only.

    Also a surrogate for attacks: texts that fool the mean often fool a model that nobody has seen.
    """

    def __init__(self, *victims: Victim) -> None:
        if len(victims) < 2:
            raise BadInput("A mean needs at least two victims, as in mean(hf:A, hf:B).")
        if any(traits_of(victim).rejects for victim in victims):
            raise BadInput("A mean of victims cannot hold one that rejects texts; put the detector outside.")
        names = {victim.labels for victim in victims if victim.labels}
        if len(names) > 1:
            shown = "; ".join(f"{victim.name}: {', '.join(victim.labels)}" for victim in victims)
            raise BadInput(f"The victims of a mean have different classes ({shown}); they must be the same.")
        self.victims: Sequence[Victim] = victims
        self.name = f"mean({', '.join(victim.name for victim in victims)})"
        self.fingerprint = hashlib.sha256(" ".join(v.fingerprint for v in victims).encode()).hexdigest()[:32]
        self.in_flight = 1
        self.labels = next(iter(names), ())
        all_traits = [traits_of(victim) for victim in victims]
        self.hard = False
        self.exact = all(traits.exact for traits in all_traits)
        self.together = min(traits.together for traits in all_traits)
        self.tolerance = max(traits.tolerance for traits in all_traits)
        self.crowd = max(traits.crowd for traits in all_traits)
        self.remote = any(traits.remote for traits in all_traits)
        self.inside = None
        precise = [traits.verdict or victim for traits, victim in zip(all_traits, victims, strict=True)]
        differ = any(one is not victim for one, victim in zip(precise, victims, strict=True))
        self.verdict: Victim | None = Mean(*precise) if differ else None

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """One batch; each victim splits it as it likes."""
        return [list(items)] if items else []

    def launch(self, batch: list[Fields]) -> Any:
        """The batch; it is asked when its answers are collected."""
        return list(batch)

    def collect(self, ticket: list[Fields]) -> list[Scores]:
        """Ask every victim, and take the mean."""
        tables = []
        for victim in self.victims:
            found = answers_of(victim, list(dict.fromkeys(ticket)))
            tables.append(np.array([found[fields] for fields in ticket], np.float64))
        if len({table.shape for table in tables}) > 1:
            widths = ", ".join(f"{v.name} {t.shape[1]}" for v, t in zip(self.victims, tables, strict=True))
            raise VictimError(f"The victims of a mean have different numbers of classes ({widths}).")
        return [tuple(row) for row in np.mean(tables, axis=0).tolist()]

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """The number of characters that any of the victims sees."""
        seen = [victim.visible(fields) for victim in self.victims]
        known = [one for one in seen if one is not None]
        return None if len(known) < len(seen) else tuple(map(max, zip(*known, strict=True)))
