"""Makes the subject of a run from the shared settings: loads the victim, reads the data, and checks that they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput
from mohs.models.load import victim_from
from mohs.models.sheets import sheets_of
from mohs.models.victim import Fields, Scores, Victim, service_of, traits_of
from mohs.runs.settings import Settings, VictimSettings, public
from mohs.tasks.attempt import NEAR_TIE
from mohs.tasks.reading import comma
from mohs.tasks.subject import Subject, Target
from mohs.text import Example
from mohs.text.addresses import without_credentials
from mohs.text.dataset import Dataset, examples_from

_PROBE = "It was a good day."  # the first question to every victim
_READING = ("fields", "label_field", "id_field", "change", "encoding", "sample")  # options for reading a file
_ALIKE = 1e-3  # one model's answers to a text differ by less, on another machine or in another batch


def victim_of(settings: VictimSettings) -> Victim:
    """The victim by its name, or the object itself."""
    return victim_from(
        settings.victim,
        device=settings.device,
        labels=comma(settings.labels),
        options=settings.victim_options,
        trust_pickle=settings.trust_pickle,
        trust_code=settings.trust_code,
    )


def subject_of(settings: Settings) -> Subject:
    """A victim that answers, and data that fits it."""
    model = victim_of(settings)
    labels = comma(settings.labels) or model.labels
    data = _dataset(settings, labels)
    size, highest, digest = data.survey() if isinstance(data, Dataset) else Dataset("the examples given").survey(data)
    cache = AnswerCache(settings.cache) if settings.cache is not None else None
    traits = traits_of(model)
    final = traits.verdict or model
    service = service_of(model, cache=cache)
    judge = service if final is model and traits.exact else service_of(final, cache=cache, judge=True)
    probe: Fields = (_PROBE,) * len(next(iter(data)).names)
    (first,), (second,), (third,) = service.prove([probe]), judge.prove([probe]), judge.prove([probe])
    classes = len(first) - traits.rejects
    _same_as_kept(cache, judge, probe, second)
    if highest >= classes:
        raise BadInput(f"The data has a label {highest}, but {model.name} has {classes} classes (0 to {classes - 1}).")
    same = [second, third]
    if final is model:  # a victim of low precision differs from its judge
        same.append(first)
    target = Target(
        model=model,
        victim=service,
        judge=judge,
        classes=classes,
        sheets=sheets_of(model, probe) if cache is None else None,  # the cache needs texts as keys
        steady=max(max(column) - min(column) for column in zip(*same, strict=True)) < NEAR_TIE,
    )
    return Subject(
        target=target,
        data=data,
        examples=size,
        digest=digest,
        labels=tuple(labels),
        seed=settings.seed,
        cache=cache,
        config={
            "victim": without_credentials(settings.victim) if isinstance(settings.victim, str) else model.name,
            "data": data.source if isinstance(data, Dataset) else "examples",
            "n": data.n if isinstance(data, Dataset) else settings.n,
            "device": settings.device,
            "labels": list(labels),
            "victim_options": public(settings.victim_options),
            **_reading(data),
            "seed": settings.seed,
        },
    )


def _dataset(settings: Settings, labels: Sequence[str]) -> Dataset | list[Example]:
    data, n = settings.data, settings.n
    if isinstance(data, str | Path):
        return settings.dataset(str(data), labels=tuple(labels), change=tuple(settings.change))
    how = {name: _tuple(getattr(settings, name)) for name in _READING}
    usual = {f.name: f.default for f in fields(Settings)}
    in_vain = [name for name, value in how.items() if value != usual[name]]
    if in_vain:
        raise BadInput(f"{in_vain[0]} is for reading a file, but the examples are not from a file; leave it out.")
    if isinstance(data, Dataset):
        return replace(data, labels=data.labels or tuple(labels), n=data.n if n is None else n)
    return examples_from(data, labels)[:n]


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


def _same_as_kept(cache: AnswerCache | None, judge: Service[Fields, Scores], probe: Fields, answer: Scores) -> None:
    """Refuse a cache with a different answer to the probe: the model behind the name has changed."""
    if cache is None:
        return
    key = f"{judge.model.fingerprint}/probe"
    kept = cache.get(key, [probe]).get(probe)
    if kept is None:
        cache.put(key, {probe: answer})
    elif not alike(kept, answer):
        raise BadInput(
            f"{judge.model.name} answers differently than when the cache {cache.path} was filled; "
            "use another cache file."
        )
