"""The greedy attack of Kuleshov et al. 2018."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from mohs.attacks.beam import beam_search
from mohs.attacks.climb import single_moves
from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.space import (
    Constraint,
    LogProbDrop,
    Neighbours,
    PositionsAgain,
    SentenceSimilarity,
    Source,
    Space,
    WordsBeyond,
)
from mohs.text import Text
from mohs.text.stopwords import ENGLISH, NLTK

_SAME_THOUGHT = SentenceSimilarity(angular=False)
_AT_MOST_HALF_THE_WORDS = Constraint(WordsBeyond(share=0.5), at_most=0)  # delta in the paper
_LOG_PROB_DROP = Constraint(LogProbDrop(), at_most=2)  # lambda_2 in the paper, in nats


@dataclass(frozen=True)
class Kuleshov:
    """Greedily make the strongest of all allowed replacements, while the text keeps its meaning and fluency.

    Kuleshov et al. 2018, Algorithm 1. At each step every word is tried with each of its 15 nearest neighbours. The
    replacement that obeys the constraints and brings the goal nearest is taken, until half of the words are changed.
    Two constraints compare with the original: the distance of thought vectors (mean word vectors) is at most lambda_1 =
    0.2, and the log-probability under a language model falls by at most lambda_2 = 2 nats (the paper's setting for
    sentiment). The paper's goal is `below:0.7`. Here the goal is the run's, so give `--goal below:0.7` to match.

    Presets:
    - `no-lm` leaves out the language model, so that it needs only the bundled parts;
    - `paper` uses one, which must be named;
    - `textattack` takes 0.2 as a squared distance, rounds half of the words up, never changes a word twice and uses
      NLTK's stopwords. Its goal is `below:0.7` too.

    Differs from the paper:
    - thought vectors are sentence vectors of unit length from the encoder that the user names. A distance of 0.2 is
      then a cosine of 0.98 (a squared one, 0.9). The paper's vectors are not of unit length, so its bound is a
      different one;
    - the log-probability of the whole text is compared, and only a drop counts. The paper bounds the difference;
      TextAttack looks at the changed word after its left context, with GPT-2;
    - in all presets, a word is changed once, and by neighbours of the original word;
    - stopwords are neither replaced nor introduced (our own list in the first two presets; the paper names none);
    - if the budget cannot pay for a whole step, the rest goes into single trials (`climb`).
    """

    paper: ClassVar[str] = "Kuleshov et al. 2018"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "all replacements of all words per step"

    source: Source = Neighbours(k=15, min_cosine=-1.0)
    constraints: tuple[Constraint, ...] = (_AT_MOST_HALF_THE_WORDS, Constraint(_SAME_THOUGHT, at_least=0.98))
    stopwords: frozenset[str] = ENGLISH

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1."""
        return await beam_search(x, goal, space, single_moves(space), 1, ask)


paper = partial(
    Kuleshov, constraints=(_AT_MOST_HALF_THE_WORDS, Constraint(_SAME_THOUGHT, at_least=0.98), _LOG_PROB_DROP)
)

textattack = partial(
    Kuleshov,
    constraints=(
        Constraint(PositionsAgain(), at_most=0),
        Constraint(WordsBeyond(share=0.5, up=True), at_most=0),
        Constraint(_SAME_THOUGHT, at_least=0.9),
        _LOG_PROB_DROP,
    ),
    stopwords=NLTK,
)
