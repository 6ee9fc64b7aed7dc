"""Changes that should not matter: the invariance tests of CheckList (Ribeiro et al. 2020).

The word lists are small and were compiled for this project. They hold common English names and well-known places of one
word. Names that are also ordinary words (Grace, Mark, Turkey) or both name and place (Jordan, Florence) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.space.sources import Offers, offers
from mohs.text import Text
from mohs.text.text import like

EXPAND, CONTRACT = "expand", "contract"  # the names of these sources in the record of an edit

_BOTH_WAYS = """
aren't=are+not can't=cannot couldn't=could+not didn't=did+not doesn't=does+not don't=do+not hadn't=had+not
hasn't=has+not haven't=have+not isn't=is+not mightn't=might+not mustn't=must+not needn't=need+not oughtn't=ought+not
shan't=shall+not shouldn't=should+not wasn't=was+not weren't=were+not won't=will+not wouldn't=would+not i'm=i+am
you're=you+are we're=we+are they're=they+are what're=what+are he's=he+is she's=she+is it's=it+is that's=that+is
there's=there+is what's=what+is who's=who+is where's=where+is when's=when+is why's=why+is how's=how+is i'll=i+will
you'll=you+will he'll=he+will she'll=she+will it'll=it+will we'll=we+will they'll=they+will who'll=who+will
i'd=i+would you'd=you+would he'd=he+would she'd=she+would it'd=it+would that'd=that+would there'd=there+would
we'd=we+would they'd=they+would
"""
# Expanded only: the two words often do not belong together (you have to, here is).
_WRITTEN_OUT_ONLY = """
ain't=is+not here's=here+is let's=let+us i've=i+have you've=you+have we've=we+have they've=they+have who've=who+have
could've=could+have should've=should+have would've=would+have might've=might+have must've=must+have
"""
_NAMES = (
    """
    Amanda Amy Andrea Angela Anna Barbara Betty Brenda Carolyn Catherine Christine Cynthia Deborah Diane Donna
    Elizabeth Emily Emma Hannah Heather Helen Jennifer Jessica Julie Karen Kathleen Kimberly Laura Linda Lisa Margaret
    Maria Martha Mary Melissa Michelle Nancy Nicole Pamela Patricia Rachel Rebecca Ruth Samantha Sandra Sarah Sharon
    Stephanie Susan
    """,
    """
    Aaron Adam Alexander Andrew Anthony Benjamin Brian Charles Christopher Daniel David Dennis Donald Edward Eric
    George Gregory Henry James Jason Jeffrey John Jonathan Joseph Joshua Justin Keith Kenneth Kevin Larry Matthew
    Michael Nathan Nicholas Patrick Paul Peter Philip Raymond Richard Robert Ronald Ryan Samuel Stephen Steven Thomas
    Timothy William
    """,
    """
    Adams Allen Anderson Campbell Clark Collins Davis Diaz Edwards Evans Flores Garcia Gonzalez Hernandez Jackson
    Johnson Jones Lewis Lopez Martinez Miller Mitchell Moore Morgan Morris Murphy Nelson Nguyen Peterson Phillips
    Ramirez Roberts Robinson Rodriguez Rogers Sanchez Smith Stewart Thompson Torres Turner Williams Wilson Wright
    """,
)
_PLACES = (
    """
    Amsterdam Athens Atlanta Bangkok Barcelona Beijing Berlin Boston Brussels Budapest Cairo Chicago Copenhagen Dallas
    Delhi Denver Detroit Dublin Helsinki Houston Istanbul Jakarta Lagos Lisbon London Madrid Manila Melbourne Miami
    Montreal Moscow Mumbai Munich Nairobi Oslo Paris Philadelphia Prague Rome Seattle Seoul Shanghai Stockholm Sydney
    Tokyo Toronto Vienna Warsaw Zurich
    """,
    """
    Argentina Australia Austria Bangladesh Belgium Brazil Canada China Colombia Denmark Egypt Ethiopia Finland France
    Germany Greece India Indonesia Iran Iraq Ireland Israel Italy Japan Kenya Mexico Morocco Nigeria Norway Pakistan
    Peru Poland Portugal Russia Spain Sweden Switzerland Thailand Ukraine Vietnam
    """,
)


@dataclass(frozen=True)
class Expansions:
    """Expands a contraction: is not for isn't, he is for he's."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """At most one offer per word."""
        words = [text.words[position] for position in positions]
        written = [_written_out().get(word.lower().replace("’", "'")) for word in words]
        return [offers(word, [full] if full else [], EXPAND) for word, full in zip(words, written, strict=True)]


@dataclass(frozen=True)
class Contractions:
    """Contracts two words: isn't replaces is, and nothing replaces not. Also can't for cannot.

    The two halves belong together. The CheckList attack makes both edits at once; other searches might make only one.
    If two contractions share a word, the first counts (it's not, rather than it isn't). As in CheckList a space must
    follow, so that no contraction ends a clause (what it is).
    """

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Only where a single space separates the two words and both may change."""
        found: dict[int, Offers] = {position: {} for position in positions}
        spans = text.spans()
        for one in sorted(found):
            field, start, _ = spans[one]
            string = text.fields[field]
            for last in (one, one + 1):
                if found[one] or last not in found or spans[last][0] != field:
                    continue
                end = spans[last][2]
                short = _drawn_together().get(string[start:end].lower())
                if short and string[end : end + 1] == " ":
                    found[one] = {like(short, text.words[one]): CONTRACT}
                    if last != one:
                        found[last] = {"": CONTRACT}
        return [found[position] for position in positions]


