"""`hf:PATH`: the answers are those of plain transformers, and what cannot be used is refused in one sentence."""

from __future__ import annotations

import inspect
import json
import pickle
import shutil
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.engine import Service
from mohs.errors import BadInput, VictimError
from mohs.models.batch_shapes import takes_masks
from mohs.models.hf import HfVictim
from mohs.models.victim import Fields, Scores
from tests.models.conftest import corpus, save, small_model, tiny_tokenizer, transformers, wordpiece

WORDS = ["good", "film", "a", "the", "unbelievably", "don't", "👍"]
SINGLES: list[Fields] = [(text[:size],) for text, size in zip(corpus(), [5, 9, 20, 40, 80, 900] * 3, strict=False)]
PAIRS: list[Fields] = [(one, other) for (one,), (other,) in pairwise(SINGLES)]
ALIKE: list[Fields] = [(" ".join(words),) for size in (1, 2, 6) for words in islice(product("aei.", repeat=size), 40)]
KIND = {"bert": "wordpiece", "roberta": "byte-bpe"}


def ask(victim: HfVictim, items: list[Fields]) -> dict[Fields, Scores]:
    found: dict[Fields, Scores] = {}
    for batch in victim.plan(items):
        found.update(zip(batch, victim.collect(victim.launch(batch)), strict=True))
    return found


def plainly(folder: str, items: list[Fields]) -> list[Scores]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = tokenizer(
        *map(list, zip(*items, strict=True)), padding=True, truncation=True, max_length=64, return_tensors="pt"
    )
    with torch.inference_mode():
        rows: list[Scores] = [tuple(row) for row in model(**inputs).logits.double().softmax(-1).tolist()]
    return rows


def folder_of(victim: HfVictim) -> str:
    return victim.name.removeprefix("hf:")


def copy(folder: Path, to: Path, **config: Any) -> Path:
    shutil.copytree(folder, to)
    told = json.loads((to / "config.json").read_text())
    (to / "config.json").write_text(json.dumps({**told, **config}))
    return to


