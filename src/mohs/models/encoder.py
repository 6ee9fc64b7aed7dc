"""Sentence encoders: they turn a text into a unit vector.

`pocket` is bundled; `use` is the Universal Sentence Encoder; `hf:PATH` is a transformer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mohs.engine import AtOnce
from mohs.errors import BadInput, ServiceFailed
from mohs.models.pretrained import load_hf
from mohs.models.transformer import Ticket, Transformer
from mohs.models.victim import Fields
from mohs.text import pocket
from mohs.text.questions import Vector
from mohs.text.stopwords import ENGLISH
from mohs.text.text import words_of

if TYPE_CHECKING:
    from mohs.models.use import UniversalSentenceEncoder


class PocketEncoder(AtOnce):
    """The mean of a text's word vectors in the bundled lexicon, with function words at a quarter weight.

    It is small and instant, but only a stand-in for a trained encoder: it ignores word order.
    """

    name = "pocket encoder"
    fingerprint = "pocket-encoder-1"

    def collect(self, ticket: list[Fields]) -> list[Vector]:
        """Average the word vectors of each text."""
        lexicon = pocket.lexicon()
        index, vectors = lexicon.index, lexicon.vectors
        answers: list[Vector] = []
        for fields in ticket:
            known = sorted(word for word in words_of(fields) if word in index)  # so rounding ignores word order
            weights = np.array([0.25 if word in ENGLISH else 1.0 for word in known], np.float32)
            mean = (
                weights @ vectors[[index[word] for word in known]] if known else np.zeros(vectors.shape[1], np.float32)
            )
            answers.append(unit(mean))
        return answers


class HfEncoder(Transformer):
    """A transformer encoder with mean pooling, as in sentence-transformers."""

    def __init__(self, spec: str, *, device: str = "auto", tokens: int = 0, trust_code: bool = False) -> None:
        super().__init__(
            f"hf:{spec}", lambda: load_hf(spec, "AutoModel", trust_code), _mean, device=device, tokens=tokens
        )

    def collect(self, ticket: Ticket) -> list[Vector]:
        """Wait for the vectors and normalise them."""
        return [unit(row) for row in checked(self.name, self.answers(ticket), ticket[0])]


def _mean(outputs: Any, real: Any) -> Any:
    """The mean of the hidden states, without padding."""
    states = outputs.last_hidden_state
    if real is None:
        return states.mean(1).float()
    kept = real[:, :, None].to(states.dtype)
    return ((states * kept).sum(1) / kept.sum(1)).float()


def checked(name: str, answers: Any, rows: int, width: int | None = None) -> npt.NDArray[Any]:
    """Check an encoder's raw answers: they must be a table of finite numbers with one row per text."""
    try:
        table: npt.NDArray[Any] = np.asarray(answers)
        if table.dtype.kind != "f":
            raise TypeError(f"the type is {table.dtype}")
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ServiceFailed(f"{name} gave something that is not a table of numbers ({reason}).") from error
    if table.ndim != 2 or len(table) != rows:
        raise ServiceFailed(
            f"{name} gave numbers of shape {table.shape} for {rows} texts; one row per text is expected."
        )
    if width is not None and table.shape[1] != width:
        raise ServiceFailed(f"{name} gave vectors of {table.shape[1]} numbers; {width} are expected.")
    if not np.isfinite(table).all():
        raise ServiceFailed(f"{name} gave a vector that is not finite; use another encoder.")
    return table


def unit(row: npt.NDArray[Any]) -> Vector:
    """Scale a vector to unit length; a zero vector stays zero."""
    norm = float(np.linalg.norm(row))
    return (row / norm if norm else row).astype(np.float32)


def load_encoder(
    spec: str, device: str = "auto", trust_code: bool = False
) -> PocketEncoder | HfEncoder | UniversalSentenceEncoder:
    """Load the encoder named on the command line."""
    if spec == "pocket":
        return PocketEncoder()
    if spec == "use":
        from mohs.models.use import UniversalSentenceEncoder

        return UniversalSentenceEncoder()
    if spec.startswith("hf:"):
        return HfEncoder(spec[3:], device=device, trust_code=trust_code)
    raise BadInput(f"Unknown encoder {spec!r}; use pocket, use or hf:PATH_OR_ID.")
