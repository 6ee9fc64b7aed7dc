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
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Services, Source, Space, Synonyms, WordCosine
from mohs.space.constraints import WordMeasure
from mohs.space.sources import Offers, offers, tags
from mohs.text import Text
from mohs.text.questions import Spot
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class PWWS:
    """Replace words by their best synonyms, in the order of what the synonym does times how much the word matters.

    Ren et al. 2019, as Hauser et al. 2021 describe and set it in section 3.3.3 (preset `paper`). A word's saliency is
    the loss of the true label's probability with [UNK] in its place (equation 3.7). Its substitute is the synonym in
    WordNet that costs the true label most, tried alone in the original (3.9). Words are replaced in the order of that
    loss times the softmax of the saliencies (3.8) until the model is fooled: nothing is chosen anew on the way, and
    what does not help is kept.

    Preset `released` (the authors' code) takes only synonyms of the same fine tag (`TaggedSynonyms`), has no stopwords,
    and gives a named entity nothing but its replacement. Preset `cos50` is PWWS' of Hauser et al. 2021, section 8.1: as
    `paper`, and the vectors of a word and its substitute have a cosine of 0.5 or more; a word without a vector is left
    out (TextAttack would let it through; the thesis does not say).

    Differs from the paper and the released code:
    - saliency is asked only for words that have candidates: the softmax divides all words by the same sum, so the order
      is the same, with fewer queries. The released code hides a word by the padding token instead of [UNK];
    - named entities are replaced only if `entities` are given (--entities; see NamedEntities, which is not a
      recogniser); no preset has them, because the table belongs to a dataset, and `mohs entities` makes one.
    """

    paper: ClassVar[str] = "Ren et al. 2019; settings of Hauser et al. 2021, 3.3.3"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one a word, one a candidate, then one a replacement until fooled"

    source: Source = Synonyms()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK
    unknown: str = "[UNK]"
    entities: NamedEntities | None = None
    entities_alone: bool = False  # an entity has no other candidates (released code); otherwise one more (paper)

    @classmethod
    def primed(cls) -> PWWS:
        """PWWS': with a cosine of words."""
        return cls(constraints=(Constraint(WordCosine(), at_least=0.5),))

    @property
    def living(self) -> bool:
        """The replacement of an entity depends on the label, so the search enters it into the space."""
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
        """The words that may stand at each position, those without left out."""
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
    """Replace words by their best synonyms, in PWWS order, choosing anew at each word.

    PWWS as TextAttack has it: any synonym in WordNet but for stopwords; the order is the softmax of the saliencies
    times the highest score of the word's synonyms, where the score is one minus the true label's probability and not
    what was lost of it; then each synonym is asked on the text as it stands, and the best kept if it helps.

    Differs from TextAttack: saliency is asked only for words that have synonyms, with the same order; see
    `greedy_in_order` on several classes.
    """

    paper: ClassVar[str] = "Ren et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one a word, then two a candidate until fooled"

    source: Source = Synonyms()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK
    unknown: str = "[UNK]"

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Rank once, then word by word."""
        saliency = await salience(x, space.positions, self.unknown, goal, ask)
        singles = await alone(x, space.choices, goal, space, ask)
        weighted = {p: math.exp(saliency[p]) * max(scores.values()) for p, scores in singles.items()}
        return await greedy_in_order(x, ranked(weighted), lambda p: space.choices[p], goal, space, ask)


async def salience(x: Text, positions: Sequence[int], unknown: str, goal: Goal, ask: Ask) -> dict[int, float]:
    """What the goal gains with an unknown word in the place of each."""
    (clean,) = await ask.victim([x])
    hidden = await replacing(x, positions, unknown, ask)
    return {p: goal.score(probs) - goal.score(clean) for p, probs in zip(positions, hidden, strict=True)}


async def alone(
    x: Text, words: Mapping[int, Sequence[str]], goal: Goal, space: Space, ask: Ask
) -> dict[int, dict[str, float]]:
    """The score of each allowed candidate, put alone into the original."""
    edits = [(p, word, x.replace(p, word)) for p, found in words.items() for word in found]
    allowed = await space.allowed(x, list(dict.fromkeys(text for _, _, text in edits)), ask)
    score = {text: goal.score(probs) for text, probs in (await ask.scores_of(allowed)).items()}
    found: dict[int, dict[str, float]] = {}
    for p, word, text in edits:
        if text in score:
            found.setdefault(p, {})[word] = score[text]
    return found


def _obeys(x: Text, p: int, word: str, space: Space, ask: Ask) -> bool:
    """Whether the constraints on words, which sources have obeyed already, let a word through."""
    return all(
        constraint.holds(constraint.measure.of_words(x.words[p], [word], ask)[0], len(x))
        for constraint in space.constraints
        if constraint.about_words and isinstance(constraint.measure, WordMeasure)
    )


@dataclass(frozen=True)
class TaggedSynonyms:
    """Synonyms of a word's class in its text that have, read alone, the same Penn tag as the word (PWWS' own code).

    Nouns, proper ones too, verbs, adjectives, adverbs and conjunctions such as "and" have synonyms, but "be" has none.

    Differs from the released code: an entry of several words is left out (there its first word counts), and lemmas are
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
