"""`mohs train --task acceptability`: trains a judge of substitutions on people's judgements.

The judge is a cross-encoder (mohs.models.judge): it reads the original and the changed stretch of text as a pair. Each
judgement counts as accepted by the share of people who accepted it, and as refused by the rest. Some targets are set
aside, whole: they choose the epoch, and the curve from scores to probabilities is fitted to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from mohs.errors import BadInput
from mohs.models.architectures import precisely
from mohs.models.device import choose_device
from mohs.models.judge import FILE, FORMS, LABELS, CrossEncoderJudge, JudgeForm, load_network, scores_of
from mohs.models.victim import Fields
from mohs.text.calibration import Calibration
from mohs.text.judge import bundled
from mohs.text.questions import Substitution
from mohs.training import calibrating
from mohs.training.card import judge_card, versions
from mohs.training.folder import TrainingFolder
from mohs.training.hf_learner import HfLearner
from mohs.training.judgements import Judgement, digest, read_judgements, split
from mohs.training.learner import Learner
from mohs.training.loop import Place, Report, Set, drawn, fit
from mohs.training.recipe import recipe_for, written_in_full
from mohs.training.train import weights_digest

TASK = "acceptability"
DEV_SHARE = 0.2
_BATCH = 128
_CEILING = 0.15  # the most that the ceiling of antonyms may be
_FEW = 20  # antonyms; from fewer no share is taken

Judgements = str | Path | Iterable[Judgement]


@dataclass(frozen=True)
class TrainedJudge:
    """A finished training of a judge."""

    path: Path
    judge: str  # its name for --judge
    fingerprint: str
    metrics: dict[str, Any]  # dev and, if given, test: auc, ece, of, accepted, reliability; best_epoch; history
    fresh: bool  # whether this call trained it; False if it was already finished


@dataclass(frozen=True)
class _Parts:
    train: list[Judgement]
    dev: list[Judgement]
    test: list[Judgement]
    facts: dict[str, dict[str, Any]]


def train_judge(
    arch: str,
    data: Judgements,
    out: str | Path,
    *,
    dev: Judgements | None = None,
    dev_share: float | None = None,
    test: Judgements | None = None,
    n: int | None = None,
    sample: int | None = None,
    encoding: str = "utf-8",
    form: str = FORMS[0],
    device: str = "auto",
    save_every: int = 500,
    command: str | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> TrainedJudge:
    """Train a judge of substitutions, or resume an interrupted training.

    arch: hf:PATH_OR_ID, an encoder.
    data, dev, test: a file of SWORDS; a .jsonl or .csv file with the columns context, start, end (or word), substitute
        and accepted (the share of people); or mohs.training.judgements.Judgement objects.
    dev_share: without dev, the share of the targets set aside for it; default 0.2.
    n, sample: use the first n judgements of data, or draw n with the seed `sample`.
    form: how the network reads a question, see mohs.models.judge.JudgeForm.pair.
    settings: the fields of mohs.training.recipe.Recipe; a missing one, or None, means the default.
    """
    arch = written_in_full(arch)
    if not arch.startswith("hf:"):
        raise BadInput(f"--task {TASK} fine-tunes a pre-trained encoder, not {arch}; use --arch hf:PATH_OR_ID.")
    recipe = recipe_for(arch, settings)
    if recipe.swap is not None:
        raise BadInput(f"--swap does not apply to --task {TASK}; leave it out.")
    if save_every < 1:
        raise BadInput(f"save_every is {save_every}; it must be at least 1.")
    if sample is not None and n is None:
        raise BadInput("--sample needs --n, the number of judgements to draw.")
    parts = _parts(_some(read_judgements(data, encoding), n, sample), data, dev, test, dev_share, encoding, recipe.seed)
    where = choose_device(device)
    if form not in FORMS:
        raise BadInput(f"Unknown form {form!r}; use {' or '.join(FORMS)}.")
    empty = JudgeForm((0.0,), (0.5,), Calibration(), form=form)  # the input, before anything is calibrated
    texts = {name: [empty.pair(one.question) for one in getattr(parts, name)] for name in ("train", "dev", "test")}
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[where] if where.startswith("cuda") else []))
        torch.manual_seed(drawn(recipe.seed, "start"))
        learner = HfLearner(recipe, texts["train"], LABELS)
        config = {**recipe.settings(), "task": TASK, "data": parts.facts["train"]["source"], "dev_share": dev_share}
        config |= {name: parts.facts[name]["source"] for name, given in (("dev", dev), ("test", test)) if given}
        config |= {"device": device, "save_every": save_every, "encoding": encoding, "n": n, "sample": sample}
        identity = {
            **recipe.settings(),
            "task": TASK,
            "form": form,
            "train_hash": parts.facts["train"]["hash"],
            "dev_hash": parts.facts["dev"]["hash"],
            "device": where.partition(":")[0],
            "starting_weights": weights_digest(learner.module),
        }
        folder = TrainingFolder.open(Path(out), config, identity)
        stack.callback(folder.close)
        fresh = folder.finished is None
        if fresh:
            learner.module.to(where)
            sets = _set(learner, texts["train"], parts.train), _set(learner, texts["dev"], parts.dev)
            of = calibrating.ordered_pairs([0.0] * len(parts.dev), [one.accepted for one in parts.dev])[1]
            with precisely():
                place = fit(learner, recipe, *sets, folder, save_every=save_every, report=progress, check=_check, of=of)
            folder.publish(learner.save)
            judged, metrics = _calibrated(empty, str(out), device, parts, texts["dev"], recipe.seed)
            content = json.dumps({**judged.parts(), "measured": metrics}, indent=2) + "\n"
            folder.publish(lambda beside: _write(beside / FILE, content))
            made = {
                "settings": {"task": TASK, "form": form, **recipe.settings()},
                "about": learner.about(),
                "device": where,
                "seconds": [round(seconds, 3) for seconds in place.seconds],
                "command": command or f"mohs.training.acceptability.train_judge({arch!r}, ...)",
                "versions": versions(),
                "data": parts.facts,
                "judge": f"hf:{out}",
            }
            _finish(folder, {**made, **_measured(CrossEncoderJudge(str(out), device=device), metrics, place, parts)})
        else:
            _measure_again(folder, str(out), device, parts)
    facts = folder.finished or {}
    return TrainedJudge(Path(out), facts["judge"], facts["fingerprint"], facts["metrics"], fresh)


def measured(judge: CrossEncoderJudge, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """How well a judge does on people's judgements."""
    questions = list(dict.fromkeys(one.question for one in judgements))
    answers: dict[Substitution, float] = {}
    for batch in judge.plan(questions):
        answers.update(zip(batch, judge.collect(judge.launch(batch)), strict=True))
    return figures(np.array([answers[one.question] for one in judgements]), judgements)


