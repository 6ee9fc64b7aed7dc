"""Training so that the transformer's bounds hold: `mohs train --arch transformer --harden lirpa` (Xu et al. 2020).

The loss is that of the least margins that bounds allow, and of nothing else. Over the first epochs the choices move
from each text's own words to where they are, and the bounds from linear ones to intervals (Section 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from mohs.bounds.transformer_margins import best_margins, least_margins
from mohs.errors import BadInput
from mohs.models.verifiable_transformer import VerifiableAttention
from mohs.text import Example
from mohs.training.choices import Choices
from mohs.training.hardening import Batch
from mohs.training.learner import WordLearner
from mohs.training.loop import Set
from mohs.training.substituting import Substituting

_DEV_BATCH = 64


@dataclass(frozen=True)
class Lirpa(Substituting):
    """Train on the least margins when at most `budget` words change: intervals, mixed with linear bounds.

    The words are those that `mohs certify` takes by default, or of a thesaurus file as with its --source
    thesaurus:FILE. Of the epochs after the rise, the one with most certified dev examples (at `budget`) is kept.

    Differs from the released code:
    - The linear bound is never below that of the intervals, whose own form is tighter (mohs.bounds.transformer_boxes).
    - Batches have 256 texts, and the rate rises to 2e-3 and falls; the code has 32 and 1e-4. The maximum gradient norm
      is 1, against 10.
    - Choices that the network does not know count as its unknown word; the code leaves them out. So it does with words
      that its language model finds unlikely in the text.
    """

    budget: int = 6
    words: str = "neighbours"  # or a thesaurus file
    k: int = 5
    cosine: float = 0.5
    vectors: str = "pocket"
    stopwords: str = "english"
    most: float = 1.0  # how far choices move in the end: 1 is where they are
    rise: float = 0.4  # of the epochs; Xu et al.: 10 of 25

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise BadInput(f"--harden lirpa has budget={self.budget}; at least one word must be free to change.")
        if not 0 < self.most <= 1:
            raise BadInput(f"--harden lirpa has most={self.most:g}; it must be above 0 and at most 1.")
        self.check_words("lirpa")

    def trainer(self, learner: Any, examples: Sequence[Example]) -> LeastMargins:
        """The training of one network, with the choices of all its texts."""
        assert isinstance(learner, WordLearner), "the recipe refuses other networks"
        if not isinstance(learner.module.reader, VerifiableAttention):
            raise BadInput(
                f"--harden lirpa has bounds for --arch transformer only, not for {learner.shape.architecture}; "
                "use --harden ibp."
            )
        return LeastMargins(self, learner, self.choices(learner, examples))

    def share(self, epoch: float, epochs: int) -> float:
        """How far the choices are moved: from 0 at the start to `most` after the rise."""
        last = self.first(epochs)
        return self.most * (min(1.0, epoch / last) if last else 1.0)

    def first(self, epochs: int) -> int:
        """The first epoch in which the choices are where they are to be in the end, from 0."""
        return max(0, min(epochs - 1, round(self.rise * epochs)))


@dataclass(frozen=True)
class LeastMargins:
    """The training of one network."""

    method: Lirpa
    learner: WordLearner
    choices: Choices

    @property
    def digest(self) -> str:
        """A hash of the choices: a training is resumed only with the same."""
        return self.choices.digest

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        several = f"; {self.choices.skipped} of several words left out" if self.choices.skipped else ""
        return {"words with choices": f"{self.choices.changing:,}, at most {self.choices.most - 1} each{several}"}

    def first(self, epochs: int) -> int:
        """The first epoch whose weights may be kept, from 0."""
        return self.method.first(epochs)

    def backward(self, batch: Batch, epoch: float, epochs: int) -> float:
        """Add the gradient of a batch's loss to the weights, and return the loss."""
        share = self.method.share(epoch, epochs)
        if share:
            table, lengths, labels = self._placed(batch.texts, batch.labels)
            budget = self.method.budget
            loss = _loss(least_margins(self.learner.module, table, lengths, labels, budget=budget, share=share))
        else:
            logits = self.learner.logits(batch.rows)
            loss = cross_entropy(logits, torch.tensor(batch.labels).to(logits.device))
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def check(self, learner: Any, data: Set) -> tuple[int, float]:
        """The number of examples that are certified, and the mean of the worst loss."""
        module = self.learner.module.eval()
        order = sorted(range(len(data.rows)), key=lambda number: len(data.rows[number]))
        certified, loss = 0, 0.0
        with torch.inference_mode():
            for start in range(0, len(order), _DEV_BATCH):
                part = order[start : start + _DEV_BATCH]
                table, lengths, labels = self._placed([data.texts[n] for n in part], [data.labels[n] for n in part])
                margins = best_margins(module, table, lengths, labels, budget=self.method.budget)
                loss += float(_loss(margins)) * len(part)
                certified += int((margins > 0).all(1).sum())
        return certified, loss / len(order)

    def _placed(self, texts: Sequence[tuple[str, ...]], labels: Sequence[int]) -> tuple[Tensor, Tensor | None, Tensor]:
        """The choices at each place, the lengths, and the labels, on the device."""
        device = self.learner.module.embedding.weight.device
        table, lengths = self.choices.of(texts, device)
        return table, lengths, torch.tensor(labels, device=device)


def _loss(margins: Tensor) -> Tensor:
    """The cross-entropy of the label, whose logit is 0 and leads the others by their margins."""
    return cross_entropy(pad(-margins, (1, 0)), margins.new_zeros(len(margins), dtype=torch.long))
