"""Causal language models: each token's log-probability is that of plain transformers reading what is before it."""

from __future__ import annotations

import importlib
import importlib.util
import math
import random
from functools import cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohs.engine import Service
from mohs.errors import BadInput, ServiceFailed
from mohs.models.causal_lm import CausalLm, load_lm, log_prob, perplexity, windows
from mohs.text.questions import Scored
from tests.models.conftest import corpus, plain_bpe, save, small_causal, small_masked, tiny_tokenizer, transformers

NEAR = 1e-4
END = "<|endoftext|>"
TEXTS = [
    *(text[:size] for text, size in zip(corpus(), [20, 33, 9, 1, 40, 3], strict=False)),
    "naïve 👍🏽 x",
    "a",
    " b",
    "a  b\n",
]
LONG = [" ".join(corpus()[:4])[:size] for size in (400, 120, 150, 151)]


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("gpt2"), "", plain_bpe(END), small_causal("GPT2", plain_bpe(END)))


@pytest.fixture(scope="module")
def gpt2(gpt2_folder: Path) -> CausalLm:
    return CausalLm(str(gpt2_folder), device="cpu")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> CausalLm:
    """No token stands for the start or the end of a text."""
    folder = save(tmp_path_factory.mktemp("llama"), "", plain_bpe(), small_causal("Llama", plain_bpe()))
    return CausalLm(str(folder), device="cpu")


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def lm(request: pytest.FixtureRequest) -> CausalLm:
    found: CausalLm = request.getfixturevalue(request.param)
    return found


@cache
def plain(lm: CausalLm) -> tuple[Any, Any]:
    folder = lm.name.removeprefix("hf:")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def ask(lm: CausalLm, texts: list[str]) -> dict[str, Scored]:
    found: dict[str, Scored] = {}
    for batch in lm.plan(texts):
        found.update(zip(batch, lm.collect(lm.launch(batch)), strict=True))
    return found


def next_token(model: Any, before: list[int], token: int) -> float:
    """Its log-probability, told that and nothing else."""
    with torch.inference_mode():
        return float(model(input_ids=torch.tensor([before])).logits[0, -1].double().log_softmax(0)[token])


def test_token_by_token(lm: CausalLm) -> None:
    tokenizer, model = plain(lm)
    for text, found in ask(lm, TEXTS).items():
        encoded = tokenizer(text, return_offsets_mapping=True)
        first = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        ids = [*first, *encoded["input_ids"]]
        wanted = [next_token(model, ids[:place], ids[place]) for place in range(1, len(ids))]
        assert found.log_probs == pytest.approx(wanted, abs=NEAR)
        offsets = encoded["offset_mapping"][0 if first else 1 :]
        assert list(zip(found.starts, found.ends, strict=True)) == offsets
        if first:
            assert "".join(text[start:end] for start, end in sorted(set(offsets))) == text


def test_long_texts(lm: CausalLm) -> None:
    """Windows of 32 tokens, each 16 further on, the last one at the end; a token is scored where it first appears."""
    tokenizer, model = plain(lm)
    many = 0
    for text, found in ask(lm, LONG).items():
        ids = [*lm._start, *tokenizer(text)["input_ids"]]
        wanted = []
        for place in range(1, len(ids)):
            start = 0 if place < 32 else min(16 * math.ceil((place - 31) / 16), len(ids) - 32)
            wanted.append(next_token(model, ids[start:place], ids[place]))
            assert place - start >= min(place, 16)
        assert found.log_probs == pytest.approx(wanted, abs=NEAR)
        assert len(found.starts) == len(found.ends) == len(ids) - 1
        many = max(many, len(ids))
    assert many > 64


