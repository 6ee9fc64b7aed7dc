"""Drawing copies of a text from its space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mohs.space import Constraint, Services, Source
    from mohs.text import Example, Text

_TRIES = 20  # draws for one copy if constraints on whole texts refuse some


@dataclass(frozen=True)
class Drawing:
    """How copies of a text are drawn."""

    name: str
    source: Source
    constraints: tuple[Constraint, ...]
    stopwords: frozenset[str]
    edits: int | None
    rate: float
    copies: int

    async def __call__(self, example: Example, ask: Services) -> list[Text]:
        """At most `copies` texts, uniform over the texts of the space with a change that pass the constraints."""
        from mohs.space import build_space
        from mohs.text.placeholders import without_placeholders

        places = without_placeholders(example.text, example.positions)
        space = await build_space(example.text, self.source, self.constraints, self.stopwords, places, ask)
        if not space.positions:
            return []
        sampler = space.sampler(self.edits or max(1, int(self.rate * len(space.positions) + 0.5)))
        found: list[Text] = []
        for _ in range(self.copies):
            for _ in range(_TRIES):
                while not (edits := sampler(ask.random)):  # the original is a point of the space, too
                    pass
                drawn = await space.allowed(example.text, [example.text.replace_all(edits)], ask)
                if drawn:
                    found += drawn
                    break
        return found
