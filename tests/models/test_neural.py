"""`mohs:PATH`: classifiers over words as victims."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from mohs.errors import BadInput, VictimError
from mohs.models.architectures import ARCHITECTURES, Classifier, Shape
from mohs.models.gradients import gradients_of
from mohs.models.load import load_victim
from mohs.models.neural import NeuralVictim, save_neural
from mohs.models.own import load_own
from mohs.models.slopes import WordSlopes
from mohs.models.victim import Fields, Scores
from mohs.models.vocabulary import Vocabulary
from mohs.text import Text
from mohs.text.questions import Labelled, Slope

NAMES = list(ARCHITECTURES)
WORDS = ("good", "bad", "film", "dull", "fun", "the")
LABELS = ("a", "b", "c")
texts = st.lists(st.sampled_from([*WORDS, "Unseen", "👍", ","]), max_size=20).map(" ".join)
items = st.one_of(st.tuples(texts), st.tuples(texts, texts))


def parts(name: str, most: int = 12) -> tuple[Shape, Vocabulary, Classifier]:
    vocabulary = Vocabulary(WORDS, most, ARCHITECTURES[name].least)
    shape = Shape(name, len(vocabulary), dim=6, hidden=8, classes=3, dropout=0.5, max_words=most)
    torch.manual_seed(1)
    model = Classifier(shape)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return shape, vocabulary, model


def victim_of(name: str, most: int = 12) -> NeuralVictim:
    return NeuralVictim(name, *parts(name, most), LABELS, device="cpu")


def saved(folder: Path, name: str = "cnn", labels: tuple[str, ...] = LABELS) -> Path:
    folder.mkdir()
    save_neural(folder, *parts(name), labels, 1)
    return folder


def ask(victim: NeuralVictim, asked: list[Fields]) -> dict[Fields, Scores]:
    found: dict[Fields, Scores] = {}
    for batch in victim.plan(asked):
        found.update(zip(batch, victim.collect(victim.launch(batch)), strict=True))
    return found


@pytest.fixture(scope="module", params=NAMES)
def victim(request: pytest.FixtureRequest) -> NeuralVictim:
    return victim_of(request.param)


def test_scores_are_those_of_the_classifier(victim: NeuralVictim) -> None:
    model = victim.model
    asked: list[Fields] = [("good film",), ("",), ("bad",), ("Good FILM the dull fun",), ("good " * 40,), ("a", "the")]
    found = ask(victim, asked)
    for fields in asked:
        row = torch.tensor([victim.vocabulary.row(fields)])
        assert found[fields] == pytest.approx(model(row).softmax(1)[0].tolist(), abs=5e-6)
    assert torch.tensor(list(found.values())).std(0).max() > 0.01  # it tells the texts apart
    assert found["good film",] == ask(victim, [("Good, film!",)])["Good, film!",]


@settings(max_examples=30)
@given(data=st.data())
def test_companions_do_not_matter(victim: NeuralVictim, data: st.DataObject) -> None:
    item = data.draw(items)
    others = data.draw(st.lists(items, max_size=30, unique=True))
    alone = ask(victim, [item])[item]
    among = ask(victim, list(dict.fromkeys([*others, item])))[item]
    assert among == (alone if victim.exact else pytest.approx(alone, abs=5e-6))


def test_many_companions(victim: NeuralVictim) -> None:
    asked: list[Fields] = [(" ".join(words),) for size in (1, 2, 6) for words in product(WORDS[:4], repeat=size)]
    together = ask(victim, asked)
    for item in asked[:30] + asked[-30:]:
        alone = ask(victim, [item])[item]
        assert together[item] == (alone if victim.exact else pytest.approx(alone, abs=5e-6))


def test_exact_is_found_out() -> None:
    class Drifting(NeuralVictim):
        def collect(self, ticket: tuple[int, Any]) -> list[Scores]:
            rows, _ = ticket
            return [(first + rows * 1e-7, *rest) for first, *rest in super().collect(ticket)]

    assert not Drifting("drifting", *parts("bow"), LABELS, device="cpu").exact


@pytest.mark.parametrize("architecture", ["bow", "cnn"])
def test_several_threads_are_never_exact(architecture: str) -> None:
    class Seeming(NeuralVictim):
        def _is_batch_independent(self) -> bool:
            return True

    assert Seeming("seeming", *parts(architecture), LABELS, device="cpu").exact
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert not Seeming("seeming", *parts(architecture), LABELS, device="cpu").exact
    finally:
        torch.set_num_threads(before)


def test_batches_have_one_length(victim: NeuralVictim) -> None:
    asked: list[Fields] = [("good " * size + "x" * copy,) for size in range(12) for copy in range(3)]
    batches = victim.plan(asked)
    assert sorted(item for batch in batches for item in batch) == sorted(asked)
    if victim.name == "cnn":  # there lengths may mix
        return
    assert all(len({len(victim.vocabulary.row(item)) for item in batch}) == 1 for batch in batches)
    assert victim.plan(asked[::-1]) == batches
    with pytest.raises(AssertionError, match="one length"):
        victim.launch([("good " * 6,), ("good " * 7,)])


def test_a_number_that_is_none() -> None:
    broken = victim_of("bow")
    with torch.no_grad():
        broken.model.out.weight.fill_(float("nan"))
    with pytest.raises(VictimError, match="not finite"):
        broken.collect(broken.launch([("good",)]))


def test_the_window(victim: NeuralVictim) -> None:
    assert victim.visible(("good film",)) is None
    assert victim.visible(("good " * 13,)) == (12 * 5 - 1,)
    long, cut = ("good " * 12 + "bad",), ("good " * 12,)
    assert ask(victim, [long])[long] == ask(victim, [cut])[cut]


# Slopes


def asked_slopes(victim: NeuralVictim, asked: list[Labelled]) -> list[Slope]:
    model: Any = gradients_of(victim)
    found: dict[Labelled, Slope] = {}
    for batch in model.plan(asked):
        found.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return [found[item] for item in asked]


@pytest.mark.parametrize(
    "fields", [("good film, the FUN",), ("dull",), ("good bad",), ("the film", "dull fun the"), ("", "bad"), ("",)]
)
def test_slopes(victim: NeuralVictim, fields: Fields) -> None:
    scores = ask(victim, [fields])[fields]
    places, spans = victim.vocabulary.spans(fields)
    row = torch.tensor([victim.vocabulary.row(fields)])
    model = Classifier(parts(victim.name)[0]).eval().double()
    model.load_state_dict(victim.model.state_dict())
    vectors = model.embedding(row).detach()
    for label, slope in enumerate(asked_slopes(victim, [Labelled(fields, label) for label in range(3)])):
        assert slope.log_prob == pytest.approx(np.log(scores[label]), abs=1e-4)
        assert list(slope.spans) == spans == Text(*fields).spans()
        assert slope.gradient.shape == slope.embedding.shape == (len(spans), 6)
        assert slope.embedding == pytest.approx(vectors[0, places].numpy())
        for word, place in enumerate(places):
            for column in range(6):

                def log_prob(by: float, place: int = place, column: int = column, label: int = label) -> float:
                    moved = vectors.clone()
                    moved[0, place, column] += by
                    return float(model.read(moved).log_softmax(1)[0, label].detach())

                steep = (log_prob(1e-6) - log_prob(-1e-6)) / 2e-6
                assert slope.gradient[word, column] == pytest.approx(steep, abs=2e-4)


def test_slopes_inside_the_window_only(victim: NeuralVictim) -> None:
    (slope,) = asked_slopes(victim, [Labelled(("good " * 30, "bad film"), 0)])
    assert len(slope.spans) == 11  # the separator takes a place
    assert [field for field, _, _ in slope.spans] == [0] * 9 + [1] * 2


def test_slopes_in_company(victim: NeuralVictim) -> None:
    asked = [Labelled((" ".join(words),), label) for words in product(WORDS[:3], repeat=3) for label in (0, 2)]
    for item, slope in zip(asked, asked_slopes(victim, asked), strict=True):
        (alone,) = asked_slopes(victim, [item])
        assert slope.log_prob == pytest.approx(alone.log_prob, abs=1e-5)
        assert slope.gradient == pytest.approx(alone.gradient, abs=1e-4)
    assert victim.model.embedding.weight.grad is None


def test_slopes_of_no_class(victim: NeuralVictim) -> None:
    with pytest.raises(VictimError, match=r"has no class 3; classes are 0 to 2\."):
        asked_slopes(victim, [Labelled(("good",), 3)])


def test_word_vectors(victim: NeuralVictim) -> None:
    inside: WordSlopes = victim.gradients()
    good, capital, unknown, two = inside.vectors(["good", "GOOD", "nobody", "good film"])
    assert good is not None
    assert capital is not None
    assert (good == victim.model.embedding.weight[victim.vocabulary.index["good"]].detach().numpy()).all()
    assert (good == capital).all()
    assert unknown is two is None
    (slope,) = asked_slopes(victim, [Labelled(("a good",), 0)])
    assert (slope.embedding[1] == good).all()


# Folders


@pytest.mark.parametrize("name", NAMES)
def test_save_and_load(tmp_path: Path, name: str) -> None:
    folder = saved(tmp_path / "m", name)
    found = load_victim(f"mohs:{folder}", device="cpu")
    assert isinstance(found, NeuralVictim)
    original = victim_of(name)
    assert found.name == f"mohs:{folder}"
    assert found.labels == LABELS
    assert found.fingerprint == original.fingerprint
    assert ask(found, [("good film the",)]) == ask(original, [("good film the",)])
    config = json.loads((folder / "config.json").read_text())
    assert config["architecture"] == name
    assert config["least_words"] == (5 if name == "cnn" else 1)


def test_fingerprints_differ(tmp_path: Path) -> None:
    folders = [saved(tmp_path / name, name) for name in NAMES]
    other = saved(tmp_path / "labels", labels=("x", "b", "c"))
    changed = saved(tmp_path / "weights")
    tensors = load_file(changed / "model.safetensors")
    tensors["out.bias"][1] += 1e-6
    save_file(tensors, changed / "model.safetensors")
    window = saved(tmp_path / "window")
    config = json.loads((window / "config.json").read_text())
    (window / "config.json").write_text(json.dumps({**config, "max_words": 11}))
    found = [load_own(str(folder)).fingerprint for folder in (*folders, other, changed, window)]
    assert len(set(found)) == len(found)


def test_labels(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    assert load_own(str(folder), labels=("x", "y", "z")).labels == ("x", "y", "z")
    with pytest.raises(BadInput, match=r"has 3 classes \(a, b, c\), but --labels names 2\."):
        load_own(str(folder), labels=("x", "y"))
    with pytest.raises(BadInput, match="in the order a, b, c"):
        load_own(str(folder), labels=("c", "b", "a"))


def rewritten(**changes: object) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))

    return damage


def weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors")

    return damage


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no weights": lambda folder: (folder / "model.safetensors").unlink(),
    "junk weights": lambda folder: (folder / "model.safetensors").write_bytes(b"junk"),
    "a tensor missing": weights(lambda tensors: tensors.pop("out.bias")),
    "a tensor too much": weights(lambda tensors: tensors.update(more=torch.zeros(2))),
    "another size": weights(lambda tensors: tensors.update({"out.bias": torch.zeros(2)})),
    "not finite": weights(lambda tensors: tensors["out.bias"].fill_(float("inf"))),
    "half precision": weights(lambda tensors: tensors.update({"out.bias": torch.zeros(3, dtype=torch.float16)})),
    "no words": lambda folder: (folder / "words.txt").unlink(),
    "other words": lambda folder: (folder / "words.txt").write_text("good\nbad\nfilm\ndull\nfun\na"),
    "no size": rewritten(hidden=None),
    "a size in words": rewritten(dim="six"),
    "other sizes": rewritten(hidden=9),
    "labels": rewritten(labels=["a", "b"]),
    "more words": rewritten(words=99),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_broken_folders(tmp_path: Path, name: str) -> None:
    folder = saved(tmp_path / "m")
    DAMAGE[name](folder)
    with pytest.raises(BadInput, match=r"^mohs:.* is not a complete model folder \(.*\); train it again\.$"):
        load_own(str(folder))


FORGED: dict[str, Any] = {
    "layers": 10**9,
    "hidden": 10**5,
    "dim": 10**5,
    "max_words": 10**12,
    "heads": 0,
    "classes": True,
    "dropout": float("nan"),
    "verifiable": "yes",
}


@pytest.mark.parametrize("size", FORGED)
def test_a_forged_size_is_refused_before_it_takes_memory(tmp_path: Path, size: str) -> None:
    """Someone else's folder: a million million words or layers would fill the memory, or never end."""
    vocabulary = Vocabulary(WORDS, 9)
    shape = Shape("transformer", len(vocabulary), 6, 8, 3, 0.5, 9, verifiable=True)
    save_neural(tmp_path, shape, vocabulary, Classifier(shape), "xyz", 1)
    assert load_own(str(tmp_path), device="cpu").labels == tuple("xyz")
    rewritten(**{size: FORGED[size]})(tmp_path)
    with pytest.raises(BadInput, match=r"is not a complete model folder \(config\.json"):
        load_own(str(tmp_path))


