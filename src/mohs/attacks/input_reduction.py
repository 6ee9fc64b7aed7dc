"""Input reduction (Feng et al. 2018): how little of a text keeps the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from mohs.attacks.goal import SCORE_DECIMALS, Goal, predicted
from mohs.attacks.importance import ranked
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Services, ShareChanged, Source, Space
from mohs.space.sources import Offers
from mohs.text import Text
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class Deletion:
    """Replaces a word by nothing."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Offers the empty word everywhere."""
        return [{"": "delete"} for _ in positions]


_SHARE_DELETED = (Constraint(ShareChanged()),)  # forbids nothing, but puts the share into the record


@dataclass(frozen=True)
class InputReduction:
    """Delete the least important words for as long as the prediction stays.

    Feng et al. 2018. The importance of a word is the confidence lost without it. The least important word is deleted,
    again and again. A beam of five (preset `greedy`: of one) looks for the shortest text that keeps the prediction. At
    least one word stays.

    The search wants a text with the *same* prediction that no reader would still give that label. So it has its own
    goal: `reduced:N`, met if the prediction is still the true label and at most N words are left (in a pair: in the
    fields that may change). N is 1 unless --goal says otherwise; the search always continues to the shortest text. A
    success fools nobody, so there is no accuracy under attack, and no other goal is accepted.

    Differs from the paper:
    - importance is measured by deletion; the paper mostly approximates it by the gradient;
    - only correctly classified texts are reduced, as in TextAttack, so the prediction is the true label;
    - the beam keeps the most confident of the texts that keep the prediction. So if deleting the least important word
      changes the prediction, another word is tried.
    """

    paper: ClassVar[str] = "Feng et al. 2018"
    needs_scores: ClassVar[bool] = True
    goal: ClassVar[str] = "reduced:1"
    cost: ClassVar[str] = "the words left, times the beam (5), per deleted word"

    width: int = 5
    source: Source = Deletion()
    constraints: tuple[Constraint, ...] = _SHARE_DELETED
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Each step is one word shorter. Returns the most confident of the shortest texts."""
        (clean,) = await ask.victim([x])
        y = predicted(clean)
        beam = [x]
        with suppress(BudgetSpent):
            while True:
                shorter: dict[Text, None] = {}
                for text in beam:
                    present = [p for p in space.positions if text.words[p]]
                    made = [text.replace(p, "") for p in present] if len(present) > 1 else []
                    shorter |= dict.fromkeys(await space.allowed(text, made, ask))
                if not shorter:
                    break
                probs_of = await ask.scores_of(list(shorter))
                kept = [c for c, probs in probs_of.items() if predicted(probs) == y]
                if not kept:
                    break
                beam = sorted(kept, key=lambda c: (-round(probs_of[c][y], SCORE_DECIMALS), c))[: self.width]
        return beam[0]


@dataclass(frozen=True)
class RankedInputReduction:
    """Rank the words once, then delete them from the least important on, each if the prediction stays.

    Input reduction as in TextAttack. Importance is not measured again after a deletion. Stopwords (NLTK's) are never
    deleted, so a text with two of them cannot shrink to one word. The goal is that of InputReduction.

    Differs from TextAttack: its recipe never calls a text short enough and returns the shortest; here `reduced:N`
    judges the result. In a pair, one word stays in the field that may change (in TextAttack: one word of both texts).
    """

    paper: ClassVar[str] = "Feng et al. 2018"
    needs_scores: ClassVar[bool] = True
    goal: ClassVar[str] = "reduced:1"
    cost: ClassVar[str] = "two per word"
    word_by_word: ClassVar[bool] = True

    source: Source = Deletion()
    constraints: tuple[Constraint, ...] = _SHARE_DELETED
    stopwords: frozenset[str] = NLTK

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One pass. At least one word stays, possibly a stopword."""
        (clean,) = await ask.victim([x])
        y = predicted(clean)
        without = await ask.each(x, space.positions, lambda p: x.replace(p, ""))
        confidence = {p: probs[y] for p, probs in zip(space.positions, without, strict=True)}
        spans = x.spans()
        touched = {spans[p][0] for p in space.positions}
        own = [p for p, (field, _, _) in enumerate(spans) if field in touched]
        current = x
        with suppress(BudgetSpent):
            for p in ranked(confidence):  # the more confident without a word, the less important it is
                if sum(bool(current.words[other]) for other in own) == 1:
                    break
                for candidate in await space.allowed(current, [current.replace(p, "")], ask):
                    (probs,) = await ask.victim([candidate])
                    if predicted(probs) == y:
                        current = candidate
        return current


greedy = partial(InputReduction, width=1)