@pytest.mark.parametrize("items", [SINGLES, PAIRS, [("",), ("word",)]])
def test_scores_are_those_of_transformers(victim: HfVictim, items: list[Fields]) -> None:
    found = ask(victim, items)
    wanted = plainly(folder_of(victim), items)
    assert torch.tensor(wanted).std(0).max() > 1e-3  # the model tells the texts apart
    for item, row in zip(items, wanted, strict=True):
        assert found[item] == pytest.approx(row, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_companions(victim: HfVictim, data: st.DataObject) -> None:
    item = data.draw(st.sampled_from(ALIKE))
    others = data.draw(st.lists(st.sampled_from(ALIKE), unique=True, max_size=40))
    alone = ask(victim, [item])[item]
    among = ask(victim, list(dict.fromkeys([item, *others])))[item]
    assert among == (alone if victim.exact else pytest.approx(alone, abs=1e-5))


def test_exact_is_found_out(bert_folder: Path) -> None:
    class Drifting(HfVictim):
        def _forward(self, laid: Any) -> Any:
            logits = super()._forward(laid)
            return logits + torch.tensor([1e-3 * laid[0].rows, 0, 0])

    assert Drifting(str(bert_folder), device="cpu").exact is False


def test_several_threads_are_never_exact(bert_folder: Path) -> None:
    class Seeming(HfVictim):
        def _is_batch_independent(self) -> bool:
            return True

    assert Seeming(str(bert_folder), device="cpu").exact
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert not Seeming(str(bert_folder), device="cpu").exact
    finally:
        torch.set_num_threads(before)


def test_batches_have_one_length(bert_folder: Path) -> None:
    victim = HfVictim(str(bert_folder), device="cpu", tokens=80)
    items = [(" ".join(WORDS[(i + j) % 7] for j in range(1 + i % 9)),) for i in range(60)]
    unique: list[Fields] = list(dict.fromkeys(items))
    batches = victim.plan(list(unique))
    lengths = [[len(victim._rows[item][0]) for item in batch] for batch in batches]
    assert sorted(item for batch in batches for item in batch) == sorted(unique)
    assert all(len(set(row)) == 1 for row in lengths)
    assert [row[0] for row in lengths] == sorted((row[0] for row in lengths), reverse=True)
    assert all(len(row) <= max(4, 80 // row[0]) for row in lengths)
    assert max(map(len, batches)) > 1
    assert victim.plan(list(reversed(unique))) == batches


def test_only_rows_of_a_group_meet_the_model(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[Any] = []
    model = bert._model

    def watch(**inputs: Any) -> Any:
        shapes.append({key: value.shape for key, value in inputs.items()})
        return model(**inputs)

    monkeypatch.setattr(bert, "_model", watch)
    ask(bert, [("a",)])
    ask(bert, [("a", "a")])
    one, two = (2, 1) if bert._late else (4, 4)  # at least four tokens, or four rows
    assert shapes == [{"input_ids": (one, 3)}, {"input_ids": (two, 5), "token_type_ids": (two, 5)}]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_visible(victim: HfVictim, data: st.DataObject) -> None:
    text = st.lists(st.sampled_from(WORDS), max_size=70).map(" ".join)
    fields = data.draw(st.one_of(st.tuples(text), st.tuples(text, text)))
    tokenizer = tiny_tokenizer(KIND[Path(folder_of(victim)).name.rstrip("0123456789")])
    cut = tokenizer(*([field] for field in fields), truncation=True, max_length=64, return_offsets_mapping=True)
    whole = tokenizer(*([field] for field in fields))
    if len(whole["input_ids"][0]) <= 64:
        assert victim.visible(fields) is None
    else:
        owners, offsets = cut.encodings[0].sequence_ids, cut["offset_mapping"][0]
        counts = [owners.count(number) for number in range(len(fields))]
        found = victim.visible(fields)
        assert found is not None
        for number, field in enumerate(fields):
            ends = [end for owner, (_, end) in zip(owners, offsets, strict=True) if owner == number]
            all_of_it = counts[number] == len(tokenizer(field, add_special_tokens=False)["input_ids"])
            assert found[number] == (len(field) if all_of_it else max(ends, default=0))


def test_what_is_not_visible_does_not_matter(victim: HfVictim) -> None:
    text = " ".join(WORDS * 12)
    limits = victim.visible((text,))
    assert limits is not None
    (end,) = limits
    assert 0 < end < len(text)
    other = text[:end] + " and" * 50
    assert ask(victim, [(other,)])[(other,)] == pytest.approx(ask(victim, [(text,)])[(text,)], abs=1e-5)


def test_three_texts(bert: HfVictim) -> None:
    for call in (bert.visible, lambda fields: bert.launch([fields])):
        with pytest.raises(VictimError, match="no input form for 3 texts"):
            call(("a", "b", "c"))


def test_half_a_surrogate_fails_alone(bert: HfVictim) -> None:
    service: Service[Fields, Scores] = Service(bert)
    service.prove([("It works.",)])
    good, bad = service.ask([("fine",)]), service.ask([("a \ud800 b",)])
    list(service.launch())
    while service.flying or service.planned:
        list(service.collect())
        list(service.launch())
    assert good.answers == [ask(bert, [("fine",)])[("fine",)]]
    assert "surrogates not allowed" in str(bad.failure)


def test_labels(bert_folder: Path) -> None:
    assert HfVictim(str(bert_folder), device="cpu", labels=["x", "y", "z"]).labels == ("x", "y", "z")
    with pytest.raises(BadInput, match=r"has 3 classes \(LABEL_0, LABEL_1, LABEL_2\), but --labels names 2"):
        HfVictim(str(bert_folder), device="cpu", labels=["x", "y"])


def test_regression_is_refused(tmp_path: Path) -> None:
    save(tmp_path, "bert", tiny_tokenizer("wordpiece"), classes=1)
    with pytest.raises(BadInput, match="one output, so it is a regression model; use a classifier with classes"):
        HfVictim(str(tmp_path), device="cpu")


def test_fingerprint(bert: HfVictim, bert_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(bert_folder, tmp_path / "same")
    assert HfVictim(str(tmp_path / "same"), device="cpu").fingerprint == bert.fingerprint
    save(tmp_path / "weights", "bert", tiny_tokenizer("wordpiece"), seed=1)
    assert HfVictim(str(tmp_path / "weights"), device="cpu").fingerprint != bert.fingerprint
    cased = wordpiece(False)
    cased.add_tokens(["x"] * (len(tiny_tokenizer("wordpiece")) - len(cased)))
    shutil.copytree(bert_folder, tmp_path / "tokenizer")
    cased.save_pretrained(tmp_path / "tokenizer")
    assert HfVictim(str(tmp_path / "tokenizer"), device="cpu").fingerprint != bert.fingerprint


def test_dtype(bert_folder: Path, bert: HfVictim) -> None:
    assert bert._model.dtype is torch.float32
    with pytest.raises(BadInput, match="bf16 works on CUDA devices only; use fp32 on a CPU"):
        HfVictim(str(bert_folder), device="cpu", dtype="bf16")
    with pytest.raises(BadInput, match="Unknown dtype 'fp64'"):
        HfVictim(str(bert_folder), device="cpu", dtype="fp64")


def test_half_precision_weights_run_in_fp32(tmp_path: Path) -> None:
    model = small_model("bert", tiny_tokenizer("wordpiece")).half()
    victim = HfVictim(str(save(tmp_path, "bert", tiny_tokenizer("wordpiece"), model)), device="cpu")
    assert victim._model.dtype is torch.float32


def test_nan_weights(tmp_path: Path) -> None:
    model = small_model("bert", tiny_tokenizer("wordpiece"))
    model.classifier.bias.data[1] = float("nan")
    save(tmp_path, "bert", tiny_tokenizer("wordpiece"), model)
    with pytest.raises(VictimError, match=r"^hf:.* in row 0, which is not finite"):
        HfVictim(str(tmp_path), device="cpu")


def test_untrained_head_is_refused(tmp_path: Path) -> None:
    model = small_model("bert", tiny_tokenizer("wordpiece")).bert
    save(tmp_path, "bert", tiny_tokenizer("wordpiece"), model)
    with pytest.raises(BadInput, match=r"has no weights for classifier\.\w+ and others"):
        HfVictim(str(tmp_path), device="cpu")


def test_left_truncation_is_refused(tmp_path: Path, bert_folder: Path) -> None:
    shutil.copytree(bert_folder, tmp_path / "m")
    told = json.loads((tmp_path / "m/tokenizer_config.json").read_text())
    (tmp_path / "m/tokenizer_config.json").write_text(json.dumps({**told, "truncation_side": "left"}))
    with pytest.raises(BadInput, match="truncates long texts at the start"):
        HfVictim(str(tmp_path / "m"), device="cpu")


def test_slow_tokenizer_is_refused(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(tiny_tokenizer("wordpiece")), "is_fast", False)
    with pytest.raises(BadInput, match="has no fast tokenizer"):
        HfVictim(str(bert_folder), device="cpu")


def test_a_model_that_does_not_run(bert_folder: Path, tmp_path: Path) -> None:
    tokenizer = wordpiece(True)
    tokenizer.add_tokens(["good", "bad", "film"])  # ids the embeddings do not have
    shutil.copytree(bert_folder, tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    with pytest.raises(BadInput, match="loads but does not run: IndexError"):
        HfVictim(str(tmp_path / "m"), device="cpu")


@pytest.mark.parametrize("spec", ["./no-such-folder", "a/b/c", "/no/such/folder"])
def test_missing_folder(spec: str) -> None:
    with pytest.raises(BadInput, match=f"There is no folder {spec}; hf: takes"):
        HfVictim(spec, device="cpu")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["junk", "cut", "gone"])
def test_broken_folder(bert_folder: Path, tmp_path: Path, name: str, damage: str) -> None:
    broken = tmp_path / "m"
    shutil.copytree(bert_folder, broken)
    whole = (broken / name).read_bytes()
    if damage == "gone":
        (broken / name).unlink()
    else:
        (broken / name).write_bytes(b"junk" if damage == "junk" else whole[: len(whole) // 2])
    with pytest.raises(BadInput) as caught:
        HfVictim(str(broken), device="cpu")
    assert str(caught.value).startswith(f"hf:{broken} ")
    assert "\n" not in str(caught.value)


CODE = """
import pathlib
from transformers import BertConfig, BertForSequenceClassification
pathlib.Path(__file__).with_name("ran").touch()
pathlib.Path({flag!r}).touch()
class OwnConfig(BertConfig):
    model_type = "own"
class OwnModel(BertForSequenceClassification):
    config_class = OwnConfig
"""


@pytest.mark.parametrize("kind", ["own", "bert"])
def test_own_code(bert_folder: Path, tmp_path: Path, kind: str) -> None:
    classes = {"AutoConfig": "own.OwnConfig", "AutoModelForSequenceClassification": "own.OwnModel"}
    folder = copy(bert_folder, tmp_path / "m", model_type=kind, auto_map=classes)
    (folder / "own.py").write_text(inspect.cleandoc(CODE.format(flag=str(tmp_path / "ran"))))
    with pytest.raises(BadInput, match=r"^hf:.* brings its own code; if you trust it, add --trust-code, .*\.$"):
        HfVictim(str(folder), device="cpu")
    assert not (tmp_path / "ran").exists()


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("writer", ["pickle", "torch"])
def test_pickled_weights_run_no_code(bert_folder: Path, tmp_path: Path, writer: str) -> None:
    folder = copy(bert_folder, tmp_path / "m")
    (folder / "model.safetensors").unlink()
    trap = {"x": Trap(tmp_path / "sprung")}
    if writer == "pickle":
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(trap))
    else:
        torch.save(trap, folder / "pytorch_model.bin")
    with pytest.raises(BadInput, match=r"cannot be loaded"):
        HfVictim(str(folder), device="cpu")
    assert not (tmp_path / "sprung").exists()


def test_plain_tensors_in_a_pickle(bert_folder: Path, bert: HfVictim, tmp_path: Path) -> None:
    folder = copy(bert_folder, tmp_path / "m")
    (folder / "model.safetensors").unlink()
    torch.save(bert._model.state_dict(), folder / "pytorch_model.bin")
    assert ask(HfVictim(str(folder), device="cpu"), SINGLES) == ask(bert, SINGLES)


def test_composes(victim: HfVictim) -> None:
    assert victim.composer.composable
    before = victim.composer.fallbacks
    ask(victim, SINGLES + PAIRS)
    assert victim.composer.fallbacks == before


def test_a_tokenizer_that_does_not_compose(tmp_path: Path) -> None:
    folder = save(tmp_path, "roberta", tiny_tokenizer("unsplit-metaspace"))
    victim = HfVictim(str(folder), device="cpu")
    assert not victim.composer.composable
    found = ask(victim, SINGLES)
    assert victim.composer.fallbacks >= len(SINGLES)
    for item, row in zip(SINGLES, plainly(str(folder), SINGLES), strict=True):
        assert found[item] == pytest.approx(row, abs=1e-5)


def test_a_tokenizer_that_knows_no_words(bert_folder: Path, tmp_path: Path) -> None:
    """Where its files are missing the library makes up an empty tokenizer, and every text would read the same."""
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(bert_folder, folder)
    for file in folder.glob("*token*"):
        file.unlink()
    (folder / "vocab.txt").unlink(missing_ok=True)
    with pytest.raises(BadInput, match="tokenizer"):
        HfVictim(str(folder), device="cpu")


def test_class_names_in_another_order(bert_folder: Path) -> None:
    names = HfVictim(str(bert_folder), device="cpu").labels
    with pytest.raises(BadInput, match=r"has its classes in the order .*; give --labels in that order"):
        HfVictim(str(bert_folder), device="cpu", labels=names[::-1])


def test_padding_changes_nothing_but_the_last_digits(victim: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way taken on CUDA, where lengths are rounded up and rows masked, without its recordings."""
    items = [*SINGLES, *PAIRS]
    plain = ask(victim, items)
    shapes: list[Any] = []
    model = victim._model

    def watch(**inputs: Any) -> Any:
        shapes.append(tuple(inputs["input_ids"].shape))
        return model(**inputs)

    monkeypatch.setattr(victim, "_model", watch)
    monkeypatch.setattr(victim, "_padded", True)
    padded = ask(victim, items)
    assert all(rows == 64 and length % 8 == 0 for rows, length in shapes)
    assert len(shapes) < len(
        {len(ids) for ids, _ in map(victim._special_tokens.packed, map(victim.composer.packed, items))}
    )
    for item in items:
        assert padded[item] == pytest.approx(plain[item], abs=1e-5)


def test_a_mask_that_a_model_does_not_obey_is_noticed(bert: HfVictim) -> None:
    class Deaf:
        def __init__(self, hears: bool) -> None:
            self.hears = hears

        def eval(self) -> None: ...

        def __call__(self, input_ids: Any, attention_mask: Any = None) -> Any:
            real = torch.ones_like(input_ids, dtype=torch.bool) if attention_mask is None else attention_mask[:, 0, 0]
            return (((input_ids + 1) * (real if self.hears else 1)).sum(1, keepdim=True).float() / 100,)

    assert takes_masks(bert._tokenizer, bert._model)
    assert takes_masks(bert._tokenizer, Deaf(hears=True))
    assert not takes_masks(bert._tokenizer, Deaf(hears=False))
    assert not takes_masks(bert._tokenizer, lambda **inputs: None)


def test_a_verdict_is_taken_in_one_shape(bert_folder: Path) -> None:
    victim = HfVictim(str(bert_folder), device="cpu")
    assert victim.verdict is victim
    assert victim.together == 1


def test_rows_that_fill_up_behind_the_layers_change_nothing(victim: HfVictim) -> None:
    class Early(HfVictim):
        def _is_batch_independent_filled_late(self) -> bool:
            return False

    early, late = (kind(folder_of(victim), device="cpu") for kind in (Early, HfVictim))
    assert not early._late
    for item in SINGLES + PAIRS:  # each alone, in the smallest batch there is
        one, other = ask(early, [item])[item], ask(late, [item])[item]
        assert one == (other if early.exact and late.exact else pytest.approx(other, abs=1e-5))


def test_a_model_that_does_not_like_more_rows_behind_its_layers(bert_folder: Path) -> None:
    class Fussy(HfVictim):
        def _is_batch_independent(self) -> bool:
            if self._late:
                raise RuntimeError("the size of tensor a must match the size of tensor b")
            return True

    victim = Fussy(str(bert_folder), device="cpu")
    assert victim.exact
    assert not victim._late
    assert not victim._model.base_model.encoder._forward_hooks
