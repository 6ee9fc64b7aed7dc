"""BAE (Garg and Ramakrishnan 2020)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.importance import deleting, ranked
from mohs.attacks.method import Ask
from mohs.attacks.tried import tried
from mohs.attacks.winner import pick_winner
from mohs.engine import BudgetSpent
from mohs.space import Constraint, MaskedWords, SentenceSimilarity, Source, Space, Union, WordCosine
from mohs.space.inserted import InsertedWords, ReplacedPos, offered
from mohs.text import Text
from mohs.text.stopwords import ENGLISH, NLTK
from mohs.text.sweep import Sweep


@dataclass(frozen=True)
class Bae:
    """Mask the most important words, or a place beside them, and take what a masked language model fills in.

    Garg and Ramakrishnan 2020, Algorithm 1. The importance of a word is the drop in the true label's probability when
    the word is deleted. Candidates are the 50 best guesses for the mask in the text as changed so far, whole words
    only. If some fool the victim, the one most similar to the original is returned. Otherwise the strongest is kept. A
    replacement keeps its part of speech (a noun may replace a verb). The presets are the paper's four modes: `paper` is
    BAE-R (replace); `paper-i` inserts before or after the word; `paper-r-or-i` does whichever is stronger;
    `paper-r-and-i` first replaces the word and then inserts beside the new one. `textattack` imitates TextAttack's
    recipe, which is BAE-R. `cos50` is BAE' of Hauser et al. 2021, section 8.1: `textattack` with a cosine of 0.5 or
    more between the vectors of a word and its substitute, where a pair with a word that has no vector passes.

    The paper states a cosine of at least 0.8. The authors told TextAttack that they used TextFooler's code, whose scale
    is 1 - angle. On that scale, 0.8 is 0.936338 as 1 - angle/pi and 0.98007 as a cosine. It applies to a window of 15
    words, compared with the text before the step. Texts of under 15 words need 0.1, which is 0.713521. The `paper`
    presets do the same. TextAttack uses 0.936338 as a cosine to the original and lets texts of under 15 words pass. For
    these it takes the strongest winner.

    Differs from the paper:
    - the strongest candidate is kept only if it helps, and the strongest of equally similar winners is taken (Algorithm
      1 does not say);
    - stopwords are neither replaced nor introduced as replacements, as in TextFooler, and nothing is inserted beside
      them. The paper does not say; the stopword list is ours, and inserted words may be stopwords;
    - whole words are those of the model's vocabulary; they are not checked against GloVe's;
    - encoder, tagger, masked language model and vectors are the run's.

    Differs from TextAttack: guesses that are not whole words count among the 50 (in TextAttack, pieces such as ##ing
    lose their mark and become candidates); stopwords are not introduced; and with more than two classes, a winner need
    not be the strongest candidate.
    """

    paper: ClassVar[str] = "Garg and Ramakrishnan 2020"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then one per candidate until fooled"
    word_by_word: ClassVar[bool] = True
    living: ClassVar[bool] = True

    source: Source = MaskedWords(k=50)
    constraints: tuple[Constraint, ...] = (
        Constraint(ReplacedPos(), at_least=1),
        Constraint(
            SentenceSimilarity(angular=True, window=15, previous=True),
            at_least=0.936338,
            short=15,
            at_least_short=0.713521,
        ),
    )
    stopwords: frozenset[str] = ENGLISH
    then: Source | None = None  # a second change of the same word, after the first
    similarity: SentenceSimilarity | None = SentenceSimilarity(angular=True)  # picks among winners
    similarity_from: int = 0  # words; shorter texts take the strongest winner

    @classmethod
    def insert(cls) -> Bae:
        """BAE-I."""
        return cls(source=InsertedWords(k=50))

    @classmethod
    def either(cls) -> Bae:
        """BAE-R/I."""
        return cls(source=Union((MaskedWords(k=50), InsertedWords(k=50))))

    @classmethod
    def both(cls) -> Bae:
        """BAE-R+I."""
        return cls(then=InsertedWords(k=50))

    @classmethod
    def textattack(cls) -> Bae:
        """As TextAttack's recipe does it."""
        cosine = SentenceSimilarity(angular=False, window=15)
        return cls(
            constraints=(Constraint(ReplacedPos(), at_least=1), Constraint(cosine, at_least=0.936338, short=15)),
            stopwords=NLTK,
            similarity=cosine,
            similarity_from=15,
        )

    @classmethod
    def primed(cls) -> Bae:
        """BAE': adds a bound on the cosine of words."""
        plain, near = cls.textattack(), Constraint(WordCosine(unknown_passes=True), at_least=0.5)
        return replace(plain, constraints=(near, *plain.constraints))

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1."""
        y = goal.label
        (clean,) = await ask.victim([x])
        without = await deleting(x, space.positions, ask)
        importance = {p: clean[y] - probs[y] for p, probs in zip(space.positions, without, strict=True)}

        best, best_score = x, goal.score(clean)
        with suppress(BudgetSpent):
            for p in ranked(importance):
                for source in (self.source, self.then) if self.then else (self.source,):
                    (words,) = await offered(space, source, best, [p], ask)
                    found = await tried(await space.allowed(best, Sweep.at(best, p, words), ask), ask)
                    if winners := found.winners(goal):
                        similar = self.similarity if len(x) >= self.similarity_from else None
                        return await pick_winner(x, best, winners, similar, ask)
                    strongest = found.strongest(goal)
                    if strongest is not None and strongest.score > best_score:
                        best, best_score = strongest
        return best
