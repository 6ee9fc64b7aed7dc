"""What an attack is: a frozen dataclass that defines its space and searches it for one example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

from mohs.attacks.goal import UNTARGETED, Goal, keeps_label
from mohs.attacks.slices import Key, Made, slices
from mohs.engine import BudgetSpent, Meter
from mohs.errors import BadInput
from mohs.space import Constraint, Rewriter, Services, Source, Space
from mohs.space.rewrites import only_rewrites, rewriters
from mohs.space.written import called
from mohs.text import Text

Scores = tuple[float, ...]


@dataclass(frozen=True)
class Ask(Services):
    """What a search may query, and its random generator."""

    _victim: Meter[Text, Scores]

    async def victim(self, texts: Sequence[Text]) -> list[Scores]:
        """The victim's probabilities for each text."""
        return await self._victim(texts)

    async def each(self, x: Text, keys: Sequence[Key], make: Callable[[Key], Text]) -> list[Scores]:
        """The victim's probabilities for the text made of each key, which is about as long as `x`.

        Like `victim`, but long texts are made and asked in slices, so that few of them exist at once.
        """
        parts = slices(x, keys)
        if len(parts) > 1 and self._victim.affordable(Made(keys, make)) < len(keys):
            raise BudgetSpent
        return [scores for part in parts for scores in await self.victim([make(key) for key in part])]

    async def scores_of(self, texts: Sequence[Text]) -> dict[Text, Scores]:
        """The scores of the texts, from the first on, as far as the budget allows; BudgetSpent if it allows none."""
        asked = self.affordable(texts) or texts
        return dict(zip(asked, await self.victim(asked), strict=True))

    def affordable(self, texts: Sequence[Text]) -> Sequence[Text]:
        """The texts, from the first on, that the query budget still allows."""
        return texts[: self._victim.affordable(texts)]


class Attack(Protocol):
    """One method. Its fields are its hyper-parameters. Calling it searches the space of one example."""

    needs_scores: ClassVar[bool]  # False if labels alone are enough
    # Optional: `paper`; `cost` (how many queries it takes, in words); `goal: ClassVar[str]` if the aim is not to fool
    # the victim ("reduced:1"); `living: ClassVar[bool] = True` if candidates depend on the text as changed so far; and
    # `word_by_word: ClassVar[bool] = True` if it never holds the candidates of many words at once (see `Ask.each`);
    # `rewrites: ClassVar[bool] = True` if it searches the rewrites of its space (see mohs.space.rewrites), and then
    # `replaces: ClassVar[bool] = False` if it replaces no single words; `keeps_label_of: ClassVar[frozenset[str]]`, the
    # kinds of tasks whose labels it keeps (see mohs.text.kinds), if its source does not say so.

    @property
    def source(self) -> Source | Rewriter:
        """Where replacements come from."""
        ...

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What a candidate must obey."""
        ...

    @property
    def stopwords(self) -> frozenset[str]:
        """Words that are never replaced."""
        ...

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """The best text found. The caller judges whether it fools the victim."""
        ...


def needs(attack: Any) -> tuple[str, ...]:
    """The services an attack uses, through its source, its constraints and its other fields."""
    parts = [getattr(attack, f.name) for f in fields(attack)]
    return tuple(dict.fromkeys(kind for part in parts for kind in _needs(part)))


def fits(name: str, attack: Any) -> None:
    """Refuse a source of which an attack would never try a part."""
    source = getattr(attack, "source", None)
    several = rewriters(source)
    if several and not getattr(attack, "rewrites", False):
        raise BadInput(
            f"{name} replaces single words and would never try the rewrites of {called(several[0])}; give that source "
            "to --attack rewriting."
        )
    if source is not None and not getattr(attack, "replaces", True) and not only_rewrites(source):
        raise BadInput(
            f"{name} rewrites whole texts, but its source here replaces single words; use an attack that does so, such "
            "as greedy."
        )


def goal_of(name: str, attack: Any, wanted: str) -> str:
    """The goal of an attack in a run with the goal `wanted`. An attack's own goal replaces the default one."""
    own = str(getattr(attack, "goal", UNTARGETED))
    if wanted == UNTARGETED:
        return own
    if keeps_label(own) and not keeps_label(wanted):
        raise BadInput(f"{name} keeps the label, so it cannot have the goal {wanted}; use reduced:N, or omit --goal.")
    if keeps_label(wanted) and not keeps_label(own):
        raise BadInput(
            f"{name} changes the label, so it cannot have the goal {wanted}; use it with input-reduction only."
        )
    return wanted


def _needs(part: Any) -> Iterator[str]:
    if isinstance(part, tuple):
        for inner in part:
            yield from _needs(inner)
    elif isinstance(part, Constraint):
        yield from part.measure.needs
    else:
        yield from getattr(part, "needs", ())
