"""Sentence encoders: a text in, a vector of unit length out. `pocket` needs nothing; `hf:PATH` is a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mohs.engine import by_size
from mohs.errors import BadInput, ServiceFailed
from mohs.models.device import choose_device
from mohs.models.pretrained import hash_of, load_hf, window_of
from mohs.text import pocket
from mohs.text.stopwords import ENGLISH
from mohs.text.text import words_of

Vector = tuple[float, ...]


class PocketEncoder:
    """The mean of a text's word vectors in the bundled lexicon, function words at a quarter weight.

    Small and instant, and only a stand-in for a trained encoder: word order does not matter to it.
    """

    name = "pocket encoder"
    fingerprint = "pocket-encoder-1"
    in_flight = 1

    def plan(self, items: list[str]) -> list[list[str]]:
        """Any order will do."""
        return [items[start : start + 4096] for start in range(0, len(items), 4096)]

    def launch(self, batch: list[str]) -> list[str]:
        """Nothing to start."""
        return batch

    def collect(self, ticket: list[str]) -> list[Vector]:
        """Average the word vectors of each text."""
        lexicon = pocket.lexicon()
        index, vectors = lexicon.index, lexicon.vectors
        answers: list[Vector] = []
        for text in ticket:
            known = [word for word in words_of([text]) if word in index]
            weights = np.array([0.25 if word in ENGLISH else 1.0 for word in known], np.float32)
            mean = (
                weights @ vectors[[index[word] for word in known]] if known else np.zeros(vectors.shape[1], np.float32)
            )
            answers.append(unit(mean))
        return answers


class HfEncoder:
    """A transformer encoder with mean pooling, the way sentence-transformers models are read."""

    in_flight = 1

    def __init__(self, spec: str, *, device: str = "auto", batch: int = 32, trust_code: bool = False) -> None:
        import torch

        self.name = f"hf:{spec}"
        self._torch = torch
        self._device = choose_device(device)
        self._tokenizer, model = load_hf(spec, "AutoModel", trust_code)
        self._model = model.float().to(self._device).eval()
        self._batch = batch
        self.fingerprint = hash_of(self._tokenizer, model)
        self._window = window_of(self._tokenizer, model.config)

    def plan(self, items: list[str]) -> list[list[str]]:
        """Batches of texts of similar length."""
        return by_size(items, len, self._batch)

    def launch(self, batch: list[str]) -> Any:
        """Run the encoder; on CUDA this returns before it is done."""
        inputs = self._tokenizer(batch, padding=True, truncation=True, max_length=self._window, return_tensors="pt").to(
            self._device
        )
        with self._torch.inference_mode():
            states = self._model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
            return (states * mask).sum(1) / mask.sum(1).clamp(min=1)

    def collect(self, ticket: Any) -> list[Vector]:
        """Wait for the vectors and bring them to unit length."""
        rows = ticket.float().cpu().numpy()
        if not np.isfinite(rows).all():
            raise ServiceFailed(f"{self.name} gave a vector that is not finite; use another encoder.")
        return [unit(row) for row in rows]


def unit(row: Any) -> Vector:
    """A vector at unit length; zeros stay zeros."""
    norm = float(np.linalg.norm(row))
    return tuple((row / norm if norm else row).tolist())


def load_encoder(spec: str, device: str = "auto", trust_code: bool = False) -> PocketEncoder | HfEncoder:
    """The encoder named on the command line."""
    if spec == "pocket":
        return PocketEncoder()
    if spec.startswith("hf:"):
        return HfEncoder(spec[3:], device=device, trust_code=trust_code)
    raise BadInput(f"Unknown encoder {spec!r}; use pocket or hf:PATH_OR_ID.")


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two unit vectors; a zero vector is equal to itself and unlike anything else."""
    if one == other:
        return 1.0
    return float(np.dot(one, other))
