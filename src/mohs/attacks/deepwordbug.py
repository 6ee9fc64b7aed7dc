"""DeepWordBug (Gao et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from string import ascii_letters
from typing import ClassVar

from mohs.attacks.bugs import Bug, drawn
from mohs.attacks.goal import Goal
from mohs.attacks.greedy_in_order import greedy_in_order
from mohs.attacks.importance import ranked, replacing
from mohs.attacks.method import Ask
from mohs.space import AddLetter, ChangeLetter, Constraint, DropLetter, EditDistance, Source, Space, SwapLetters, Union
from mohs.text import Text
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class DeepWordBug:
    """Misspell the most important words at random, as many as the edit distance allows.

    Gao et al. 2018, with its main setting: the combined score and one random letter substituted in a word. A word's
    temporal head score is what it adds to the true label's probability when the text is read up to it. Its tail score
    is what it adds when the text is read from it on. The combined score is the head score plus `tail` times the tail
    score. The words are then changed in that order until the edit distance is 30. The model is not queried between the
    edits, so a long text always ends with thirty misspellings.

    Differs from the paper:
    - an edit is drawn uniformly from the distinct misspellings of the word, and always changes it;
    - before the first word and after the last, all classes count as equally likely. The released code does so too; the
      paper uses the prediction on an empty text. We do not know the paper's weight of the tail; the released code uses
      1;
    - in a pair, only the field of the word is cut;
    - the bound is on edits, as in the paper; the released code counts words.

    Other transformations of the paper: `--source swap`, `delete` or `insert`.
    """

    paper: ClassVar[str] = "Gao et al. 2018"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "two per word"

    source: Source = ChangeLetter()
    constraints: tuple[Constraint, ...] = (Constraint(EditDistance(), at_most=30),)
    stopwords: frozenset[str] = frozenset()
    tail: float = 1.0

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Score all words, then misspell them in order."""
        importance = await self.combined(x, space.positions, goal, ask)
        current = x
        for p in ranked(importance):
            bug = current.replace(p, ask.random.choice(space.choices[p]))
            for candidate in await space.allowed(current, [bug], ask):
                current = candidate
        return current

    async def combined(self, x: Text, positions: tuple[int, ...], goal: Goal, ask: Ask) -> dict[int, float]:
        """The combined score of each position."""
        fields = [field for field, _, _ in x.spans()]

        @cache
        def cut(p: int, head: bool) -> Text:
            return x.cut(p, head=head)

        def beyond(p: int, head: bool) -> Text | None:
            q = p - 1 if head else p + 1
            return cut(q, head) if 0 <= q < len(x) and fields[q] == fields[p] else None

        pairs = {(p, head): (beyond(p, head), cut(p, head)) for p in positions for head in (True, False)}
        read = list(dict.fromkeys(text for pair in pairs.values() for text in pair if text is not None))
        (clean, *answers) = await ask.victim([x, *read])
        nothing = goal.score((1 / len(clean),) * len(clean))
        scores = dict(zip(read, map(goal.score, answers), strict=True))
        gain = {
            at: (nothing if without is None else scores[without]) - scores[with_word]
            for at, (without, with_word) in pairs.items()
        }
        return {p: gain[p, True] + self.tail * gain[p, False] for p in positions}


@dataclass(frozen=True)
class GreedyDeepWordBug:
    """Misspell the most important words, each by the best of four random edits, until the model is fooled.

    DeepWordBug as in TextAttack. Importance is measured by putting [UNK] in the place of the word. For each word, one
    random swap, substitution, deletion and insertion are queried, and the best is kept if it helps, within an edit
    distance of 30.

    Differs from TextAttack: importance is queried only for words that have misspellings; edits are drawn from the
    distinct misspellings, and a letter may also be added after the last; see `greedy_in_order` for more than two
    classes.
    """

    paper: ClassVar[str] = "Gao et al. 2018"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then four per word until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = Union(
        (
            SwapLetters(),
            ChangeLetter(min_length=2, letters=ascii_letters),
            DropLetter(),
            AddLetter(min_length=2, letters=ascii_letters),
        )
    )
    constraints: tuple[Constraint, ...] = (Constraint(EditDistance(), at_most=30),)
    stopwords: frozenset[str] = NLTK
    unknown: str = "[UNK]"
    bugs: tuple[Bug, ...] = (("swap",), ("substitute",), ("delete",), ("insert",))

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Rank the words once, then go word by word."""
        hidden = await replacing(x, space.positions, self.unknown, ask)
        importance = {p: goal.score(probs) for p, probs in zip(space.positions, hidden, strict=True)}
        return await greedy_in_order(
            x, ranked(importance), lambda p: drawn(space, p, self.bugs, ask.random), goal, space, ask
        )