@dataclass(frozen=True)
class Names:
    """Replaces a capitalised name by another first name of the same list (women's, men's) or another surname.

    In texts without any capitals, lower-case names count too.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """All other words of the list."""
        return _others(text, positions, _NAMES, "name")


@dataclass(frozen=True)
class Places:
    """Replaces a city by another city and a country by another country; capitals as for names."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """All other words of the list."""
        return _others(text, positions, _PLACES, "place")


@dataclass(frozen=True)
class Numbers:
    """Replaces a number in digits by other whole numbers within a share of it, the nearest first.

    As in CheckList, a number may change by its share, rounded down, plus one. It stays above zero. 2 and 4 are left
    alone, since they may stand for to and for. So are digits that are part of something longer (1,000 and 10:30).
    """

    share: float = 0.2
    k: int = 10

    def __post_init__(self) -> None:
        at_least(0, share=self.share)
        at_least(1, k=self.k)

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """At most k numbers, evenly spread over the range."""
        spans = text.spans()
        found: list[Offers] = []
        for p in positions:
            free = not any(_glued(text, spans, first) for first in (p - 1, p))
            found.append(offers(text.words[p], map(str, self.near(text.words[p])) if free else (), "number"))
        return found

    def near(self, word: str) -> list[int]:
        """The numbers that may replace a number."""
        if not (word.isascii() and word.isdigit()) or word in ("2", "4") or len(word) > 15:
            return []
        number = int(word)
        reach = int(self.share * number) + 1
        step = max(1, min(reach, -(-2 * reach // self.k)))
        spread = range(step, reach + 1, step)
        return [other for gap in spread for other in (number - gap, number + gap) if other > 0][: self.k]


def _glued(text: Text, spans: Sequence[tuple[int, int, int]], first: int) -> bool:
    """Whether a word and the next one of its field have no space between them."""
    if not 0 <= first < len(spans) - 1 or spans[first][0] != spans[first + 1][0]:
        return False
    field, _, end = spans[first]
    return not any(map(str.isspace, text.fields[field][end : spans[first + 1][1]]))


def _others(text: Text, positions: Sequence[int], lists: Sequence[str], name: str) -> list[Offers]:
    small = all(field == field.lower() for field in text.fields)
    found: list[Offers] = []
    for position in positions:
        word = text.words[position]
        others: list[str] = []
        if small or word[:1].isupper():
            for names in map(str.split, lists):
                if word.title() in names:
                    others = [other for other in names if other != word.title()]
        found.append(offers(word, [other.lower() for other in others] if small else others, name))
    return found


def known_name(word: str) -> bool:
    """Whether a word is a common first name."""
    return any(word.title() in names.split() for names in _NAMES[:2])


def known_place(word: str) -> bool:
    """Whether a word is a well-known city or country."""
    return any(word.title() in places.split() for places in _PLACES)


def drawn_alone(word: str) -> bool:
    """Whether a contraction replaces this single word."""
    return word.lower() in _drawn_together()


@cache
def _written_out() -> dict[str, str]:
    return _pairs(_BOTH_WAYS + _WRITTEN_OUT_ONLY)


@cache
def _drawn_together() -> dict[str, str]:
    return {full: short for short, full in _pairs(_BOTH_WAYS).items()}


def _pairs(entries: str) -> dict[str, str]:
    pairs = (entry.split("=") for entry in entries.split())
    return {short: full.replace("+", " ") for short, full in pairs}
