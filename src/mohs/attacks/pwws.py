"""PWWS, probability weighted word saliency (Ren et al. 2019)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.greedy_in_order import greedy_in_order
from mohs.attacks.importance import ranked, replacing
from mohs.attacks.method import Ask
from mohs.attacks.named_entities import NamedEntities
from mohs.attacks.slices import slices
from mohs.attacks.tried import tried
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Services, Source, Space, Synonyms, WordCosine
from mohs.space.constraints import WordMeasure
from mohs.space.sources import Offers, offers, tags
from mohs.text import Text
from mohs.text.questions import Spot
from mohs.text.stopwords import NLTK
from mohs.text.sweep import Sweep


@dataclass(frozen=True)
class PWWS:
    """Replace words by their best synonyms, in the order of the synonym's effect times the word's saliency.

    Ren et al. 2019, as Hauser et al. 2021 describe and set it in section 3.3.3 (preset `paper`). A word's saliency is
    the drop in the true label's probability with [UNK] in its place (equation 3.7). Its substitute is the WordNet
    synonym that lowers the true label's probability most, tried alone in the original (3.9). Words are replaced in the
    order of that drop times the softmax of the saliencies (3.8) until the model is fooled. Nothing is chosen again on
    the way, and replacements that do not help are kept.

    Preset `released` (the authors' code) uses only synonyms with the same fine tag (`TaggedSynonyms`), has no
    stopwords, and gives a named entity only its replacement. The presets `textattack` and `cos50` are `GreedyPWWS`.

    Differs from the paper and the released code:
    - saliency is queried only for words that have candidates. The softmax divides all words by the same sum, so the
      order is the same, with fewer queries. The released code hides a word by the padding token instead of [UNK];
    - named entities are replaced only if `entities` are given (--entities; see NamedEntities, which is not a
      recogniser). No preset has them, because the table belongs to a dataset; `mohs entities` makes one.
    """

    paper: ClassVar[str] = "Ren et al. 2019; settings of Hauser et al. 2021, 3.3.3"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, one per candidate, then one per replacement until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = Synonyms()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK
    unknown: str = "[UNK]"
    entities: NamedEntities | None = None
    entities_alone: bool = False  # the only candidate (released code); otherwise one more candidate (paper)

    @property
    def living(self) -> bool:
        """Whether the search adds words to the space: the replacement of an entity depends on the label."""
        return self.entities is not None

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Saliency, substitutes, order, replacement."""
        words = await self._candidates(x, goal.label, space, ask)
        saliency = await salience(x, tuple(words), self.unknown, goal, ask)
        (clean,) = await ask.victim([x])
        current = x
        with suppress(BudgetSpent):
            singles = await alone(x, words, goal, space, ask)
            best = {p: min(found, key=lambda word: (-found[word], word)) for p, found in singles.items()}
            gain = {p: singles[p][word] - goal.score(clean) for p, word in best.items()}
            for p in ranked({p: math.exp(saliency[p]) * gain[p] for p in best}):
                for candidate in await space.allowed(current, [current.replace(p, best[p])], ask):
                    (probs,) = await ask.victim([candidate])
                    current = candidate
                    if goal.met(probs):
                        return current
        return current

    async def _candidates(self, x: Text, label: int, space: Space, ask: Ask) -> dict[int, tuple[str, ...]]:
        """The candidate words of each position. Positions without any are left out."""
        positions = space.positions
        words = dict(zip(positions, await space.words(x, positions, ask), strict=True))
        if self.entities is not None:
            for p, word in (await self.entities(x, positions, label, ask)).items():
                if _obeys(x, p, word, space, ask):
                    space.admit(p, word, "named entity")
                    words[p] = (word,) if self.entities_alone else (*words[p], word)
        return {p: tuple(dict.fromkeys(found)) for p, found in words.items() if found}


@dataclass(frozen=True)
class GreedyPWWS:
    """Replace words by their best synonyms, in PWWS order, and choose again at each word.

    PWWS as in TextAttack: any WordNet synonym except stopwords. The order is the softmax of the saliencies times the
    highest score of the word's synonyms; the score is one minus the true label's probability, not the drop in it. Then
    each synonym is queried on the current text, and the best is kept if it helps.

    Preset `cos50` is PWWS' of Hauser et al. 2021, section 8.1, which was made with TextAttack: like `textattack`, but
    the vectors of a word and its substitute need a cosine of 0.5 or more. A pair with a word that has no vector passes,
    as it does in TextAttack.

    Differs from Hauser et al. 2021: the vectors are the run's, not the published 300 dimensions.

    Differs from TextAttack: saliency is queried only for words that have synonyms, with the same order; see
    `greedy_in_order` for more than two classes.
    """

    paper: ClassVar[str] = "Ren et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then two per candidate until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = Synonyms()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK
    unknown: str = "[UNK]"

    @classmethod
    def primed(cls) -> GreedyPWWS:
        """PWWS': adds a bound on the cosine of words."""
        return cls(constraints=(Constraint(WordCosine(unknown_passes=True), at_least=0.5),))

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Rank the words once, then go word by word."""
        saliency = await salience(x, space.positions, self.unknown, goal, ask)
        singles = await alone(x, space.choices, goal, space, ask)
        weighted = {p: math.exp(saliency[p]) * max(scores.values()) for p, scores in singles.items()}
        return await greedy_in_order(x, ranked(weighted), lambda p: space.choices[p], goal, space, ask)


async def salience(x: Text, positions: Sequence[int], unknown: str, goal: Goal, ask: Ask) -> dict[int, float]:
    """How much the goal gains when an unknown word takes the place of each word."""
    (clean,) = await ask.victim([x])
    hidden = await replacing(x, positions, unknown, ask)
    return {p: goal.score(probs) - goal.score(clean) for p, probs in zip(positions, hidden, strict=True)}


async def alone(
    x: Text, words: Mapping[int, Sequence[str]], goal: Goal, space: Space, ask: Ask
) -> dict[int, dict[str, float]]:
    """The score of each allowed candidate, tried alone in the original."""
    pairs = [(p, word) for p, words_there in words.items() for word in words_there]
    found: dict[int, dict[str, float]] = {}
    for number, part in enumerate(slices(x, pairs)):
        sweep = Sweep(x, [p for p, _ in part], [word for _, word in part])
        allowed = await space.allowed(x, sweep, ask)
        if number and allowed and not ask.affordable(allowed[:1]):
            break  # the budget ended with the last slice
        some = await tried(allowed, ask)
        for p, word, score in zip(allowed.positions, allowed.words, goal.each(some.probs), strict=False):
            found.setdefault(p, {})[word] = score
        if len(some.probs) < len(allowed):
            break
    return found


def _obeys(x: Text, p: int, word: str, space: Space, ask: Ask) -> bool:
    """Whether the constraints on words allow a word. Words from sources are already checked."""
    return all(
        constraint.holds(constraint.measure.of_words(x.words[p], [word], ask)[0], len(x))
        for constraint in space.constraints
        if constraint.about_words and isinstance(constraint.measure, WordMeasure)
    )


@dataclass(frozen=True)
class TaggedSynonyms:
    """Synonyms with the same word class that have, read alone, the same Penn tag as the word (PWWS' own code).

    Nouns (also proper ones), verbs, adjectives, adverbs and conjunctions such as "and" have synonyms, but "be" has
    none.

    Differs from the released code: entries of several words are left out (there, the first word counts), and lemmas are
    not compared: WordNet offers base forms, and a base form of the word itself has another tag or is the word.
    """

    needs: ClassVar[tuple[str, ...]] = ("wordnet", "tagger")

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Synonyms of each word."""
        read = [tag for _, tag in await tags(text, positions, ask)]
        words = [text.words[position] for position in positions]
        lists = [
            ask.wordnet.synonyms(word.lower(), _CLASSES[tag[:2]])
            if tag[:2] in _CLASSES and word.lower() != "be"
            else []
            for word, tag in zip(words, read, strict=True)
        ]
        wanted = list(dict.fromkeys(other for found in lists for other in found))
        answers = await ask.tagger([Spot(other, 0, len(other)) for other in wanted]) if wanted else []
        own = {other: answer.tag for other, answer in zip(wanted, answers, strict=True)}
        return [
            offers(word, [other for other in found if own[other] == tag], "wordnet")
            for word, tag, found in zip(words, read, lists, strict=True)
        ]


_CLASSES = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r", "CC": None}
