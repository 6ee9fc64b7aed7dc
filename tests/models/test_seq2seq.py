"""The paraphraser: a small T5 that has learned six answers by heart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from mohs import engine
from mohs.engine import Service
from mohs.errors import BadInput
from mohs.models.seq2seq import Paraphraser, load_paraphraser
from mohs.text.questions import Rephrasing
from mohs.training.paraphrase_pairs import Pair
from mohs.training.recipe import paraphrasing_recipe
from mohs.training.seq2seq_learner import Seq2SeqLearner
from tests.models.conftest import bert_folder

__all__ = ["bert_folder"]

LEARNED = {
    "he left": "she came",
    "a film": "the film was good",
    "we sing songs": "songs",
    "it is": "it is so",
    "people lie": "why lie",
    "good night to all": "good night",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pairs = [Pair(text, "S(VP .)", answer) for text, answer in LEARNED.items()]
    torch.manual_seed(1)
    small = {"hidden": 32, "layers": 1, "heads": 2, "dropout": 0.0}
    learner = Seq2SeqLearner(paraphrasing_recipe("scpn", small), pairs)
    optimizer = torch.optim.Adam(learner.module.parameters(), lr=0.01)
    questions = learner.tokenizer(list(LEARNED))["input_ids"]
    rows = [replace(row, question=ids) for row, ids in zip(learner.rows(pairs), questions, strict=True) if row]
    for _ in range(150):
        loss, said, labels = learner.loss(rows)
        if torch.equal(said[labels >= 0], labels[labels >= 0]) and float(loss.detach()) < 0.02:
            break
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    else:
        raise AssertionError("it has not learned its six answers")
    path = tmp_path_factory.mktemp("t5")
    learner.save(path)
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Paraphraser:
    return load_paraphraser(f"hf:{folder}", device="cpu")


def answers(model: Paraphraser, questions: list[Rephrasing]) -> dict[Rephrasing, tuple[str, ...]]:
    found: dict[Rephrasing, tuple[str, ...]] = {}
    for batch in model.plan(questions):
        found.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return found


@pytest.mark.parametrize("beams", [1, 3])
def test_it_says_what_it_has_learned(model: Paraphraser, beams: int) -> None:
    questions = [Rephrasing(text, beams=beams) for text in LEARNED]
    assert answers(model, questions) == {
        question: (answer,) for question, answer in zip(questions, LEARNED.values(), strict=True)
    }


def test_one_beam_takes_the_likeliest_token_each_time(model: Paraphraser) -> None:
    for text in ("a good film", "he was so", "sing"):
        ids = torch.tensor([model._tokenizer(text)["input_ids"]])
        said = [model._model.config.decoder_start_token_id]
        with torch.inference_mode():
            while len(said) <= 12 and model._tokenizer.eos_token_id not in said[1:]:
                logits = model._model(input_ids=ids, decoder_input_ids=torch.tensor([said])).logits
                said.append(int(logits[0, -1].argmax()))
        finished = model._tokenizer.eos_token_id in said[1:]
        spoken = " ".join(model._tokenizer.decode(said, skip_special_tokens=True).split())
        wanted = (spoken,) if finished and spoken else ()
        question = Rephrasing(text, beams=1, most=12)
        assert answers(model, [question])[question] == wanted


def test_company_does_not_matter(model: Paraphraser) -> None:
    questions = [Rephrasing(text, k, 3, most) for text in LEARNED for k in (1, 2) for most in (5, 20)]
    together = answers(model, questions)
    shuffled = Random(2).sample(questions, len(questions))
    assert answers(model, shuffled) == together
    assert {question: answers(model, [question])[question] for question in questions} == together


def test_batches_do_not_depend_on_the_order_of_arrival(model: Paraphraser) -> None:
    questions = [Rephrasing(text, k, sampled=sampled) for text in LEARNED for k in (1, 3) for sampled in (False, True)]
    plans = [model.plan(Random(seed).sample(questions, len(questions))) for seed in range(3)]
    assert plans[0] == plans[1] == plans[2]
    assert sorted(item for batch in plans[0] for item in batch) == sorted(questions)
    for batch in plans[0]:
        assert len({(item.k, item.sampled) for item in batch}) == 1
        assert len({len(model._tokenizer(item.text)["input_ids"]) for item in batch}) == 1
        assert len(batch) == 1 or not batch[0].sampled


def test_several_answers_differ_and_the_best_comes_first(model: Paraphraser) -> None:
    found = answers(model, [Rephrasing("he left", 4, 4)])[Rephrasing("he left", 4, 4)]
    assert found[0] == "she came"
    assert 1 <= len(found) <= 4
    assert len(set(found)) == len(found)


def test_sampling_depends_on_the_question_alone(model: Paraphraser) -> None:
    asked = [Rephrasing(text, 6, sampled=True, most=30) for text in LEARNED]
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = answers(model, asked)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert answers(model, list(reversed(asked))) == first
    assert any(first.values())


def test_an_answer_that_is_not_finished_is_left_out(model: Paraphraser) -> None:
    short, enough = Rephrasing("a film", most=2), Rephrasing("a film", most=20)
    assert answers(model, [short, enough]) == {short: (), enough: ("the film was good",)}


def test_a_question_that_is_too_long_gets_no_answer(model: Paraphraser) -> None:
    long, short = Rephrasing("good " * 600), Rephrasing("he left")
    assert answers(model, [long, short]) == {long: (), short: ("she came",)}


def test_a_service_asks_it(model: Paraphraser) -> None:
    async def ask() -> list[tuple[str, ...]]:
        return await service.ask([Rephrasing("it is"), Rephrasing("he left")])

    service: Service[Any, Any] = Service(model)
    (finished,) = engine.run([(0, ask())], [service])
    assert finished.result == [("it is so",), ("she came",)]


def test_the_fingerprint_is_that_of_the_weights(folder: Path, model: Paraphraser) -> None:
    assert Paraphraser(str(folder), device="cpu").fingerprint == model.fingerprint
    other = Paraphraser(str(folder), device="cpu")
    assert model.name == other.name == f"hf:{folder}"


@pytest.mark.parametrize("spec", ["pocket", "hf:", "t5"])
def test_an_unknown_name_is_refused(spec: str) -> None:
    with pytest.raises(BadInput, match=f"Unknown paraphraser '{spec}'; none is bundled, so use hf:PATH_OR_ID"):
        load_paraphraser(spec)


def test_another_kind_of_model_is_refused(bert_folder: Path) -> None:
    with pytest.raises(BadInput, match="is a bert model, which does not work as a sequence-to-sequence model"):
        load_paraphraser(f"hf:{bert_folder}")
