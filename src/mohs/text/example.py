"""A labelled text, and which of its fields may change."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mohs.errors import BadInput
from mohs.text.text import Text


@dataclass(frozen=True)
class Example:
    """One or two named strings and their label, a class number."""

    id: str
    text: Text
    label: int
    names: tuple[str, ...] = ("text",)
    changeable: tuple[str, ...] = ()  # names of the fields an attack may change; empty: the last one

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise BadInput(f"The id {self.id!r} is not a string; write it as {str(self.id)!r}.")
        if not 1 <= len(self.names) <= 2 or len(set(self.names)) != len(self.names):
            raise BadInput(
                f"Example {self.id} has the fields {', '.join(self.names) or 'none'}; give one, or two different ones."
            )
        if len(self.names) != len(self.text.fields):
            raise BadInput(
                f"Example {self.id} has {len(self.text.fields)} texts for the fields {', '.join(self.names)}; "
                "give as many texts as fields."
            )
        number = whole_number(self.label)
        if number is None or number < 0:
            raise BadInput(f"Example {self.id} has label {self.label!r}; labels are whole numbers from 0.")
        object.__setattr__(self, "label", number)
        for string in (self.id, *self.names, *self.text.fields):
            if has_surrogates(string):
                raise BadInput(f"Example {self.id!a} holds half a surrogate pair, which is not valid text; remove it.")
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
        fields = (text,) if isinstance(text, str) or not isinstance(text, Sequence) else tuple(text)
        for field in fields:
            if not isinstance(field, str):
                raise BadInput(f"Example {id} holds {field!r}, which is not a text.")
        default = ("text",) if len(fields) == 1 else ("premise", "hypothesis")
        return cls(id, Text(*fields), label, tuple(names or default), tuple(changeable))

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The positions of the words an attack may change. In a pair the default is the second text, as in papers."""
        allowed = set(self.changeable or self.names[-1:])
        return tuple(
            position for position, (field, _, _) in enumerate(self.text.spans()) if self.names[field] in allowed
        )


def whole_number(value: Any) -> int | None:
    """A label as an int. None if it is not a whole number, and for True and False, whose order would be a guess."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)
    except TypeError:
        return None


def has_surrogates(string: str) -> bool:
    """Whether a string holds half a surrogate pair. JSON can write one, but no encoding can."""
    try:
        string.encode()
    except UnicodeEncodeError:
        return True
    return False
