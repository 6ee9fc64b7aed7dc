"""Adversarial misspellings (Pruthi et al. 2019)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import AddLetter, Constraint, DropLetter, Keyboard, Source, Space, SwapLetters, Union
from mohs.text import Text
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class Pruthi:
    """Misspell one or two words, trying every slip of the inner letters.

    Pruthi et al. 2019. Of words of at least four letters, two neighbouring letters change places, one is
    dropped, one is put in, or one becomes a neighbour on the keyboard; the first and the last letter stay. All variants
    of all words are asked. If none fools the model, the strongest is kept and all variants of the other words are tried
    on top of it, up to `words` words: the preset `paper` is its attack of two characters (a text that falls at the
    first gets one edit only, so the attack of one character is in it); preset `textattack` stops after one.

    Differs from the released code:
    - it stops at the first variant that fools, so it asks fewer; here a round is asked whole and the strongest wins;
    - it steers by the confidence of whatever class is predicted, here by that of the goal;
    - it leaves short words alone under three letters, and under five for swaps; its keys touch only straight above,
      below and beside.

    Differs from TextAttack: a letter put in is each of the alphabet, where TextAttack draws one for each place, and may
    stand before the last letter too; its table of touching keys is another.
    """

    paper: ClassVar[str] = "Pruthi et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one a misspelling of any word, for each word changed"

    words: int = 2
    source: Source = Union(
        (
            SwapLetters(inner=True, min_length=4),
            DropLetter(inner=True, min_length=4),
            AddLetter(inner=True, min_length=4),
            Keyboard(inner=True, min_length=4),
        )
    )
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """All misspellings of all words not misspelt yet, as often as words may change."""
        current, left = x, list(space.positions)
        with suppress(BudgetSpent):
            for _ in range(self.words):
                edits = [(p, current.replace(p, word)) for p in left for word in space.choices[p]]
                place = {candidate: p for p, candidate in reversed(edits)}
                candidates = await space.allowed(current, [candidate for _, candidate in edits], ask)
                if not candidates:
                    break
                probs_of = await ask.scores_of(candidates)
                current = min(probs_of, key=lambda c: (not goal.met(probs_of[c]), -goal.score(probs_of[c]), c))
                if goal.met(probs_of[current]):
                    break
                left.remove(place[current])
        return current
