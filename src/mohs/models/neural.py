"""`mohs:PATH`: a small neural classifier over words, made by `mohs train`.

A batch has texts of one exact length, so there is no padding and no mask. It is filled up to a multiple of four rows by
repeating one. Matrix products then treat every row alike, and on many machines a text's scores are bit-identical in
every batch. Loading tests this and sets `exact`, but never with several threads on a CPU. Where it is not set, scores
may vary by rounding (about 1e-7). A CNN on a CPU uses a table instead (mohs.models.cnn_table).
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch

from mohs.engine import by_length
from mohs.errors import BadInput
from mohs.models.architectures import Classifier, Shape, architecture_of, precisely
from mohs.models.cnn_table import NO_WORD_BYTE, CnnTable
from mohs.models.device import choose_device
from mohs.models.slopes import WordSlopes
from mohs.models.sweeps import Base
from mohs.models.token_rows import INT32_BYTES, packed
from mohs.models.victim import Fields, Output, Scores, in_order, scores
from mohs.models.vocabulary import Row, Vocabulary
from mohs.text import Text

_ROW_STEP = 4
_TRIED_LENGTHS = (1, 2, 5, 11, 24)  # 1, since some processors multiply a few rows of one token in another way
_CPU_WORDS, _CUDA_WORDS = 8192, 262_144  # per batch


class NeuralVictim:
    """A classifier with its vocabulary, on a device."""

    hard = False

    def __init__(
        self,
        name: str,
        shape: Shape,
        vocabulary: Vocabulary,
        model: Classifier,
        labels: tuple[str, ...],
        *,
        device: str = "auto",
    ) -> None:
        self.name = name
        self.labels = labels
        self.vocabulary = vocabulary
        self.device = choose_device(device)
        cuda = self.device.startswith("cuda")
        self.in_flight = 2 if cuda else 1
        self.model = model.to(self.device).eval()
        self.fingerprint = _fingerprint(shape, vocabulary, model, labels)
        self._words = _CUDA_WORDS if cuda else _CPU_WORDS
        self._cnn_table = CnnTable(self.model) if CnnTable.fits(self.model) else None
        self._rows: dict[Fields, bytes] = {}
        # Several threads divide the work by the shape of a batch, and no trial covers all shapes.
        self.exact = self._is_batch_independent() and (cuda or torch.get_num_threads() == 1)

    def renew(self) -> None:
        """Compute what depends on weights that have changed."""
        self._cnn_table = None if self._cnn_table is None else CnnTable(self.model)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Groups of equal length, longest first, cut to the batch size. With a CNN table, lengths may mix."""
        self._rows |= self.rows_of(items)
        return self.batches(items if self._cnn_table is not None else sorted(items), self._rows.__getitem__)

    def batches(self, items: Iterable[Any], row_of: Callable[[Any], bytes]) -> list[list[Any]]:
        """Groups of equal length, longest first, cut to the batch size. With a CNN table, lengths may mix."""
        if self._cnn_table is None:
            return by_length(items, lambda item: len(row_of(item)), lambda length: self._rows_at(length // INT32_BYTES))
        ordered = sorted(items, key=lambda item: -len(row_of(item)))
        found = []
        start = 0
        while start < len(ordered):
            size = self._rows_at(len(row_of(ordered[start])) // INT32_BYTES)
            found.append(ordered[start : start + size])
            start += size
        return found

    def rows_of(self, items: Sequence[Fields]) -> dict[Fields, bytes]:
        """The row of each text."""
        return {item: self.vocabulary.packed(item) for item in items}

    def base(self, text: Text) -> Base | None:
        """The row of a text in pieces (see mohs.models.sweeps)."""
        return self.vocabulary.base(text)

    @property
    def limits(self) -> tuple[int, int]:
        """The fewest and the most bytes of a row that is neither filled up nor cut."""
        return self.vocabulary.least * INT32_BYTES, self.vocabulary.most * INT32_BYTES

    def _rows_at(self, length: int) -> int:
        return max(_ROW_STEP, self._words // length // _ROW_STEP * _ROW_STEP)

    def launch(self, batch: list[Fields]) -> tuple[int, Any]:
        """Send a batch to the device; on CUDA this does not wait for the answers."""
        return self.send_rows([self._rows.pop(item, b"") or self.vocabulary.packed(item) for item in batch])

    def send_rows(self, rows: list[bytes]) -> tuple[int, Any]:
        """Send a batch of rows."""
        with torch.inference_mode(), precisely():
            if self._cnn_table is None:
                return len(rows), self.model(self._tensor(rows))
            longest = max(map(len, rows))
            return len(rows), self._cnn_table(self._tensor([row.ljust(longest, NO_WORD_BYTE) for row in rows]))

    def collect(self, ticket: tuple[int, Any]) -> list[Scores]:
        """Wait for the logits and check them."""
        rows, logits = ticket
        return scores(self.name, logits.cpu().numpy()[:rows], rows, Output.LOGITS, len(self.labels))

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """The number of characters inside the window, for each field; None if everything fits."""
        return self.vocabulary.visible(fields)

    def gradients(self) -> WordSlopes:
        """The gradients with respect to word vectors (see mohs.text.questions.Labelled)."""
        return WordSlopes(self.name, self.fingerprint, self.vocabulary, self.model, self.table, len(self.labels))

    def table(self, rows: list[Row]) -> Any:
        """Rows of one length as a tensor on the device, filled up to a multiple of four."""
        return self._tensor(list(map(packed, rows)))

    def _tensor(self, rows: list[bytes]) -> Any:
        rows = rows + rows[-1:] * (-len(rows) % _ROW_STEP)
        if len(set(map(len, rows))) > 1:  # only when a caller skips `plan`
            raise AssertionError("rows of one batch have one length")
        numbers = torch.frombuffer(bytearray().join(rows), dtype=torch.int32)
        return numbers.view(len(rows), -1).to(self.device, non_blocking=True)

    def _is_batch_independent(self) -> bool:
        words = [*self.vocabulary.words[:6], "good", "film"]
        for length in _TRIED_LENGTHS:
            texts: list[Fields] = [
                (" ".join(words[(i // 6 + j * j * i) % len(words)] for j in range(length)),) for i in range(63)
            ]
            for batch in self.plan(list(dict.fromkeys(texts))):
                together = self.collect(self.launch(batch))
                for number in {*range(0, len(batch), 9), len(batch) - 1}:
                    if together[number] != self.collect(self.launch([batch[number]]))[0]:
                        return False
                if self.collect(self.launch(batch[:5])) != together[:5]:
                    return False
        return True


def following(
    name: str, shape: Shape, vocabulary: Vocabulary, model: Classifier, labels: tuple[str, ...], *, device: str
) -> NeuralVictim:
    """A victim that shares the weights of a model in training. The model stays in its mode.

    Call `renew` after the weights have changed.
    """
    weights: dict[int, Any] = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return NeuralVictim(name, shape, vocabulary, copy.deepcopy(model, weights), labels, device=device)


def save_neural(
    folder: Path, shape: Shape, vocabulary: Vocabulary, model: Classifier, labels: Sequence[str], text_fields: int
) -> None:
    """Write weights, words and configuration into a folder; `mohs:FOLDER` loads them."""
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")
    (folder / "words.txt").write_text("\n".join(vocabulary.words), "utf-8")
    config = {
        **shape.told(),
        "labels": list(labels),
        "text_fields": text_fields,
        "least_words": vocabulary.least,
        "words_hash": vocabulary.digest,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")


def load_neural(
    folder: Path, name: str, config: dict[str, Any], *, device: str = "auto", labels: Sequence[str] = ()
) -> NeuralVictim:
    """Load what `save_neural` wrote."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        names = [field.name for field in fields(Shape) if field.name != "verifiable"]
        verifiable = config.get("verifiable", False)
        shape = Shape(**{name: config[name] for name in names}, verifiable=verifiable)
        tensors = load_file(folder / "model.safetensors")
        _refuse_other_sizes(shape, tensors)
        text = (folder / "words.txt").read_text("utf-8")
        words = tuple(text.split("\n")) if text else ()
        least = architecture_of(shape.architecture, verifiable=verifiable).least
        vocabulary = Vocabulary(words, shape.max_words, least)
        if vocabulary.digest != config["words_hash"] or len(vocabulary) != shape.words:
            raise ValueError("words.txt is not the file it was trained with")
        own = tuple(map(str, config["labels"]))
        if len(own) != shape.classes:
            raise ValueError(f"{len(own)} labels for {shape.classes} classes")
        with torch.random.fork_rng(devices=[]):  # initial weights are drawn at random, then replaced
            model = Classifier(shape)
        model.load_state_dict(tensors)
        if not all(tensor.dtype == torch.float32 and tensor.isfinite().all() for tensor in tensors.values()):
            raise ValueError("it holds a number that is not finite or not 32-bit")
    except (OSError, LookupError, ValueError, TypeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadInput(f"{name} is not a complete model folder ({reason}); train it again.") from error
    given = tuple(labels) or own
    if len(given) != len(own):
        raise BadInput(f"{name} has {len(own)} classes ({', '.join(own)}), but --labels names {len(given)}.")
    in_order(name, own, given)
    return NeuralVictim(name, shape, vocabulary, model, given, device=device)


def _refuse_other_sizes(shape: Shape, tensors: Mapping[str, Any]) -> None:
    """Refuse a configuration that is not that of the weights before it takes memory: the folder may be anyone's."""
    told = asdict(shape)
    attends = shape.architecture == "transformer"
    for name in ("words", "dim", "hidden", "classes", "max_words", *(("layers", "heads") if attends else ())):
        if type(told[name]) is not int or told[name] < 1:
            raise ValueError(f"config.json has {name}={told[name]!r}")
    if type(shape.verifiable) is not bool or not 0 <= shape.dropout < 1:
        raise ValueError(f"config.json has verifiable={shape.verifiable!r} and dropout={shape.dropout!r}")
    if attends and (shape.layers > len(tensors) or shape.hidden % shape.heads):
        raise ValueError(f"config.json has layers={shape.layers}, hidden={shape.hidden} and heads={shape.heads}")
    with torch.device("meta"):  # shapes without numbers
        wanted = {name: tensor.shape for name, tensor in Classifier(shape).state_dict().items()}
    if wanted != {name: tensor.shape for name, tensor in tensors.items()}:
        raise ValueError("config.json is not that of model.safetensors")


def _fingerprint(shape: Shape, vocabulary: Vocabulary, model: Classifier, labels: Sequence[str]) -> str:
    digest = hashlib.sha256(json.dumps([shape.told(), vocabulary.digest, vocabulary.least, list(labels)]).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
