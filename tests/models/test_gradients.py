"""Gradients by token, against plain autograd, against finite differences, and leaving no trace on the victim."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.engine import Service
from mohs.errors import BadInput, VictimError
from mohs.models.function import FunctionVictim
from mohs.models.gradients import HfGradients, gradients_of
from mohs.models.hf import HfVictim
from mohs.models.http import HttpVictim
from mohs.models.victim import Fields, Victim
from mohs.text import Text
from mohs.text.questions import Labelled, Slope
from tests.models.conftest import corpus, save, small_model, tiny_tokenizer, transformers

KINDS = {"bert": "wordpiece", "distilbert": "wordpiece", "roberta": "byte-bpe", "unigram": "unigram"}
SINGLES: list[Fields] = [(text[:size],) for text, size in zip(corpus(), [5, 9, 20, 40, 80, 900], strict=False)]
SINGLES += [(corpus()[-1],), ("",), ("  Two  spaces, and U.S.A. [SEP] ",)]
PAIRS: list[Fields] = [(one, other) for (one,), (other,) in pairwise(SINGLES)]
ITEMS = [Labelled(fields, number % 3) for number, fields in enumerate(SINGLES + PAIRS)]
ALIKE = [
    Labelled((words,), label) for words in ("a b", "b a", "a a", "a .", ". b", "c d", "a b c") for label in range(3)
]


@pytest.fixture(scope="module", params=list(KINDS))
def victim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HfVictim:
    """Shadows the one of the folder: two more families."""
    name = str(request.param)
    tokenizer = tiny_tokenizer(KINDS[name])
    model = None
    if name == "distilbert":
        torch.manual_seed(0)
        config = transformers.DistilBertConfig(
            vocab_size=len(tokenizer),
            dim=32,
            n_layers=2,
            n_heads=2,
            hidden_dim=64,
            max_position_embeddings=64,
            num_labels=3,
            initializer_range=0.5,
        )
        model = transformers.DistilBertForSequenceClassification(config)
    folder = tmp_path_factory.mktemp(name)
    return HfVictim(str(save(folder, "bert" if name == "bert" else "roberta", tokenizer, model)), device="cpu")


@pytest.fixture(scope="module")
def gradients(victim: HfVictim) -> HfGradients:
    return HfGradients(victim)


def ask(gradients: Any, items: list[Labelled]) -> dict[Labelled, Slope]:
    found: dict[Labelled, Slope] = {}
    for batch in gradients.plan(items):
        found.update(zip(batch, gradients.collect(gradients.launch(batch)), strict=True))
    return found


def folder_of(victim: HfVictim) -> str:
    return victim.name.removeprefix("hf:")


def plainly(victim: HfVictim, item: Labelled) -> Slope:
    """One text through the library's own tokenizer and classes, the vectors handed in from outside."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(victim))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder_of(victim)).eval()
    inputs = tokenizer(*([f] for f in item.fields), truncation=True, max_length=64, return_tensors="pt")
    encoding = tokenizer(*([f] for f in item.fields), truncation=True, max_length=64).encodings[0]
    vectors = model.get_input_embeddings()(inputs.pop("input_ids")).detach().requires_grad_()
    if model.config.model_type != "bert":
        inputs.pop("token_type_ids", None)
    log_prob = model(inputs_embeds=vectors, **inputs).logits.log_softmax(-1)[0, item.label]
    log_prob.backward()
    own = [place for place, owner in enumerate(encoding.sequence_ids) if owner is not None]
    spans = tuple((encoding.sequence_ids[place], *encoding.offsets[place]) for place in own)
    return Slope(log_prob.item(), spans, vectors.grad[0, own].numpy(), vectors.detach()[0, own].numpy())


def close(one: Any, other: Any, within: float) -> bool:
    """Equal up to a share of the largest number, or of 1."""
    assert one.shape == other.shape
    return bool(abs(one - other).max(initial=0) <= within * max(1, abs(other).max(initial=0)))


def scores(victim: HfVictim, fields: Fields) -> tuple[float, ...]:
    return victim.collect(victim.launch([fields]))[0]


def test_as_plain_autograd_gives_them(victim: HfVictim, gradients: HfGradients) -> None:
    found = ask(gradients, ITEMS)
    sizes = []
    for item in ITEMS:
        wanted = plainly(victim, item)
        assert found[item].log_prob == pytest.approx(wanted.log_prob, abs=1e-5)
        assert found[item].spans == wanted.spans
        assert close(found[item].gradient, wanted.gradient, 1e-5)
        assert np.array_equal(found[item].embedding, wanted.embedding)
        assert found[item].gradient.dtype == found[item].embedding.dtype == np.float32
        sizes.append(abs(wanted.gradient).max(initial=0))
    assert np.median(sizes) > 0.01  # the models are steep, so that errors would show