@pytest.mark.parametrize("found", ["rnn", None, ["cnn"]])
def test_unknown_architectures(tmp_path: Path, found: object) -> None:
    folder = saved(tmp_path / "m")
    rewritten(architecture=found)(folder)
    with pytest.raises(BadInput, match=r"has the unknown architecture .*; train it again with `mohs train`"):
        load_own(str(folder))


def test_a_hugging_face_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(BadInput, match=f"is in the Hugging Face layout; name it hf:{tmp_path}"):
        load_own(str(tmp_path))


@pytest.mark.parametrize("name", ["bow", "cnn", "lstm", "bilstm"])
def test_a_verifiable_model_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    vocabulary = Vocabulary(WORDS, 9)
    shape = Shape(name, len(vocabulary), 6, 8, 3, 0.5, 9, layers=0, heads=0, verifiable=True)  # as trainings write it
    torch.manual_seed(1)
    model = Classifier(shape)
    save_neural(tmp_path, shape, vocabulary, model, "xyz", 1)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["verifiable"] is True
    loaded = load_own(str(tmp_path), device="cpu")
    direct = NeuralVictim("mohs:x", shape, vocabulary, model, tuple("xyz"), device="cpu")
    assert loaded.fingerprint == direct.fingerprint
    usual = Shape(name, len(vocabulary), 6, 8, 3, 0.5, 9)
    assert "verifiable" not in usual.told()  # older folders and their fingerprints stay as they are


def test_padding_does_not_count_in_verifiable_models() -> None:
    for name in ("bow", "cnn", "lstm", "bilstm"):
        torch.manual_seed(2)
        model = Classifier(Shape(name, 20, 6, 8, 3, 0.5, 9, verifiable=True)).eval()
        lengths = [9, 1, 4]
        table = torch.randint(0, 20, (3, 9))
        together = model(table, torch.tensor(lengths))
        for number, length in enumerate(lengths):
            alone = model(table[number : number + 1, :length])
            assert together[number].tolist() == pytest.approx(alone[0].tolist(), abs=1e-5)
