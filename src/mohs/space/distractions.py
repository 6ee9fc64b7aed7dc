"""Distractions: true or empty additions to a text, which leave what it says as it is."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from mohs.space.rewrites import Rewritten
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text

# Added words change what two questions have in common, so paraphrase tasks are not among these (Wang et al. 2021).
_KEEPS = frozenset({"sentiment", "nli", "qnli"})
_TRUE, _NOT_FALSE = "and true is true", "and false is not true"
_END = re.compile(r"\s*[.!?]*\s*\Z")
_SIGNS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Tautologies:
    """Adds what is always true to the end of a field: "and true is true", "and false is not true", the first again.

    Naik et al. 2018 (StressTest): word overlap, negation and length mismatch. The words stand before the full stop or
    other sign that ends the field. `times` is how often the third repeats "and true is true".
    """

    times: int = 5

    def __post_init__(self) -> None:
        at_least(2, times=self.times)

    needs: ClassVar[tuple[str, ...]] = ()
    keeps_label_of: ClassVar[frozenset[str]] = _KEEPS

    async def rewrite(self, text: Text, number: int, ask: Services) -> Rewritten:
        """The field with each of the three."""
        said = text.fields[number]
        found = _END.search(said)
        assert found is not None, "the end of a string always matches"
        before, after = said[: found.start()], said[found.start() :]
        added = {
            "true": _TRUE,
            "not false": _NOT_FALSE,
            f"true, {self.times} times": " ".join([_TRUE] * self.times),
        }
        return {f"{before} {words}{after}": f"tautology: {name}" for name, words in added.items()}


@dataclass(frozen=True)
class Links:
    """Puts a random link (https://t.co/...) or handle (@...) before or after a field.

    Ribeiro et al. 2020 (CheckList): `each` links and as many handles, every one of them before and after. They are six
    random letters and digits, drawn anew for each example.
    """

    each: int = 5

    def __post_init__(self) -> None:
        at_least(1, each=self.each)

    needs: ClassVar[tuple[str, ...]] = ()
    keeps_label_of: ClassVar[frozenset[str]] = _KEEPS

    async def rewrite(self, text: Text, number: int, ask: Services) -> Rewritten:
        """The field with each of them."""
        said, found = text.fields[number], Rewritten()
        drawn = [*_drawn("link", "https://t.co/", self.each, ask.random)]
        drawn += [*_drawn("handle", "@", self.each, ask.random)]
        for name, one in drawn:
            found[f"{one} {said}"] = f"{name} before"
        for name, one in drawn:
            found[f"{said} {one}"] = f"{name} after"
        return found


def _drawn(name: str, start: str, times: int, random: Random) -> Iterator[tuple[str, str]]:
    for _ in range(times):
        yield name, start + "".join(random.choices(_SIGNS, k=6))
