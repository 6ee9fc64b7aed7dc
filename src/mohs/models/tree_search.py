"""The search of T3 (Wang et al. 2020): a change of a tree's vectors whose decoded text fools a victim.

At each step the decoder gives a word for every token that may change. The victim reads the text of these words. The
gradient of its margin, with respect to its own input vectors, goes back through the softmax over words: a word's
vector counts as the mean of the vectors of all words, weighted by their probabilities. So the victim is always asked
about a real text, and only the way back is soft ("straight through", as in the released code).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor

from mohs.engine import AtOnce
from mohs.errors import BadInput
from mohs.models.gradients import gradients_of
from mohs.models.tree_rows import UNKNOWN, Forest, forest_of
from mohs.models.tree_text import Words, is_word
from mohs.models.victim import Fields, Victim
from mohs.text.questions import Labelled, Slope
from mohs.text.tree_search import Decoded, TreeQuestion

if TYPE_CHECKING:
    from mohs.models.tree_folder import Trees

Path = list[Decoded]


class TreeSearch(AtOnce):
    """Answers a TreeQuestion with all strings that came up, in their order.

    Each question is worked on alone, so that its answer does not depend on others in a batch.
    """

    rows = 1

    def __init__(self, trees: Trees, victim: Victim) -> None:
        self.name = trees.name
        self.fingerprint = trees.fingerprint
        self.reconstruction = trees.reconstruction
        self._trees = trees
        self._victim = victim
        self._inside = gradients_of(victim)
        self._vectors: tuple[Tensor, Tensor] | None = (
            None  # of the lexicon's words, by the victim; which words have one
        )

    def plan(self, items: list[TreeQuestion]) -> list[list[TreeQuestion]]:
        """One question at a time."""
        return [[item] for item in sorted(items, key=repr)]

    def collect(self, ticket: list[TreeQuestion]) -> list[Path]:
        """Search for each question."""
        return [self._search(question) for question in ticket]

    def _search(self, question: TreeQuestion) -> Path:
        if not question.parse or all(question.fixed):
            return []
        words = Words(question, self._trees.lexicon)
        forest = forest_of([self._trees.lexicon.row(question.parse)], self._trees.device)
        free = torch.tensor(words.free)
        if not bool(free.any()):
            return []
        with torch.inference_mode(False), torch.enable_grad():
            reading = _Leaves(self._trees, forest) if question.steps.leaf else _Roots(self._trees, forest)
            return self._descend(question, words, free, reading)

    def _descend(self, question: TreeQuestion, words: Words, free: Tensor, reading: _Roots) -> Path:
        steps = question.steps
        known, has = self._known()
        change = torch.zeros_like(reading.start, requires_grad=True)
        optimizer = torch.optim.Adam([change], lr=steps.rate)
        found: dict[str, Decoded] = {}
        first = self._vectors_before(question, free)
        for step in range(steps.steps):
            scores = reading.scores(change, words)[free].double()
            chosen = words.own.clone()
            chosen[free] = scores.argmax(1).cpu()
            string, spans = words.string(chosen.tolist())
            margin, slope, vectors = self._margin(question, string, spans, free)
            distance = float(((vectors - first) ** 2).sum())
            found.setdefault(string, Decoded(string, step, margin, distance))
            pressed = steps.const if margin + steps.confidence > 0 else 0.0
            wanted = pressed * slope + 2 * (vectors - first)
            probability = (scores / steps.temperature).masked_fill(~has, -math.inf).softmax(1)
            soft = probability @ known.double()
            optimizer.zero_grad()
            (soft * wanted.to(soft)).sum().backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_([change], steps.clip)
            optimizer.step()
        return list(found.values())

    def _margin(
        self, question: TreeQuestion, string: str, spans: Sequence[tuple[int, int]], free: Tensor
    ) -> tuple[float, Tensor, Tensor]:
        """The victim's margin on a text, its gradient and the input vectors at each token that may change."""
        fields = _with(question, string)
        (scores,) = self._victim.collect(self._victim.launch(self._victim.plan([fields])[0]))
        own = question.label if question.target is None else question.target
        classes = range(len(self._victim.labels))  # without a column for a rejection
        other = max((number for number in classes if number != own), key=lambda n: (scores[n], -n))
        sides = (own, other) if question.target is None else (other, own)  # the first should lose
        slopes = [self._slope(fields, label) for label in sides]
        at = [self._by_token(slope, question.number, spans, free) for slope in slopes]
        return slopes[0].log_prob - slopes[1].log_prob, at[0][0] - at[1][0], at[0][1]

    def _vectors_before(self, question: TreeQuestion, free: Tensor) -> Tensor:
        """The victim's vectors of the original tokens."""
        spans = [(token.start, token.end) for token in question.parse]
        slope = self._slope(question.fields, question.label)
        return self._by_token(slope, question.number, spans, free)[1]

    def _slope(self, fields: Fields, label: int) -> Slope:
        inside = self._inside
        return cast(Slope, inside.collect(inside.launch(inside.plan([Labelled(fields, label)])[0]))[0])

    def _by_token(
        self, slope: Slope, number: int, spans: Sequence[tuple[int, int]], free: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The gradient (a sum) and the vector (a mean) over the victim's own tokens in each token that may change."""
        width = slope.gradient.shape[1]
        rows = slope.by_word([(number, start, end) for start, end in spans])
        gradients, vectors = np.zeros((len(spans), width)), np.zeros((len(spans), width))
        for place, inside in enumerate(rows):
            if inside:
                gradients[place] = slope.gradient[inside].sum(0)
                vectors[place] = slope.embedding[inside].mean(0)
        return torch.from_numpy(gradients)[free], torch.from_numpy(vectors)[free]

    def _known(self) -> tuple[Tensor, Tensor]:
        """The victim's vectors of the lexicon's words, and which words have one."""
        if self._vectors is None:
            found = self._inside.vectors(list(self._trees.lexicon.words))
            width = next((len(row) for row in found if row is not None), 1)
            table = np.zeros((len(found) + 1, width), np.float32)
            for number, row in enumerate(found, 1):
                if row is not None:
                    table[number] = row
            has = torch.tensor([False, *(row is not None for row in found)])
            if not any(
                row is not None and is_word(word) for row, word in zip(found, self._trees.lexicon.words, strict=True)
            ):
                raise BadInput(
                    f"{self._victim.name} reads no word of {self.name} as one token, so no gradient reaches the words; "
                    "use a victim that reads words or word pieces."
                )
            self._vectors = torch.from_numpy(table).to(self._trees.device), has.to(self._trees.device)
        return self._vectors


class _Roots:
    """The vectors of the roots are changed."""

    def __init__(self, trees: Trees, forest: Forest) -> None:
        self._module, self._forest = trees.module, forest
        with torch.no_grad():
            self.start = self._vectors()

    def _vectors(self) -> Tensor:
        return self._module.encode(self._forest)

    def _roots(self, changed: Tensor) -> Tensor:
        return changed

    def scores(self, change: Tensor, words: Words) -> Tensor:
        """A score for each token and word. Every token reads the word that was chosen for its head."""
        places = self._forest.places
        allowed = words.allowed(places)
        own = torch.empty_like(places).index_copy(0, places, words.own.to(places))
        found: list[Tensor] = []

        def choose(start: int, scores: Tensor) -> Tensor:
            level = slice(start, start + len(scores))
            found.append(scores.masked_fill(~allowed[level], -math.inf))
            return torch.where(allowed[level].any(1), found[-1].argmax(1), own[level])

        self._module.decode(self._roots(self.start + change), self._forest, choose=choose)
        return torch.cat(found)[places]


class _Leaves(_Roots):
    """The vectors of the words are changed, before they go up the tree."""

    def _vectors(self) -> Tensor:
        found: Tensor = self._module.read(self._forest.words)
        return found

    def _roots(self, changed: Tensor) -> Tensor:
        return self._module.climb(self._forest, changed)


def _with(question: TreeQuestion, string: str) -> Fields:
    fields = list(question.fields)
    fields[question.number] = string
    return tuple(fields)


assert UNKNOWN == 0, "the first row of each table is that of the unknown word"