@given(length=st.integers(0, 200), window=st.integers(2, 40))
def test_windows(length: int, window: int) -> None:
    found = windows(length, window)
    scored = [
        token
        for number, (start, fresh) in enumerate(found)
        for token in range(fresh, min(start + window, length))
        if fresh > start or number == 0
    ]
    assert scored == list(range(1, length))  # every token once, and in order
    assert all(0 <= start < fresh and (length <= window or start + window <= length) for start, fresh in found)
    assert all(fresh - start >= window - window // 2 for start, fresh in found[1:])


@pytest.mark.parametrize("text", ["", "a"])
def test_nothing_to_score(gpt2: CausalLm, llama: CausalLm, text: str) -> None:
    assert ask(llama, [text]) == {text: Scored((), (), ())}
    assert len(ask(gpt2, [text])[text].log_probs) == len(text)


def test_a_token_for_the_start_comes_before_one_for_the_end(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer("byte-bpe")
    lm = CausalLm(str(save(tmp_path, "", tokenizer, small_causal("GPT2", tokenizer))), device="cpu")
    ids = tokenizer("a", add_special_tokens=False)["input_ids"]
    wanted = next_token(plain(lm)[1], [tokenizer.bos_token_id], ids[0])
    assert ask(lm, ["a"])["a"].log_probs == pytest.approx((wanted,), abs=NEAR)


def test_companions_do_not_matter(lm: CausalLm) -> None:
    for text, found in ask(lm, TEXTS + LONG).items():
        (alone,) = lm.collect(lm.launch([text]))
        assert alone[:2] == found[:2]
        assert alone.log_probs == pytest.approx(found.log_probs, abs=NEAR)


def test_plan(lm: CausalLm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm, "_tokens", 100)
    monkeypatch.setattr(lm, "_placed", {})  # other tests plan and do not ask
    texts = [*TEXTS, *LONG, "", *"abcdefghijklmnopqrstuvwxyz"]
    shuffled = texts.copy()
    random.Random(0).shuffle(shuffled)
    batches = lm.plan(shuffled)
    assert batches == lm.plan(texts)
    assert sorted(chain(*batches)) == sorted(texts)
    lengths = [{len(lm._placed[text][0]) for text in batch} for batch in batches]
    assert all(len(found) == 1 for found in lengths)
    assert [max(found) for found in lengths] == sorted(chain(*lengths), reverse=True)
    ask(lm, texts)
    assert not lm._placed


def test_few_rows_where_each_has_many_scores(lm: CausalLm, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [a + b for a in "abcdefgh" for b in "\t\n"]
    assert len(lm.plan(texts)) == 1
    monkeypatch.setattr(lm, "_vocabulary", 10**6)
    assert [len(batch) for batch in lm.plan(texts)] == [4] * 4
    assert [len(batch) for batch in lm.plan([LONG[0] + a for a in "xyz"])] == [1] * 3


def test_one_queue(lm: CausalLm) -> None:
    service: Service[str, Scored] = Service(lm)
    asks = [service.ask(part) for part in (TEXTS, LONG, TEXTS[::2])]
    while service.waiting or service.planned or service.flying:
        list(service.launch())
        list(service.collect())
    for done, part in zip(asks, (TEXTS, LONG, TEXTS[::2]), strict=True):
        assert done.answers == [ask(lm, part)[text] for text in part]


def test_half_a_surrogate_pair_costs_one_answer(lm: CausalLm) -> None:
    batches = lm.plan(["a b", "\ud800", "b a"])
    assert batches[-1] == ["\ud800"]
    assert sorted(chain(*batches[:-1])) == ["a b", "b a"]
    with pytest.raises(UnicodeEncodeError, match="surrogates"):
        lm.launch(["\ud800"])


def test_window(gpt2_folder: Path, gpt2: CausalLm) -> None:
    assert gpt2.window == 32
    small = CausalLm(str(gpt2_folder), device="cpu", window=8)
    assert small.window == 8
    text = TEXTS[0]
    assert len(ask(small, [text])[text].log_probs) == len(ask(gpt2, [text])[text].log_probs) > 8
    assert ask(small, [text]) != ask(gpt2, [text])
    with pytest.raises(BadInput, match="has a window of 1 tokens; it needs at least 2"):
        CausalLm(str(gpt2_folder), device="cpu", window=1)


def test_perplexity() -> None:
    assert perplexity(Scored((0, 1), (1, 2), (math.log(0.5), math.log(0.125)))) == pytest.approx(4)
    assert math.isnan(perplexity(Scored((), (), ())))


@given(data=st.data())
def test_log_prob(data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, 20), min_size=2, max_size=9)))
    values = [-float(2**place) for place in range(len(cuts) - 1)]
    scored = Scored(tuple(cuts[:-1]), tuple(cuts[1:]), tuple(values))
    start = data.draw(st.integers(0, 20))
    end = data.draw(st.integers(start, 20))
    wanted = [
        value for first, last, value in zip(*scored, strict=True) if set(range(first, last)) & set(range(start, end))
    ]
    assert log_prob(scored, start, end) == sum(wanted)


