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

    Pruthi et al. 2019. In words of at least four letters, two adjacent letters are swapped, one is dropped, one is
    added, or one becomes a neighbour on the keyboard. The first and the last letter stay. All variants of all words are
    queried. If none fools the model, the strongest is kept, and all variants of the other words are tried on top of it,
    up to `words` words. Preset `paper` is the paper's attack of two characters. It includes the attack of one
    character, since a text that falls to the first edit gets no second. Preset `textattack` stops after one word.

    Differs from the released code:
    - the code stops at the first variant that fools the model, so it queries fewer; here a whole round is queried and
      the strongest wins;
    - the code follows the confidence of whatever class is predicted; here the goal decides;
    - the code skips words under three letters, and under five for swaps; its keyboard neighbours are only those
      straight above, below and beside.

    Differs from TextAttack: every letter of the alphabet is added, where TextAttack draws one for each place; a letter
    may also be added before the last; and its table of neighbouring keys is different.
    """

    paper: ClassVar[str] = "Pruthi et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per misspelling of any word, for each word changed"

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
        """Try all misspellings of all unchanged words, once for each word that may change."""
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
