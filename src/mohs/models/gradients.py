"""Gradients of a victim: of a label's log-probability with respect to the input vector of each token.

A white-box victim has a method `gradients()` that gives a `Gradients`; `gradients_of` calls it. The class for `hf:`
victims is here. It shares the victim's weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from mohs.engine import Model, by_length
from mohs.errors import BadInput, VictimError
from mohs.models.hf import HfVictim
from mohs.models.tails import tail_of
from mohs.models.token_rows import Row, keep, writable
from mohs.models.victim import Fields, Victim, traits_of
from mohs.text.questions import Labelled, Sentence, SentenceVector, Slope, Vector

_MEMORY_FACTOR = 8  # batches are this much smaller, since the backward pass keeps all activations


Question = Labelled | SentenceVector


class Gradients(Model[Question, Slope | Sentence], Protocol):
    """What `victim.gradients()` gives: a model for a service, plus the input vectors of single words."""

    def vectors(self, words: Sequence[str]) -> list[Vector | None]:
        """The input vector of each word inside a text; None for a word without a single vector."""
        ...


@runtime_checkable
class Open(Protocol):
    """A white-box victim."""

    def gradients(self) -> Gradients:
        """The model that computes its gradients."""
        ...


def gradients_of(victim: Victim) -> Gradients:
    """The gradients of a victim; raises BadInput if it has none."""
    inside = traits_of(victim).inside
    if isinstance(inside, Open):
        return inside.gradients()
    if isinstance(inside, HfVictim):
        return HfGradients(inside)
    raise BadInput(f"{victim.name} gives no gradients; white-box attacks need hf: or a model trained by `mohs train`.")


def has_gradients(victim: Victim) -> bool:
    """Whether a victim has gradients; tries it out for a Hugging Face model."""
    try:
        gradients_of(victim)
    except BadInput:
        return False
    return True


class _Reading(NamedTuple):
    """The model input for a text, and the position of each ordinary token in the row and in the text."""

    row: Row
    places: list[int]
    spans: tuple[tuple[int, int, int], ...]


class HfGradients:
    """Answers Labelled with Slope, and SentenceVector with Sentence.

    Gradients are with respect to the output of the model's word embedding.
    Position and segment embeddings are added later and stay fixed. In float32 the other texts of a batch change at most
    the last digits, so compare rounded numbers. In bf16 they would change the second digit, so each text runs alone.
    """

    def __init__(self, victim: HfVictim) -> None:
        self.name = f"gradients of {victim.name}"
        self.fingerprint = f"{victim.fingerprint}-gradients"
        self.in_flight = victim.in_flight
        self._victim = victim
        self._fine = victim._dtype.itemsize >= 4
        self._embedding = victim._model.get_input_embeddings()
        added = victim.composer._backend.get_added_tokens_decoder()
        self._special = {number for number, token in added.items() if token.special}
        self._readings: dict[Fields, _Reading] = {}
        self._tail: Any = None  # the layers after the sentence vector, found when they are first asked for
        try:
            self.collect(self.launch([Labelled(("good",), 0)]))
        except Exception as error:  # a model that is not built for backpropagation may raise anything
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise BadInput(
                f"{victim.name} gives no gradients ({reason}); use a black-box attack or another victim."
            ) from error

    def plan(self, items: list[Question]) -> list[list[Question]]:
        """Groups of one kind of question and token length, longest first."""
        from mohs.models.boundary import planned

        return planned(items, self._planned)

    def _planned(self, items: list[Any]) -> list[list[Any]]:
        """Unreadable texts go alone and fail at launch."""
        readable, alone = [], []
        for item in sorted(items):
            if not all(map(writable, item.fields)) or not self._victim._special_tokens.accepts(len(item.fields)):
                alone.append([item])
                continue
            if item.fields not in self._readings:
                self._readings[item.fields] = self._read(item.fields)
            readable.append(item)

        def rows(length: int) -> int:
            return self._victim._rows_at(length * _MEMORY_FACTOR) if self._fine else 1

        return by_length(readable, lambda item: len(self._readings[item.fields].row[0]), rows) + alone

    def launch(self, batch: Sequence[Question]) -> Any:
        """Start a batch of one kind and token length; on CUDA this does not wait for slopes."""
        if isinstance(batch[0], SentenceVector):
            return self._sentences(batch)
        return self._launched(batch)

    def _sentences(self, items: Sequence[Any]) -> list[Sentence]:
        """The first token's last state, and the normal of the boundary that the layers after it draw."""
        import torch

        from mohs.models.boundary import sentences

        victim = self._victim
        if self._tail is None:
            self._tail = tail_of(victim.name, victim._model, victim._inputs([self._read(("good",)).row]))
        rows = [(self._readings.pop(item.fields, None) or self._read(item.fields)).row for item in items]
        with torch.inference_mode():
            states = victim._model.base_model(**victim._inputs(rows)).last_hidden_state
            first = states[:, 0].clone()
        return sentences(self.name, list(items), first, self._tail)

    def _launched(self, batch: Sequence[Any]) -> tuple[list[_Reading], Any]:
        """One forward and one backward pass."""
        classes = len(self._victim.labels)
        for item in batch:
            if not 0 <= item.label < classes:
                raise VictimError(f"{self._victim.name} has no class {item.label}; classes are 0 to {classes - 1}.")
        readings = [self._readings.get(item.fields) or self._read(item.fields) for item in batch]
        for item in batch:
            self._readings.pop(item.fields, None)
        rows = [reading.row for reading in readings]
        return readings, _slopes(self._victim, self._embedding, rows, [item.label for item in batch])

    def collect(self, ticket: Any) -> Sequence[Slope | Sentence]:
        """Wait for the gradients, check them, and drop the special tokens."""
        if isinstance(ticket, list):
            return ticket
        readings, tensors = ticket
        log_probs, gradient, vectors = (tensor.cpu().numpy() for tensor in tensors)
        answers = []
        for number, reading in enumerate(readings):
            slope = Slope(
                float(log_probs[number]),
                reading.spans,
                gradient[number, reading.places],
                vectors[number, reading.places],
            )
            if not (np.isfinite(slope.log_prob) and np.isfinite(slope.gradient).all()):
                raise VictimError(f"{self._victim.name} gave a gradient that is not finite.")
            answers.append(slope)
        return answers

    def vectors(self, words: Sequence[str]) -> list[Vector | None]:
        """The vector of each word that is a single token after a space; None for unknown words and words of several.

        HotFlip swaps one vector for one other. The mean over several tokens would match no text the model can read.
        """
        import torch

        found = self._victim.composer.placed([f" {word}" for word in words])
        single = [
            ids[0] if word and len(ids) == 1 and ids[0] not in self._special else None
            for word, (ids, _) in zip(words, found, strict=True)
        ]
        wanted = torch.tensor([number or 0 for number in single], dtype=torch.long, device=self._victim._device)
        with torch.inference_mode():
            rows = self._embedding(wanted).float().cpu().numpy()
        return [None if number is None else row for number, row in zip(single, rows, strict=True)]

    def means(self, words: Sequence[str]) -> list[Vector | None]:
        """The mean of the vectors of each word's tokens after a space; None for a word without a token."""
        import torch

        ids = [list(found) for found, _ in self._victim.composer.placed([f" {word}" for word in words])]
        flat = torch.tensor([number for one in ids for number in one] or [0], device=self._victim._device)
        with torch.inference_mode():
            rows = self._embedding(flat).float().cpu().numpy()
        ends = np.cumsum([len(one) for one in ids])
        return [
            rows[end - len(one) : end].mean(0) if one and word else None
            for word, one, end in zip(words, ids, ends, strict=True)
        ]

    def _read(self, fields: Fields) -> _Reading:
        victim = self._victim
        "".join(fields).encode()  # raises a clear error here if the text holds half a surrogate pair
        parts = victim.composer.placed(fields)
        kept = keep([len(ids) for ids, _ in parts], victim._room(len(fields)))
        row = victim._special_tokens.row([ids[:size] for (ids, _), size in zip(parts, kept, strict=True)])
        marks, _ = victim._special_tokens.row([[-1] * size for size in kept])  # no token has this id
        spans = tuple(
            (number, start, end)
            for number, ((_, offsets), size) in enumerate(zip(parts, kept, strict=True))
            for start, end in offsets[:size]
        )
        return _Reading(row, [place for place, mark in enumerate(marks) if mark < 0], spans)


