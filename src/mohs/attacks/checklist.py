"""CheckList's invariance perturbations (Ribeiro et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.beam import beam_search
from mohs.attacks.climb import Move
from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.space import Constraint, PositionsAgain, Source, Space, Union
from mohs.space.checklist import CONTRACT, EXPAND, Contractions, Expansions, Names, Numbers, Places, drawn_alone
from mohs.text import Text


@dataclass(frozen=True)
class CheckList:
    """Make changes that should not matter (contractions, names, places, numbers) and see whether one does.

    Ribeiro et al. 2020, the general-purpose perturbations of the invariance tests. Each is tried by itself on the
    original: expand all contractions, contract all pairs of words that allow it, or change one name, place or number
    wherever it occurs. Preset `textattack` combines them by greedy search and changes each word at most once.

    Differs from the paper's code:
    - names and places are recognised by our own short lists and a capital letter (by the lists alone if the text has no
      capitals), not by an entity recogniser. They are single words, so the first name and the surname of a person
      change independently. All names of a list are tried, not a random ten;
    - numbers are spread evenly over the range of 20%, not drawn at random;
    - contractions come from our own list; those split by a tokeniser (it 's) are not recognised;
    - typos and the template tests are left out: they make other texts, not other words. Added links and handles are the
      attack `distraction:checklist`.
    """

    paper: ClassVar[str] = "Ribeiro et al. 2020"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "one per change: up to fifty per name or place, ten per number"

    source: Source = Union((Expansions(), Contractions(), Names(), Places(), Numbers()))
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Every perturbation alone: the strongest that reaches the goal, else the strongest."""
        (clean,) = await ask.victim([x])
        texts = dict.fromkeys(x.replace_all(move) for move in perturbations(space))
        allowed = await space.allowed(x, list(texts), ask)
        probs_of = await ask.scores_of(allowed)
        better = [t for t in probs_of if goal.met(probs_of[t]) or goal.score(probs_of[t]) > goal.score(clean)]
        return min(better, key=lambda t: (not goal.met(probs_of[t]), -goal.score(probs_of[t]), t), default=x)


@dataclass(frozen=True)
class CombinedCheckList:
    """The same perturbations, combined greedily as in TextAttack's recipe: each word once, the strongest next.

    As in TextAttack, a number may change by up to 100%.

    Differs from TextAttack:
    - it draws three random names, places and numbers each time; ours are always the same ten numbers and all of our
      lists;
    - its recogniser finds persons and places, also of several words, and it has nationalities and written numbers;
    - it contracts no pair that follows a changed word, and knows contractions in lower case only;
    - if none fools the victim, the strongest text seen is returned, not the last.
    """

    paper: ClassVar[str] = "Ribeiro et al. 2020"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per change and step"

    source: Source = Union((Expansions(), Contractions(), Names(), Places(), Numbers(share=1.0)))
    constraints: tuple[Constraint, ...] = (Constraint(PositionsAgain(), at_most=0),)
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One change per step, until the victim is fooled or nothing is left to change."""
        return await beam_search(x, goal, space, single_changes(space), 1, ask)


def perturbations(space: Space) -> list[Move]:
    """All contractions of one kind together; otherwise one old word replaced by one new word wherever it occurs."""
    drawn = {p: word for move in contractions(space) for p, word in move.items()}
    found: dict[tuple[str, ...], dict[int, str]] = {(EXPAND,): {}, (CONTRACT,): drawn}
    for p, words in space.choices.items():
        for word in words:
            name = space.offers[p][word]
            if name != CONTRACT:
                key = (name,) if name == EXPAND else (name, space.text.words[p], word)
                found.setdefault(key, {}).setdefault(p, word)
    return [move for move in found.values() if move]


def single_changes(space: Space) -> list[Move]:
    """One replacement each. The two halves of a contraction change together."""
    others = [{p: w} for p, words in space.choices.items() for w in words if space.offers[p][w] != CONTRACT]
    return [*others, *contractions(space)]


def contractions(space: Space) -> list[Move]:
    """Every contraction with both halves, or none of it if constraints refuse a half."""
    found: list[Move] = []
    for p, words in space.choices.items():
        for word in words:
            if word and space.offers[p][word] == CONTRACT:
                if drawn_alone(space.text.words[p]):
                    found.append({p: word})
                elif space.offers.get(p + 1, {}).get("") == CONTRACT:
                    found.append({p: word, p + 1: ""})
    return found
