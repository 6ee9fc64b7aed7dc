"""TextBugger (Li et al. 2019)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import regex

from mohs.attacks.bugs import Bug, drawn
from mohs.attacks.goal import SCORE_DECIMALS, Goal, predicted
from mohs.attacks.greedy_in_order import greedy_in_order
from mohs.attacks.importance import deleting, ranked
from mohs.attacks.method import Ask, Scores
from mohs.engine import BudgetSpent
from mohs.space import (
    Constraint,
    DropLetter,
    Homoglyphs,
    Keyboard,
    Neighbours,
    SentenceSimilarity,
    Source,
    Space,
    SplitWord,
    SwapLetters,
    Union,
)
from mohs.text import Text
from mohs.text.questions import Labelled
from mohs.text.stopwords import NLTK

# Insert, Delete, Swap and Sub-C: one of each is drawn. Sub-W: the five nearest words.
BUGS: tuple[Bug, ...] = (("split",), ("delete",), ("swap",), ("homoglyph", "keyboard"))
NEAREST = Neighbours(k=5, min_cosine=-1.0)
SOURCE = Union((SplitWord(), DropLetter(inner=True), SwapLetters(inner=True), Homoglyphs(), Keyboard(), NEAREST))
SIMILAR = Constraint(SentenceSimilarity(angular=False), at_least=0.8)


@dataclass(frozen=True)
class TextBugger:
    """Bug the words of the most telling sentences, each by the bug that hurts most.

    Li et al. 2019, the black-box attack. Each sentence is put to the model alone. Sentences classified as another class
    are left out; the others are sorted by the true label's probability. Within a sentence, words are sorted by the drop
    in that probability when the word is deleted from the sentence. Each word gets five kinds of bugs: a space inside,
    an inner letter deleted, two inner letters swapped, a letter replaced by a look-alike or a neighbour on the
    keyboard, and the five nearest words. The one with the lowest probability of the true label is kept. The attack ends
    when the model is fooled. It gives up when the cosine to the original falls below 0.8.

    Differs from the paper:
    - letter bugs are drawn at random, one of each kind, for words of any length that have inner letters. We know no
      code of the authors; other implementations split only words of at most five letters, and swap in words of at least
      five. A look-alike letter is one of another script, not a digit or a sign;
    - sentences end at . ! ? or at a line's end, even after an abbreviation. In a pair, a sentence is queried with the
      other field unchanged;
    - word vectors and sentence encoder are the run's (in the paper: GloVe and the Universal Sentence Encoder). We do
      not know whether stopwords were left out; here none are.
    """

    paper: ClassVar[str] = "Li et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per sentence, one per word, then about nine per word until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = SOURCE
    constraints: tuple[Constraint, ...] = (SIMILAR,)
    stopwords: frozenset[str] = frozenset()
    bugs: tuple[Bug, ...] = BUGS

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Sentence by sentence, word by word."""
        y = goal.label
        sentences = [sentence for sentence in sentences_of(x) if sentence.local(space.positions)]
        alone = await ask.victim([sentence.text for sentence in sentences])
        telling = [(s, probs) for s, probs in zip(sentences, alone, strict=True) if predicted(probs) == y]
        current = x
        with suppress(BudgetSpent):
            for sentence, probs in sorted(
                telling, key=lambda pair: (-round(pair[1][y], SCORE_DECIMALS), pair[0].first)
            ):
                places = sentence.local(space.positions)
                without = await deleting(sentence.text, list(places.values()), ask)
                importance = {p: probs[y] - less[y] for p, less in zip(places, without, strict=True)}
                for p in ranked(importance):
                    bug, scores = await select_bug(current, drawn(space, p, self.bugs, ask.random), p, goal, ask)
                    if not await space.allowed(current, [bug], ask):
                        return current
                    current = bug
                    if goal.met(scores):
                        return current
        return current


@dataclass(frozen=True)
class Slopes:
    """Importance by gradient: how strongly the true label's probability reacts to the vector of each word."""

    needs: ClassVar[tuple[str, ...]] = ("gradients",)

    async def __call__(self, x: Text, positions: tuple[int, ...], label: int, ask: Ask) -> dict[int, float]:
        """The norm of each word's gradient (averaged over its tokens), as a share of the largest."""
        (slope,) = await ask.gradients([Labelled(x.fields, label)])
        rows = slope.by_word(x.spans())
        length = {p: float(np.linalg.norm(slope.gradient[rows[p]].mean(0))) if rows[p] else 0.0 for p in positions}
        longest = max(length.values(), default=0.0) or 1.0
        return {p: value / longest for p, value in length.items()}


