"""TextFooler (Jin et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.goal import Goal, predicted
from mohs.attacks.importance import deleting, ranked
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Neighbours, SamePos, SentenceSimilarity, Source, Space
from mohs.text import Text
from mohs.text.stopwords import ENGLISH


@dataclass(frozen=True)
class TextFooler:
    """Replace the most important words first, each by the neighbour that hurts most.

    Jin et al. 2020, Algorithm 1, with the settings of Hauser et al. 2021, section 3.3.3 (preset `paper`).
    Importance is the loss of the true label's probability when the word is deleted, and, where the deletion flips the
    prediction, also the gain of the new label (equation 3.6). Candidates are the 50 nearest words with cosine >= 0.5,
    of a shared part of speech (noun for verb allowed), no stopwords. A step is allowed if the window around the changed
    word stays similar (1 - angle/pi >= 0.841) to the text before the step. At the first word with candidates that fool
    the model, the one most similar to the original is taken; otherwise the strongest is kept if it helps.

    As in Algorithm 1 a candidate is checked before the victim is asked (the released code asks first).

    Differs from the paper:
    - importance is asked only for words that have candidates: the order is the same, with fewer queries;
    - short texts are no exception to the similarity check (the released code and TextAttack relax it under 15 words);
    - the part of speech is read with four words before and three after, by the tagger that the user names (spaCy if it
      is there, else the bundled one), and the stopword list is our own;
    - the vectors are the bundled 20,000 words unless others are given, and the encoder is the one the user names:
      thresholds were set for the published vectors and the Universal Sentence Encoder.
    """

    paper: ClassVar[str] = "Jin et al. 2020; Hauser et al. 2021, 3.3.3"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one a word, then one a candidate until fooled"

    source: Source = Neighbours(k=50, min_cosine=0.5)
    constraints: tuple[Constraint, ...] = (
        Constraint(SamePos(), at_least=1),
        Constraint(SentenceSimilarity(angular=True, window=15, previous=True), at_least=0.841),
    )
    stopwords: frozenset[str] = ENGLISH
    similarity: SentenceSimilarity | None = SentenceSimilarity(angular=True)  # picks among winners

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1."""
        y = goal.label
        (clean,) = await ask.victim([x])
        without = await deleting(x, space.positions, ask)
        importance = {}
        for p, probs in zip(space.positions, without, strict=True):
            importance[p] = clean[y] - probs[y]
            flipped = predicted(probs)
            if flipped != y and predicted(clean) == y:
                importance[p] += probs[flipped] - clean[flipped]

        best, best_score = x, goal.score(clean)
        try:
            for p in ranked(importance):
                candidates = await space.allowed(best, [best.replace(p, word) for word in space.choices[p]], ask)
                if not candidates:
                    continue
                candidates = ask.affordable(candidates) or candidates  # none fits: asking raises BudgetSpent
                probs_of = dict(zip(candidates, await ask.victim(candidates), strict=True))
                winners = [c for c in candidates if goal.met(probs_of[c])]
                if winners:
                    return await self._most_similar(x, winners, ask)
                strongest = min(candidates, key=lambda c: (-goal.score(probs_of[c]), c))
                if goal.score(probs_of[strongest]) > best_score:
                    best, best_score = strongest, goal.score(probs_of[strongest])
        except BudgetSpent:
            pass
        return best

    async def _most_similar(self, x: Text, winners: list[Text], ask: Ask) -> Text:
        if self.similarity is None or len(winners) == 1:
            return min(winners)
        values = await self.similarity.of_texts(x, None, winners, ask)
        return min(zip(winners, values, strict=True), key=lambda pair: (-pair[1], pair[0]))[0]
