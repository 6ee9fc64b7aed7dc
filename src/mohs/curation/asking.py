"""Asks victims about the texts of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mohs.curation.scored import ScoredSet, ScoredTask
from mohs.curation.scoring import Said
from mohs.errors import BadInput
from mohs.models.victim import Scores, Victim, traits_of
from mohs.runs.asking import asked
from mohs.runs.settings import VictimSettings
from mohs.runs.subject import victim_of
from mohs.text.addresses import without_credentials

Told = Callable[[Any, int, int], None]
_NAME = re.compile(r"[A-Za-z0-9._-]+")  # of a task
_UNNAMED = "LABEL_"  # of a Hugging Face model that does not name its classes
_SAME = {"not_entailment": {"not entailment", "non_entailment", "notentailment"}, "not_duplicate": {"not duplicate"}}


def victims_by_task(benchmark: ScoredSet, given: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """What to ask about each task: `TASK=VICTIM`, or one victim for all tasks."""
    if isinstance(given, Mapping):
        for name in given:
            benchmark.task(name)
        return dict(given)
    names = [task.name for task in benchmark.tasks]
    found: dict[str, Any] = {}
    for one in given:
        name, sign, victim = one.partition("=") if isinstance(one, str) else ("", "", one)
        for_one = bool(sign) and _NAME.fullmatch(name) is not None  # and not ensemble(V, n=4)
        if for_one:
            benchmark.task(name)
        for task in [name] if for_one else names:
            if task in found:
                raise BadInput(f"Two victims are given for {task}; give one a task, as in {task}=hf:MODEL.")
            found[task] = victim if for_one else one
    if not found:
        raise BadInput(f"No victim was given; write it as {names[0]}=hf:MODEL, or one for all tasks.")
    return found


def ask(
    benchmark: ScoredSet,
    victims: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    *,
    benign: bool = True,
    progress: Told | None = None,
) -> tuple[dict[str, Said], list[str]]:
    """Ask victims about their tasks. settings: how to load them. benign: also ask about the originals of the texts.

    Returns what was said, and notes.
    """
    texts = sum(len(_texts(benchmark.task(name), benign)) for name in victims)
    tell, done = progress or (lambda record, finished, total: None), 0
    tell(None, 0, texts)
    loaded: dict[str, Victim] = {}
    found, notes = {}, []
    for name, victim in victims.items():
        task = benchmark.task(name)
        key = victim if isinstance(victim, str) else str(id(victim))
        if key not in loaded:
            loaded.clear()  # one model at a time
            loaded[key] = victim_of(VictimSettings(victim=victim, **(settings or {})))
        model = loaded[key]
        answers: dict[tuple[str, ...], Scores | str] = {}
        for some in asked(model, list(_texts(task, benign))):
            answers |= some
            done += len(some)
            tell(None, done, texts)
        said, note = _said(task, model, victim, answers, benign)
        found[name] = said
        notes += note
    return found, notes


def label_order(task: ScoredTask, labels: Sequence[str], scores: int) -> tuple[list[int], list[str]]:
    """For each score of a victim the label of the task; -1 for a text that it rejects. Names decide, if there are any.

    labels: the victim's names of its classes.
    """
    classes = len(task.labels)
    if scores != classes:
        raise BadInput(
            f"{task.name} has {classes} classes ({', '.join(task.labels)}) and the victim has {scores}; give a victim "
            f"for it, as in --victim {task.name}=hf:MODEL."
        )
    plain = [_plain(label) for label in labels]
    ours = [_plain(label) for label in task.labels]
    if len(plain) == classes and sorted(plain) == sorted(ours):
        return [ours.index(label) for label in plain], []
    unnamed = not plain or all(label.startswith(_UNNAMED.lower()) for label in plain)
    if unnamed or not set(plain) & set(ours):
        called = "does not name its classes" if unnamed else f"calls its classes {', '.join(labels)}"
        return list(range(classes)), [
            f"{task.name}: the victim {called}, so they count by number ({', '.join(task.labels)})."
        ]
    raise BadInput(
        f"The victim of {task.name} calls its classes {', '.join(labels)}, and the task {', '.join(task.labels)}; "
        "name them alike with --labels, in the victim's order."
    )


def _plain(label: str) -> str:
    small = label.strip().lower()
    return next((name for name, others in _SAME.items() if small in others), small)


def _texts(task: ScoredTask, benign: bool) -> dict[tuple[str, ...], None]:
    found = dict.fromkeys(item.fields for item in task.items)
    if benign:
        found |= dict.fromkeys(item.original for item in task.items if item.original is not None)
    return found


def _said(
    task: ScoredTask, model: Victim, victim: Any, answers: Mapping[tuple[str, ...], Scores | str], benign: bool
) -> tuple[Said, list[str]]:
    first = next((scores for scores in answers.values() if isinstance(scores, tuple)), None)
    rejects = traits_of(model).rejects
    order: list[int] = []
    notes: list[str] = []
    if first is not None:
        order, notes = label_order(task, model.labels, len(first) - rejects)
        order += [-1] * rejects
    if rejects:
        notes.append(f"{task.name}: the victim can reject texts; a rejected text is not read right.")

    def read(fields: tuple[str, ...]) -> int | None:
        scores = answers[fields]
        return order[max(range(len(scores)), key=scores.__getitem__)] if isinstance(scores, tuple) else None

    labels = {item.idx: read(item.fields) for item in task.items}
    errors = sum(isinstance(found, str) for found in answers.values())
    if errors:
        error = next(found for found in answers.values() if isinstance(found, str))
        notes.append(f"{task.name}: the victim could not read {errors} texts, which are left out ({error}).")
    originals: dict[str, tuple[int, int | None]] = {}
    if benign:
        for item in task.items:
            if item.original is not None and item.source:
                originals.setdefault(item.source, (item.label, read(item.original)))
    name = without_credentials(victim) if isinstance(victim, str) else model.name
    if name in task.surrogates:
        notes.append(f"{task.name}: {name} is one of its surrogates, so every text that an attack made fools it.")
    return Said(labels, name, model.fingerprint, originals), notes
