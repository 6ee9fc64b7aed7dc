"""Templates with slots, as CheckList has them: "{name} is not {a:job}, but {name2} is."

- `{job}`: a value of the slot `job`; the same value wherever the slot stands in one example;
- `{job2}`: another value of the same slot, different from all others in the example;
- `{a:job}`, `{A:job}`: the value with its article, a or an;
- `{trait.0}`, `{trait.1}`: a part of a value that is a list of texts, such as [rich, poor].
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from mohs.errors import BadInput

Value = str | Sequence[str]
Slots = Mapping[str, Sequence[Value]]

_SLOT = re.compile(r"\{(?:(?P<article>[aA]):)?(?P<slot>[a-z_]+)(?P<other>\d*)(?:\.(?P<part>\d+))?\}")
_BRACE = re.compile(r"\{[^}]*\}?|\}")
_A = re.compile(  # a unit, a user, a European, a Ukrainian
    r"uni(?![mn]|de)|unanim|us[aeu]|uk|ugan|ut[eio]|ur[aiu]|ubi|eu|ewe|one\b|once\b", re.IGNORECASE
)
_AN = re.compile(r"hono|honest|hour|heir|8|1[18]\b|x-|[aeiou]", re.IGNORECASE)


@dataclass(frozen=True)
class Template:
    """One example with slots; it has a text for each field of the task."""

    texts: tuple[str, ...]
    place: str  # for messages

    def check(self, slots: Slots) -> None:
        """Refuse what can never be filled."""
        for text in self.texts:
            odd = _BRACE.search(_SLOT.sub("", text))
            if odd:
                raise self._wrong(f"has {odd[0]!r}; write a slot as {{name}}, {{name2}}, {{a:name}} or {{name.0}}")
        for slot, uses in self._uses().items():
            if slot not in slots:
                raise self._wrong(f"has the unknown slot {slot!r}; there are {', '.join(slots) or 'none'}")
            if len(uses) > len(slots[slot]):
                raise self._wrong(
                    f"needs {len(uses)} different values of {slot!r}, which has {len(slots[slot])}; add more"
                )
        for match in self._slots():
            lengths = [None if isinstance(value, str) else len(value) for value in slots[match["slot"]]]
            part = None if match["part"] is None else int(match["part"])
            if not all(length is None if part is None else length is not None and part < length for length in lengths):
                raise self._wrong(
                    f"has {match[0]}, which does not fit all values of the slot; name a part, as in "
                    f"{{{match['slot']}.0}}, if and only if each value is a list with such a part"
                )

    def filled(self, slots: Slots, most: int, random: Random) -> Iterator[tuple[str, ...]]:
        """The texts with values in their slots: all ways to fill them, or `most` of them drawn at random, in order."""
        total = self.ways(slots)
        numbers = set(range(total)) if total <= most else set[int]()
        while len(numbers) < min(most, total):
            numbers.add(random.randrange(total))
        for number in sorted(numbers):
            said = partial(_said, values=self._values(slots, number))
            yield tuple(_SLOT.sub(said, text) for text in self.texts)

    def ways(self, slots: Slots) -> int:
        """In how many ways the slots can be filled."""
        return math.prod(math.perm(len(slots[slot]), len(uses)) for slot, uses in self._uses().items())

    def _values(self, slots: Slots, number: int) -> dict[tuple[str, str], Value]:
        """The values of one way. The last slot turns fastest, like the last digit of a number."""
        found: dict[tuple[str, str], Value] = {}
        for slot, uses in reversed(self._uses().items()):
            left = list(slots[slot])
            for use in uses:
                number, place = divmod(number, len(left))
                found[slot, use] = left.pop(place)
        return found

    def _uses(self) -> dict[str, list[str]]:
        """The slots in order, each with the numbers that tell its values apart."""
        found: dict[str, list[str]] = {}
        for match in self._slots():
            uses = found.setdefault(match["slot"], [])
            if match["other"] not in uses:
                uses.append(match["other"])
        return found

    def _slots(self) -> Iterator[re.Match[str]]:
        return (match for text in self.texts for match in _SLOT.finditer(text))

    def _wrong(self, what: str) -> BadInput:
        return BadInput(f"{self.place} {what}.")


def article(word: str) -> str:
    """The indefinite article of a word, by its first letters."""
    return "an" if _AN.match(word) and not _A.match(word) else "a"


def _said(match: re.Match[str], values: Mapping[tuple[str, str], Value]) -> str:
    value = values[match["slot"], match["other"]]
    said = value if isinstance(value, str) else value[int(match["part"])]
    given = match["article"]
    return f"{article(said).capitalize() if given == 'A' else article(said)} {said}" if given else said
