"""`mohs train`: trains a classifier on examples and writes it to a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from mohs.errors import BadInput
from mohs.models.architectures import precisely
from mohs.models.device import choose_device
from mohs.models.load import load_victim
from mohs.models.victim import Fields, Scores, Victim
from mohs.text import Example
from mohs.text.dataset import Dataset
from mohs.training.card import card, versions
from mohs.training.folder import TrainingFolder
from mohs.training.hardening import Hardening, Trainer, certified_of, hardenings
from mohs.training.hf_learner import HfLearner
from mohs.training.learner import Learner, WordLearner
from mohs.training.loop import Place, Report, Set, drawn, fit
from mohs.training.naive import Naive, attacked, plain_folder, write_examples
from mohs.training.parts import Parts, Source, read_parts
from mohs.training.recipe import Recipe, recipe_for
from mohs.training.swap import Swap, digest, swapped

Measuring = Callable[[str, int, int], None]  # dev or test, the number of texts answered, and of all

_SETTINGS_OF_READING = ("fields", "label_field", "id_field", "encoding", "n", "sample")
_LENGTHS = ("least_words", "most_words")  # noted if given: folders of earlier versions do not know them


@dataclass(frozen=True)
class Trained:
    """A finished training."""

    path: Path
    victim: str  # its name for --victim
    fingerprint: str
    metrics: dict[str, Any]  # dev and, if given, test: right, of; best_epoch; history: loss and right per epoch
    fresh: bool  # whether this call trained it; False if it was already finished
    added: int = 0  # copies of training texts with swapped words


def train(
    arch: str,
    data: Source,
    out: str | Path,
    *,
    dev: Source | None = None,
    dev_share: float | None = None,
    test: Source | None = None,
    labels: Sequence[str] = (),
    swap: Swap | None = None,
    harden: Sequence[Hardening | str] = (),
    device: str = "auto",
    save_every: int = 500,
    command: str | None = None,
    progress: Report | None = None,
    measuring: Measuring | None = None,
    **settings: Any,
) -> Trained:
    """Train a classifier, or resume an interrupted training.

    arch: bow, cnn, lstm, bilstm, transformer, or hf:PATH_OR_ID to fine-tune.
    data, dev, test: a file, `pocket:train`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    dev_share: without dev, the share of each class set aside for it; default 0.1.
    swap: add copies of the training texts with swapped words, as in mohs.training.swap.Whole((("he", "she"),)); dev
        and test data do not change.
    harden: methods that make the model harder to fool, by name ("augment", "freelb:steps=3") or as objects; see
        mohs.training.hardening.
    progress, measuring: called after each step, and while the dev and test accuracy is measured at the end.
    save_every: steps between checkpoints; there is also one after each epoch.
    settings: the fields of mohs.training.recipe.Recipe; a missing one, or None, means the architecture's default.

    >>> from tempfile import mkdtemp
    >>> done = train("bow", "pocket:train", mkdtemp(), test="pocket", epochs=3)
    >>> done.metrics["test"]["of"]
    208
    """
    if swap is not None and not callable(swap):
        raise BadInput(f"swap is {swap!r}; give pairs, as in mohs.training.swap.Whole((('he', 'she'),)).")
    methods = hardenings(harden)
    written = "+".join(map(repr, methods)) or None
    named = "+".join(one if isinstance(one, str) else repr(one) for one in harden) or None
    recipe = replace(recipe_for(arch, {**settings, "swap": swap and swap.name, "harden": named}), harden=written)
    if save_every < 1:
        raise BadInput(f"save_every is {save_every}; it must be at least 1.")
    parts = read_parts(data, dev, test, labels, dev_share, recipe.seed)
    if swap is not None:
        parts = _with_copies(parts, swap, recipe.seed)
    where = choose_device(device)
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[where] if where.startswith("cuda") else []))
        torch.manual_seed(drawn(recipe.seed, "start"))
        learner = _learner(recipe, parts)
        config = {**_reading(data), **recipe.settings(), "data": parts.facts["train"]["source"], "dev_share": dev_share}
        config |= {name: parts.facts[name]["source"] for name, given in (("dev", dev), ("test", test)) if given}
        config |= _reading_of_test(test, data)
        config |= {"labels": list(parts.labels), "device": device, "save_every": save_every}
        certified = certified_of(methods)
        trainer = None if certified is None else certified.trainer(learner, [*parts.train, *parts.dev])
        _check(methods, learner, parts)
        folder = TrainingFolder.open(Path(out), config, _identity(recipe, parts, where, learner, swap, trainer))
        stack.callback(folder.close)
        name = f"{learner.prefix}:{out}"
        fresh = folder.finished is None
        if fresh:
            how: dict[str, Any] = {"save_every": save_every, "report": progress}
            first = next((method for method in methods if isinstance(method, Naive)), None)
            if first is not None:
                parts = _after_attack(first, recipe, learner, parts, where, folder, measuring, how)
                torch.manual_seed(drawn(recipe.seed, "start"))
                learner = _learner(recipe, parts)
            _attach(methods, learner, parts, recipe)
            learner.module.to(where)
            sets = _set(learner, parts.train), _set(learner, parts.dev)
            with precisely():
                place = fit(learner, recipe, *sets, folder, harden=methods, trainer=trainer, **how)
            folder.publish(learner.save)
            measured = _measured(load_victim(name, device=device), name, place, parts, measuring)
            if trainer is not None:
                measured["metrics"]["certified"] = {"right": place.best_right, "of": len(parts.dev)}
            made: dict[str, Any] = {
                "settings": recipe.settings(),
                "about": learner.about() if trainer is None else learner.about() | trainer.about(),
                "device": where,
                "seconds": [round(seconds, 3) for seconds in place.seconds],
                **({"made": list(place.made)} if any(place.made) else {}),
                "command": command or f"mohs.training.train.train({arch!r}, ...)",
                "versions": versions(),
            }
            _finish(folder, {**measured, **made})
        else:
            _measure_again(folder, name, device, parts, measuring)
    facts = folder.finished or {}
    return Trained(
        Path(out), name, facts["fingerprint"], facts["metrics"], fresh, facts["data"]["train"].get("added", 0)
    )


def accuracy(
    victim: Victim, examples: Sequence[Example], told: Callable[[int, int], None] | None = None
) -> dict[str, int]:
    """The number of examples that a victim classifies correctly, and the total.

    told: called with the number of texts answered so far and of all, first with 0.
    """
    answers: dict[Fields, Scores] = {}
    texts = list(dict.fromkeys(example.text.fields for example in examples))
    tell = told or (lambda finished, total: None)
    tell(0, len(texts))
    for batch in victim.plan(texts):
        answers.update(zip(batch, victim.collect(victim.launch(batch)), strict=True))
        tell(len(answers), len(texts))
    best = [max(range(len(s)), key=s.__getitem__) for s in (answers[e.text.fields] for e in examples)]
    return {"right": sum(b == e.label for b, e in zip(best, examples, strict=True)), "of": len(examples)}


def _with_copies(parts: Parts, swap: Swap, seed: int) -> Parts:
    """The parts, with copies added to the training data."""
    learned = swapped(parts.train, swap, parts.facts["train"]["source"], seed)
    counts = {"learned_from": len(learned), "added": len(learned) - len(parts.train)}
    return replace(parts, train=learned, facts={**parts.facts, "train": {**parts.facts["train"], **counts}})


def _after_attack(
    naive: Naive,
    recipe: Recipe,
    learner: Learner,
    parts: Parts,
    device: str,
    folder: TrainingFolder,
    measuring: Measuring | None,
    how: dict[str, Any],
) -> Parts:
    """The parts, with the adversarial examples of a model trained on them plainly."""
    plain = plain_folder(folder)
    try:
        if plain.finished is None:
            learner.module.to(device)
            with precisely():
                fit(learner, recipe, _set(learner, parts.train), _set(learner, parts.dev), plain, **how)
            plain.publish(learner.save)
            plain.finish({})
    finally:
        plain.close()
    victim = f"{learner.prefix}:{plain.path}"
    found = attacked(naive, folder, victim, parts.train, recipe.seed, device, measuring)
    folder.publish(partial(write_examples, found.examples))
    learned = [*parts.train, *found.examples]
    facts = {**parts.facts["train"], "learned_from": len(learned), "adversarial": dict(found.facts)}
    return replace(parts, train=learned, facts={**parts.facts, "train": facts})


def _check(methods: Sequence[Any], learner: Learner, parts: Parts) -> None:
    """Refuse methods that do not fit the model, before a folder is made or an attack runs."""
    for method in methods:
        if hasattr(method, "check"):
            method.check(learner, parts.train[0].text.fields)


def _attach(methods: Sequence[Any], learner: Learner, parts: Parts, recipe: Recipe) -> None:
    """Let methods add what they learn beside the model."""
    for method in methods:
        if hasattr(method, "attach"):
            method.attach(learner, parts.train[0].text.fields, drawn(recipe.seed, "critic"))


def _learner(recipe: Recipe, parts: Parts) -> Learner:
    texts = [example.text.fields for example in parts.train]
    kind = HfLearner if recipe.arch.startswith("hf:") else WordLearner
    return kind(recipe, texts, parts.labels)


def _set(learner: Learner, examples: list[Example]) -> Set:
    texts = [example.text.fields for example in examples]
    return Set(learner.rows(texts), [example.label for example in examples], texts, examples)


def _identity(
    recipe: Recipe, parts: Parts, device: str, learner: Learner, swap: Swap | None, trainer: Trainer | None
) -> dict[str, Any]:
    """The facts that must be equal for a training to be resumed."""
    return {
        **recipe.settings(),
        "labels": list(parts.labels),
        "train_hash": parts.facts["train"]["hash"],
        "dev_hash": parts.facts["dev"]["hash"],
        "device": device.partition(":")[0],
        "starting_weights": weights_digest(learner.module),
        **({} if swap is None else {"swap_hash": digest(swap)}),
        **({} if trainer is None else {"choices_hash": trainer.digest}),
    }


def _measured(
    victim: Victim, name: str, place: Place, parts: Parts, measuring: Measuring | None = None
) -> dict[str, Any]:
    """The results, measured on the saved model."""
    metrics: dict[str, Any] = {"dev": accuracy(victim, parts.dev, measuring and partial(measuring, "dev"))}
    if parts.test:
        metrics["test"] = accuracy(victim, parts.test, measuring and partial(measuring, "test"))
    metrics |= {"best_epoch": place.best_epoch + 1, "history": [list(epoch) for epoch in place.history]}
    return {
        "victim": name,
        "fingerprint": victim.fingerprint,
        "labels": list(parts.labels),
        "data": parts.facts,
        "metrics": metrics,
    }


def _measure_again(
    folder: TrainingFolder, name: str, device: str, parts: Parts, measuring: Measuring | None = None
) -> None:
    """Measure a finished model on new test data, which the weights do not depend on."""
    facts = folder.finished or {}
    if parts.test and facts["data"].get("test", {}).get("hash") != parts.facts["test"]["hash"]:
        found = accuracy(load_victim(name, device=device), parts.test, measuring and partial(measuring, "test"))
        metrics, data = {**facts["metrics"], "test": found}, {**facts["data"], "test": parts.facts["test"]}
        _finish(folder, {**facts, "metrics": metrics, "data": data})


def _finish(folder: TrainingFolder, facts: dict[str, Any]) -> None:
    folder.publish(lambda beside: _write(beside / "README.md", card(facts)))
    folder.finish(facts)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def weights_digest(module: torch.nn.Module) -> str:
    """A hash of the initial weights, and so of the vectors, the encoder and the random initialization."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _reading_of_test(test: Source | None, data: Source) -> dict[str, Any]:
    """The column names of the test data that differ from those of the training data."""
    if not isinstance(test, Dataset):
        return {}
    own = {name: getattr(test, name) for name in ("fields", "label_field", "id_field")}
    usual = _reading(data)
    own["fields"] = list(test.fields) or None
    return {f"test_{name}": value for name, value in own.items() if value != usual.get(name)}


def _reading(data: Source) -> dict[str, Any]:
    """The settings for reading the data, as options for --config."""
    if not isinstance(data, Dataset):
        return {}
    found = {name: getattr(data, name) for name in _SETTINGS_OF_READING}
    lengths = {name: getattr(data, name) for name in _LENGTHS if getattr(data, name) is not None}
    return {**found, "fields": list(data.fields) or None, **lengths}
