"""CLARE (Li et al. 2021): replace, insert and merge words by a masked language model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask, Scores
from mohs.engine import BudgetSpent, together
from mohs.space import Constraint, MaskedWords, SentenceSimilarity, Source, Space, Union
from mohs.space.inserted import InsertedWords, MergedWords, Sparing, merges, offered
from mohs.text import Text
from mohs.text.stopwords import NLTK

_REPLACE = MaskedWords(k=50, min_probability=5e-4)


class Action(NamedTuple):
    """One change of a text: its position, its kind, and the resulting text."""

    position: int
    kind: int  # 0 replaces, 1 inserts, 2 merges
    text: Text


@dataclass(frozen=True)
class Actions:
    """The three ways to change a text. Replacements come from the space's own source."""

    insert: Source | None = InsertedWords(k=50, before=False)
    merge: Source = MergedWords(k=50, min_probability=5e-3)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the two sources need."""
        return (*(self.insert.needs if self.insert else ()), *self.merge.needs)

    async def __call__(self, current: Text, positions: Sequence[int], space: Space, ask: Ask) -> list[Action]:
        """Every action at these positions. Words that an action has already changed are left alone."""
        free = {p for p in space.positions if current.words[p] == space.text.words[p]}
        places = [p for p in positions if p in free]
        pairs = [p for p in places if p + 1 in free]
        asked = [space.words(current, places, ask)]
        if self.insert:
            asked.append(offered(space, self.insert, current, places, ask))
        *words, merged = await together(*asked, merges(space, self.merge, current, pairs, ask))
        found = [
            Action(p, kind, current.replace(p, word))
            for kind, each in enumerate(words)
            for p, new in zip(places, each, strict=True)
            for word in new
        ]
        return found + [Action(p, 2, text) for p, texts in zip(pairs, merged, strict=True) for text in texts]


@dataclass(frozen=True)
class Clare:
    """Replace a word, insert one after it or merge two, wherever that hurts most, one action per position.

    Li et al. 2021, "Contextualized perturbation for textual adversarial attack", Algorithm 1. Every action at every
    position is tried on the original text, and the best of each position is noted. The noted actions are then applied,
    the strongest first, until the victim is fooled. Each is filled in again on the text as changed so far, and applied
    if it helps (as in the released code; the algorithm can be read either way). Guesses of the masked language model
    need a probability of 5e-4 to replace and of 5e-3 to merge. At most 50 are used. Stopwords are not replaced.

    The paper states a similarity of 0.7. The released code's scale is 1 - angle, in a window of 15 words against the
    text before the step: 0.904507 as 1 - angle/pi, 0.9553 as a cosine. This attack does the same.

    Differs from the paper and the released code:
    - there is no limit on the number of actions (we do not know the paper's T; the code has none);
    - a word is inserted after a word; the code also inserts beside punctuation, but never after the last token;
    - two words are merged if their parts of speech are among the code's pairs and only whitespace is between them; the
      code spares the first five tokens;
    - there is one action per position, as printed; the code allows an insertion beside a replaced word;
    - thresholds do not depend on the dataset (the code's for AG News let every insertion pass), and the code's
      exceptions for sentiment (adjectives, adverbs and auxiliaries stay) are left out;
    - encoder, tagger and masked language model (theirs: DistilRoBERTa) are the run's.
    """

    paper: ClassVar[str] = "Li et al. 2021 (CLARE)"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "up to 150 per word, then 50 per action"
    living: ClassVar[bool] = True

    source: Source = Sparing(_REPLACE, NLTK)
    constraints: tuple[Constraint, ...] = (
        Constraint(SentenceSimilarity(angular=True, window=15, previous=True), at_least=0.904507),
    )
    stopwords: frozenset[str] = frozenset()  # none: words may be inserted beside stopwords and merged with them
    actions: Actions = Actions()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1."""
        (clean,) = await ask.victim([x])
        best, best_score = x, goal.score(clean)
        with suppress(BudgetSpent):
            tried = await self.actions(x, space.positions, space, ask)
            probs_of = await _asked(x, tried, space, ask)
            noted: dict[int, tuple[float, Action]] = {}
            for action in tried:
                score = goal.score(probs_of.get(action.text, clean))
                if score > noted.get(action.position, (best_score, action))[0]:
                    noted[action.position] = score, action
            for _, (place, kind, _) in sorted(noted.values(), key=lambda pair: (-pair[0], pair[1].position)):
                again = [a for a in await self.actions(best, [place], space, ask) if a.kind == kind]
                probs_of = await _asked(best, again, space, ask)
                strongest = min(probs_of, key=lambda c: (-goal.score(probs_of[c]), c), default=best)
                if strongest != best and goal.score(probs_of[strongest]) > best_score:
                    best, best_score = strongest, goal.score(probs_of[strongest])
                    if goal.met(probs_of[strongest]):
                        break
        return best


@dataclass(frozen=True)
class GreedyClare:
    """CLARE as in TextAttack: try all actions again at every step, and apply the strongest.

    As in TextAttack, a step is taken even if no action helps. The cosine to the original in a window of 15 words is at
    least 0.7, and texts of under 15 words pass. Words are inserted before words, but not before stopwords. Stopwords
    can be merged.

    Differs from TextAttack:
    - a text that fools the victim is always preferred, and if none does, the strongest text seen is returned, not the
      last;
    - a word beside an insertion is not changed again, and changed words are not merged;
    - words with punctuation between them are not merged;
    - guesses that are not whole words count among the 50 but are not candidates;
    - encoder, tagger and masked language model are the run's.
    """

    paper: ClassVar[str] = "Li et al. 2021 (CLARE)"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "up to 150 per word, at every step"
    living: ClassVar[bool] = True

    source: Source = Sparing(Union((_REPLACE, InsertedWords(k=50, after=False))), NLTK)
    constraints: tuple[Constraint, ...] = (
        Constraint(SentenceSimilarity(angular=False, window=15), at_least=0.7, short=15),
    )
    stopwords: frozenset[str] = frozenset()
    actions: Actions = Actions(insert=None)  # the source inserts

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Greedy search over all actions."""
        (clean,) = await ask.victim([x])
        current, best, best_score = x, x, goal.score(clean)
        with suppress(BudgetSpent):
            while probs_of := await _asked(
                current, await self.actions(current, space.positions, space, ask), space, ask
            ):
                scores = {c: (goal.met(probs), goal.score(probs)) for c, probs in probs_of.items()}
                current = min(scores, key=lambda c: (not scores[c][0], -scores[c][1], c))
                if scores[current][0]:
                    return current
                if scores[current][1] > best_score:
                    best, best_score = current, scores[current][1]
        return best


async def _asked(current: Text, actions: Iterable[Action], space: Space, ask: Ask) -> dict[Text, Scores]:
    """The victim's scores for the texts that obey the constraints, as far as the budget allows."""
    candidates = await space.allowed(current, list(dict.fromkeys(action.text for action in actions)), ask)
    return await ask.scores_of(candidates)
