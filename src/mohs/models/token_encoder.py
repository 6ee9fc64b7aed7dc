"""Token encoders: they turn a text into one unit vector per token, for BERTScore."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.engine import AtOnce
from mohs.errors import BadInput, ServiceFailed
from mohs.models.pretrained import load_hf
from mohs.models.token_rows import keep
from mohs.models.transformer import Transformer
from mohs.models.victim import Fields
from mohs.text import pocket
from mohs.text.bertscore import idf
from mohs.text.questions import TokenVectors, Vector
from mohs.text.text import words_of

Matrix = npt.NDArray[np.float32]


class PocketTokenEncoder(AtOnce):
    """The word vectors of the bundled lexicon, each with weight 1: a stand-in that ignores context.

    An unknown word gets a vector hashed from its letters: it matches itself and hardly anything else.
    """

    name = "pocket token encoder"
    fingerprint = "pocket-token-encoder-1"

    def collect(self, ticket: list[Fields]) -> list[TokenVectors]:
        """Look up the words of each text."""
        lexicon = pocket.lexicon()
        index, vectors = lexicon.index, lexicon.vectors
        width = vectors.shape[1]
        answers = []
        for fields in ticket:
            words = words_of(fields)
            rows = [vectors[index[word]] if word in index else drawn(word, width) for word in words]
            table = np.array(rows, np.float32).reshape(len(rows), width)
            answers.append(TokenVectors(unit_rows(table), np.ones(len(rows), np.float32)))
        return answers


class TokenEncoder(Transformer):
    """The hidden states of a transformer. Special tokens are included with weight zero.

    BERTScore's authors take the layer that agrees best with human judgements: 9 of 12 for bert-base-uncased, 17 of 24
    for roberta-large. Differences from their code: texts are not stripped, byte-level tokenizers get no space before
    the text, and the layers above the chosen one are still computed.
    """

    def __init__(
        self,
        spec: str,
        *,
        layer: int | None = None,  # 0 is the input of the first layer; None is the last layer
        references: Sequence[Fields] = (),  # texts for idf weights; without any, ordinary tokens have weight 1
        device: str = "auto",
        tokens: int = 0,
        trust_code: bool = False,
    ) -> None:
        def read(outputs: Any, real: Any) -> Any:
            return (outputs.last_hidden_state if layer is None else outputs.hidden_states[layer]).float()

        super().__init__(
            f"hf:{spec}",
            lambda: load_hf(spec, "AutoModel", trust_code),
            read,
            device=device,
            tokens=tokens,
            pads=False,
        )
        if layer is not None:
            layers = self._model.config.num_hidden_layers
            if not 0 <= layer <= layers:
                raise BadInput(f"{self.name} has no layer {layer}; layers are 0 (the input) to {layers}.")
            self._model.config.output_hidden_states = True
        self._idf, self._rare = idf([[i for part in self.composer.ids(f) for i in part] for f in references])
        if not references:
            self._rare = 1.0
        said = hashlib.sha256(repr((layer, list(map(tuple, references)))).encode()).hexdigest()[:16]
        self.fingerprint += f"-tokens-{said}"

    def launch(self, batch: list[Fields]) -> Any:
        """Send a batch of one token length to the device; the ticket also holds the token weights."""
        ticket = super().launch(batch)
        return ticket, [self._weights(fields) for fields in batch]

    def collect(self, ticket: Any) -> list[TokenVectors]:
        """Wait for the states and normalise them."""
        launched, weights = ticket
        table = self.answers(launched)
        if not np.isfinite(table).all():
            raise ServiceFailed(f"{self.name} gave a vector that is not finite; use another token encoder.")
        return [TokenVectors(unit_rows(rows), weight) for rows, weight in zip(table, weights, strict=True)]

    def _weights(self, fields: Fields) -> Vector:
        parts = self.composer.ids(fields)
        kept = keep([len(part) for part in parts], self._room(len(parts)))
        # -1 - id marks a token of the text, to tell it from the special tokens.
        marks, _ = self._special_tokens.row(
            [[-1 - i for i in part[:size]] for part, size in zip(parts, kept, strict=True)]
        )
        return np.array([self._idf.get(-1 - mark, self._rare) if mark < 0 else 0 for mark in marks], np.float32)


def drawn(word: str, width: int) -> Vector:
    """A vector hashed from the letters of a word, the same on every machine."""
    numbers = np.frombuffer(hashlib.shake_256(word.encode("utf-8", "surrogatepass")).digest(width), np.uint8)
    return numbers.astype(np.float32) - 127.5


def unit_rows(table: Matrix) -> Matrix:
    """Scale each row to unit length; zero rows stay zero."""
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return (table / np.where(norms, norms, 1)).astype(np.float32)


def load_token_encoder(
    spec: str, device: str = "auto", trust_code: bool = False, layer: int | None = None
) -> PocketTokenEncoder | TokenEncoder:
    """Load the token encoder named on the command line."""
    if spec == "pocket":
        if layer is not None:
            raise BadInput(f"The pocket token encoder has no layers, so there is no layer {layer}; use hf:PATH_OR_ID.")
        return PocketTokenEncoder()
    if spec.startswith("hf:"):
        return TokenEncoder(spec[3:], layer=layer, device=device, trust_code=trust_code)
    raise BadInput(f"Unknown token encoder {spec!r}; use pocket or hf:PATH_OR_ID.")
