"""Changes that should not matter, after the invariance tests of CheckList (Ribeiro et al. 2020).

The word lists were compiled for this project and are small: common English names and well-known places of one word,
without those that are also ordinary words (Grace, Mark, Turkey) or names of both kinds (Jordan, Florence).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.sources import Offers, offers
from mohs.text import Text
from mohs.text.text import like

EXPAND, CONTRACT = "expand", "contract"  # the names of these sources in the record of an edit

_CONTRACTIONS = """
aren't=are+not can't=can+not couldn't=could+not didn't=did+not doesn't=does+not don't=do+not hadn't=had+not
hasn't=has+not haven't=have+not isn't=is+not mightn't=might+not mustn't=must+not needn't=need+not shan't=shall+not
shouldn't=should+not wasn't=was+not weren't=were+not won't=will+not wouldn't=would+not i'm=i+am you're=you+are
we're=we+are they're=they+are he's=he+is she's=she+is it's=it+is that's=that+is there's=there+is here's=here+is
what's=what+is who's=who+is where's=where+is how's=how+is i've=i+have you've=you+have we've=we+have they've=they+have
i'll=i+will you'll=you+will he'll=he+will she'll=she+will it'll=it+will we'll=we+will they'll=they+will i'd=i+would
you'd=you+would he'd=he+would she'd=she+would we'd=we+would they'd=they+would could've=could+have
should've=should+have would've=would+have let's=let+us
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
    """A contraction written out: is not for isn't, he is for he's."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """At most one for each word."""
        words = [text.words[position] for position in positions]
        written = [_written_out().get(word.lower().replace("’", "'")) for word in words]
        return [offers(word, [full] if full else [], EXPAND) for word, full in zip(words, written, strict=True)]


@dataclass(frozen=True)
class Contractions:
    """Two words drawn together: isn't in the place of is, and nothing in the place of not.

    The halves belong together. The CheckList attack puts in both at once; other searches would take one without the
    other. Of two contractions that share a word the first counts (it's not, rather than it isn't).
    """

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Only where one space stands between the two words and both may change."""
        found: dict[int, Offers] = {position: {} for position in positions}
        spans = text.spans()
        for one, two in zip(sorted(found), sorted(found)[1:], strict=False):
            (field, _, end), (other, start, _) = spans[one], spans[two]
            if found[one] or field != other or text.fields[field][end:start] != " ":
                continue
            short = _drawn_together().get(f"{text.words[one]} {text.words[two]}".lower())
            if short:
                found[one], found[two] = {like(short, text.words[one]): CONTRACT}, {"": CONTRACT}
        return [found[position] for position in positions]


@dataclass(frozen=True)
class Names:
    """Other first names of the same list (women's, men's), or other surnames, for a capitalised name."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """All others of the list."""
        return [_others(text.words[position], _NAMES, "name") for position in positions]


@dataclass(frozen=True)
class Places:
    """Other cities for a city, other countries for a country."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """All others of the list."""
        return [_others(text.words[position], _PLACES, "place") for position in positions]


@dataclass(frozen=True)
class Numbers:
    """Other whole numbers within a share of a number written in digits, the nearest first.

    As in CheckList a number may move by its share rounded down and one more, stays over nought, and 2 and 4 are left
    alone, since they may stand for to and for.
    """

    share: float = 0.2
    k: int = 10

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """At most k numbers, evenly spread over the range."""
        return [offers(text.words[p], map(str, self.near(text.words[p])), "number") for p in positions]

    def near(self, word: str) -> list[int]:
        """The numbers that may stand for one."""
        if not (word.isascii() and word.isdigit()) or word in ("2", "4") or len(word) > 15:
            return []
        number = int(word)
        reach = int(self.share * number) + 1
        step = max(1, -(-2 * reach // self.k))
        spread = range(step, reach + 1, step)
        return [other for gap in spread for other in (number - gap, number + gap) if other > 0][: self.k]


def _others(word: str, lists: Sequence[str], name: str) -> Offers:
    if word[:1].isupper():
        for names in lists:
            plain = names.split()
            if word.title() in plain:
                return offers(word, [other for other in plain if other != word.title()], name)
    return {}


@cache
def _written_out() -> dict[str, str]:
    pairs = (entry.split("=") for entry in _CONTRACTIONS.split())
    return {short: full.replace("+", " ") for short, full in pairs}


@cache
def _drawn_together() -> dict[str, str]:
    return {full: short for short, full in _written_out().items()}
