"""What does asking in batches gain, for each kind of model that a search may ask?

    python benchmarks/services.py [--encoder M] [--token-encoder M] [--masked-lm M] [--lm M] [--tagger T]
                                  [--grammar G] [--victim V] [--minilm] [--device cuda] [--only KIND]

256 searches ask a handful of questions each about a review with one word changed. Printed for each model, in one run:
questions a second when all searches are alive at once and share batches, and when the same questions are asked one at
a time, as many as two seconds allow. Each way starts with a fresh model and other questions to warm up, so that neither
finds what the other remembered. Without names, models are the bundled ones, or transformers with random weights: two
layers, 128 wide, or with --minilm six layers, 384 wide.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from mohs.engine import Service, run
from mohs.errors import MohsError
from mohs.text import Text, pocket
from mohs.text.questions import Blank, Labelled, Pieces, Spot

SEARCHES = 256
ROUNDS, EACH = 2, 2  # a search asks so often, so many questions each time
ALONE = 2.0  # seconds for questions one at a time
VICTIM, MASKED, CAUSAL = "a classifier", "a masked language model", "a causal language model"  # made on the spot


@dataclass(frozen=True)
class Kind:
    """One kind of model: how it is loaded, what stands in when none is named, and what a search asks of it."""

    name: str
    option: str  # names another model
    load: Callable[[str, str], Any]  # from the name of a model and a device
    default: str
    question: Callable[[Text, int], Any]  # about a text whose word at that position was changed


def loader(module: str, function: str) -> Callable[[str, str], Any]:
    return lambda spec, device: getattr(import_module(f"mohs.models.{module}"), function)(spec, device)


def by_name(module: str, function: str) -> Callable[[str, str], Any]:
    return lambda spec, device: getattr(import_module(f"mohs.models.{module}"), function)(spec)


def insides(spec: str, device: str) -> Any:
    from mohs.models.gradients import gradients_of
    from mohs.models.load import load_victim

    return gradients_of(load_victim(spec, device=device))


def string(text: Text, position: int) -> str:
    return text.fields[0]


def fields(text: Text, position: int) -> tuple[str, ...]:
    return text.fields


def blank(text: Text, position: int) -> Blank:
    other = (position + 1) % len(text.words)  # the changed word itself would be hidden
    return Blank(text.fields, *text.spans()[other])


def pieces(text: Text, position: int) -> Pieces:
    return Pieces(text.fields, *text.spans()[position])


def spot(text: Text, position: int) -> Spot:
    return Spot(text.fields[0], *text.spans()[position][1:])


KINDS = (
    Kind("encoder", "encoder", loader("encoder", "load_encoder"), "pocket", fields),
    Kind("encoder", "encoder", loader("encoder", "load_encoder"), MASKED, fields),
    Kind("token encoder", "token_encoder", loader("token_encoder", "load_token_encoder"), MASKED, fields),
    Kind("masked lm, blanks", "masked_lm", loader("masked_lm", "load_masked_lm"), MASKED, blank),
    Kind("masked lm, pieces", "masked_lm", loader("masked_lm", "load_masked_lm"), MASKED, pieces),
    Kind("lm", "lm", loader("causal_lm", "load_lm"), CAUSAL, string),
    Kind("tagger", "tagger", by_name("tagger", "load_tagger"), "pocket", spot),
    Kind("grammar", "grammar", by_name("grammar", "load_grammar"), "harper", string),
    Kind("gradients", "victim", insides, VICTIM, lambda text, position: Labelled(text.fields, 1)),
)


def made(folder: Path, layers: int, width: int) -> dict[str, str]:
    """The stand-ins, all of one size and with one tokenizer, trained on the pocket reviews."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    transformers: Any = import_module("transformers")
    transformers.logging.disable_progress_bar()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    special |= {"mask_token": "[MASK]", "bos_token": "[CLS]", "eos_token": "[SEP]"}
    names = list(dict.fromkeys(special.values()))
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=names, show_progress=False)
    core.train_from_iterator((row["text"] for row in pocket.reviews("train")), trainer)
    core.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [(name, core.token_to_id(name)) for name in names[2:4]]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=512, **special)
    heads = width // 32
    bert = transformers.BertConfig(
        vocab_size=30_522,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
    )
    gpt = transformers.GPT2Config(
        vocab_size=30_522, n_embd=width, n_layer=layers, n_head=heads, bos_token_id=2, eos_token_id=3
    )
    torch.manual_seed(0)
    built = {
        VICTIM: transformers.BertForSequenceClassification(bert),
        MASKED: transformers.BertForMaskedLM(bert),
        CAUSAL: transformers.GPT2LMHeadModel(gpt),
    }
    places = {name: folder / name.split()[1] for name in built}
    for name, model in built.items():
        model.save_pretrained(places[name])
        tokenizer.save_pretrained(places[name])
    return {name: f"hf:{place}" for name, place in places.items()}


