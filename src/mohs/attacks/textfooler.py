"""TextFooler (Jin et al. 2020): as printed, as released, as in TextAttack, and with the thresholds of two critiques."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mohs.attacks.goal import Goal, predicted
from mohs.attacks.importance import deleting, ranked, replacing
from mohs.attacks.method import Ask, Scores
from mohs.attacks.tried import Tried, tried
from mohs.attacks.winner import pick_winner
from mohs.engine import BudgetSpent
from mohs.space import Constraint, GrammarErrors, Neighbours, PositionsAgain, SamePos, SentenceSimilarity, Source, Space
from mohs.text import Text
from mohs.text.stopwords import ENGLISH, NLTK
from mohs.text.sweep import Sweep

_STEP_ANGLE = SentenceSimilarity(angular=True, window=15, previous=True)
_SHORT_TEXT = 15  # words; the released code and TextAttack treat shorter texts differently


@dataclass(frozen=True)
class TextFooler:
    """Replace the most important words first, each by the neighbour that hurts most.

    Jin et al. 2020, Algorithm 1, with the settings of Hauser et al. 2021, section 3.3.3 (preset `paper`). Importance is
    the drop in the true label's probability when the word is deleted. If the deletion flips the prediction, the gain of
    the new label is added (equation 3.6). Candidates are the 50 nearest words with cosine >= 0.5 and a common part of
    speech (a noun may replace a verb), without stopwords. A step is allowed if the 15 words around the changed one stay
    similar (1 - angle/pi >= 0.841) to the text before the step; the window is that of the code. At the first word with
    candidates that fool the model, the one most similar to the original is taken. Otherwise the strongest is kept if it
    helps.

    Presets besides `paper`:
    - `released`, the authors' code with its default threshold. Importance uses <oov> in the word's place. The victim is
      queried about every candidate, and those that break a constraint are dropped afterwards. The strongest one left is
      kept if it is better than the *original*, even if worse than the text so far. Similarity is 1 - angle >= 0.7
      (0.904507 as 1 - angle/pi), for texts under 15 words >= 0.1 (0.713521). The winner most similar to the text before
      the step is taken. The part of speech is read with four words on each side (the code reads texts of up to ten
      words whole). The paper's own figures need the threshold 0.5;
    - `textattack`: importance without the gain of a new label, similarity 0.840845, and no check under 15 words, where
      the strongest winner is taken instead of the most similar;
    - `cvX-useY`, TF_cvX^useY of Hauser et al. 2021, section 8.1.1: `textattack` with word cosine >= 0.X, and the
      cosine of the 15 words around the changed one with the same words of the *original* >= 0.Y (not under 15 words, as
      in `textattack`); `cv50` has no similarity constraint and takes the strongest winner;
    - `adjusted`, TFAdjusted of Morris et al. 2020, following its recipe: word cosine >= 0.9, cosine >= 0.98 in the
      window with the text before the step (short texts included), and no new grammar errors; importance by [UNK]
      without the gain of a new label, no part-of-speech check, NLTK's stopwords.

    Differs from the paper and the released code:
    - importance is queried only for words that have candidates: the order is the same, with fewer queries;
    - the part of speech is read by the tagger that the user names (spaCy if available, else the bundled one). The old
      word is read in the same few words as the new one (the released code reads it in the whole text);
    - the stopword list is ours, not theirs, and stopwords are not introduced either;
    - words are counted without punctuation, and a window never crosses the edge of a text (in the released code it does
      for texts under 15 words, and shrinks to the last words of the text);
    - the vectors are the bundled 20,000 words unless others are given, and the user names the encoder and grammar
      checker. The thresholds were set for the published vectors and the Universal Sentence Encoder (`adjusted`: for
      BERT sentence vectors and LanguageTool). `python reproductions/cosines.py` compares the vectors' scales.

    Differs from Hauser et al. 2021, section 8.1.1, which does not describe the window: it keeps "the same constraints
    as in the original implementation" except for the drift, section 5.3 says that TextFooler's looks at a window, and
    section 4.2 that all attacks were made with TextAttack; so 15 words, and none for shorter texts, are TextAttack's.

    Not imitated from TextAttack: its part-of-speech check finds the first of two equal words, and reads the new word
    among those of the original; with more than two classes it sees no winner unless the strongest candidate is one.
    """

    paper: ClassVar[str] = "Jin et al. 2020; settings of Hauser et al. 2021, 3.3.3"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then one per candidate until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = Neighbours(k=50, min_cosine=0.5)
    constraints: tuple[Constraint, ...] = (Constraint(SamePos(), at_least=1), Constraint(_STEP_ANGLE, at_least=0.841))
    stopwords: frozenset[str] = ENGLISH
    blank: str = ""  # replaces a word to measure its importance; if empty, the word is deleted
    flip_bonus: bool = True  # add the gain of a new label to the importance
    ask_first: bool = False  # query all candidates, then drop those that break a constraint
    beat_original: bool = False  # the strongest candidate need not be better than the text so far
    similarity: SentenceSimilarity | None = SentenceSimilarity(angular=True)  # picks among winners
    similarity_from: int = 0  # words; shorter texts take the strongest winner

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1."""
        (clean,) = await ask.victim([x])
        importance = await self._importance(x, goal.label, clean, space, ask)
        best, to_beat = x, goal.score(clean)
        with suppress(BudgetSpent):
            for p in ranked(importance):
                found = await self._ask_allowed(best, Sweep.at(best, p, space.choices[p]), space, ask)
                if winners := found.winners(goal):
                    similar = self.similarity if len(x) >= self.similarity_from else None
                    return await pick_winner(x, best, winners, similar, ask)
                strongest = found.strongest(goal)
                if strongest is not None and strongest.score > to_beat:
                    best = strongest.text
                    to_beat = to_beat if self.beat_original else strongest.score
        return best

    async def _importance(self, x: Text, y: int, clean: Scores, space: Space, ask: Ask) -> dict[int, float]:
        if self.blank:
            without = await replacing(x, space.positions, self.blank, ask)
        else:
            without = await deleting(x, space.positions, ask)
        importance = {}
        for p, probs in zip(space.positions, without, strict=True):
            importance[p] = clean[y] - probs[y]
            flipped = predicted(probs)
            if self.flip_bonus and flipped != y and predicted(clean) == y:
                importance[p] += probs[flipped] - clean[flipped]
        return importance

    async def _ask_allowed(self, best: Text, candidates: Sequence[Text], space: Space, ask: Ask) -> Tried:
        """The victim's scores for the candidates that obey the constraints."""
        if not self.ask_first:
            return await tried(await space.allowed(best, candidates, ask), ask)
        found = await tried(candidates, ask)
        probs_of = dict(zip(found.texts, found.probs, strict=True))
        allowed = await space.allowed(best, list(probs_of), ask)
        return Tried(allowed, [probs_of[candidate] for candidate in allowed])


