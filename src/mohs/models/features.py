"""The features of a white-box victim: the vector that its last layer turns into the scores of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mohs.engine import by_length
from mohs.errors import BadInput
from mohs.models.hf import HfVictim
from mohs.models.neural import NeuralVictim
from mohs.models.transformer import Ticket, Transformer
from mohs.models.victim import Fields, Victim, answers_of, traits_of

Table = npt.NDArray[np.float32]  # one row a text


class Features(Protocol):
    """A model that gives each text a vector."""

    name: str
    in_flight: int

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Split waiting texts into batches."""
        ...

    def launch(self, batch: list[Fields]) -> Any:
        """Start a batch."""
        ...

    def collect(self, ticket: Any) -> Sequence[Any]:
        """Finish a batch."""
        ...


class NeuralFeatures:
    """What the reader of a network over words gives: the input of its last linear layer."""

    in_flight = 1

    def __init__(self, victim: NeuralVictim) -> None:
        self.name = f"features of {victim.name}"
        self._victim = victim

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Groups of one length, cut as the victim cuts them."""
        rows = {item: self._victim.vocabulary.row(item) for item in items}
        return by_length(sorted(items), lambda item: len(rows[item]), self._victim._rows_at)

    def launch(self, batch: list[Fields]) -> Any:
        """Send a batch to the device."""
        import torch

        from mohs.models.architectures import precisely

        victim = self._victim
        with torch.inference_mode(), precisely():
            rows = victim.table([victim.vocabulary.row(item) for item in batch])
            return len(batch), victim.model.reader(victim.model.embedding(rows), None)

    def collect(self, ticket: Any) -> Sequence[Any]:
        """Wait for the vectors."""
        rows, found = ticket
        return list(found.cpu().numpy()[:rows])


class HfFeatures(Transformer):
    """The last layer's vector of the token that the classifier reads: [CLS], or the last one in decoders."""

    def __init__(self, victim: HfVictim) -> None:
        model = victim._model
        last = hasattr(model, "score") or getattr(model.config, "summary_type", "") == "last"

        def read(outputs: Any, real: Any) -> Any:
            states = outputs.last_hidden_state.float()
            if not last:
                return states[:, 0]
            if real is None:
                return states[:, -1]
            return states[victim._torch.arange(len(states), device=states.device), real.sum(1) - 1]

        super().__init__(
            f"features of {victim.name}",
            lambda: (victim._tokenizer, model.base_model),
            read,
            device=victim._device,
            dtype="bf16" if victim._dtype.itemsize < 4 else "fp32",
        )

    def collect(self, ticket: Ticket) -> Sequence[Any]:
        """Wait for the vectors."""
        return list(self.answers(ticket))


def features_of(victim: Victim) -> Features:
    """The features of a victim; raises BadInput if it shows none."""
    inside = traits_of(victim).inside
    if isinstance(inside, NeuralVictim):
        return NeuralFeatures(inside)
    if isinstance(inside, HfVictim) and not getattr(inside._model.config, "is_encoder_decoder", False):
        return HfFeatures(inside)
    raise BadInput(
        f"{victim.name} shows no features of its last layer; that needs an hf: encoder or a network of `mohs train` "
        "(mohs:PATH) without a defence around it, while fgws(V) needs scores only."
    )


def table_of(features: Features, texts: Sequence[Fields]) -> Table:
    """The features of some texts, one row each."""
    model: Any = features
    found = answers_of(model, list(dict.fromkeys(texts)))
    return np.array([found[text] for text in texts], np.float32)