def test_finite_differences(victim: HfVictim, gradients: HfGradients) -> None:
    """Move the vector of one token a little, in double precision, and see how far the log-probability goes."""
    fields = ("A good film, really.",)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder_of(victim)).eval().double()
    ids = torch.tensor([victim._special_tokens.row(victim.composer.ids(fields))[0]])
    embed = model.get_input_embeddings()
    random = torch.Generator().manual_seed(3)
    for label in range(3):
        slope = ask(gradients, [Labelled(fields, label)])[Labelled(fields, label)]
        for row in range(len(slope.spans)):
            way = torch.randn(32, generator=random, dtype=torch.float64)

            def moved(by: float, place: int = row + 1, way: torch.Tensor = way, label: int = label) -> float:
                def shift(module: Any, given: Any, output: Any) -> Any:
                    output[0, place] += by * way
                    return output

                hook = embed.register_forward_hook(shift)
                with torch.no_grad():
                    found = model(ids).logits.log_softmax(-1)[0, label]
                hook.remove()
                return float(found)

            difference = (moved(1e-6) - moved(-1e-6)) / 2e-6
            size = float(np.linalg.norm(slope.gradient[row]) * way.norm())
            assert float(slope.gradient[row] @ way.numpy()) == pytest.approx(difference, abs=1e-4 * max(1, size))


