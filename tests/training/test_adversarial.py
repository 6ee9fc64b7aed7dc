"""Training on adversarial examples: of a model trained before, of the model of the moment, and of each step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

import mohs
from mohs.errors import BadInput
from mohs.models.victim import answers_of
from mohs.records import Outcome, Record
from mohs.text import Example, Text
from mohs.training.adversarial import GeometrySteps, OnFly
from mohs.training.hardening import Batch, hard_step, hardenings
from mohs.training.hf_learner import HfLearner
from mohs.training.learner import Learner, WordLearner
from mohs.training.loop import Progress
from mohs.training.naive import Naive
from mohs.training.opponent import Opponent, attack_for_training
from mohs.training.perturbation import FreeLB
from mohs.training.recipe import recipe_for
from mohs.training.train import Trained
from tests.training.test_train import Stopped, examples, tiny

DATA = examples(60, seed=4)
WORDS = "random"  # an attack whose words are neighbours; the toy data has many


def trained(out: Path, *harden: Any, **options: Any) -> Trained:
    settings = {"vectors": "pocket", "dim": None, "epochs": 2, "save_every": 3, "data": DATA, **options}
    return tiny(settings.pop("arch", "bow"), out, harden=harden, **settings)


def stopping(at: int) -> Callable[[Progress], None]:
    steps: list[int] = []

    def stop(progress: Progress) -> None:
        steps.append(progress.step)
        if len(steps) == at:
            raise Stopped

    return stop


def learner(arch: str = "bow", seed: int = 0) -> WordLearner:
    torch.manual_seed(seed)
    return WordLearner(recipe_for(arch, {"dropout": 0.0}), [example.text.fields for example in DATA], ("bad", "good"))


def batch_of(one: Learner, count: int = 12) -> Batch:
    part = DATA[:count]
    texts = [example.text.fields for example in part]
    return Batch(one.rows(texts), [example.label for example in part], texts, part)


def taught(one: WordLearner) -> WordLearner:
    """A few steps, so that it is right about most texts."""
    optimizer = torch.optim.Adam([p for p in one.module.parameters() if p.requires_grad], lr=0.01)
    batch = batch_of(one, len(DATA))
    for _ in range(40):
        optimizer.zero_grad()
        cross_entropy(one.logits(batch.rows), torch.tensor(batch.labels)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return one


def test_the_texts_of_an_epoch_fool_the_model_of_the_moment() -> None:
    one = taught(learner())
    method = OnFly("textfooler", budget=0, share=1.0, clean=1)
    assert method.of_epoch(one, DATA, 0, 1) == []  # an ordinary epoch
    made = method.of_epoch(one, DATA, 1, 1)
    assert made
    before = dict(made)
    assert len(before) == len(made)
    one.module.eval()
    with torch.no_grad():
        original = one.logits(one.rows([DATA[number].text.fields for number in before])).argmax(1).tolist()
        changed = one.logits(one.rows(list(before.values()))).argmax(1).tolist()
    labels = [DATA[number].label for number in before]
    assert original == labels
    assert all(answer != label for answer, label in zip(changed, labels, strict=True))
    # Other weights, other texts: the victim follows the model.
    with torch.no_grad():
        one.module.out.weight.neg_()
        one.module.out.bias.neg_()
    assert method.of_epoch(one, DATA, 1, 1) != made


@pytest.mark.parametrize("arch", ["bow", "cnn", "lstm"])
def test_the_victim_follows_the_weights_and_leaves_the_mode_alone(arch: str) -> None:
    one = learner(arch)
    one.module.train()
    victim: Any = one.victim()
    assert one.module.training
    texts = [example.text.fields for example in DATA[:5]]
    for _ in range(2):
        victim.renew()
        found = answers_of(victim, texts)
        one.module.eval()
        with torch.no_grad():
            expected = one.logits(one.rows(texts)).softmax(1)
        one.module.train()
        assert torch.allclose(torch.tensor([found[text] for text in texts]).float(), expected, atol=1e-5)
        with torch.no_grad():
            for parameter in one.module.parameters():
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))


def test_the_victim_of_an_encoder_follows_it(bert_folder: Path) -> None:
    one = HfLearner(recipe_for(f"hf:{bert_folder}", {}), [("a",)], ("bad", "good"))
    one.module.train()
    victim: Any = one.victim()
    assert one.module.training
    assert victim.labels == ("bad", "good")
    before = victim.collect(victim.launch([("a good film",)]))
    with torch.no_grad():
        one.module.classifier.bias.add_(torch.tensor([1.0, -1.0]))
    after = victim.collect(victim.launch([("a good film",)]))
    assert after[0][0] > before[0][0]


def test_there_are_texts_for_a_share_of_the_data() -> None:
    one = taught(learner())
    every = OnFly("textfooler", budget=0, share=1.0).of_epoch(one, DATA, 1, 9)
    some = OnFly("textfooler", budget=0, share=0.1).of_epoch(one, DATA, 1, 9)
    assert len(some) == 6 < len(every)
    assert set(some) <= set(every)


def test_a_step_learns_made_texts_with_the_others_and_all_rows_alike() -> None:
    one = learner("cnn")
    batch = batch_of(one, 4)._replace(made=[(2, ("a dull film",)), (0, ("of the story",))])
    loss = hard_step(one, batch, [], 3)
    found = [p.grad.clone() for p in one.module.parameters() if p.grad is not None]
    one.module.zero_grad()
    rows = one.rows([*batch.texts, ("a dull film",), ("of the story",)])
    labels = torch.tensor([*batch.labels, batch.labels[2], batch.labels[0]])
    whole = cross_entropy(one.logits(rows), labels)
    whole.backward()  # type: ignore[no-untyped-call]
    assert loss == pytest.approx(float(whole.detach()), abs=1e-5)
    for a, b in zip(found, [p.grad for p in one.module.parameters() if p.grad is not None], strict=True):
        assert torch.allclose(a, b, atol=1e-6)


def test_geometry_attacks_the_texts_of_a_step() -> None:
    one = taught(learner())
    batch = batch_of(one, 20)
    method = GeometrySteps(loops=20, words="neighbours")
    made = method.of_step(one, batch, 5)
    assert made
    assert made == GeometrySteps(loops=20, words="neighbours").of_step(one, batch, 5)
    one.module.eval()
    with torch.no_grad():
        answers = one.logits(one.rows([text for _, text in made])).argmax(1).tolist()
    assert all(answer != batch.labels[number] for answer, (number, _) in zip(answers, made, strict=True))
    one.module.train()
    loss = hard_step(one, batch, [method], 5)
    one.module.zero_grad()
    assert loss == pytest.approx(hard_step(one, batch._replace(made=made), [], 5))


def test_an_encoder_is_attacked_in_training(bert_folder: Path) -> None:
    one = HfLearner(recipe_for(f"hf:{bert_folder}", {}), [("a",)], ("bad", "good"))
    batch = batch_of(one, 8)
    for method in (GeometrySteps(loops=3, words="neighbours"), OnFly("a2t", share=1.0, clean=0)):
        made = (
            method.of_step(one, batch, 1) if isinstance(method, GeometrySteps) else method.of_epoch(one, DATA[:8], 0, 1)
        )
        loss = hard_step(one, batch._replace(made=made), [FreeLB()], 1)
        assert loss > 0


@pytest.mark.parametrize(
    ("method", "at"),
    [
        ("onfly:attack=textfooler,share=0.5,budget=40", 12),
        ("geometry:words=neighbours,loops=4", 9),
        ("naive:n=20,budget=40", 9),  # while training plainly
        ("naive:n=20,budget=40", 21),
    ],
)
def test_a_stopped_training_ends_with_the_same_weights(tmp_path: Path, method: str, at: int) -> None:
    whole = trained(tmp_path / "whole", method, "freelb")
    with pytest.raises(Stopped):
        trained(tmp_path / "m", method, "freelb", progress=stopping(at))
    again = trained(tmp_path / "m", method, "freelb")
    assert again.fingerprint == whole.fingerprint
    assert again.metrics == whole.metrics
    facts = json.loads((tmp_path / "m" / "training.json").read_text())["finished"]
    if method.startswith("onfly"):
        assert facts["made"][0] == 0 < facts["made"][1]
    assert not (tmp_path / "m" / "checkpoint").exists()


def test_a_stopped_attack_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trained(tmp_path / "whole", "naive")
    asked: list[str] = []

    def stop(what: str, finished: int, total: int) -> None:
        if what.startswith("attacking") and finished == 7:
            raise Stopped

    with pytest.raises(Stopped):
        trained(tmp_path / "m", "naive", measuring=stop)
    records = Opponent.records

    def seen(self: Opponent, given: Any, *rest: Any, **more: Any) -> Any:
        found = list(given)
        asked.extend(example.id for _, example in found)
        return records(self, found, *rest, **more)

    monkeypatch.setattr(Opponent, "records", seen)
    again = trained(tmp_path / "m", "naive")
    assert again.fingerprint == whole.fingerprint
    assert len(asked) == whole_count(tmp_path / "whole") - 7
    one, other = ((tmp_path / name / "adversarial.jsonl").read_bytes() for name in ("m", "whole"))
    assert one == other


def whole_count(folder: Path) -> int:
    data = json.loads((folder / "training.json").read_text())["finished"]["data"]["train"]
    return int(data["learned_from"] - data["adversarial"]["texts"])


def test_naive_training_is_a_plain_training_an_attack_and_a_training_on_both(tmp_path: Path) -> None:
    dev = examples(20, seed=8)
    done = trained(tmp_path / "m", "naive:budget=80", dev=dev)
    plain = trained(tmp_path / "plain", dev=dev)
    with mohs.attack(plain.victim, DATA, ["textfooler"], budget=80, device="cpu") as run:
        wins = [record for record in run.records() if record.outcome is Outcome.SUCCESS]
    rows = [json.loads(line) for line in (tmp_path / "m" / "adversarial.jsonl").read_text().splitlines()]
    assert {row["text"] for row in rows} == {record.perturbed[0] for record in wins if record.perturbed}
    assert {row["id"] for row in rows} == {f"{record.example_id}+textfooler:paper" for record in wins}
    more = [Example(row["id"], Text(row["text"]), row["label"]) for row in rows]
    both = trained(tmp_path / "both", data=[*DATA, *more], dev=dev)
    assert done.fingerprint == both.fingerprint != plain.fingerprint
    card = (tmp_path / "m" / "README.md").read_text()
    assert f"{len(rows)} adversarial" in card


def test_naive_attacks_as_many_as_asked() -> None:
    method = Naive(n=5)
    chosen = method.chosen(DATA, 3)
    assert len(chosen) == 5
    assert chosen == method.chosen(DATA, 3) != method.chosen(DATA, 4)
    assert all(DATA[number] is example for number, example in chosen)
    assert len(Naive().chosen(DATA, 3)) == len(Naive(n=1000).chosen(DATA, 3)) == len(DATA)


def test_all_methods_combine_with_one_objective(tmp_path: Path) -> None:
    methods = ["augment", "random", "naive:n=6,budget=20", "onfly:attack=random", "geometry:words=neighbours,loops=2"]
    done = trained(tmp_path / "m", *methods, "smart")
    assert len(done.metrics["history"]) == 2
    facts = json.loads((tmp_path / "m" / "training.json").read_text())["finished"]
    assert facts["made"][1] > 0
    assert facts["data"]["train"]["adversarial"]["attacked"] > 0


def test_an_attack_that_cannot_answer_ends_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: Opponent, given: Any, *rest: Any, **more: Any) -> Any:
        for number, example in given:
            yield (
                number,
                Record(
                    "x",
                    example.id,
                    Outcome.ERROR,
                    example.label,
                    example.names,
                    example.text.fields,
                    0,
                    1,
                    error="no sun",
                ),
            )

    monkeypatch.setattr(Opponent, "records", failing)
    with pytest.raises(BadInput, match="textfooler:paper cannot attack the model in training: no sun"):
        OnFly("textfooler", clean=0).of_epoch(learner(), DATA, 0, 1)


def test_what_is_kept_of_an_epoch_is_checked(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        trained(tmp_path / "m", "onfly:attack=textfooler,clean=0", progress=stopping(2))
    path = tmp_path / "m" / "checkpoint" / "made-0.json"
    path.write_text(path.read_text().replace('"checksum": "', '"checksum": "x'))
    with pytest.raises(BadInput, match=r"made-0\.json cannot be read"):
        trained(tmp_path / "m", "onfly:attack=textfooler,clean=0")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("onfly:attack=magic", "Unknown attack 'magic'"),
        ("onfly:share=0", "onfly's share=0.0 must be above 0 and at most 1, such as 0.2."),
        ("onfly:budget=-1", "budget and clean must be at least 0"),
        ("onfly:attack=bae", "bae:paper needs a masked language model, which a training cannot ask; use --harden"),
        ("naive:attack=input-reduction", "shortens texts and keeps the label, so naive learns nothing from it"),
        ("naive:n=-1", "n and budget must be at least 0"),
        ("geometry:loops=0", "geometry needs at least one loop, not loops=0."),
        ("geometry:words=tea", "geometry takes its words from wordnet or neighbours, not from 'tea'."),
    ],
)
def test_what_is_wrong_is_said(given: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        hardenings([given])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_each_attack_is_refused_or_ready() -> None:
    from mohs.attacks.catalogue import CATALOGUE

    refused = set()
    for name in CATALOGUE:
        try:
            attack_for_training(name, "onfly")
        except BadInput:
            refused.add(name)
    assert refused == {"bert-attack", "bae", "clare", "input-reduction", "comp-attack", "paraphrase", "t3"}


def test_a_method_is_given_once() -> None:
    with pytest.raises(BadInput, match="--harden has OnFly twice"):
        hardenings(["onfly", "onfly:share=1.0"])


def test_of_a_pair_only_the_second_text_changes(tmp_path: Path) -> None:
    pairs = examples(40, seed=5, pairs=True)
    trained(tmp_path / "m", "naive:attack=random,budget=50", "onfly:attack=random,clean=0", data=pairs)
    rows = [json.loads(line) for line in (tmp_path / "m" / "adversarial.jsonl").read_text().splitlines()]
    originals = {example.id: example for example in pairs}
    assert rows
    for row in rows:
        original = originals[row["id"].partition("+")[0]]
        assert row["premise"] == original.text.fields[0]
        assert row["hypothesis"] != original.text.fields[1]
        assert row["label"] == original.label
