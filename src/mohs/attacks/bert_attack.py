"""BERT-Attack (Li et al. 2020)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

from mohs.attacks.goal import Goal, predicted
from mohs.attacks.importance import ranked, replacing
from mohs.attacks.method import Ask
from mohs.attacks.winner import pick_winner
from mohs.engine import BudgetSpent
from mohs.space import Constraint, SentenceSimilarity, Source, Space, UnmaskedWords, WordCosine, WordsBeyond
from mohs.text import Text
from mohs.text.stopwords import ENGLISH, NLTK

_NEAR = WordCosine(unknown_passes=True)


@dataclass(frozen=True)
class BertAttack:
    """Replace the most important words by what a masked language model predicts in their place, without a mask.

    Li et al. 2020, with the settings of Hauser et al. 2021, section 3.3.3 (preset `paper`). The importance of a word is
    the drop in the true label's probability when [MASK] takes its place. Candidates are the model's 48 best predictions
    for the word in the original text. Words of several pieces get combinations of the four best predictions of each
    piece. NLTK's stopwords are excluded. Candidates are queried in the model's order. The first that fools the victim
    is returned; otherwise the strongest is kept if it helps. At most 40% of the words change, and the cosine to the
    original stays at 0.2 or more.

    Preset `released` imitates the authors' code: importance uses [UNK] and adds the gain of the new label if the
    prediction flips; there is no similarity check; our stopword list stands in for its own. Preset `textattack`
    imitates TextAttack's recipe: importance uses [UNK]; the model reads the text as changed so far; all candidates of a
    word are queried, and the most similar winner is taken, or the strongest among equals; 40% is rounded up;
    combinations of pieces are the first 48 in the order of the last piece; and a budget that is running out goes to the
    alphabetically first texts. Preset `cos50` is BERT-Attack' of Hauser et al. 2021, section 8.1, which was made with
    TextAttack: like `textattack`, but the vectors of a word and its substitute need a cosine of 0.5 or more.

    Preset `released-sentiment` is `released` with the filter against antonyms that the authors' commands switch on for
    sentiment tasks, and only for those: the cosine of a word and its substitute is at least 0.4. In both filters a pair
    with a word that has no vector passes, as it does in the code.

    Differs from the paper:
    - probabilities, not logits, are compared, and importance is computed only for words that have candidates;
    - 40% caps the words changed. The paper considers a share of the words; the authors told TextAttack of a cap of 40%;
    - similarity is checked at each step; the authors filtered finished texts, with a threshold for each dataset;
    - Hauser et al. take the strongest candidate of a word, even among those that fool the victim;
    - encoder, vectors and masked language model are the run's;
    - [MASK] and [UNK] are written into the text, so a victim with other special tokens reads them as letters.

    Differs from the released code:
    - the last token of a text can be attacked, a word that did not help is not left in the text, and the cap is exactly
      40%, not one word more;
    - `released` has no filter against antonyms; `released-sentiment` has it, with the run's vectors instead of the
      published counter-fitted ones.

    Differs from Hauser et al. 2021 (`cos50`): the vectors are the run's.

    Differs from TextAttack: stopwords are not introduced, and their importance is not queried; a combination of pieces
    that is not a single word counts among the 48. TextAttack checks only the strongest candidate of a word for success,
    so with more than two classes it can miss another candidate that succeeds. Its present default of 8 candidates is
    newer than the published figures, which used 48.
    """

    paper: ClassVar[str] = "Li et al. 2020; settings of Hauser et al. 2021, 3.3.3"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then one per candidate until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = UnmaskedWords(k=48)
    constraints: tuple[Constraint, ...] = (
        Constraint(WordsBeyond(share=0.4), at_most=0),
        Constraint(SentenceSimilarity(angular=False), at_least=0.2),
    )
    stopwords: frozenset[str] = NLTK
    stand_in: str = "[MASK]"  # replaces a word to measure its importance
    flip_bonus: bool = False  # add the gain of a new label to the importance
    similarity: SentenceSimilarity | None = None  # picks among winners; without it the first winner is taken
    living: bool = False  # candidates are read from the text as changed so far

    @classmethod
    def released(cls) -> BertAttack:
        """As the authors' code does it."""
        cap = Constraint(WordsBeyond(share=0.4), at_most=0)
        return cls(constraints=(cap,), stopwords=ENGLISH, stand_in="[UNK]", flip_bonus=True)

    @classmethod
    def textattack(cls) -> BertAttack:
        """As TextAttack's recipe does it."""
        return cls(
            source=UnmaskedWords(k=48, width=48, products=48, ranked=False),
            constraints=(
                Constraint(WordsBeyond(share=0.4, up=True), at_most=0),
                Constraint(SentenceSimilarity(angular=False), at_least=0.2),
            ),
            stand_in="[UNK]",
            similarity=SentenceSimilarity(angular=False),
            living=True,
        )

    @classmethod
    def released_sentiment(cls) -> BertAttack:
        """As the authors' commands for sentiment tasks do it."""
        plain = cls.released()
        return replace(plain, constraints=(*plain.constraints, Constraint(_NEAR, at_least=0.4)))

    @classmethod
    def primed(cls) -> BertAttack:
        """BERT-Attack': adds a bound on the cosine of words."""
        plain = cls.textattack()
        return replace(plain, constraints=(*plain.constraints, Constraint(_NEAR, at_least=0.5)))

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Computes importance, then goes word by word."""
        y = goal.label
        (clean,) = await ask.victim([x])
        importance = {}
        for p, probs in zip(space.positions, await replacing(x, space.positions, self.stand_in, ask), strict=True):
            importance[p] = clean[y] - probs[y]
            flipped = predicted(probs)
            if self.flip_bonus and flipped != y:
                importance[p] += probs[flipped] - clean[flipped]

        best, best_score = x, goal.score(clean)
        with suppress(BudgetSpent):
            for p in ranked(importance):
                (words,) = await space.words(best, [p], ask)
                candidates = await space.allowed(best, [best.replace(p, word) for word in words], ask)
                for batch in [[c] for c in candidates] if self.similarity is None else [sorted(candidates)]:
                    probs_of = await ask.scores_of(batch)
                    winners = {c: goal.score(probs) for c, probs in probs_of.items() if goal.met(probs)}
                    if winners:
                        return await pick_winner(x, best, winners, self.similarity, ask)
                    strongest = min(probs_of, key=lambda c: (-goal.score(probs_of[c]), c), default=best)
                    if probs_of and goal.score(probs_of[strongest]) > best_score:
                        best, best_score = strongest, goal.score(probs_of[strongest])
        return best