released = partial(
    TextFooler,
    constraints=(
        Constraint(SamePos(before=4, after=4), at_least=1),
        Constraint(_STEP_ANGLE, at_least=0.904507, short=_SHORT_TEXT, at_least_short=0.713521),
    ),
    blank="<oov>",
    ask_first=True,
    beat_original=True,
    similarity=_STEP_ANGLE,
)

textattack = partial(
    TextFooler,
    constraints=(
        Constraint(PositionsAgain(), at_most=0),
        Constraint(SamePos(), at_least=1),
        Constraint(_STEP_ANGLE, at_least=0.840845, short=_SHORT_TEXT),
    ),
    flip_bonus=False,
    similarity=_STEP_ANGLE,
    similarity_from=_SHORT_TEXT,
)

_STEP_COSINE = SentenceSimilarity(angular=False, window=15, previous=True)
adjusted = partial(
    TextFooler,
    source=Neighbours(k=50, min_cosine=0.9),
    constraints=(
        Constraint(PositionsAgain(), at_most=0),
        Constraint(_STEP_COSINE, at_least=0.98),
        Constraint(GrammarErrors(), at_most=0),
    ),
    stopwords=NLTK,
    blank="[UNK]",
    flip_bonus=False,
    similarity=_STEP_COSINE,
)


_WINDOW_COSINE = SentenceSimilarity(angular=False, window=15)


def with_thresholds(cosine: float, similarity: float | None) -> TextFooler:
    """TF_cvX^useY: lower bounds on the cosine of words and on that of a window with the original."""
    drifting = textattack()
    kept = drifting.constraints[:-1]
    if similarity is None:
        return replace(drifting, source=Neighbours(k=50, min_cosine=cosine), constraints=kept, similarity=None)
    near = Constraint(_WINDOW_COSINE, at_least=similarity, short=_SHORT_TEXT)
    source = Neighbours(k=50, min_cosine=cosine)
    return replace(drifting, source=source, constraints=(*kept, near), similarity=_WINDOW_COSINE)


# The columns of table 8.2.
THRESHOLDS = {
    "cv50": partial(with_thresholds, 0.5, None),
    "cv50-use88": partial(with_thresholds, 0.5, 0.88),
    "cv70-use85": partial(with_thresholds, 0.7, 0.85),
    "cv70-use90": partial(with_thresholds, 0.7, 0.9),
    "cv80-use90": partial(with_thresholds, 0.8, 0.9),
}
