"""A labelled text, and which of its fields may change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mohs.errors import BadInput
from mohs.text.text import Text


@dataclass(frozen=True)
class Example:
    """One or two named strings and the number of their label."""

    id: str
    text: Text
    label: int
    names: tuple[str, ...] = ("text",)
    changeable: tuple[str, ...] = ()  # names of the fields an attack may touch; none named: the last one

    def __post_init__(self) -> None:
        if len(self.names) != len(self.text.fields):
            raise BadInput(
                f"Example {self.id} has {len(self.text.fields)} texts for the fields {', '.join(self.names)}; "
                "give as many texts as fields."
            )
        if self.label < 0:
            raise BadInput(f"Example {self.id} has label {self.label}; labels are numbers from 0.")
        for name in self.changeable:
            if name not in self.names:
                raise BadInput(f"Field {name!r} cannot change: the fields are {', '.join(self.names)}.")

    @classmethod
    def of(
        cls,
        text: str | Sequence[str],
        label: int,
        *,
        id: str = "0",
        names: Sequence[str] | None = None,
        changeable: Sequence[str] = (),
    ) -> Example:
        """An example from a plain string, or from a premise and a hypothesis."""
        fields = (text,) if isinstance(text, str) else tuple(text)
        default = ("text",) if len(fields) == 1 else ("premise", "hypothesis")
        return cls(id, Text(*fields), label, tuple(names or default), tuple(changeable))

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The words an attack may touch. In a pair that is by default the second text, as the papers do."""
        allowed = set(self.changeable or self.names[-1:])
        return tuple(
            position for position, (field, _, _) in enumerate(self.text.spans()) if self.names[field] in allowed
        )
