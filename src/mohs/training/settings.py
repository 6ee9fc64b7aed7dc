"""The options of `mohs train`, written once (see `mohs.tasks.option`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import option, options_of
from mohs.tasks.reading import comma

if TYPE_CHECKING:
    from mohs.text.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """The options that affect the weights. None means the default of the architecture."""

    vectors: str | None = option("Word vectors: pocket, a folder or file, or none; default pocket.", metavar="V")
    all_vectors: bool = option("Also add words that have a vector but are not in the data.", default=False)
    freeze: bool = option("Do not train the word vectors.", default=False)
    dim: int | None = option("Size of the word vectors with --vectors none; default 100.")
    epochs: int | None = option("Maximum number of epochs; default 15 (bow, transformer 20; hf 3).")
    batch: int | None = option("Batch size; default 32 (verifiable transformer 256).")
    lr: float | None = option("Learning rate; default 0.001 (transformer 0.0005, verifiable 0.002; hf 0.00005).")
    warmup: float | None = option(
        "Share of steps over which the rate rises; then it falls to zero. Default 0 (transformer, hf 0.1)."
    )
    decay: float | None = option("Weight decay; default 0 (hf 0.01).")
    clip: float | None = option("Maximum gradient norm; default 1.")
    dropout: float | None = option("Dropout rate; default 0.3 (cnn 0.5; transformer 0.1).")
    hidden: int | None = option(
        "Hidden size; for the cnn, filters per width. Default 100 (lstm, bilstm 150; transformer 128, verifiable 64)."
    )
    layers: int | None = option("Layers of the transformer; default 2 (verifiable 3).")
    heads: int | None = option("Attention heads of the transformer; default 4.")
    max_words: int | None = option("Words read per text (hf: tokens); default 256.")
    min_count: int | None = option("Rarer words without a vector count as unknown; default 2.")
    patience: int | None = option("Stop after this many epochs without a better dev accuracy; default 5 (hf 2).")
    verifiable: bool = option(
        "Use the shape whose bounds `mohs certify` knows; --harden ibp and lirpa do so anyway.", default=False
    )
    seed: int = option("Random seed.", default=0)

    def given(self) -> dict[str, Any]:
        """The options by name. A flag that is not set becomes None, the architecture's default."""
        return {f.name: None if getattr(self, f.name) is False else getattr(self, f.name) for f, _ in options_of(self)}


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """The model, the data and the output folder."""

    task: str = option(
        "classification; acceptability: a judge of substitutions (see docs/validity.md), for --judge; scpn: a "
        "paraphraser with structures, for --paraphraser; or t3: a tree auto-encoder, for --autoencoder (both: see "
        "docs/spaces.md).",
        default="classification",
        metavar="T",
    )
    arch: str = option(
        "bow, cnn, lstm, bilstm, transformer, or hf:PATH_OR_ID (or an asset such as minilm) to fine-tune.",
        default="cnn",
        metavar="A",
    )
    data: str = option(
        "pocket:train, hf:NAME[:CONFIG][:SPLIT], or a .jsonl .csv .tsv .parquet file (also .gz).",
        default="pocket:train",
        metavar="D",
    )
    out: Path | None = option("Where to write the model; by default mohs-ARCH, such as mohs-cnn.", metavar="FOLDER")
    dev: str | None = option("Dev data for early stopping.", metavar="D")
    dev_share: float | None = option(
        "Without --dev: share of each class set aside for it; default 0.1 (acceptability: of the words, 0.2).",
        metavar="S",
    )
    test: str | None = option("Data to measure the accuracy on.", metavar="D")
    test_fields: Sequence[str] = option(
        "Text columns of --test, if they have other names than those of --data.",
        "--test-text-field",
        default=(),
        metavar="NAMES",
        read=comma,
    )
    test_label_field: str | None = option("Label column of --test, if it has another name.")
    test_id_field: str | None = option("Id column of --test, if it has another name.")
    swap: str | None = option(
        "Also train on copies of texts with swapped words: gender, another list of pairs, or a file. One copy each, "
        "or with P:released one per combination of swapped words (at most 64 including the text).",
        metavar="P",
    )
    harden: Sequence[str] = option(
        "Train a model that is harder to fool: augment, random, mask, safer, naive, onfly, geometry, freelb, smart, "
        "infobert, ibp or lirpa, with settings after a colon (augment:rate=0.4,words=wordnet); repeat to combine. See "
        "docs/hardening.md.",
        default=(),
        metavar="M",
        many=True,
    )
    labels: Sequence[str] = option(
        "Class names in the order of the numbers: negative,positive.", default=(), metavar="NAMES", read=comma
    )
    parser: str | None = option(
        "For --task scpn and t3: a parser, auto (default), spacy:NAME or parses:FILE.", metavar="P"
    )
    encoder: str | None = option(
        "For --task scpn: what measures the similarity of the paraphrases; default pocket.", metavar="E"
    )
    device: str = option("auto, cpu, cuda or cuda:N.", default="auto")
    save_every: int = option("Steps between checkpoints; there is also one per epoch.", default=500, least=1)

    def tested(self, trained: Dataset) -> str | Dataset | None:
        """The test data: read like the training data, except for column names of its own."""
        own: dict[str, Any] = {
            "fields": tuple(self.test_fields) or None,
            "label_field": self.test_label_field,
            "id_field": self.test_id_field,
        }
        given = {name: value for name, value in own.items() if value is not None}
        if self.test is None and given:
            flag = {"fields": "text-field", "label_field": "label-field", "id_field": "id-field"}[next(iter(given))]
            raise BadInput(f"--test-{flag} is about --test, which is not given; name the test data with --test.")
        if self.test is None or not given:
            return self.test
        return replace(trained, source=self.test, n=None, sample=None, **given)

    @property
    def folder(self) -> Path:
        """The output folder."""
        return self.out or Path(f"mohs-{Path(self.arch.removeprefix('hf:')).name}")
