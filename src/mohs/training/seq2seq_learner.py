"""Trains a sequence-to-sequence transformer, from random numbers or from a Hugging Face model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from mohs.models.pretrained import load_hf, transformers
from mohs.space.paraphrase import control
from mohs.space.syntax import TEMPLATES
from mohs.training.hardening import Batch
from mohs.training.loop import Set
from mohs.training.paraphrase_pairs import Pair
from mohs.training.recipe import Recipe

VOCABULARY = 8000  # of a new model
_SPECIAL = ("<pad>", "</s>", "<unk>")
_CHECKED_AT_ONCE = 64
_IGNORED = -100  # the label of padding


@dataclass(frozen=True)
class PairRow:
    """The tokens of a question and of its answer."""

    question: list[int]
    answer: list[int]

    def __len__(self) -> int:
        """What the row costs."""
        return max(len(self.question), len(self.answer))


class Seq2SeqLearner:
    """A model that reads a structure and a text, and writes the text in that structure."""

    def __init__(self, recipe: Recipe, pairs: Sequence[Pair]) -> None:
        self.most = recipe.max_words
        if recipe.arch.startswith("hf:"):
            self.tokenizer, self.module = load_hf(recipe.arch[3:], "AutoModelForSeq2SeqLM", False)
            self.module.float()
        else:
            self.tokenizer = new_tokenizer([text for pair in pairs for text in (pair.source, pair.target)])
            self.module = new_model(recipe, self.tokenizer)

    def rows(self, pairs: Sequence[Pair]) -> list[PairRow | None]:
        """The tokens of each pair; None for one that is too long."""
        questions = self.tokenizer([control(pair.template) + pair.source for pair in pairs])["input_ids"]
        answers = self.tokenizer([pair.target for pair in pairs])["input_ids"]
        return [
            row if len(row) <= self.most else None
            for row in (PairRow(*parts) for parts in zip(questions, answers, strict=True))
        ]

    def loss(self, rows: Sequence[PairRow]) -> tuple[Tensor, Tensor, Tensor]:
        """The mean loss of a batch's tokens, the likeliest token at each place of the answers, and the right ones."""
        device = self.module.device
        questions = [torch.tensor(row.question) for row in rows]
        answers = [torch.tensor(row.answer) for row in rows]
        pad = torch.nn.utils.rnn.pad_sequence
        asked = pad(questions, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        mask = pad([torch.ones_like(one) for one in questions], batch_first=True)
        labels = pad(answers, batch_first=True, padding_value=_IGNORED).to(device)
        found = self.module(input_ids=asked.to(device), attention_mask=mask.to(device), labels=labels)
        return found.loss, found.logits.argmax(-1), labels

    def save(self, folder: Path) -> None:
        """Write model and tokenizer in the Hugging Face layout."""
        self.module.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        return {"numbers in the model": f"{sum(p.numel() for p in self.module.parameters()):,}"}


class Teacher:
    """How the training loop trains this model: by the loss of each token of an answer, given those before it."""

    digest = ""

    def __init__(self, learner: Seq2SeqLearner) -> None:
        self.learner = learner

    def about(self) -> dict[str, Any]:
        """Nothing beyond the learner's own facts."""
        return {}

    def first(self, epochs: int) -> int:
        """Every epoch may be the best."""
        return 0

    def backward(self, batch: Batch, epoch: float, epochs: int) -> float:
        """The gradient of a batch's loss."""
        loss, _, _ = self.learner.loss(batch.rows)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def check(self, learner: Any, data: Set) -> tuple[int, float]:
        """How many tokens are right, each after the right ones before it, and the mean loss."""
        self.learner.module.eval()
        order = sorted(range(len(data.rows)), key=lambda number: len(data.rows[number].question))
        right, loss, tokens = 0, 0.0, 0
        with torch.inference_mode():
            for start in range(0, len(order), _CHECKED_AT_ONCE):
                rows = [data.rows[number] for number in order[start : start + _CHECKED_AT_ONCE]]
                mean, said, labels = self.learner.loss(rows)
                count = int((labels != _IGNORED).sum())
                right += int((said == labels).sum())
                loss, tokens = loss + float(mean) * count, tokens + count
        return right, loss / tokens


def new_tokenizer(texts: Sequence[str]) -> Any:
    """A tokenizer of lower-cased pieces (byte-level BPE), with one token for each structure."""
    core = Tokenizer(models.BPE())
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    core.decoder = decoders.ByteLevel()
    core.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=[*_SPECIAL, *(control(template).strip() for template in TEMPLATES)],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    pad, end, unknown = _SPECIAL
    core.post_processor = processors.TemplateProcessing(single=f"$A {end}", special_tokens=[(end, 1)])
    return transformers().PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=pad, eos_token=end, unk_token=unknown, model_max_length=512
    )


def new_model(recipe: Recipe, tokenizer: Any) -> Any:
    """A small T5 with random numbers."""
    library = transformers()
    hidden, heads = recipe.hidden or 0, recipe.heads or 1
    config = library.T5Config(
        vocab_size=len(tokenizer),
        d_model=hidden,
        d_kv=hidden // heads,
        d_ff=4 * hidden,
        num_layers=recipe.layers,
        num_heads=heads,
        dropout_rate=recipe.dropout,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    return library.T5ForConditionalGeneration(config)