@dataclass(frozen=True)
class WhiteBoxTextBugger(TextBugger):
    """Bug the words with the steepest gradients, each by the bug that hurts most.

    Li et al. 2019, the white-box attack. Words are sorted by the Jacobian's entry for the true label. Bugs are selected
    and the attack ends as in `TextBugger`.

    Differs from the paper: as far as we know, it does not say how the gradient of a word's vector becomes one number.
    Here it is the Euclidean norm of the gradient, averaged over the word's tokens. For the rest see `TextBugger`.
    """

    cost: ClassVar[str] = "one gradient, then about nine per word until fooled"

    slopes: Slopes = Slopes()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Word by word."""
        current = x
        with suppress(BudgetSpent):
            for p in ranked(await self.slopes(x, space.positions, goal.label, ask)):
                bug, scores = await select_bug(current, drawn(space, p, self.bugs, ask.random), p, goal, ask)
                if not await space.allowed(current, [bug], ask):
                    break
                current = bug
                if goal.met(scores):
                    break
        return current


@dataclass(frozen=True)
class GreedyTextBugger:
    """Bug the most important words, each by the bug that hurts most and keeps the text similar, until fooled.

    TextBugger as in TextAttack. It does not use sentences. Importance is measured by deleting the word. Bugs are a
    space, a deletion and a swap inside the word, drawn at random, plus every look-alike letter and the five nearest
    words. A bug is not queried if the text becomes less than 0.8 similar (1 - angle/pi, which is a cosine of 0.809). A
    bug that does not help is not kept. Among bugs that fool the model, the most similar is taken.

    Differs from TextAttack: importance is queried only for words that have bugs; its table of look-alikes is different;
    a space may also stand before the last letter; vectors and encoder are the run's.
    """

    paper: ClassVar[str] = "Li et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then about a dozen per word until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = Union(
        (SplitWord(min_length=3), DropLetter(inner=True), SwapLetters(inner=True), Homoglyphs(), NEAREST)
    )
    constraints: tuple[Constraint, ...] = (Constraint(SentenceSimilarity(angular=True), at_least=0.8),)
    stopwords: frozenset[str] = NLTK
    bugs: tuple[Bug, ...] = (("split",), ("delete",), ("swap",))
    similarity: SentenceSimilarity | None = SentenceSimilarity(angular=True)  # picks among winners

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Rank the words once, then go word by word."""
        without = await deleting(x, space.positions, ask)
        importance = {p: goal.score(probs) for p, probs in zip(space.positions, without, strict=True)}
        words = lambda p: drawn(space, p, self.bugs, ask.random)  # noqa: E731
        return await greedy_in_order(x, ranked(importance), words, goal, space, ask, self.similarity)


async def select_bug(current: Text, words: list[str], p: int, goal: Goal, ask: Ask) -> tuple[Text, Scores]:
    """The bug nearest to the goal, with the victim's scores."""
    probs_of = await ask.scores_of([current.replace(p, word) for word in words])
    return min(probs_of.items(), key=lambda pair: (-goal.score(pair[1]), pair[0]))


class Sentence(NamedTuple):
    """A sentence as a text of its own, and which words of the whole text it contains."""

    text: Text
    first: int  # index of its first word in the whole text
    last: int
    before: int  # number of words before it in its own text, from earlier fields

    def local(self, positions: tuple[int, ...]) -> dict[int, int]:
        """Those of the positions inside the sentence, mapped to positions in the sentence's own text."""
        return {p: p - self.first + self.before for p in positions if self.first <= p <= self.last}


_END = regex.compile(r"[.!?…]+[\"'”’)\]]*(\s+)|(\s*\n\s*)")


def sentences_of(x: Text) -> list[Sentence]:
    """The sentences that have words. Each keeps the text's other fields unchanged."""
    spans = x.spans()
    found = []
    for number, field in enumerate(x.fields):
        breaks = [match.span(1) if match.group(1) else match.span(2) for match in _END.finditer(field)]
        starts = [0, *(end for _, end in breaks)]
        ends = [*(start for start, _ in breaks), len(field)]
        before = sum(span[0] < number for span in spans)
        for start, end in zip(starts, ends, strict=True):
            inside = [p for p, span in enumerate(spans) if span[0] == number and start <= span[1] < end]
            if inside:
                fields = (*x.fields[:number], field[start:end], *x.fields[number + 1 :])
                found.append(Sentence(Text(*fields), inside[0], inside[-1], before))
    return found
