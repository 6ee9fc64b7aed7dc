"""T3: tree auto-encoder constrained text (Wang et al. 2020), as AdvGLUE uses it (Wang et al. 2021)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from mohs.attacks.goal import Below, Goal, Targeted
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.errors import BadInput
from mohs.space import Constraint, Rewriter, Source, Space
from mohs.space.rewrites import parts_of
from mohs.space.trees import DecodedTrees, fixed_tokens
from mohs.text import Text
from mohs.text.tree_search import Decoded, Steps, TreeQuestion

_LEAST_THRESHOLD = 1e-6


@dataclass(frozen=True)
class Descent:
    """The optimisation of Carlini and Wagner 2017 on the vectors of a tree, with the numbers of the released code."""

    needs: ClassVar[tuple[str, ...]] = ("parser", "autoencoder", "gradients")

    leaf: bool = False  # change the words' vectors instead of the roots'
    steps: int = 100
    rate: float = 0.1  # Adam's
    const: float = 1e4  # weight of the victim's margin against the distance
    confidence: float = 0.0
    clip: float = 0.5  # largest norm of a gradient
    temperature: float = 0.1  # of the softmax over words

    async def __call__(
        self, x: Text, number: int, free: Collection[int], goal: Goal, ask: Ask
    ) -> tuple[list[Decoded], float]:
        """The strings that came up for a field, and the confidence with which a margin must be below zero."""
        confidence = self.confidence
        if isinstance(goal, Below):  # the log-odds of the threshold
            threshold = min(max(goal.threshold, _LEAST_THRESHOLD), 1 - _LEAST_THRESHOLD)
            confidence += math.log((1 - threshold) / threshold)
        target = goal.target if isinstance(goal, Targeted) else None
        steps = Steps(self.leaf, self.steps, self.rate, self.const, confidence, self.clip, self.temperature)
        (parse,) = await ask.parser([x.fields[number]])
        fixed = fixed_tokens(x, number, parse, free)
        (found,) = await ask.decoded([TreeQuestion(x.fields, number, parse, fixed, goal.label, target, steps)])
        return found, confidence


@dataclass(frozen=True)
class T3:
    """Change the vector of a sentence's dependency tree until the decoded sentence fools the victim.

    Wang et al. 2020. A tree auto-encoder (`mohs train --task t3`) turns each sentence of a field into the vector of its
    root, and decodes it down the same tree. Preset `root` is T3(SENT): it changes the roots' vectors. Preset `leaf` is
    T3(WORD): it changes the words' vectors, before they go up the tree. The loss is that of Carlini and Wagner
    2017: `const` times the victim's margin, as far as it is above minus `confidence`, plus the squared distance of the
    words' vectors from the original's. Of the texts that fool the victim, the one with the least distance is taken.

    Differs from the paper and the released code:
    - words of the lexicon change; punctuation, unknown words and words to keep stay, and a sign never replaces a word;
    - the victim always reads a real text. The softmax over words (temperature 0.1) is only the way back of gradients;
      the released code does the same;
    - the way back knows the words that are one token of the victim; the released decoder writes the victim's tokens;
    - a text that the search took for a success is asked again, and the next nearest is tried if it is none;
    - T3(WORD) of the released code changes the victim's own word vectors and reads the nearest word, without a tree;
    - the auto-encoder has word vectors of its own in place of GloVe's; see mohs.models.tree_autoencoder;
    - both fields of a pair are searched if both may change, one at a time.

    It refuses an auto-encoder that gives back less than `least_reconstruction` of held-out short sentences. Passes with
    gradients do not count as queries: there are three a step, and one query for each text that is tried at the end.
    """

    paper: ClassVar[str] = "Wang et al. 2020 (T3)"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one or a few, and three passes per step (100)"
    rewrites: ClassVar[bool] = True
    replaces: ClassVar[bool] = False
    living: ClassVar[bool] = True

    search: Descent = Descent()
    least_reconstruction: float = 0.9
    source: Source | Rewriter = DecodedTrees()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    def refuse(self, name: str, services: Mapping[str, Any]) -> None:
        """Refuse another source, and an auto-encoder that gives back too little."""
        if any(not isinstance(one, DecodedTrees) for one in parts_of(self.source)):
            raise BadInput(f"{name} decodes trees and would never try another source; leave --source out.")
        share = getattr(services["autoencoder"].model, "reconstruction", None)
        if share is not None and share < self.least_reconstruction:
            raise BadInput(
                f"The auto-encoder of {name} gives back {share:.1%} of the tokens of held-out short sentences, and "
                f"{self.least_reconstruction:.0%} are needed; train it longer or on more sentences."
            )

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Search each field, then try what was found, the nearest first."""
        rewrites = space.rewrites
        assert rewrites is not None, "the source has a rewriter"
        ranks: dict[Text, tuple[bool, float]] = {}  # whether it should not fool the victim; then how far it is
        for number in rewrites.fields:
            found, confidence = await self.search(x, number, rewrites.free, goal, ask)
            for one in found:
                text = space.admit_rewrite(number, one.string, "leaf" if self.search.leaf else "root")
                if text is not None:
                    fools = one.margin < -confidence
                    ranks[text] = (not fools, round(one.distance if fools else one.margin, 4))
        order = sorted(await space.allowed(x, list(ranks), ask), key=lambda text: (*ranks[text], text))
        return await _tried(x, [text for text in order if not ranks[text][0]] or order[:1], goal, ask)


async def _tried(x: Text, order: list[Text], goal: Goal, ask: Ask) -> Text:
    """The first of some texts that reaches the goal. If none does, the strongest of them."""
    (clean,) = await ask.victim([x])
    best, score = x, goal.score(clean)
    with suppress(BudgetSpent):
        for text in order:
            (probs,) = await ask.victim([text])
            if goal.met(probs):
                return text
            if goal.score(probs) > score:
                best, score = text, goal.score(probs)
    return best


def leaf() -> T3:
    """T3(WORD)."""
    return T3(Descent(leaf=True))
