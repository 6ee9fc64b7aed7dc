"""How much of the time is the model's own?

    python benchmarks/engine.py [--quick] [--device cuda]

Prints, in one run: candidates a second through the engine with a model that answers at once; and for the pocket victim
and a MiniLM-size transformer (random weights) under TextFooler, the share of wall time inside the model's forward.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from pathlib import Path
from typing import Any

import mohs
from mohs.engine import Meter, Service, run
from mohs.text import Text
from mohs.text.dataset import Dataset


class Instant:
    """Answers every batch with the same scores, at once."""

    name, fingerprint, in_flight = "instant", "instant", 1

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return [items]

    def launch(self, batch: list[Any]) -> int:
        return len(batch)

    def collect(self, ticket: int) -> list[tuple[float, float]]:
        return [(0.4, 0.6)] * ticket


class Timed:
    """A victim with a stop-watch around its work."""

    def __init__(self, victim: Any) -> None:
        self._victim = victim
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._victim, name)

    def launch(self, batch: Any) -> Any:
        started = time.perf_counter()
        ticket = self._victim.launch(batch)
        self.seconds += time.perf_counter() - started
        return ticket

    def send_rows(self, rows: list[bytes]) -> Any:
        """What sweeps ask."""
        started = time.perf_counter()
        ticket = self._victim.send_rows(rows)
        self.seconds += time.perf_counter() - started
        return ticket

    def collect(self, ticket: Any) -> Any:
        started = time.perf_counter()
        answers = self._victim.collect(ticket)
        self.seconds += time.perf_counter() - started
        return answers


def engine_alone(searches: int) -> float:
    """A greedy search over texts of 20 words, 50 candidates at each, as an attack would ask."""
    service: Service[Any, Any] = Service(Instant())
    text = " ".join(f"word{i}" for i in range(20))

    async def search(number: int) -> int:
        meter = Meter(service)
        current = Text(f"{number} {text}")
        for position in range(1, 21):
            candidates = [current.replace(position, f"other{j}") for j in range(50)]
            await meter([candidate.fields for candidate in candidates])
            current = candidates[number % 50]
        return meter.queries

    started = time.perf_counter()
    asked = sum(ended.result or 0 for ended in run(((i, search(i)) for i in range(searches)), [service]))
    return asked / (time.perf_counter() - started)


def random_classifier(folder: Path, **sizes: Any) -> None:
    """A BERT-like classifier with random weights and a WordPiece tokenizer trained on the pocket reviews."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    library: Any = importlib.import_module("transformers")
    library.logging.disable_progress_bar()

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special)
    pieces.train_from_iterator((example.text.fields[0] for example in Dataset("pocket:train")), trainer)
    pieces.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] $B:1 [SEP]:1",
        [(name, pieces.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    library.PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=512, **names).save_pretrained(folder)
    torch.manual_seed(0)
    library.BertForSequenceClassification(library.BertConfig(vocab_size=30_522, **sizes)).save_pretrained(folder)


def minilm_size(folder: Path, device: str) -> Any:
    """A six-layer, 384-wide classifier."""
    from mohs.models.hf import HfVictim

    random_classifier(folder, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    return HfVictim(str(folder), device=device)


def share(name: str, victim: Any, n: int) -> None:
    """Attack n reviews, each labelled as the victim sees it, and compare wall time with forward time."""
    texts = [example.text.fields for example in Dataset("pocket", n=n)]
    answers = [answer for batch in victim.plan(list(texts)) for answer in _pairs(batch, victim)]
    labels = {fields: int(scores[1] > scores[0]) for fields, scores in answers}
    examples = [mohs.Example.of(fields[0], labels[fields], id=str(i)) for i, fields in enumerate(texts)]
    timed = Timed(victim)

    def begin(record: object, finished: int, total: int) -> None:
        if record is None:  # the searches start: what loading asked does not count
            timed.seconds = 0.0

    with mohs.attack(timed, examples, ["textfooler"], encoder="pocket", progress=begin) as attacked:
        wall = attacked.effort()["seconds"]
        forwards = attacked.effort()["forwards"]
        batches = attacked.effort()["batches"]
    print(
        f"{name:12} {n:5} examples {forwards:8.0f} forwards {batches:6.0f} batches {wall:7.2f} s "
        f"{forwards / wall:9.0f} forwards/s   forward share {timed.seconds / wall:.1%}   "
        f"the rest {(wall - timed.seconds) / forwards * 1e6:.0f} µs a forward"
    )


def _pairs(batch: list[Any], victim: Any) -> list[tuple[Any, Any]]:
    return list(zip(batch, victim.collect(victim.launch(batch)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer examples")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    quick = options.quick
    print(f"engine with an instant model: {engine_alone(100 if quick else 400):,.0f} candidates/s")
    from mohs.models.load import load_victim

    share("pocket", load_victim("pocket"), 100 if quick else 208)
    with tempfile.TemporaryDirectory() as folder:
        share("MiniLM size", minilm_size(Path(folder), options.device), 12 if quick else 60)


if __name__ == "__main__":
    main()
