"""`mohs train --task scpn`: trains a paraphraser that writes a text in a given structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mohs.errors import BadInput
from mohs.models.architectures import precisely
from mohs.models.device import choose_device
from mohs.models.encoder import PocketEncoder
from mohs.models.parser import load_parser
from mohs.models.seq2seq import Paraphraser
from mohs.space.paraphrase import Scpn, control, recased
from mohs.text import Example
from mohs.text.dataset import Dataset
from mohs.text.questions import Rephrasing
from mohs.training.card import paraphraser_card, versions
from mohs.training.folder import TrainingFolder
from mohs.training.loop import Place, Report, Set, drawn, fit
from mohs.training.paraphrase_pairs import Pair, digest, is_pairs, made_pairs, read_pairs, split, texts_of
from mohs.training.recipe import Recipe, paraphrasing_recipe
from mohs.training.seq2seq_learner import Seq2SeqLearner, Teacher
from mohs.training.train import weights_digest

TASK = "scpn"
DEV_SHARE = 0.05
_MEASURED = 500  # dev pairs that are written out at the end


@dataclass(frozen=True)
class TrainedParaphraser:
    """A finished training of a paraphraser."""

    path: Path
    paraphraser: str  # its name for --paraphraser
    fingerprint: str
    metrics: dict[str, Any]  # dev: tokens, right; written, finished, same, cosine; best_epoch; history
    fresh: bool  # whether this call trained it; False if it was already finished


def train_paraphraser(
    arch: str,
    data: str | Path | Dataset | Sequence[Pair],
    out: str | Path,
    *,
    parser: Callable[[], Any] = load_parser,
    encoder: Any = None,
    dev_share: float | None = None,
    device: str = "auto",
    save_every: int = 500,
    command: str | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> TrainedParaphraser:
    """Train a paraphraser with structures, or resume an interrupted training.

    arch: scpn, a small transformer with random numbers, or hf:PATH_OR_ID, a sequence-to-sequence model to go on with.
    data: a file with the columns source, target and perhaps template, or pairs; or a Dataset, whose sentences the
        rules over parses rewrite.
    parser: gives the model that parses sentences; called if something must be parsed.
    encoder: the sentence encoder that measures the similarity at the end; the bundled one by default.
    settings: fields of mohs.training.recipe.Recipe; a missing one, or None, means the default.
    """
    recipe = paraphrasing_recipe(arch, settings)
    if save_every < 1:
        raise BadInput(f"save_every is {save_every}; it must be at least 1.")
    if not 0 < (DEV_SHARE if dev_share is None else dev_share) < 1:
        raise BadInput(f"--dev-share is {dev_share}; it must be above 0 and below 1.")
    where = choose_device(device)
    judge = PocketEncoder() if encoder is None else encoder
    pairs = _pairs(data, parser)
    learned, held = split(pairs, DEV_SHARE if dev_share is None else dev_share, recipe.seed)
    source = data.source if isinstance(data, Dataset) else str(data) if isinstance(data, str | Path) else "given pairs"
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[where] if where.startswith("cuda") else []))
        torch.manual_seed(drawn(recipe.seed, "start"))
        learner = Seq2SeqLearner(recipe, learned)
        sets = _set(learner, learned), _set(learner, held)
        if not all(part.rows for part in sets):
            raise BadInput(f"Every pair is longer than {recipe.max_words} tokens; raise --max-words, or give others.")
        identity = {
            **recipe.settings(),
            "task": TASK,
            "train_hash": digest(learned),
            "dev_hash": digest(held),
            "device": where.partition(":")[0],
            "starting_weights": weights_digest(learner.module),
        }
        config = {**recipe.settings(), "task": TASK, "data": source, "dev_share": dev_share, "device": device}
        folder = TrainingFolder.open(Path(out), config | {"save_every": save_every}, identity)
        stack.callback(folder.close)
        fresh = folder.finished is None
        if fresh:
            learner.module.to(where)
            tokens = sum(len(row.answer) for row in sets[1].rows)
            with precisely():
                place = fit(
                    learner,  # type: ignore[arg-type]  # the loop asks only for its module and rows
                    recipe,
                    *sets,
                    folder,
                    save_every=save_every,
                    report=progress,
                    of=tokens,
                    trainer=Teacher(learner),
                )
            folder.publish(learner.save)
            model = Paraphraser(str(out), device=device)
            metrics = {"dev": {"right": place.best_right, "of": tokens, **written_out(model, judge, held)}}
            metrics["dev"]["encoder"] = judge.name
            facts = _facts(recipe, learner, where, place, metrics, command or "", f"hf:{out}")
            parts = {
                "train": {"source": source, "pairs": len(sets[0].rows), "hash": digest(learned)},
                "dev": {"source": f"sentences drawn from these with seed {recipe.seed}", "pairs": len(held)},
            }
            facts |= {"data": parts, "fingerprint": model.fingerprint}
            folder.publish(partial(_write, content=paraphraser_card(facts)))
            folder.finish(facts)
    done = folder.finished or {}
    return TrainedParaphraser(Path(out), done["paraphraser"], done["fingerprint"], done["metrics"], fresh)


def written_out(model: Any, encoder: Any, pairs: Sequence[Pair]) -> dict[str, Any]:
    """What a paraphraser writes for the first few hundred pairs: how many texts, and how near in meaning they are."""
    asked = list(dict.fromkeys((pair.source, pair.template) for pair in pairs))[:_MEASURED]
    wanted = {(pair.source, pair.template): pair.target for pair in pairs}
    settings = Scpn()
    questions = [Rephrasing(control(template) + text, 1, settings.beams, settings.most) for text, template in asked]
    answers = _answers(model, list(dict.fromkeys(questions)))
    said = [(key, recased(answers[question][0], key[0])) for key, question in zip(asked, questions, strict=True)
            if answers[question]]  # fmt: skip
    same = sum(_plain(text) == _plain(wanted[key]) for key, text in said)
    vectors = _answers(encoder, list(dict.fromkeys((text,) for key, made in said for text in (key[0], made))))
    cosines = [float(np.dot(vectors[(key[0],)], vectors[(made,)])) for key, made in said]
    mean = round(float(np.mean(cosines)), 4) if cosines else None
    return {"asked": len(asked), "finished": len(said), "same": same, "cosine": mean}


def _answers(model: Any, questions: Sequence[Any]) -> dict[Any, Any]:
    """A model's answers to different questions, asked in its batches."""
    found: dict[Any, Any] = {}
    for batch in model.plan(list(questions)):
        found.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return found


