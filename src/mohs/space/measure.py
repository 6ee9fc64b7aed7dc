"""The base class of most measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mohs.space.constraints import Family
from mohs.space.services import Services
from mohs.text import Text


class Compared:
    """A measure that compares texts with the original or, if `previous` is set, with the text before the step.

    A subclass is a frozen dataclass that defines its name, family, needs and `against`. A measure that judges a step in
    another way defines `of_texts` instead. One with a least and a greatest value may say so in `limits`: a threshold
    that no value passes is refused.
    """

    family: ClassVar[Family]
    needs: ClassVar[tuple[str, ...]] = ()
    previous = False
    window: int | None = None

    @property
    def stepwise(self) -> bool:
        """With a window or against the text before, it judges each step."""
        return self.previous or self.window is not None

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The value of each candidate."""
        return await self.against(self.reference(original, current), candidates, ask)

    def reference(self, original: Text, current: Text | None) -> Text:
        """The text that candidates are compared with."""
        return current if current is not None and self.previous else original

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The value of each candidate compared with one text."""
        raise NotImplementedError