def test_log_probs_are_the_victims(victim: HfVictim, gradients: HfGradients) -> None:
    for item, slope in ask(gradients, ITEMS).items():
        assert math.exp(slope.log_prob) == pytest.approx(scores(victim, item.fields)[item.label], abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_companions(victim: HfVictim, gradients: HfGradients, data: st.DataObject) -> None:
    within = 1e-6 if victim.exact else 1e-5
    item = data.draw(st.sampled_from(ALIKE))
    others = data.draw(st.lists(st.sampled_from(ALIKE), unique=True, max_size=20))
    alone = ask(gradients, [item])[item]
    among = ask(gradients, list(dict.fromkeys([item, *others])))[item]
    assert among.log_prob == pytest.approx(alone.log_prob, abs=within)
    assert among.spans == alone.spans
    assert close(among.gradient, alone.gradient, within)
    assert np.array_equal(among.embedding, alone.embedding)


def test_labels_share_a_batch(gradients: Any) -> None:
    items = [Labelled(("a b",), label) for label in range(3)]
    (batch,) = gradients.plan(items)
    found = gradients.collect(gradients.launch(batch))
    assert sum(math.exp(slope.log_prob) for slope in found) == pytest.approx(1)
    # Probabilities sum to 1 wherever the vectors go.
    assert close(sum(math.exp(slope.log_prob) * slope.gradient for slope in found), 0 * found[0].gradient, 1e-5)
    assert abs(found[0].gradient - found[1].gradient).max() > 1e-3


def test_plan(victim: HfVictim, gradients: Any) -> None:
    items = [Labelled((" ".join("abcdefghi"[: 1 + i % 9]) + "." * (i // 9),), i % 3) for i in range(200)]
    batches = gradients.plan(items)
    assert sorted(item for batch in batches for item in batch) == sorted(items)
    lengths = [
        [len(victim._special_tokens.row(victim.composer.ids(item.fields))[0]) for item in batch] for batch in batches
    ]
    assert all(len(set(row)) == 1 for row in lengths)
    assert [row[0] for row in lengths] == sorted((row[0] for row in lengths), reverse=True)
    assert all(len(row) <= max(4, 2048 // 8 // row[0]) for row in lengths)
    assert max(map(len, batches)) > 1
    assert gradients.plan(items[::-1]) == batches


def test_the_window(victim: HfVictim, gradients: HfGradients) -> None:
    text = Text("very " * 60 + "good", "not " * 60 + "bad")
    item = Labelled(text.fields, 1)
    slope = ask(gradients, [item])[item]
    assert len(slope.spans) == len(slope.gradient) == len(slope.embedding) == victim._room(2)
    ends = victim.visible(text.fields)
    assert ends is not None
    for (field, start, _), rows in zip(text.spans(), slope.by_word(text.spans()), strict=True):
        assert bool(rows) == (start < ends[field])
        for row in rows:
            assert slope.spans[row][0] == field


def test_words_of_several_tokens(gradients: HfGradients) -> None:
    text = Text("An unbelievably good film,", "don't miss it")
    item = Labelled(text.fields, 0)
    slope = ask(gradients, [item])[item]
    rows = slope.by_word(text.spans())
    assert all(rows)
    assert len(rows[1]) > 1
    for (field, start, end), own in zip(text.spans(), rows, strict=True):
        assert {slope.spans[row][0] for row in own} == {field}
        assert min(slope.spans[row][1] for row in own) <= start
        assert max(slope.spans[row][2] for row in own) >= end


def test_no_trace_on_the_victim(victim: HfVictim) -> None:
    texts = SINGLES + PAIRS
    model = victim._model
    before = [scores(victim, fields) for fields in texts]
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    hooks = len(model.get_input_embeddings()._forward_hooks)
    gradients = HfGradients(victim)
    ask(gradients, ITEMS)
    assert [scores(victim, fields) for fields in texts] == before
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
    assert len(model.get_input_embeddings()._forward_hooks) == hooks
    assert gradients._victim._model is model
    assert not gradients._readings


def test_nothing_is_kept_for_the_way_back(gradients: HfGradients) -> None:
    _, tensors = gradients.launch([Labelled(("a good film",), 1)])
    assert not any(tensor.requires_grad or tensor.grad_fn for tensor in tensors)


def test_dropout_is_off(victim: HfVictim, gradients: HfGradients) -> None:
    item = Labelled(("a good film",), 1)
    wanted = ask(gradients, [item])[item]
    victim._model.train()
    quiet = next(module for module in victim._model.modules() if isinstance(module, torch.nn.Dropout))
    quiet.eval()
    try:
        found = ask(gradients, [item])[item]
        states = {id(module): module.training for module in victim._model.modules()}
    finally:
        victim._model.eval()
    assert np.array_equal(found.gradient, wanted.gradient)
    assert [key for key, training in states.items() if not training] == [id(quiet)]


def test_within_inference_mode(gradients: HfGradients) -> None:
    item = Labelled(("a good film",), 1)
    wanted = ask(gradients, [item])[item]
    with torch.inference_mode():
        assert np.array_equal(ask(gradients, [item])[item].gradient, wanted.gradient)
    with torch.no_grad():
        assert np.array_equal(ask(gradients, [item])[item].gradient, wanted.gradient)


def test_a_sure_victim_still_has_a_slope(tmp_path: Path) -> None:
    """In float32 the softmax is exactly 1 here, and its slope exactly nought."""
    model = small_model("bert", tiny_tokenizer("wordpiece"))
    model.classifier.bias.data[:] = torch.tensor([25.0, -10.0, -10.0])
    victim = HfVictim(str(save(tmp_path, "bert", tiny_tokenizer("wordpiece"), model)), device="cpu")
    item = Labelled(("a good film",), 0)
    slope = ask(HfGradients(victim), [item])[item]
    assert -1e-10 < slope.log_prob < 0
    assert 0 < abs(slope.gradient).max() < 1e-8


def test_half_precision_goes_alone(bert_folder: Path) -> None:
    items = [Labelled(("a good film",), label) for label in range(3)] + [Labelled(("a bad film",), 0)]
    half = HfVictim(str(bert_folder), device="cpu")
    half._model.bfloat16()
    half._dtype = torch.bfloat16
    gradients: Any = HfGradients(half)
    assert sorted(gradients.plan(items)) == [[item] for item in sorted(items)]
    for item, slope in ask(gradients, items).items():
        assert slope.gradient.dtype == slope.embedding.dtype == np.float32
        ids = torch.tensor([half._special_tokens.row(half.composer.ids(item.fields))[0]] * 4)
        vectors = half._model.get_input_embeddings()(ids).detach().requires_grad_()
        log_probs = half._model(inputs_embeds=vectors).logits.double().log_softmax(-1)
        log_probs[:, item.label].sum().backward()
        assert vectors.grad is not None
        assert slope.log_prob == pytest.approx(log_probs[0, item.label].item(), abs=1e-6)
        assert close(slope.gradient, vectors.grad[0, 1:-1].float().numpy(), 1e-6)
        assert close(slope.embedding, vectors.detach()[0, 1:-1].float().numpy(), 0)
    (vector,) = gradients.vectors(["a"])
    assert vector is not None
    assert vector.dtype == np.float32


def test_vectors(victim: HfVictim, gradients: HfGradients) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(victim))
    table = victim._model.get_input_embeddings().weight.detach().numpy()
    words = ["the", "a", "film", "unbelievably", "the film"]
    found = gradients.vectors(words)
    assert found[3] is found[4] is None
    for word, vector in zip(words, found, strict=True):
        ids = tokenizer(f"x {word} x", add_special_tokens=False)["input_ids"]
        before, after = (len(tokenizer(edge, add_special_tokens=False)["input_ids"]) for edge in ("x", " x"))
        inner = ids[before : len(ids) - after]
        assert (vector is None) == (len(inner) != 1)
        if vector is not None:
            assert np.array_equal(vector, table[inner[0]])
    assert sum(vector is not None for vector in found) >= 2
    assert gradients.vectors([]) == []
    assert gradients.vectors([""]) == [None]


def test_unknown_words_have_no_vector(bert: HfVictim, roberta: HfVictim) -> None:
    assert bert.composer.whole("\U0001f9ff") == [tiny_tokenizer("wordpiece").unk_token_id]
    assert HfGradients(bert).vectors(["\U0001f9ff", "[SEP]"]) == [None, None]
    assert HfGradients(roberta).vectors(["</s>"]) == [None]


def test_one_bad_text_fails_alone(bert: HfVictim) -> None:
    model: Any = HfGradients(bert)
    service: Service[Labelled, Slope] = Service(model)
    service.prove([Labelled(("It works.",), 0)])
    bad = [Labelled(("a \ud800 b",), 0), Labelled(("a", "b", "c"), 0), Labelled(("fine",), 3), Labelled(("fine",), -1)]
    failed = [service.ask([item]) for item in bad]
    good = service.ask([Labelled(("fine",), 0), Labelled(("fine",), 2)])
    list(service.launch())
    while service.flying or service.planned:
        list(service.collect())
        list(service.launch())
    assert [answer.log_prob < 0 for answer in good.answers] == [True, True]
    messages = [str(ask.failure and ask.failure[1]) for ask in failed]
    for message, part in zip(
        messages, ["surrogates", "no input form for 3 texts", "no class 3", "no class -1"], strict=True
    ):
        assert part in message
    assert messages[2].endswith("has no class 3; classes are 0 to 2.")


def test_not_finite(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = HfGradients(bert)
    readings, tensors = gradients.launch([Labelled(("a b",), 0), Labelled(("b a",), 0)])
    tensors[1][1, 2, 3] = float("nan")
    with pytest.raises(VictimError, match=r"^hf:.* gave a gradient that is not finite\.$"):
        gradients.collect((readings, tensors))


def test_identity(bert: HfVictim, roberta: HfVictim) -> None:
    one, again, other = HfGradients(bert), HfGradients(bert), HfGradients(roberta)
    assert one.fingerprint == again.fingerprint != other.fingerprint
    assert one.fingerprint != bert.fingerprint
    assert one.name == f"gradients of {bert.name}"


def test_gradients_of(bert: HfVictim) -> None:
    assert isinstance(gradients_of(bert), HfGradients)

    class Open:
        name = "open"

        def gradients(self) -> str:
            return "its own"

    victim: Any = Open()
    found: Any = gradients_of(victim)
    assert found == "its own"


def test_victims_that_show_nothing() -> None:
    endpoint = HttpVictim("http://localhost:9/")
    closed: list[Victim] = [FunctionVictim(lambda texts: [[0.5, 0.5]] * len(texts)), endpoint]
    for victim in closed:
        with pytest.raises(BadInput) as caught:
            gradients_of(victim)
        wanted = f"{victim.name} gives no gradients; white-box attacks need hf: or a model trained by `mohs train`."
        assert str(caught.value) == wanted
    endpoint.close()


@pytest.mark.parametrize("times", [0, 2])
def test_models_that_read_their_words_another_way(
    bert_folder: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    victim = HfVictim(str(bert_folder), device="cpu")
    inner = victim._model.get_input_embeddings()

    class Odd(torch.nn.Module):
        def forward(self, ids: Any) -> Any:
            return inner(ids) if not times else inner(ids) + 0 * inner(ids)

    victim._model.bert.embeddings.word_embeddings = Odd()
    seen = torch.nn.Embedding(1, 1) if not times else inner
    monkeypatch.setattr(victim._model, "get_input_embeddings", lambda: seen)
    with pytest.raises(
        BadInput, match=rf"gives no gradients \(VictimError: .* {times} times per text, not once"
    ) as caught:
        gradients_of(victim)
    assert "\n" not in str(caught.value)