def _plain(text: str) -> list[str]:
    return text.lower().split()


def _pairs(data: str | Path | Dataset | Sequence[Pair], parser: Callable[[], Any]) -> list[Pair]:
    if isinstance(data, Dataset):
        path = Path(data.source).expanduser()
        pairs = read_pairs(path, parser, data.encoding) if is_pairs(path, data.encoding) else []
        pairs = (pairs or made_pairs(texts_of(data), parser))[: None if not pairs else data.n]
    elif isinstance(data, str | Path):
        pairs = read_pairs(Path(data).expanduser(), parser)
    else:
        pairs = list(data)
    if not pairs:
        raise BadInput("The data gives no pair of a text and its paraphrase in one of the ten structures; give others.")
    return pairs


def _set(learner: Seq2SeqLearner, pairs: Sequence[Pair]) -> Set:
    """The pairs that are short enough, as the loop takes them: it keeps texts and labels beside rows."""
    kept = [
        (row, Example.of(pair.source, 0))
        for pair, row in zip(pairs, learner.rows(pairs), strict=True)
        if row is not None
    ]
    rows, examples = [row for row, _ in kept], [example for _, example in kept]
    return Set(rows, [0] * len(rows), [example.text.fields for example in examples], examples)


def _facts(
    recipe: Recipe, learner: Seq2SeqLearner, where: str, place: Place, metrics: dict[str, Any], command: str, name: str
) -> dict[str, Any]:
    """What the folder tells of the training."""
    history = [list(epoch) for epoch in place.history]
    return {
        "paraphraser": name,
        "metrics": {**metrics, "best_epoch": place.best_epoch + 1, "history": history},
        "settings": {"task": TASK, **recipe.settings()},
        "about": learner.about(),
        "device": where,
        "seconds": [round(seconds, 3) for seconds in place.seconds],
        "command": command or f"mohs.training.paraphrasing.train_paraphraser({recipe.arch!r}, ...)",
        "versions": versions(),
    }


def _write(beside: Path, content: str) -> None:
    (beside / "README.md").write_text(content, "utf-8")