def figures(said: Any, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """AUC, calibration error and reliability curve of some probabilities."""
    accepted = np.array([one.accepted for one in judgements])
    points = calibrating.reliability(np.asarray(said, np.float64), accepted)
    return {
        "auc": round(calibrating.auc(list(said), accepted.tolist()), 4),
        "ece": round(calibrating.calibration_error(points), 4),
        "of": len(judgements),
        "accepted": int(accepted.sum()),
        "reliability": [[round(mean, 4), round(found, 4), count] for mean, found, count in points],
    }


def _parts(
    everything: list[Judgement],
    data: Judgements,
    dev: Judgements | None,
    test: Judgements | None,
    share: float | None,
    encoding: str,
    seed: int,
) -> _Parts:
    if dev is not None and share is not None:
        raise BadInput("--dev names the dev data and --dev-share sets training data aside for it; give only one.")
    if not 0 < (DEV_SHARE if share is None else share) < 1:
        raise BadInput(f"--dev-share is {share}; it must be above 0 and below 1.")
    facts = {"train": _facts(data, everything)}
    if dev is None:
        learned, held = split(everything, DEV_SHARE if share is None else share, seed)
        if len({one.accepted for one in held}) < 2 or len({one.accepted for one in learned}) < 2:
            raise BadInput("The targets set aside for dev, or the others, have judgements of one kind; give more data.")
        facts["dev"] = {**_facts(held, held), "source": f"targets drawn from these with seed {seed}"}
    else:
        learned, held = everything, read_judgements(dev, encoding)
        facts["dev"] = _facts(dev, held)
    facts["train"]["learned_from"] = len(learned)
    tested = [] if test is None else read_judgements(test, encoding)
    if test is not None:
        facts["test"] = _facts(test, tested)
    return _Parts(learned, held, tested, facts)


def _some(judgements: list[Judgement], n: int | None, sample: int | None) -> list[Judgement]:
    if n is None or n >= len(judgements):
        return judgements
    if sample is None:
        return judgements[:n]
    return [judgements[number] for number in sorted(Random(sample).sample(range(len(judgements)), n))]


def _facts(source: Judgements, found: list[Judgement]) -> dict[str, Any]:
    name = str(source) if isinstance(source, (str, Path)) else "the judgements given"
    targets = len({one.target for one in found})
    return {"source": name, "examples": len(found), "targets": targets, "hash": digest(found)}


def _set(learner: Learner, pairs: Sequence[Fields], judgements: Sequence[Judgement]) -> Set:
    return Set(learner.rows(pairs), [(1 - one.share, one.share) for one in judgements])


def _check(learner: Learner, data: Set) -> tuple[int, float]:
    """How many pairs of an accepted and a refused substitution have the right order, and the mean loss."""
    learner.module.eval()
    order = sorted(range(len(data.rows)), key=lambda number: len(data.rows[number]))
    logits = torch.zeros(len(order), len(LABELS))
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            logits[part] = learner.logits([data.rows[number] for number in part]).cpu()
    shares = torch.tensor(data.labels)
    loss = float(torch.nn.functional.cross_entropy(logits, shares))
    scores = (logits[:, 1] - logits[:, 0]).tolist()
    return calibrating.ordered_pairs(scores, [share >= 0.5 for share in shares[:, 1].tolist()])[0], loss


def _calibrated(
    form: JudgeForm, folder: str, device: str, parts: _Parts, pairs: Sequence[Fields], seed: int
) -> tuple[JudgeForm, dict[str, Any]]:
    """The calibration by the targets set aside, and how well it does on those that a curve did not see."""
    scores = scores_of(load_network(folder, device), pairs)
    accepted = np.array([one.accepted for one in parts.dev])
    groups = [one.target for one in parts.dev]
    said = calibrating.held_out(scores, accepted, groups, seed)
    points, values = calibrating.curve(scores, accepted)
    whole = bundled().calibration
    probabilities = np.clip(np.interp(scores, points, values), 1e-6, 1 - 1e-6)
    odds = np.log(probabilities) - np.log1p(-probabilities)
    form = replace(
        form,
        scores=points,
        probabilities=values,
        calibration=calibrating.uncertain(odds, accepted, groups, seed, whole),
        ceiling=_ceiling([*parts.train, *parts.dev]),
    )
    shown = figures(said, parts.dev)
    shown["auc"] = round(calibrating.auc(scores.tolist(), accepted.tolist()), 4)  # of the scores, not of five curves
    return form, shown


def _ceiling(judgements: Sequence[Judgement]) -> float:
    """The share of antonyms that people accepted, but not much; the bundled judge's if they are few."""
    book = bundled()
    turned = [one.accepted for one in judgements if book.opposite(one.context[one.start : one.end], one.substitute)]
    return book.ceiling if len(turned) < _FEW else round(min(_CEILING, sum(turned) / len(turned)), 4)


def _measured(judge: CrossEncoderJudge, dev: dict[str, Any], place: Place, parts: _Parts) -> dict[str, Any]:
    metrics: dict[str, Any] = {"dev": dev}
    if parts.test:
        metrics["test"] = measured(judge, parts.test)
    pairs = calibrating.ordered_pairs([0.0] * len(parts.dev), [one.accepted for one in parts.dev])[1]
    history = [[loss, round(right / pairs, 4)] for loss, right in place.history]
    metrics |= {"best_epoch": place.best_epoch + 1, "history": history}
    return {"fingerprint": judge.fingerprint, "metrics": metrics}


def _measure_again(folder: TrainingFolder, out: str, device: str, parts: _Parts) -> None:
    """Measure a finished judge on new test data, which the weights do not depend on."""
    facts = folder.finished or {}
    if parts.test and facts["data"].get("test", {}).get("hash") != parts.facts["test"]["hash"]:
        found = measured(CrossEncoderJudge(out, device=device), parts.test)
        metrics, data = {**facts["metrics"], "test": found}, {**facts["data"], "test": parts.facts["test"]}
        _finish(folder, {**facts, "metrics": metrics, "data": data})


def _finish(folder: TrainingFolder, facts: dict[str, Any]) -> None:
    folder.publish(lambda beside: _write(beside / "README.md", judge_card(facts)))
    folder.finish(facts)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
