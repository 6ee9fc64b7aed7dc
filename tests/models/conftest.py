"""Tiny tokenizers and models, the same in every process, made when a test asks for them."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from mohs.models.hf import HfVictim
from mohs.models.tokens import Composer
from mohs.text import pocket

transformers: Any = importlib.import_module("transformers")

BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
ROBERTA = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "cls_token": "<s>",
    "sep_token": "</s>",
}
GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@cache
def corpus() -> tuple[str, ...]:
    odd = "Déjà vu, naïve coöperation: 你好 世界 שלום नमस्ते 👍🏽 a\u00a0b\u3000c 3,000€ don't stop"
    return (*(row["text"] for row in islice(pocket.reviews("train"), 150)), *[odd] * 5)


def pieces(core: Any, size: int, inside: str = "") -> dict[str, float]:
    """Every character and the strings that cover most of the corpus, with their log frequencies.

    Only byte-level BPE is trained: the trainers of the other models follow the order of a hash table, so that each
    process would have another vocabulary.
    """
    found: Counter[str] = Counter()
    for text in corpus():
        normal = core.normalizer.normalize_str(text)
        for part, _ in core.pre_tokenizer.pre_tokenize_str(normal) if core.pre_tokenizer else [(normal, None)]:
            for start in range(len(part)):
                mark = inside if start else ""
                found.update(mark + part[start:end] for end in range(start + 1, min(start + 8, len(part)) + 1))
    letters = {piece: len(piece.removeprefix(inside)) for piece in found}
    best = sorted(found, key=lambda piece: (letters[piece] > 1, -found[piece] * (letters[piece] - 1), piece))[:size]
    assert letters[best[-1]] > 1
    return {piece: math.log(found[piece] / found.total()) for piece in best}


def wordpiece(lowercase: bool) -> Any:
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = [*BERT.values(), *pieces(core, 400 - len(BERT), "##")]
    core.model = models.WordPiece({name: number for number, name in enumerate(names)}, unk_token="[UNK]")
    number = core.token_to_id
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", number("[CLS]")), ("[SEP]", number("[SEP]"))],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **BERT,
    )


def byte_bpe(before: Any, prefix: bool = False) -> Any:
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = before
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=list(dict.fromkeys(ROBERTA.values())),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(corpus(), trainer)
    number: Any = core.token_to_id
    core.post_processor = processors.RobertaProcessing(
        ("</s>", number("</s>")), ("<s>", number("<s>")), trim_offsets=True, add_prefix_space=prefix
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        model_max_length=1000,  # more than the model's positions
        model_input_names=["input_ids", "attention_mask"],
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
        **ROBERTA,
    )
    tokenizer.add_tokens([AddedToken("<turn>", rstrip=True)])
    return tokenizer


def unigram(normalizer: Any, before: Any) -> Any:
    core = Tokenizer(models.Unigram())
    core.normalizer = normalizer
    core.pre_tokenizer = before
    names = list(dict.fromkeys(ROBERTA.values()))
    scores = [*((name, 0.0) for name in names), *pieces(core, 400 - len(names)).items()]
    core.model = models.Unigram(scores, names.index("<unk>"), False)
    number = core.token_to_id
    core.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", number("<s>")), ("</s>", number("</s>"))],
    )
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=64, mask_token=mask, **ROBERTA)


def albert() -> Any:
    steps = [
        normalizers.Replace("``", '"'),
        normalizers.NFKD(),
        normalizers.StripAccents(),
        normalizers.Lowercase(),
        normalizers.Replace(Regex(" {2,}"), " "),
    ]
    return unigram(normalizers.Sequence(steps), pre_tokenizers.Metaspace())


def xlm(*before: Any) -> Any:
    steps = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    return unigram(normalizers.Sequence(steps), pre_tokenizers.Sequence([*before, pre_tokenizers.Metaspace()]))


def gpt4() -> Any:
    split = pre_tokenizers.Split(Regex(GPT4), "isolated")
    return byte_bpe(pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))


def with_spaced_token() -> Any:
    tokenizer = wordpiece(True)
    tokenizer.add_tokens(["new york"])
    return tokenizer


def joining_words() -> Any:
    """Replaces across a space, which no vocabulary shows."""
    tokenizer = wordpiece(True)
    core = tokenizer.backend_tokenizer
    core.normalizer = normalizers.Sequence([normalizers.Replace(Regex("new +york"), "york"), core.normalizer])
    return tokenizer


COMPOSED: dict[str, Callable[[], Any]] = {
    "wordpiece": lambda: wordpiece(True),
    "wordpiece-cased": lambda: wordpiece(False),
    "byte-bpe": lambda: byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "byte-bpe-prefix": lambda: byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=True), True),
    "gpt4": gpt4,
    "unigram": lambda: unigram(normalizers.NFKC(), pre_tokenizers.Metaspace()),
    "unigram-first": lambda: unigram(normalizers.NFKC(), pre_tokenizers.Metaspace(prepend_scheme="first")),
    "albert": albert,
    "xlm": xlm,
    "xlm-old": lambda: xlm(pre_tokenizers.WhitespaceSplit()),
}
WHOLE: dict[str, Callable[[], Any]] = {
    "unsplit-metaspace": lambda: unigram(normalizers.NFKC(), pre_tokenizers.Metaspace(split=False)),
    "no-pre-tokenizer": lambda: unigram(normalizers.NFKC(), None),
    "punctuation-only": lambda: byte_bpe(pre_tokenizers.Punctuation()),
    "spaced-token": with_spaced_token,
    "joining-words": joining_words,
}


@cache
def tiny_tokenizer(kind: str) -> Any:
    return (COMPOSED | WHOLE)[kind]()


@cache
def tiny_composer(kind: str) -> Composer:
    return Composer(tiny_tokenizer(kind))


def small_model(name: str, tokenizer: Any, classes: int = 3, seed: int = 0) -> Any:
    """A random classifier whose scores differ a lot between texts."""
    torch.manual_seed(seed)
    roberta = name == "roberta"
    config = getattr(transformers, "RobertaConfig" if roberta else "BertConfig")(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64 + (tokenizer.pad_token_id + 1) * roberta,
        type_vocab_size=1 if roberta else 2,
        pad_token_id=tokenizer.pad_token_id,
        num_labels=classes,
        initializer_range=0.5,
    )
    kind = "RobertaForSequenceClassification" if roberta else "BertForSequenceClassification"
    return getattr(transformers, kind)(config).eval()


def small_masked(name: str, tokenizer: Any, seed: int = 0) -> Any:
    """A random masked language model of 64 positions whose guesses differ a lot between texts."""
    torch.manual_seed(seed)
    sizes = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
    if name != "DistilBert":
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        sizes["type_vocab_size"] = 1 if name == "Roberta" else 2
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer),
        max_position_embeddings=64 + (tokenizer.pad_token_id + 1) * (name == "Roberta"),
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
        **sizes,
    )
    return getattr(transformers, f"{name}ForMaskedLM")(config).eval()


def small_causal(name: str, tokenizer: Any, positions: int = 32, seed: int = 0) -> Any:
    """A random causal language model."""
    torch.manual_seed(seed)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": positions}
    if name != "GPT2":
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        sizes["max_position_embeddings"] = positions
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = getattr(transformers, f"{name}Config")(vocab_size=len(tokenizer), initializer_range=0.3, **sizes, **ids)
    return getattr(transformers, "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM")(config).eval()


@cache
def plain_bpe(end: str = "") -> Any:
    """A byte-level tokenizer that puts nothing around a text; perhaps with a token for its end."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[end] if end else [],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(corpus(), trainer)
    special = {"eos_token": end} if end else {}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=1000, **special)


def save(folder: Path, name: str, tokenizer: Any, model: Any = None, **options: Any) -> Path:
    (small_model(name, tokenizer, **options) if model is None else model).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small lose more to waiting threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("bert"), "bert", tiny_tokenizer("wordpiece"))


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("roberta"), "roberta", tiny_tokenizer("byte-bpe"))


@pytest.fixture(scope="session")
def bert(bert_folder: Path) -> HfVictim:
    return HfVictim(str(bert_folder), device="cpu")


@pytest.fixture(scope="session")
def roberta(roberta_folder: Path) -> HfVictim:
    return HfVictim(str(roberta_folder), device="cpu")


@pytest.fixture(scope="session", params=["bert", "roberta"])
def victim(request: pytest.FixtureRequest) -> HfVictim:
    found: HfVictim = request.getfixturevalue(request.param)
    return found
