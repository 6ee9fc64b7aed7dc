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
    original: all contractions written out, all pairs of words drawn together, one name, place or number changed
    wherever it stands. In the preset `textattack` they are combined by greedy search, each word once.

    Differs from the paper's code:
    - names and places are told by our own short lists and a capital letter (in a text without capitals by the lists
      alone), not by an entity recogniser; only those of one word, so the first name and the surname of a person change
      one without the other; all names of the same list are tried, not a random ten;
    - numbers are spread evenly over the range of 20%, not drawn at random;
    - contractions are of our own list; those cut in two by a tokeniser (it 's) are not seen;
    - typos, added links and the tests with templates are left out: they make other texts, not other words.
    """

    paper: ClassVar[str] = "Ribeiro et al. 2020"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "one a change: up to fifty a name or place, ten a number"

    source: Source = Union((Expansions(), Contractions(), Names(), Places(), Numbers()))
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Every perturbation alone; the strongest that reaches the goal, or the strongest."""
        (clean,) = await ask.victim([x])
        texts = list(dict.fromkeys(x.replace_all(move) for move in perturbations(space)))
        texts = await space.allowed(x, texts, ask)
        probs_of = await ask.scores_of(texts)
        better = [t for t in probs_of if goal.met(probs_of[t]) or goal.score(probs_of[t]) > goal.score(clean)]
        return min(better, key=lambda t: (not goal.met(probs_of[t]), -goal.score(probs_of[t]), t), default=x)


@dataclass(frozen=True)
class CombinedCheckList:
    """The same perturbations, combined greedily as in TextAttack's recipe: each word once, the strongest next.

    As there a number may move by all of itself.

    Differs from TextAttack:
    - it takes three random names, places and numbers each time, ours are the same ten numbers and all of our lists;
    - its recogniser finds persons and places, of several words too, and it has nationalities and written numbers;
    - it contracts no pair behind a word already changed, and knows contractions in small letters only;
    - the strongest text seen is the answer if none fools the victim, not the last.
    """

    paper: ClassVar[str] = "Ribeiro et al. 2020"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one a change, a step"

    source: Source = Union((Expansions(), Contractions(), Names(), Places(), Numbers(share=1.0)))
    constraints: tuple[Constraint, ...] = (Constraint(PositionsAgain(), at_most=0),)
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One change a step, until fooled or nothing is left to change."""
        return await beam_search(x, goal, space, single_changes(space), 1, ask)


def perturbations(space: Space) -> list[Move]:
    """Contractions of one kind all together, anything else one old word for one new, wherever it stands."""
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
    """One replacement each; the two halves of a contraction go together."""
    others = [{p: w} for p, words in space.choices.items() for w in words if space.offers[p][w] != CONTRACT]
    return [*others, *contractions(space)]


def contractions(space: Space) -> list[Move]:
    """Every contraction with all its halves; none if constraints refuse one of them."""
    found: list[Move] = []
    for p, words in space.choices.items():
        for word in words:
            if word and space.offers[p][word] == CONTRACT:
                if drawn_alone(space.text.words[p]):
                    found.append({p: word})
                elif space.offers.get(p + 1, {}).get("") == CONTRACT:
                    found.append({p: word, p + 1: ""})
    return found