def _slopes(victim: HfVictim, embedding: Any, rows: list[Row], labels: list[int]) -> tuple[Any, Any, Any]:
    """Log-probabilities, gradients and input vectors: each a tensor with one row per text.

    A hook on the embedding still lets the model read other things from the token ids (RoBERTa reads its positions).
    Passing vectors to the model would not. Only the gradient of these vectors is computed; the weights get none.
    """
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    caught: list[Any] = []

    def catch(module: Any, given: Any, output: Any) -> Any:
        caught.append(output.detach().requires_grad_())
        return caught[-1]

    # On CUDA the other kernels sum the backward pass in no fixed order, so equal questions could differ in bits.
    steady = sdpa_kernel(SDPBackend.MATH) if victim._device.startswith("cuda") else nullcontext()
    hook = embedding.register_forward_hook(catch)
    try:
        with torch.inference_mode(False), torch.enable_grad(), _at_rest(victim._model), steady:
            logits = victim._model(
                **victim._inputs(rows)
            ).logits.double()  # in float32 a softmax close to 1 has a zero gradient
            if len(caught) != 1:
                raise VictimError(f"{victim.name} reads its word embedding {len(caught)} times per text, not once.")
            labels = labels + labels[-1:] * (len(logits) - len(labels))  # for the rows that fill up the batch
            wanted = logits.log_softmax(-1).gather(1, torch.tensor(labels, device=logits.device)[:, None])[:, 0]
            (gradient,) = torch.autograd.grad(wanted.sum(), caught[0])
    finally:
        hook.remove()
    return wanted.detach(), gradient.float(), caught[0].detach().float()


@contextmanager
def _at_rest(model: Any) -> Iterator[None]:
    """Turn dropout off, and restore each module's mode afterwards."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True
