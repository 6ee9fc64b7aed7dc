"""`mohs train --task scpn`: the pairs, what is learned from them, going on, and the command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from mohs.cli.main import app
from mohs.errors import BadInput
from mohs.models.seq2seq import Paraphraser
from mohs.text.dataset import Dataset
from mohs.text.parses import Parse
from mohs.text.questions import Rephrasing
from mohs.training.loop import Progress, Set
from mohs.training.paraphrase_pairs import Pair, is_pairs, made_pairs, read_pairs, split, template_of
from mohs.training.paraphrasing import TrainedParaphraser, train_paraphraser, written_out
from mohs.training.recipe import paraphrasing_recipe
from mohs.training.seq2seq_learner import Seq2SeqLearner, Teacher, new_tokenizer
from tests.space.parsed import parsed
from tests.space.test_syntax import (
    AND,
    BECAUSE,
    FRAGMENT,
    FRONTED,
    FRONTED_IF,
    FUNNY,
    HOW,
    LEFT,
    QUICKLY,
    WHAT,
    WHY,
)
from tests.toy_paraphraser import ToyParaphraser
from tests.training.test_train import Stopped

THAT = "That/IN/mark/3 he/PRP/nsubj/3 left/VBD/ROOT=leave/0 _././punct/3"
DASH = "-/:/punct/2 left/VBD/ROOT=leave/0 Paris/NNP/dobj/2 _././punct/2"
LOST = "Left/VBD/ROOT=leave/0 Paris/NNP/dobj/1 _././punct/1"
HOWEVER = "Now/RB/advmod/3 he/PRP/nsubj/3 left/VBD/ROOT=leave/0 _././punct/3"

WORDS = "film actor story scene music plot".split()
PAIRS = [
    pair
    for one in WORDS
    for other in WORDS
    for pair in (
        Pair(f"the {one} beats the {other} .", "FRAG(SBAR .)", f"that the {one} beats the {other} ."),
        Pair(f"the {one} beats the {other} .", "SBARQ(WHADVP SQ .)", f"why does the {one} beat the {other} ?"),
    )
]
SMALL: dict[str, Any] = {"hidden": 16, "layers": 1, "heads": 2, "epochs": 2, "batch": 16, "device": "cpu"}


class Parses(ToyParaphraser):
    """A parser that knows some sentences."""

    name = fingerprint = "some sentences"

    def __init__(self, *written: str) -> None:
        self.known = dict(map(parsed, written))

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return [[item] for item in sorted(items)]

    def collect(self, ticket: list[Any]) -> list[Any]:
        found: list[Parse] = [self.known[item] for item in ticket]
        return found


def no_parser() -> Any:
    raise AssertionError("nothing had to be parsed")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (LEFT, "S(NP VP .)"),
        (FUNNY, "S(NP VP .)"),
        (LOST, "S(VP .)"),
        (FRAGMENT, "NP(NP .)"),
        (THAT, "FRAG(SBAR .)"),
        (AND, "S(S , CC S .)"),
        (DASH, "S(LST VP .)"),
        (WHY, "SBARQ(WHADVP SQ .)"),
        (HOW, "SBARQ(WHADVP SQ .)"),
        (WHAT, ""),
        (FRONTED, "S(PP , NP VP .)"),
        (HOWEVER, "S(ADVP NP VP .)"),
        (FRONTED_IF, "S(SBAR , NP VP .)"),
        (QUICKLY, ""),
    ],
)
def test_the_structure_of_a_sentence(written: str, wanted: str) -> None:
    assert template_of(*parsed(written)) == wanted


def test_pairs_are_made_both_ways() -> None:
    found = made_pairs(["He left Paris in 1990.", " He left Paris in 1990. ", " "], lambda: Parses(LEFT))
    assert Pair("He left Paris in 1990.", "S(PP , NP VP .)", "In 1990, he left Paris.") in found
    assert Pair("In 1990, he left Paris.", "S(NP VP .)", "He left Paris in 1990.") in found
    assert len(found) == len(set(found))
    assert {pair.source for pair in found if pair.template != "S(NP VP .)"} == {"He left Paris in 1990."}


def test_a_file_of_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    because = parsed(BECAUSE)[0]
    rows = [
        {"source": "a", "target": because},
        {"source": "b", "target": "why b ?", "template": "SBARQ(WHADVP SQ .)"},
        {"source": "c", "target": parsed(WHAT)[0]},  # of no structure that is known
        {"source": "d", "target": parsed(FRONTED)[0], "template": ""},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert is_pairs(path)
    assert read_pairs(path, lambda: Parses(BECAUSE, WHAT, FRONTED)) == [
        Pair("a", "S(NP VP .)", because),
        Pair("b", "SBARQ(WHADVP SQ .)", "why b ?"),
        Pair("d", "S(PP , NP VP .)", parsed(FRONTED)[0]),
    ]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"source": "a", "target": " "}, "row 1: its source or its target is empty; a row has source, target"),
        ({"source": "a", "target": "b", "template": "S(X)"}, r"row 1: unknown template 'S\(X\)'; use S\(NP VP .\) | "),
    ],
)
def test_a_row_that_is_no_pair(tmp_path: Path, row: dict[str, str], fault: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(BadInput, match=fault):
        read_pairs(path, no_parser)


def test_what_is_set_aside_is_not_learned() -> None:
    back = [Pair(pair.target, "S(NP VP .)", pair.source) for pair in PAIRS]
    learned, held = split([*PAIRS, *back], 0.2, 0)
    assert held
    assert learned
    known = {text for pair in learned for text in (pair.source, pair.target)}
    assert not known & {pair.source for pair in held}
    assert not known & {pair.target for pair in held}
    assert split([*PAIRS, *back], 0.2, 0) == (learned, held)
    assert split([*PAIRS, *back], 0.2, 1) != (learned, held)


def test_one_text_cannot_be_split() -> None:
    with pytest.raises(BadInput, match="fewer than two texts"):
        split(PAIRS[:2], 0.5, 0)


def test_a_structure_is_one_token() -> None:
    tokenizer = new_tokenizer([pair.target for pair in PAIRS])
    ids = tokenizer("[S(PP , NP VP .)] The Film")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids[:1]) == ["[S(PP , NP VP .)]"]
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(ids, skip_special_tokens=True).strip() == "the film"
    assert tokenizer.unk_token_id not in tokenizer("Déjà vu 👍 你好")["input_ids"]


def test_right_tokens_are_counted_by_definition() -> None:
    torch.manual_seed(0)
    learner = Seq2SeqLearner(paraphrasing_recipe("scpn", {"hidden": 16, "layers": 1, "heads": 2}), PAIRS)
    rows = [row for row in learner.rows([*PAIRS[:5], PAIRS[1]._replace(source="film")]) if row is not None]
    right, loss, count = 0, 0.0, 0
    learner.module.eval()
    for row in rows:
        before = [learner.module.config.decoder_start_token_id]
        for token in row.answer:
            with torch.inference_mode():
                inputs = {"input_ids": torch.tensor([row.question]), "decoder_input_ids": torch.tensor([before])}
                logits = learner.module(**inputs).logits[0, -1]
            right += int(logits.argmax()) == token
            loss -= float(logits.log_softmax(-1)[token])
            before.append(token)
            count += 1
    found = Teacher(learner).check(learner, Set(rows, [0] * len(rows)))
    assert found[0] == right
    assert found[1] == pytest.approx(loss / count, rel=1e-4)


def test_rows_that_are_too_long_are_left_out() -> None:
    learner = Seq2SeqLearner(paraphrasing_recipe("scpn", {"hidden": 16, "heads": 2, "max_words": 20}), PAIRS)
    rows = learner.rows([PAIRS[0], PAIRS[0]._replace(target="good " * 30), PAIRS[0]._replace(source="good " * 30)])
    assert [row is None for row in rows] == [False, True, True]


def test_what_is_written_is_compared_with_the_text_asked_about() -> None:
    class Writes(ToyParaphraser):
        def answers(self, item: Rephrasing) -> tuple[str, ...]:
            return {"a": ("b",), "c": ("d d",)}.get(item.text.rpartition(" ")[2], ())

    class Encodes(ToyParaphraser):
        def plan(self, items: list[Any]) -> list[list[Any]]:
            return [items]

        def collect(self, ticket: list[Any]) -> list[Any]:
            table = {"a": (1, 0), "b": (0.6, 0.8), "c": (0, 1), "d d": (0, 1)}
            return [np.array(table[text], np.float32) for (text,) in ticket]

    kind = "S(VP .)"
    pairs = [Pair("a", kind, "B"), Pair("c", kind, "e"), Pair("f", kind, "g"), Pair("a", kind, "b")]
    assert written_out(Writes(), Encodes(), pairs) == {"asked": 3, "finished": 2, "same": 1, "cosine": 0.8}


def tune(out: Path, progress: Callable[[Progress], None] | None = None, **options: Any) -> TrainedParaphraser:
    return train_paraphraser("scpn", PAIRS, out, parser=no_parser, progress=progress, **{**SMALL, **options})


def weights(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedParaphraser:
    return tune(tmp_path_factory.mktemp("scpn") / "m", save_every=1)


def test_it_learns(trained: TrainedParaphraser) -> None:
    losses = [loss for loss, _ in trained.metrics["history"]]
    assert losses[1] < losses[0]
    dev = trained.metrics["dev"]
    assert 0 < dev["right"] <= dev["of"]
    assert dev["asked"] >= dev["finished"] >= dev["same"]
    card = (trained.path / "README.md").read_text()
    assert f"{dev['right']} of {dev['of']} tokens right" in card
    assert f"--paraphraser {trained.paraphraser}" in card


def test_the_folder_is_a_paraphraser(trained: TrainedParaphraser) -> None:
    model = Paraphraser(str(trained.path), device="cpu")
    assert model.fingerprint == trained.fingerprint
    assert len(model.collect([Rephrasing("[S(VP .)] the film beats the story .")])) == 1


def test_a_training_that_was_stopped_ends_with_the_same_weights(trained: TrainedParaphraser, tmp_path: Path) -> None:
    def stop(at: Progress) -> None:
        if at.step == 3:
            raise Stopped

    with pytest.raises(Stopped):
        tune(tmp_path / "m", stop, save_every=1)
    done = tune(tmp_path / "m", save_every=1)
    assert done.fresh
    assert weights(done.path) == weights(trained.path)
    again = tune(tmp_path / "m", save_every=1)
    assert not again.fresh
    assert again.metrics == done.metrics


def test_other_pairs_or_settings_do_not_go_on(trained: TrainedParaphraser) -> None:
    with pytest.raises(BadInput, match="hidden"):
        tune(trained.path, hidden=32)
    with pytest.raises(BadInput, match="hash"):
        train_paraphraser("scpn", PAIRS[:-2], trained.path, parser=no_parser, **SMALL)


def test_it_goes_on_with_a_model_in_a_folder(trained: TrainedParaphraser, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epochs": 1, "batch": 16, "device": "cpu"}
    done = train_paraphraser(f"hf:{trained.path}", PAIRS, tmp_path / "m", parser=no_parser, **settings)
    assert done.fingerprint != trained.fingerprint


@pytest.mark.parametrize(
    ("arch", "settings", "fault"),
    [
        ("cnn", {}, "Unknown architecture 'cnn' for --task scpn; use scpn or hf:PATH_OR_ID"),
        ("scpn", {"vectors": "pocket"}, "--vectors does not apply to --task scpn with --arch scpn"),
        ("hf:x", {"hidden": 5}, "--hidden does not apply to --task scpn with --arch hf:x"),
        ("scpn", {"heads": 3}, "--hidden 256 cannot be divided"),
        ("scpn", {"lr": -1.0}, "--lr is -1.0; it must be above 0"),
        ("scpn", {"save_every": 0}, "save_every is 0"),
        ("scpn", {"dev_share": 1.0}, "--dev-share is 1.0"),
        ("scpn", {"max_words": 5}, "Every pair is longer than 5 tokens"),
    ],
)
def test_settings_that_do_not_fit(arch: str, settings: dict[str, Any], fault: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=fault):
        train_paraphraser(arch, PAIRS, tmp_path / "m", parser=no_parser, device="cpu", **settings)


def test_data_without_pairs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"text": parsed(WHAT)[0] + " " + parsed(WHAT)[0], "label": 0}) + "\n")
    string, parse = parsed(WHAT)
    twice = Parses()
    twice.known = {f"{string} {string}": (*parse, *(t._replace(head=t.head + len(parse)) for t in parse))}
    with pytest.raises(BadInput, match="The data gives no pair"):
        train_paraphraser("scpn", Dataset(str(path)), tmp_path / "m", parser=lambda: twice, **SMALL)


def test_the_command(tmp_path: Path) -> None:
    path, out = tmp_path / "pairs.jsonl", tmp_path / "m"
    path.write_text("".join(json.dumps(pair._asdict()) + "\n" for pair in PAIRS))
    words = f"train --task scpn --data {path} --out {out} --hidden 16 --layers 1 --heads 2 --epochs 1 --device cpu"
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 0, done.output
    assert f"In {out}: use it with --attack scpn:paper --paraphraser hf:{out}" in done.output
    assert "tokens right" in done.output
    told = CliRunner().invoke(app, [*words.split(), "--json"])
    facts = json.loads(told.stdout)
    assert facts["trained"] is False
    assert facts["paraphraser"] == f"hf:{out}"
    refused = CliRunner().invoke(app, [*words.split(), "--swap", "gender"])
    assert "--swap does not apply to --task scpn; leave it out." in str(refused.exception)
