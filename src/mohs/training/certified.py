"""Training so that bounds hold: `mohs train --harden ibp` (Jia et al. 2019, Section 3.2).

The loss is a mix of the plain one and of the worst one that interval bounds allow. Over the first epochs both the
weight of the worst case and the width of the intervals grow from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from mohs.bounds.propagation import logits_and_leads
from mohs.errors import BadInput
from mohs.models.verifiable import Verifiable
from mohs.text import Example
from mohs.training.choices import Choices
from mohs.training.hardening import Batch
from mohs.training.learner import WordLearner
from mohs.training.loop import Set
from mohs.training.substituting import Substituting

_DEV_BATCH = 128


@dataclass(frozen=True)
class IBP(Substituting):
    """Interval bound propagation: train on the worst logits that any choice of words may give.

    The words are those that `mohs certify` takes by default, or of a thesaurus file as with its --source
    thesaurus:FILE. Of the epochs at full weight, the one with most certified dev examples is kept.

    Differs from the released code:
    - The worst case of an example is that of its own label. The code takes, for a batch, the larger of the losses of
      all lower bounds and of all upper bounds.
    - With several classes, the loss is the cross-entropy of the most that each logit can lead the label's. With two
      that is the paper's loss of the lower bound (or upper, for the other class) of one logit.
    - The weight and the intervals grow with every step, not with every epoch.
    - Weight decay is AdamW's, and of matrices only.
    - The paper's language model, which narrows the choices of a text, is left out.
    """

    words: str = "neighbours"  # or a thesaurus file
    k: int = 5
    cosine: float = 0.5
    vectors: str = "pocket"
    stopwords: str = "english"
    weight: float = 0.8  # of the worst case, in the end
    rise: float = 2 / 3  # of the epochs; Jia et al.: 40 of 60

    def __post_init__(self) -> None:
        if not 0 < self.weight <= 1:
            raise BadInput(f"--harden ibp has weight={self.weight:g}; it must be above 0 and at most 1, such as 0.8.")
        self.check_words("ibp")

    def trainer(self, learner: Any, examples: Sequence[Example]) -> WorstCase:
        """The training of one network, with the choices of all its texts."""
        assert isinstance(learner, WordLearner), "the recipe refuses other networks"
        assert isinstance(learner.module.reader, Verifiable), "and other shapes"
        return WorstCase(self, learner, self.choices(learner, examples))

    def share(self, epoch: float, epochs: int) -> float:
        """How far the worst case counts after so many epochs: from 0 to 1 at the end of the rise."""
        last = self.first(epochs)
        return min(1.0, epoch / last) if last else 1.0

    def first(self, epochs: int) -> int:
        """The first epoch in which the worst case counts in full, from 0."""
        return max(0, min(epochs, round(self.rise * epochs)) - 1)


@dataclass(frozen=True)
class WorstCase:
    """The training of one network."""

    method: IBP
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
        weight = share * self.method.weight
        if not weight:
            logits = self.learner.logits(batch.rows)
            loss = cross_entropy(logits, torch.tensor(batch.labels).to(logits.device))
        else:
            logits, leads, labels = self._bounded(batch.texts, batch.labels, share)
            loss = weight * cross_entropy(leads, labels) + (1 - weight) * cross_entropy(logits, labels)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def check(self, learner: Any, data: Set) -> tuple[int, float]:
        """The number of examples that are certified, and the mean of the worst loss."""
        self.learner.module.eval()
        order = sorted(range(len(data.rows)), key=lambda number: len(data.rows[number]))
        certified, loss = 0, 0.0
        with torch.inference_mode():
            for start in range(0, len(order), _DEV_BATCH):
                part = order[start : start + _DEV_BATCH]
                _, leads, labels = self._bounded([data.texts[n] for n in part], [data.labels[n] for n in part], 1.0)
                loss += float(cross_entropy(leads, labels, reduction="sum"))
                certified += int((leads.scatter(1, labels[:, None], -torch.inf) < 0).all(1).sum())
        return certified, loss / len(order)

    def _bounded(
        self, texts: Sequence[tuple[str, ...]], labels: Sequence[int], share: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        module = self.learner.module
        device = module.embedding.weight.device
        table, lengths = self.choices.of(texts, device)
        wanted = torch.tensor(labels, device=device)
        return *logits_and_leads(module, table, lengths, wanted, share), wanted
