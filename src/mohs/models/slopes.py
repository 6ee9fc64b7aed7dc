"""Gradients of a word classifier: of a label's log-probability with respect to each word's vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from mohs.engine import AtOnce, by_length
from mohs.errors import VictimError
from mohs.models.architectures import Classifier
from mohs.models.boundary import planned, sentences
from mohs.models.vocabulary import UNKNOWN, Row, Vocabulary
from mohs.text.questions import Labelled, Sentence, SentenceVector, Slope, Vector
from mohs.text.text import words_of

_WORDS_PER_BATCH = 4096  # half of the forward batch, since the backward pass needs memory


class WordSlopes(AtOnce):
    """Answers Labelled with Slope, one row per word in the window without separator and padding, and SentenceVector.

    Implements mohs.models.gradients.Gradients.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        vocabulary: Vocabulary,
        model: Classifier,
        table: Callable[[list[Row]], Any],
        classes: int,
    ) -> None:
        self.name = f"gradients of {name}"
        self.fingerprint = f"{fingerprint}-gradients"
        self._vocabulary = vocabulary
        self._model = model
        self._table = table
        self._classes = classes

    def plan(self, items: list[Labelled | SentenceVector]) -> list[list[Labelled | SentenceVector]]:
        """Groups of one kind of question and equal length, longest first."""

        def of_kind(found: list[Any]) -> list[list[Any]]:
            return by_length(
                sorted(found),
                lambda item: len(self._vocabulary.row(item.fields)),
                lambda length: max(4, _WORDS_PER_BATCH // length // 4 * 4),
            )

        return planned(items, of_kind)

    def collect(self, ticket: list[Any]) -> Sequence[Slope | Sentence]:
        """The answers to a batch of one kind and length."""
        return self._sentences(ticket) if isinstance(ticket[0], SentenceVector) else self._slopes(ticket)

    def _sentences(self, items: list[SentenceVector]) -> list[Sentence]:
        """What the reader gives, and the normals of the linear layer's boundaries."""
        table = self._table([self._vocabulary.row(item.fields) for item in items])
        with torch.inference_mode():
            vectors = self._model.reader(self._model.embedding(table), None)
        return sentences(self.name, items, vectors.clone(), self._model.decide)

    def _slopes(self, ticket: list[Labelled]) -> list[Slope]:
        """Run one forward and one backward pass for a batch of one length."""
        for item in ticket:
            if not 0 <= item.label < self._classes:
                raise VictimError(f"{self.name} has no class {item.label}; classes are 0 to {self._classes - 1}.")
        table = self._table([self._vocabulary.row(item.fields) for item in ticket])
        labels = [item.label for item in ticket]
        labels += labels[-1:] * (len(table) - len(labels))
        # cuDNN has no backward pass for an LSTM in eval mode.
        with torch.inference_mode(False), torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
            embedded = self._model.embedding(table).detach().requires_grad_()
            logs = self._model.read(embedded).double().log_softmax(1)  # a float32 softmax near 1 has a zero gradient
            wanted = logs.gather(1, torch.tensor(labels, device=logs.device)[:, None])[:, 0]
            (gradient,) = torch.autograd.grad(wanted.sum(), embedded)
        found, slopes, vectors = wanted.tolist(), gradient.cpu().numpy(), embedded.detach().cpu().numpy()
        if not np.isfinite(slopes[: len(ticket)]).all():
            raise VictimError(f"{self.name} gave a number that is not finite.")
        answers = []
        for number, item in enumerate(ticket):
            places, spans = self._vocabulary.spans(item.fields)
            answers.append(Slope(found[number], tuple(spans), slopes[number, places], vectors[number, places]))
        return answers

    def vectors(self, words: Sequence[str]) -> list[Vector | None]:
        """The vector of each word, ignoring case; None for unknown words and for strings that are not one word."""
        numbers = [self._vocabulary.index.get(word.lower()) for word in words]
        weights = self._model.embedding.weight.detach()
        rows = weights[[number or 0 for number in numbers]].cpu().numpy()
        return [None if number is None else row for number, row in zip(numbers, rows, strict=True)]

    def means(self, words: Sequence[str]) -> list[Vector | None]:
        """The mean of the vectors of what the model reads as words; unknown words share one vector."""
        weights, index = self._model.embedding.weight.detach(), self._vocabulary.index
        rows = [[index.get(part, UNKNOWN) for part in words_of([word])] for word in words]
        return [weights[row].mean(0).cpu().numpy() if row else None for row in rows]
