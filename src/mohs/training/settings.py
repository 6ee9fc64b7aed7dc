"""The options of `mohs train`, written once (see `mohs.tasks.option`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mohs.tasks.option import option, options_of
from mohs.tasks.reading import comma


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """What decides the weights; None is the default of the architecture."""

    vectors: str | None = option("Word vectors: pocket, a folder or file, or none; pocket.", metavar="V")
    all_vectors: bool = option("Also know words that have a vector and are not in the data.", default=False)
    freeze: bool = option("Leave the word vectors as they are.", default=False)
    dim: int | None = option("Size of the word vectors with --vectors none; 100.")
    epochs: int | None = option("At most; 15 (bow, transformer 20; hf 3).")
    batch: int | None = option("Examples a step; 32.")
    lr: float | None = option("Learning rate; 0.001 (transformer 0.0005; hf 0.00005).")
    warmup: float | None = option("Share of steps with a rising rate, which then falls to zero; transformer, hf.")
    decay: float | None = option("Weight decay; 0 (hf 0.01).")
    clip: float | None = option("The longest gradient; 1.")
    dropout: float | None = option("0.3 (cnn 0.5; transformer 0.1).")
    hidden: int | None = option("Size inside; 100 (a filter width of the cnn too; lstm 150; transformer 128).")
    layers: int | None = option("Of the transformer; 2.")
    heads: int | None = option("Of the transformer; 4.")
    max_words: int | None = option("Words read of a text (hf: tokens); 256.")
    min_count: int | None = option("Words seen less often and without a vector count as unknown; 2.")
    patience: int | None = option("Epochs without a better dev accuracy before stopping; 5 (hf 2).")
    seed: int = option("Seed of everything random.", default=0)

    def given(self) -> dict[str, Any]:
        """What was asked for, by name; a flag that was not set is the architecture's default."""
        return {f.name: None if getattr(self, f.name) is False else getattr(self, f.name) for f, _ in options_of(self)}


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """What is trained, on what, and where it goes."""

    arch: str = option(
        "bow, cnn, lstm, bilstm, transformer, or hf:PATH_OR_ID to fine-tune.", default="cnn", metavar="A"
    )
    data: str = option(
        "pocket:train, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz).",
        default="pocket:train",
        metavar="D",
    )
    out: Path | None = option("Where the model goes.", metavar="FOLDER")
    dev: str | None = option("Data that says when to stop.", metavar="D")
    dev_share: float | None = option("Without --dev: the share of each class put aside; 0.1.", metavar="S")
    test: str | None = option("Data to measure the accuracy on.", metavar="D")
    swap: str | None = option(
        "Learn also from copies of texts with words swapped: gender, another list of pairs, or a file; one copy each, "
        "or with P:released one for each combination of the words (at most 64 with the text).",
        metavar="P",
    )
    labels: Sequence[str] = option(
        "Class names in the order of the numbers: negative,positive.", default=(), metavar="NAMES", read=comma
    )
    device: str = option("auto, cpu, cuda or cuda:N.", default="auto")
    save_every: int = option("Steps between checkpoints, besides one an epoch.", default=500, least=1)

    @property
    def folder(self) -> Path:
        """Where the model goes."""
        return self.out or Path(f"mohs-{Path(self.arch.removeprefix('hf:')).name}")
