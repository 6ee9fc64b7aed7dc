"""Measures of suspicion and grammar, by a language model and a grammar checker."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from mohs.space.constraints import Family
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text
from mohs.text.questions import Scored


@dataclass(frozen=True)
class Perplexity(Compared):
    """The perplexity of the text under a causal language model: exp(-mean log-probability of its tokens)."""

    name = "perplexity"
    limits = (1, math.inf)
    family = Family.SUSPICION
    needs = ("lm",)

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The perplexity of each candidate; nan for a text without tokens."""
        scored = await ask.lm([str(candidate) for candidate in candidates])
        return [perplexity(answer) for answer in scored]


@dataclass(frozen=True)
class PerplexityRatio(Compared):
    """The perplexity of the text divided by that of the original."""

    name = "perplexity ratio"
    limits = (0, math.inf)
    family = Family.SUSPICION
    needs = ("lm",)

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The ratio for each candidate; 1 if it is as likely as the original, more if less likely."""
        before, *after = await ask.lm([str(reference), *map(str, candidates)])
        return [round(perplexity(answer) / perplexity(before), 6) for answer in after]


@dataclass(frozen=True)
class LogProbDrop(Compared):
    """How much log-probability a text loses under a causal language model.

    With a `window`, only that many words around the changed one are read (Jia et al. 2019: 6 words); otherwise the
    whole text. `previous` compares with the text before the step.
    """

    window: int | None = None
    previous: bool = False

    def __post_init__(self) -> None:
        at_least(1, window=self.window)

    name = "log-probability drop"
    family = Family.SUSPICION
    needs = ("lm",)

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """Positive where the candidate is less likely. It is a sum, not a mean, so a longer text loses more."""
        reference = self.reference(original, current)
        pairs = []
        for candidate in candidates:
            pair = str(reference), str(candidate)
            if self.window is not None and current is not None and current.same_shape(candidate):
                changed = current.changes(candidate)
                if len(changed) == 1 and reference.same_shape(candidate):
                    place = changed[0]
                    pair = reference.around(place, self.window), candidate.around(place, self.window)
            pairs.append(pair)
        needed = list(dict.fromkeys(text for pair in pairs for text in pair))
        total = {text: math.fsum(answer.log_probs) for text, answer in zip(needed, await ask.lm(needed), strict=True)}
        return [round(total[one] - total[other], 6) for one, other in pairs]


@dataclass(frozen=True)
class FluencyRank(Compared):
    """The rank of a candidate among those for the same word, by the likelihood of the text; 1 is the best.

    With `at_most=4` this keeps the four best, as Alzantot et al. 2018 do with their language model. A rank depends on
    the other candidates, so the final text does not show it: an audit gives nan.
    """

    window: int | None = None

    def __post_init__(self) -> None:
        at_least(1, window=self.window)

    name = "fluency rank"
    limits = (1, math.inf)
    family = Family.SUSPICION
    needs = ("lm",)
    stepwise = True

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The rank of each candidate; ties share the better rank."""
        if current is None:
            return [math.nan] * len(candidates)
        places = []
        for candidate in candidates:
            changed = current.changes(candidate) if current.same_shape(candidate) else []
            places.append(changed[0] if len(changed) == 1 else -1)
        views = [
            candidate.around(place, self.window) if self.window is not None and place >= 0 else str(candidate)
            for candidate, place in zip(candidates, places, strict=True)
        ]
        scores = [round(math.fsum(answer.log_probs), 6) for answer in await ask.lm(views)]
        rivals: dict[int, list[float]] = {}
        for score, place in sorted(zip(scores, places, strict=True)):
            rivals.setdefault(place, []).append(score)
        return [
            1.0 + len(rivals[place]) - bisect_right(rivals[place], score)
            for score, place in zip(scores, places, strict=True)
        ]


@dataclass(frozen=True)
class GrammarErrors(Compared):
    """How many grammar errors were introduced: G(x_adv) - G(x) of Morris et al. 2020, section 3.4."""

    previous: bool = False

    name = "grammar errors introduced"
    family = Family.GRAMMAR
    needs = ("grammar",)

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The difference for each candidate; negative where the change fixed an error."""
        before, *after = await ask.grammar([str(reference), *map(str, candidates)])
        return [float(len(answer) - len(before)) for answer in after]


def perplexity(scored: Scored) -> float:
    """exp(-mean log-probability), rounded; nan without tokens."""
    if not scored.log_probs:
        return math.nan
    return round(math.exp(-math.fsum(scored.log_probs) / len(scored.log_probs)), 6)
