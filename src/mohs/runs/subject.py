"""Makes the subject of a run from the shared settings: loads the victim, reads the data, and checks that they fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from mohs.defences.written import defended, is_defended
from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput
from mohs.models.load import AnyVictim, victim_from
from mohs.models.origin import origin_of
from mohs.models.sheets import sheets_of
from mohs.models.sweeps import sweeps_of
from mohs.models.victim import Fields, Victim, is_scores, service_of, traits_of
from mohs.runs.anchors import alike_in_batches, answers_alone
from mohs.runs.settings import Settings, VictimSettings, public
from mohs.tasks import memory
from mohs.tasks.attempt import NEAR_TIE
from mohs.tasks.reading import comma
from mohs.tasks.services import load_books
from mohs.tasks.shard import Shard
from mohs.tasks.subject import Subject, Survey, Target
from mohs.text import Example
from mohs.text.addresses import without_credentials
from mohs.text.dataset import Dataset, examples_from

_PROBE = "It was a good day."  # the first question to every victim
_READING = ("fields", "label_field", "id_field", "change", "encoding", "sample")  # options for reading a file
_LENGTHS = ("least_words", "most_words")
_ORIGINALS = 16  # asked in a batch, in another order and alone, before anything is believed
_ALIKE = 1e-3  # one model's answers to a text differ by less, on another machine or in another batch


def victim_of(settings: VictimSettings) -> Victim:
    """The victim by its name, or the object itself; victims in brackets stand inside a defence."""

    def load(victim: AnyVictim) -> Victim:
        return victim_from(
            victim,
            device=settings.device,
            labels=comma(settings.labels),
            options=settings.victim_options,
            trust_pickle=settings.trust_pickle,
            trust_code=settings.trust_code,
        )

    if isinstance(settings.victim, str) and is_defended(settings.victim):
        return defended(settings.victim, load, load_books)
    return load(settings.victim)


def subject_of(settings: Settings, survey: Survey | None = None) -> Subject:
    """A victim that answers, and data that fits it. survey: of these data, if another process has made it."""
    shard = None if settings.shard is None else Shard.read(settings.shard)
    model = victim_of(settings)
    labels = comma(settings.labels) or model.labels
    data = _dataset(settings, labels)
    given = data if isinstance(data, Dataset) else Dataset("the examples given", **_lengths(settings))
    survey = survey or _survey(given, data, shard)
    cache = AnswerCache(settings.cache) if settings.cache is not None else None
    traits = traits_of(model)
    final = traits.verdict or model
    service = service_of(model, cache=cache)
    anew = service if cache is None else service_of(model)  # no cache answers a judge or a proof
    judge = anew if final is model and traits.exact else service_of(final, judge=True)
    probe: Fields = (_PROBE,) * len(next(iter(data)).names)
    (first,), (second,), (third,) = service.prove([probe]), judge.prove([probe]), judge.prove([probe])
    classes = len(first) - traits.rejects
    origin = origin_of(model)
    if cache is not None:
        width = len(first)
        code = json.dumps(origin, sort_keys=True)
        cache.settle(model.fingerprint, [probe], anew.again, alike, lambda found: is_scores(found, width), code)
    if survey.highest >= classes:
        raise BadInput(
            f"The data has a label {survey.highest}, but {model.name} has {classes} classes (0 to {classes - 1})."
        )
    same = [second, third]
    if final is model:  # a victim of low precision differs from its judge
        same.append(first)
    originals = [example.text.fields for example in islice(data, _ORIGINALS)]
    known = answers_alone(model, [probe, *originals])
    target = Target(
        model=model,
        victim=service,
        judge=judge,
        classes=classes,
        sheets=sheets_of(model, probe),
        sweeps=sweeps_of(model) if cache is None and len(probe) == 1 else None,
        uncached=anew,
        steady=max(max(column) - min(column) for column in zip(*same, strict=True)) < NEAR_TIE,
        most_memory=memory.limit(settings.most_memory, settings.workers if isinstance(settings.workers, int) else 1),
        alike=alike_in_batches(model, known),
        known=known if final is model else answers_alone(final, list(known)),
        alone=Service(final, alone=True, together=traits_of(final).together),
    )
    return Subject(
        target=target,
        data=data,
        survey=survey,
        labels=tuple(labels),
        seed=settings.seed,
        cache=cache,
        origin=origin,
        config={
            "victim": without_credentials(settings.victim) if isinstance(settings.victim, str) else model.name,
            "data": data.source if isinstance(data, Dataset) else "examples",
            "n": data.n if isinstance(data, Dataset) else settings.n,
            "device": settings.device,
            "labels": list(labels),
            "victim_options": public(settings.victim_options),
            **_reading(data),
            **_lengths(given),
            "seed": settings.seed,
            **({} if shard is None else {"shard": str(shard)}),
        },
        shard=shard,
    )


def _survey(given: Dataset, data: Dataset | list[Example], shard: Shard | None) -> Survey:
    """Read all of the data once, and count what is in the part."""
    in_shard = 0

    def count(example: Example) -> None:
        nonlocal in_shard
        in_shard += shard is None or shard.holds(example.id)

    return Survey(*given.survey(data, count), in_shard)


def _dataset(settings: Settings, labels: Sequence[str]) -> Dataset | list[Example]:
    data, n = settings.data, settings.n
    if isinstance(data, str | Path):
        return settings.dataset(str(data), labels=tuple(labels), change=tuple(settings.change))
    how = {name: _tuple(getattr(settings, name)) for name in _READING}
    usual = {f.name: f.default for f in fields(Settings)}
    in_vain = [name for name, value in how.items() if value != usual[name]]
    if in_vain:
        raise BadInput(f"{in_vain[0]} is for reading a file, but the examples are not from a file; leave it out.")
    lengths = _lengths(settings)
    if isinstance(data, Dataset):
        return replace(data, labels=data.labels or tuple(labels), n=data.n if n is None else n, **lengths)
    return [*filter(Dataset("the examples given", **lengths).keeps, examples_from(data, labels))][:n]


def _lengths(told: Settings | Dataset) -> dict[str, Any]:
    """The least and the most words of an example, as far as they are given."""
    return {name: getattr(told, name) for name in _LENGTHS if getattr(told, name) is not None}


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value


def _reading(data: Dataset | list[Example]) -> dict[str, Any]:
    """The options for reading the data, for the manifest."""
    if not isinstance(data, Dataset):
        return {}
    found = {name: getattr(data, name) for name in _READING}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two answers to a text can come from one model, on another machine or in another batch."""
    return len(one) == len(other) and max(abs(a - b) for a, b in zip(one, other, strict=True)) < _ALIKE
