"""The interface of a trainable classifier, and the classifiers over word vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from mohs.assets import located
from mohs.errors import BadInput
from mohs.models.architectures import Classifier, Shape, architecture_of
from mohs.models.neural import save_neural
from mohs.models.vocabulary import PADDING, Row, Vocabulary, known_words, readable
from mohs.text.text import Text
from mohs.text.vectors import read_vectors
from mohs.training.embeddings import starting_table
from mohs.training.recipe import Recipe

Texts = Sequence[tuple[str, ...]]


class Embedded(NamedTuple):
    """A batch after the input embeddings, for methods that change or weigh these."""

    vectors: Tensor  # rows x places x dimensions
    inside: Tensor  # rows x places: whether the place is no padding
    read: Callable[[Tensor], Tensor]  # logits from such vectors


class Learner(Protocol):
    """A classifier that can be trained."""

    prefix: str  # of the victim name of the saved model

    @property
    def module(self) -> nn.Module:
        """The weights."""
        ...

    def rows(self, texts: Texts) -> list[Any]:
        """The encoded texts. The length of a row is its cost."""
        ...

    def logits(self, rows: Sequence[Any]) -> Tensor:
        """One row of logits per text. Padding has no effect."""
        ...

    def embed(self, rows: Sequence[Any]) -> Embedded:
        """The input vectors of a batch, and how to go on from them."""
        ...

    def places(self, row: Any, fields: tuple[str, ...]) -> list[list[int]]:
        """The places in a row of each word of a text; none for a word outside the window."""
        ...

    def save(self, folder: Path) -> None:
        """Write the model into an empty folder."""
        ...

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        ...


class WordLearner:
    """A classifier over word vectors. These start from given vectors or from random numbers."""

    prefix = "mohs"

    def __init__(self, recipe: Recipe, texts: Texts, labels: tuple[str, ...]) -> None:
        vectors = None if recipe.vectors in (None, "none") else read_vectors(located(str(recipe.vectors)))
        known = {} if vectors is None else vectors.index
        words = known_words(texts, recipe.min_count or 1, known)
        self.with_vector = sum(word in known for word in words)
        if vectors is not None and not self.with_vector:
            raise BadInput(
                f"No word of the data has a vector in {recipe.vectors}, which may be for another language or in "
                "upper case; name other vectors, or use --vectors none."
            )
        if recipe.all_vectors and vectors is not None:
            words += tuple(sorted(set(readable(vectors.words)) - set(words)))
        if not words:
            raise BadInput(f"No word of the data occurs {recipe.min_count} times; lower --min-count.")
        verifiable = bool(recipe.verifiable)
        least = architecture_of(recipe.arch, verifiable=verifiable).least
        self.vocabulary = Vocabulary(words, recipe.max_words, least)
        self.labels = labels
        self.text_fields = len(texts[0])
        self.shape = Shape(
            architecture=recipe.arch,
            words=len(self.vocabulary),
            dim=(recipe.dim or 0) if vectors is None else vectors.table.shape[1],
            hidden=recipe.hidden or 0,
            classes=len(labels),
            dropout=recipe.dropout or 0.0,
            max_words=recipe.max_words,
            layers=recipe.layers or 0,
            heads=recipe.heads or 0,
            verifiable=verifiable,
        )
        self.module = Classifier(self.shape)
        table = starting_table(self.vocabulary, vectors, self.shape.dim, recipe.seed)
        self.module.embedding.weight = nn.Parameter(torch.from_numpy(table), requires_grad=not recipe.freeze)

    def rows(self, texts: Texts) -> list[Row]:
        """Word numbers."""
        return [self.vocabulary.row(fields) for fields in texts]

    def logits(self, rows: Sequence[Row]) -> Tensor:
        """Logits of a batch of rows."""
        lengths = [len(row) for row in rows]
        longest = max(lengths)
        table = torch.tensor([row + (PADDING,) * (longest - len(row)) for row in rows])
        inside = None if min(lengths) == longest else torch.tensor(lengths)
        logits: Tensor = self.module(table.to(self.module.embedding.weight.device), inside)
        return logits

    def embed(self, rows: Sequence[Row]) -> Embedded:
        """The word vectors of a batch, and how to go on from them."""
        lengths = torch.tensor([len(row) for row in rows])
        longest = int(lengths.max())
        table = torch.tensor([row + (PADDING,) * (longest - len(row)) for row in rows])
        device = self.module.embedding.weight.device
        inside = (torch.arange(longest)[None] < lengths[:, None]).to(device)
        given = None if int(lengths.min()) == longest else lengths
        return Embedded(
            self.module.embedding(table.to(device)), inside, lambda vectors: self.module.read(vectors, given)
        )

    def places(self, row: Row, fields: tuple[str, ...]) -> list[list[int]]:
        """The place in a row of each word of a text."""
        found, spans = self.vocabulary.spans(fields)
        by_span = dict(zip(spans, found, strict=True))
        return [[by_span[span]] if span in by_span else [] for span in Text(*fields).spans()]

    def save(self, folder: Path) -> None:
        """Write the model into an empty folder."""
        save_neural(folder, self.shape, self.vocabulary, self.module, self.labels, self.text_fields)

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        return {
            "words known": f"{len(self.vocabulary.words):,}, {self.with_vector:,} of the data's with a vector",
            "numbers in the model": f"{sum(p.numel() for p in self.module.parameters()):,}",
        }