def questions(kind: Kind, seed: int) -> list[list[Any]]:
    """What each search asks: a review of its own, each time with another word in another place."""
    chance = Random(seed)
    words = pocket.lexicon().words[:5000]
    asked = []
    for row in islice(pocket.reviews("train"), SEARCHES):
        text = Text(row["text"])
        places = chance.choices(range(len(text.words)), k=ROUNDS * EACH)
        asked.append([kind.question(text.replace(place, chance.choice(words)), place) for place in places])
    return asked


def ask(service: Service[Any, Any], asked: Iterator[list[Any]], each: int, at_once: int) -> int:
    """Drive the searches and count their questions."""

    async def search(items: list[Any]) -> int:
        for start in range(0, len(items), each):
            await service.ask(items[start : start + each])
        return len(items)

    count = 0
    for ended in run(((None, search(items)) for items in asked), [service], at_once):
        if ended.error is not None:
            raise ended.error
        count += ended.result or 0
    return count


def until(deadline: float, asked: list[list[Any]]) -> Iterator[list[Any]]:
    for items in asked:
        for item in items:
            if time.perf_counter() > deadline:
                return
            yield [item]


def compare(kind: Kind, load: Callable[[], Any]) -> str:
    """Both ways, and how much faster the first is."""
    warm, asked = questions(kind, 0), questions(kind, 1)
    model = load()
    ask(Service(model), iter(warm[:16]), EACH, SEARCHES)
    service: Service[Any, Any] = Service(model)
    started = time.perf_counter()
    count = ask(service, iter(asked), EACH, SEARCHES)
    together = count / (time.perf_counter() - started)

    model = load()
    ask(Service(model), iter(warm[:16]), EACH, SEARCHES)
    started = time.perf_counter()
    count = ask(Service(model), until(started + ALONE, asked), 1, 1)
    alone = count / (time.perf_counter() - started)
    asked_for = f"{service.forwards} in {service.batches} batches"
    return f"{asked_for:22} {together:9,.0f}/s {alone:9,.0f}/s {together / alone:7.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in dict.fromkeys(kind.option for kind in KINDS):
        parser.add_argument(f"--{option.replace('_', '-')}")
    parser.add_argument("--minilm", action="store_true", help="stand-ins of MiniLM size")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="kinds whose name starts so")
    options = parser.parse_args()
    print(f"{'kind':18} {'model':28} {'questions':22} {'batched':>11} {'alone':>11} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        stand_ins = made(Path(folder), *((6, 384) if options.minilm else (2, 128)))
        chosen: dict[tuple[str, str], Kind] = {}  # a kind has two stand-ins, but only one model of that name
        for kind in KINDS:
            if kind.name.startswith(options.only):
                chosen[kind.name, getattr(options, kind.option) or kind.default] = kind
        for (name, model), kind in chosen.items():
            spec = stand_ins.get(model, model)
            print(f"{name:18} {model:28} ", end="", flush=True)
            try:
                print(compare(kind, partial(kind.load, spec, options.device)), flush=True)
            except MohsError as error:
                print(f"left out: {error}", flush=True)


if __name__ == "__main__":
    main()