def test_a_word_in_its_place(gpt2: CausalLm) -> None:
    text = "a good film"
    found = ask(gpt2, [text])[text]
    assert log_prob(found, 2, 6) + log_prob(found, 7, 11) + log_prob(found, 0, 1) == pytest.approx(sum(found.log_probs))


def test_nan_is_refused(tmp_path: Path) -> None:
    model = small_causal("GPT2", plain_bpe(END))
    model.transformer.ln_f.bias.data[3] = float("nan")
    lm = CausalLm(str(save(tmp_path, "", plain_bpe(END), model)), device="cpu")
    with pytest.raises(ServiceFailed, match=r"^hf:\S+ gave scores that are not finite; use another language model\.$"):
        ask(lm, ["a"])


def test_a_model_that_reads_ahead(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    folder = save(tmp_path, "", tokenizer, small_masked("Bert", tokenizer))
    with pytest.raises(
        BadInput, match=r"^hf:\S+ sees later tokens, so it is not a causal language model; use one that is\.$"
    ):
        CausalLm(str(folder), device="cpu")


def test_load(gpt2_folder: Path, gpt2: CausalLm, bert_folder: Path, tmp_path: Path) -> None:
    assert load_lm(f"hf:{gpt2_folder}", "cpu").fingerprint == gpt2.fingerprint
    for spec in ("gpt2", "pocket", "hf:", "gguf:"):
        with pytest.raises(
            BadInput, match=f"^Unknown language model '{spec}'; none is bundled, so use hf:PATH_OR_ID or"
        ):
            load_lm(spec)
    tokenizer = tiny_tokenizer("wordpiece-cased")
    masked = save(tmp_path / "masked", "", tokenizer, small_masked("DistilBert", tokenizer))
    with pytest.raises(BadInput, match=r"is a distilbert model, which does not work as a causal language model; use"):
        load_lm(f"hf:{masked}", "cpu")
    with pytest.raises(BadInput, match=r"has no weights for .* trained as a causal language model\.$"):
        load_lm(f"hf:{bert_folder}", "cpu")
    with pytest.raises(
        BadInput, match=r"^There is no file \./none\.gguf; gguf: takes a single model file that ends in \.gguf"
    ):
        load_lm("gguf:./none.gguf", "cpu")


def installed(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Make it look as if these were all there is for GGUF files."""
    found = importlib.util.find_spec

    def find(name: str, *rest: Any) -> Any:
        return name in packages if name in ("gguf", "accelerate") else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find)


def test_a_file_without_the_packages_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.gguf"
    file.touch()
    installed(monkeypatch)
    with pytest.raises(BadInput, match=r"^gguf:\S+ needs gguf and accelerate; run `pip install gguf accelerate`\.$"):
        load_lm(f"gguf:{file}", "cpu")
    installed(monkeypatch, "gguf")
    with pytest.raises(BadInput, match=r"^gguf:\S+ needs accelerate; run `pip install accelerate`\.$"):
        load_lm(f"gguf:{file}", "cpu")


def test_one_file(gpt2_folder: Path, gpt2: CausalLm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is the file, by the library; here the library finds a folder in its place."""
    file = tmp_path / "small.gguf"
    file.touch()
    installed(monkeypatch, "gguf", "accelerate")

    class Kind:
        def __init__(self, name: str) -> None:
            self.load = getattr(transformers, name).from_pretrained

        def from_pretrained(self, place: str, *, gguf_file: str, **options: Any) -> Any:
            assert Path(place, gguf_file) == file
            return self.load(gpt2_folder, **options)

    names = ("AutoConfig", "AutoTokenizer", "AutoModelForCausalLM")
    library = SimpleNamespace(logging=transformers.logging, **{name: Kind(name) for name in names})
    load = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", lambda n, *p: library if n == "transformers" else load(n, *p))
    lm = load_lm(f"gguf:{file}", "cpu")
    assert lm.name == f"gguf:{file}"
    assert lm.fingerprint == gpt2.fingerprint
    assert ask(lm, TEXTS) == ask(gpt2, TEXTS)
