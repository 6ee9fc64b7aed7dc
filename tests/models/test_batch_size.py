"""Batch sizes found by trying, with a clock that the tests wind themselves."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mohs.models import batch_size
from mohs.models.batch_size import DEFAULT_TOKENS, ROW_TRIED, SIZES_TRIED, fastest, key_of, processor, recall, remember
from mohs.models.encoder import HfEncoder
from mohs.models.hf import HfVictim
from mohs.models.masked_lm import MaskedLm
from mohs.text.questions import Blank

from .conftest import save, small_masked, tiny_tokenizer

FILE = "batch-sizes.json"
TEXTS: list[tuple[str, ...]] = [(f"a {'good ' * (i % 9)}film, and the very bad one {i}",) for i in range(60)]


class Clock:
    """Goes on only when a batch is worked on: a batch of so many tokens takes tokens / pace(tokens) seconds."""

    def __init__(self, pace: Callable[[int], float]) -> None:
        self.now = 0.0
        self.pace = pace
        self.done: list[int] = []

    def __call__(self) -> float:
        return self.now

    def work(self, tokens: int) -> int:
        self.done.append(tokens)
        self.now += tokens / self.pace(tokens)
        return tokens

    def fastest(self) -> int | None:
        return fastest(self.work, self)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[int]:
    """Sizes are tried out as soon as anything was asked, and the one in the list is found, or none."""
    found = [4096]

    def answer(work: Callable[[int], int]) -> int | None:
        for size in SIZES_TRIED:
            assert work(size) == size
        return found[0] if found else None

    monkeypatch.setattr(batch_size, "TOKENS_BEFORE_TRYING", 1)
    monkeypatch.setattr(batch_size, "fastest", answer)
    return found


@pytest.mark.parametrize("best", SIZES_TRIED)
def test_the_fastest(best: int) -> None:
    clock = Clock(lambda tokens: 1e5 if tokens == best else 9e4)
    assert clock.fastest() == best
    assert clock.done[0] < SIZES_TRIED[0]  # once before any counts
    assert clock.done[1 : 1 + len(SIZES_TRIED)] == list(SIZES_TRIED)


def test_the_smaller_of_two_alike() -> None:
    assert Clock(lambda tokens: {768: 96_000, 2048: 100_000}.get(tokens, 90_000)).fastest() == 768
    assert Clock(lambda tokens: {768: 94_000, 2048: 100_000}.get(tokens, 90_000)).fastest() == 2048
    assert Clock(lambda tokens: 5e4).fastest() == SIZES_TRIED[0]


def test_no_larger_ones_where_it_gets_slower() -> None:
    clock = Clock(lambda tokens: 1e5 if tokens <= 768 else 8e4)
    assert clock.fastest() == 512
    assert max(clock.done) == 1024
    assert clock.done.count(1024) == 1
    assert clock.done.count(768) > 1


def test_a_busy_moment_is_not_the_last_word() -> None:
    clock = Clock(lambda tokens: 1e5 if len(clock.done) > 1 + len(SIZES_TRIED) and tokens == 1024 else 9e4)
    assert clock.fastest() == 1024


@pytest.mark.parametrize("pace", [1e2, 5e2, 1e3, 3e3, 1e4, 1e5, 1e7])
def test_the_time_it_takes_is_bounded(pace: float) -> None:
    clock = Clock(lambda tokens: pace)
    found = clock.fastest()
    assert clock.now <= max(2.0, 128 / pace)
    assert len(clock.done) <= 26
    assert found == (512 if pace >= 1e3 else None)  # 1,408 tokens within two seconds are needed to compare


def test_a_clock_that_stands_still() -> None:
    assert fastest(lambda tokens: tokens, lambda: 0.0) == 4096


def test_what_is_remembered(folder: Path) -> None:
    assert recall("one") is None
    remember("one", 512)
    remember("two", 4096)
    remember("one", 1024)
    assert (recall("one"), recall("two"), recall("three")) == (1024, 4096, None)
    assert json.loads((folder / FILE).read_text()) == {"one": 1024, "two": 4096}
    assert os.listdir(folder) == [FILE]


@pytest.mark.parametrize(
    "written",
    [
        *[b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[1]", b"null", b'{"one": "512"}', b'{"one": true}'],
        *[b'{"one": 512.0}', b'{"one": 7}', b'{"one": 1000000000}', b'{"one": [512]}', b'{"one": null}'],
    ],
)
def test_a_damaged_file_counts_for_nothing(folder: Path, written: bytes) -> None:
    folder.mkdir()
    (folder / FILE).write_bytes(written)
    assert recall("one") is None
    remember("one", 512)
    assert recall("one") == 512


def test_a_folder_that_cannot_be(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a file")
    remember("one", 512)
    assert recall("one") is None
    assert folder.read_text() == "a file"
    monkeypatch.setattr(batch_size, "cache_folder", lambda: None)
    remember("one", 512)
    assert recall("one") is None
    monkeypatch.setattr(batch_size, "cache_folder", lambda: tmp_path / "other")
    (tmp_path / "other" / FILE).mkdir(parents=True)  # which no file can take the place of
    remember("one", 512)
    assert recall("one") is None
    assert os.listdir(tmp_path / "other") == [FILE]


def test_many_at_once(folder: Path) -> None:
    threads = [threading.Thread(target=remember, args=(f"{i}", SIZES_TRIED[i % len(SIZES_TRIED)])) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = json.loads((folder / FILE).read_text())  # whole, though some may have been forgotten
    assert found
    assert all(size == SIZES_TRIED[int(key) % len(SIZES_TRIED)] for key, size in found.items())


def test_what_it_depends_on(bert: HfVictim, roberta: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    one = key_of(bert._model, torch.float32)
    assert one == key_of(bert._model, torch.float32)
    others = {key_of(roberta._model, torch.float32), key_of(bert._model, torch.bfloat16)}
    config: Any = SimpleNamespace(to_json_string=lambda: "{}")
    others.add(key_of(SimpleNamespace(config=config), torch.float32))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    others.add(key_of(bert._model, torch.float32))
    monkeypatch.setattr(batch_size, "processor", lambda: "another")
    others.add(key_of(bert._model, torch.float32))
    monkeypatch.setattr(torch, "__version__", "9.9")
    others.add(key_of(bert._model, torch.float32))
    assert len(others - {one}) == 6


def test_the_name_of_the_processor(tmp_path: Path) -> None:
    (tmp_path / "facts").write_text("processor\t: 0\nmodel name\t: Some Chip 9: fast\nmodel name\t: Other\n")
    assert processor(tmp_path / "facts") == "Some Chip 9: fast"
    (tmp_path / "none").write_text("Features: neon\n")
    assert processor(tmp_path / "none") == processor(tmp_path / "missing") != ""


def ask(model: Any, items: list[Any]) -> dict[Any, Any]:
    return {
        item: answer
        for batch in model.plan(items)
        for item, answer in zip(batch, model.collect(model.launch(batch)), strict=True)
    }


def test_tried_when_it_pays_and_remembered(
    bert_folder: Path, folder: Path, at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_size, "TOKENS_BEFORE_TRYING", 10_000)
    victim = HfVictim(str(bert_folder), device="cpu")
    before = ask(victim, TEXTS)
    assert victim._tokens == DEFAULT_TOKENS
    assert not folder.exists()
    while victim._asked < 10_000:
        ask(victim, TEXTS)
    assert ask(victim, TEXTS) == before
    assert victim._tokens == 4096
    assert json.loads((folder / FILE).read_text()) == {key_of(victim._model, torch.float32): 4096}
    at_once[:] = [512]  # what would be found now is not asked for
    ask(victim, TEXTS)
    assert victim._tokens == 4096
    again = HfVictim(str(bert_folder), device="cpu")
    assert again._tokens == 4096
    again._asked = 20_000
    assert ask(again, TEXTS) == before
    assert again._tokens == 4096


def test_a_chosen_size_wins(bert_folder: Path, folder: Path, at_once: list[int]) -> None:
    ask(HfVictim(str(bert_folder), device="cpu"), TEXTS)
    assert len(json.loads((folder / FILE).read_text())) == 1
    victim = HfVictim(str(bert_folder), device="cpu", tokens=64)
    ask(victim, TEXTS)
    ask(victim, TEXTS)
    assert victim._tokens == 64


def test_too_slow_to_compare(bert_folder: Path, folder: Path, at_once: list[int]) -> None:
    at_once.clear()
    victim = HfVictim(str(bert_folder), device="cpu")
    ask(victim, TEXTS)
    assert victim._tokens == DEFAULT_TOKENS
    assert list(json.loads((folder / FILE).read_text()).values()) == [DEFAULT_TOKENS]


def test_layers_that_do_not_run_alone(bert_folder: Path, at_once: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_size, "TOKENS_BEFORE_TRYING", 1 << 60)
    victim = HfVictim(str(bert_folder), device="cpu")
    before = ask(victim, TEXTS)

    def refuse(**inputs: Any) -> None:
        raise RuntimeError("not alone")

    monkeypatch.setattr(batch_size, "TOKENS_BEFORE_TRYING", 1)
    monkeypatch.setattr(type(victim._model), "base_model", property(lambda self: refuse))
    assert ask(victim, TEXTS) == before
    assert victim._tokens == DEFAULT_TOKENS


def test_no_larger_where_company_would_matter(
    bert_folder: Path, at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_size, "TOKENS_BEFORE_TRYING", 1 << 60)
    victim = HfVictim(str(bert_folder), device="cpu")
    base = victim._model.base_model

    def moved(**inputs: Any) -> Any:
        states = base(**inputs)[0]
        return (states + (len(states) > 1024 // ROW_TRIED),)

    monkeypatch.setattr(type(victim._model), "base_model", property(lambda self: moved))
    victim.exact = True
    assert victim._try_sizes() == DEFAULT_TOKENS
    at_once[:] = [512]
    assert victim._try_sizes() == 512
    at_once[:] = [4096]
    victim.exact = False
    assert victim._try_sizes() == 4096


@pytest.mark.parametrize("tokens", [4, 100, *SIZES_TRIED])
def test_answers_do_not_depend_on_it(victim: HfVictim, tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not victim.exact:
        pytest.skip("on this machine companions move a text's scores")
    letters = "abcdefghiklm"
    texts: list[tuple[str, ...]] = [(f"{x} {y} {z}",) for x in letters for y in letters for z in letters]
    wanted = ask(victim, [*texts, *TEXTS])
    monkeypatch.setattr(victim, "_tokens", tokens)
    largest = max(victim.plan(texts), key=len)
    length = len(victim._rows[largest[0]][0]) // 4
    assert len(largest) == max(4, tokens // length // 4 * 4)
    assert ask(victim, [*texts, *TEXTS]) == wanted


def test_encoders_and_language_models(bert_folder: Path, tmp_path: Path, at_once: list[int]) -> None:
    encoder = HfEncoder(str(bert_folder), device="cpu")
    ask(encoder, TEXTS)
    ask(encoder, TEXTS)
    assert encoder._tokens == 4096
    tokenizer = tiny_tokenizer("wordpiece")
    lm = MaskedLm(str(save(tmp_path / "lm", "", tokenizer, small_masked("Bert", tokenizer))), device="cpu")
    items = [Blank(("a good film",), 0, 2, k) for k in range(6, 9)]
    before = ask(lm, items)
    assert ask(lm, items) == before
    assert lm._tokens == 4096
