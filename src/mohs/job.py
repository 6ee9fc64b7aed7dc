"""What a run does, as one process does it: trials, the examples they are about and the services they ask."""

from __future__ import annotations

import gc
import platform
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mohs import engine
from mohs.attacks.catalogue import describe
from mohs.attacks.trial import NEAR_TIE
from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.models.load import load_victim
from mohs.models.sheets import Sheet, sheets_of
from mohs.models.victim import Fields, Scores, Victim
from mohs.records import Record
from mohs.resources import DEFAULTS, fingerprint
from mohs.space import Services
from mohs.text import Example
from mohs.text.dataset import Dataset, examples_from

Result = TypeVar("Result")
Examples = str | Path | Dataset | Iterable[Example | tuple[str, Any] | Mapping[str, Any]]

_PROBE = "It was a good day."  # put to every victim first
_SELDOM = (200_000, 20, 100)  # new objects between two collections of garbage, and collections between thorough ones
_LOOKED_AT = 1000  # examples by whose length memory is reckoned
_NEIGHBOURS = 5_000_000  # words times words of the texts that are walked from at once: a few gigabytes
_FEWER = 8  # than attacks: each asks hundreds of texts at a time, and what is finished early is safe early
_PRIVATE = ("header",)  # victim options that are secrets: neither stored nor compared


class Task(Protocol):
    """One way to treat an example, by name: called with one, it is a search that ends with a record."""

    @property
    def name(self) -> str:
        """What its records are filed under."""
        ...

    def __call__(self, example: Example) -> Any:
        """The search."""
        ...


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything loaded and checked, before the first search."""

    tasks: Sequence[Task]
    data: Dataset | list[Example]
    examples: int
    victims: Sequence[Service[Any, Any]]  # the victim's services, and its judge's where that is another
    judge: Service[Any, Any]
    others: Mapping[str, Service[Any, Any]]  # what else is asked, by kind
    at_once: int
    config: Mapping[str, Any]  # what was asked for
    identity: Mapping[str, Any]  # what has to be the same for a run to be gone on with
    facts: Mapping[str, Any]
    cache: AnswerCache | None = None
    lender: Any = None  # of the victim's network, where several processes had better share one
    steady: bool = True  # whether the victim repeats itself

    def records(
        self, done: AbstractSet[tuple[str, str]], claim: Callable[[], int] | None = None, at_once: int | None = None
    ) -> Iterator[tuple[int, Record]]:
        """Run the searches that are not done, and give each record, with its example's number, as it is finished.

        claim: gives the number of the next search that is ours to run, where other processes take part.
        """

        def searches() -> Iterator[tuple[int, Any]]:
            mine = claim or count().__next__
            wanted, place = mine(), 0
            for task in self.tasks:
                for number, example in enumerate(self.data):
                    if (task.name, example.id) in done:
                        continue
                    if place == wanted:
                        yield number, task(example)
                        wanted = mine()
                    place += 1

        thresholds = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(*_SELDOM)  # thousands of candidates live at once, and looking through them finds nothing
        try:
            for ended in engine.run(searches(), [*self.victims, *self.others.values()], at_once or self.at_once):
                if ended.error is not None or ended.result is None:
                    raise ended.error or AssertionError("a trial gave no record")
                yield ended.key, ended.result
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()

    def effort(self) -> dict[str, float]:
        """What the victim was asked so far, and how many questions each other model."""
        return {
            "forwards": sum(s.forwards for s in self.victims),
            "batches": sum(s.batches for s in self.victims),
            "reused": sum(s.reused for s in self.victims),
            **{f"{kind}_asked": part.forwards for kind, part in self.others.items()},
        }

    def close(self) -> None:
        """Close what is open."""
        if self.cache is not None:
            self.cache.close()


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A victim that has answered, and the examples that go with it."""

    model: Victim
    data: Dataset | list[Example]
    examples: int
    digest: str
    service: Service[Fields, Scores]
    judge: Service[Fields, Scores]  # whose answers do not depend on what else is asked
    sheets: Service[Sheet, Any] | None  # the same network as the victim's, where that takes rows of tokens
    classes: int
    steady: bool
    cache: AnswerCache | None
    config: Mapping[str, Any]  # of the part that the victim and the data have in what was asked for

    @property
    def labels(self) -> list[str]:
        """The names of the classes, where there are some."""
        return list(self.config["labels"])

    def job(
        self,
        tasks: Sequence[Task],
        parts: Mapping[str, Any],
        config: Mapping[str, Any],
        settings: Mapping[str, Any],
        facts: Mapping[str, Any],
        at_once: int | None,
    ) -> Job:
        """What is to be done with it."""
        hashes = {
            "victim_fingerprint": self.model.fingerprint,
            "data_hash": self.digest,
            "examples": self.examples,
            "services": {kind: fingerprint(parts[kind]) for kind in sorted(parts)},
        }
        known = {"classes": self.classes, "repeats_itself": self.steady, "hard_labels": self.model.hard}
        return Job(
            tasks=tasks,
            data=self.data,
            examples=self.examples,
            judge=self.judge,
            victims=[s for s in dict.fromkeys([self.service, self.judge, self.sheets]) if s is not None],
            others={kind: part for kind, part in parts.items() if isinstance(part, Service)},
            at_once=at_once or int(getattr(self.model, "crowd", 256)),
            config=config,
            identity={**config, **hashes, **settings},
            facts={**known, **facts, "versions": _versions()},
            cache=self.cache,
            lender=_lender(self.model) if "gradients" not in parts else None,
            steady=self.steady,
        )


def subject_of(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    *,
    n: int | None,
    device: str,
    labels: Sequence[str],
    victim_options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
    cache: str | Path | None,
) -> Subject:
    """Load the victim, read through the data, and see that the one answers and the other fits."""
    model = victim_of(victim, device, labels, victim_options, trust_pickle, trust_code)
    data = _dataset(examples, labels or model.labels, n)
    size, highest, digest = _survey(data)
    answers = AnswerCache(cache) if cache is not None else None
    service: Service[Fields, Scores] = Service(model, cache=answers)
    final: Victim = getattr(model, "verdict", model)
    judge = service if final is model and model.exact else Service(final, alone=not final.exact, cache=answers)
    probe: Fields = (_PROBE,) * len(next(iter(data)).names)
    (first,), (second,), (third,) = service.prove([probe]), judge.prove([probe]), judge.prove([probe])
    classes = len(first)
    _same_as_kept(answers, judge, probe, second)
    if highest >= classes:
        raise BadInput(f"The data has a label {highest}, but {model.name} has {classes} classes (0 to {classes - 1}).")
    same = [second, third]
    if final is model:  # in coarse numbers it differs from its verdict
        same.append(first)
    return Subject(
        model=model,
        data=data,
        examples=size,
        digest=digest,
        service=service,
        judge=judge,
        sheets=sheets_of(model, probe) if answers is None else None,  # a cache keeps answers by their texts
        classes=classes,
        steady=max(max(column) - min(column) for column in zip(*same, strict=True)) < NEAR_TIE,
        cache=answers,
        config={
            "victim": victim if isinstance(victim, str) else model.name,
            "data": data.source if isinstance(data, Dataset) else "examples",
            "n": data.n if isinstance(data, Dataset) else n,
            "device": device,
            "labels": list(labels or model.labels),
            "victim_options": {k: v for k, v in (victim_options or {}).items() if k not in _PRIVATE},
            **_reading(data),
        },
    )


def answered(search: Coroutine[Any, None, Result], ask: Services, *services: Service[Any, Any]) -> Result:
    """What a search gives that goes before all others."""
    asked = [*services, *(part for part in ask.parts.values() if isinstance(part, Service))]
    for ended in engine.run([(0, search)], asked):
        if ended.error is not None:
            raise ended.error
        found: Any = ended.result
        return found  # type: ignore[no-any-return]
    raise AssertionError("a search that does not end")


def crowd(subject: Subject) -> int:
    """How many examples to walk from at once: a long text has many neighbours, and all of them are long."""
    sizes = [len(example.text) ** 2 for _, example in zip(range(_LOOKED_AT), subject.data, strict=False)]
    fit = _NEIGHBOURS * len(sizes) // max(1, sum(sizes))
    return max(1, min(int(getattr(subject.model, "crowd", 256)) // _FEWER, fit))


def known_to(masked_lm: Service[Any, Any], words: Iterable[str]) -> None:
    """Refuse a masked language model to which all patch words are strange."""
    entries = getattr(masked_lm.model, "entries", None)
    wanted = set(words)
    if entries is not None and not wanted & {text.lower() for text in entries.texts}:
        raise BadInput(
            f"{masked_lm.model.name} has none of the patch words ({', '.join(sorted(wanted)[:3])} ...) in its "
            "vocabulary; use a masked language model of the language of the data."
        )


def named_models(parts: Mapping[str, Any], models: Mapping[str, Any]) -> dict[str, str]:
    """How the models that are asked were named, for the manifest."""
    return {k: named(models.get(k) or DEFAULTS.get(k)) for k in sorted(parts) if k in models}


def _lender(model: Any) -> Any:
    if not getattr(model, "lends", False):
        return None
    from mohs.models.lending import Lender

    return Lender(model)


def _same_as_kept(cache: AnswerCache | None, judge: Service[Fields, Scores], probe: Fields, answer: Scores) -> None:
    """Refuse a cache whose answer to the probe is another: the model behind the name has changed."""
    if cache is None:
        return
    key = f"{judge.model.fingerprint}/probe"
    kept = cache.get(key, [probe]).get(probe)
    if kept is None:
        cache.put(key, {probe: answer})
    elif not alike(kept, answer):
        raise BadInput(
            f"{judge.model.name} no longer answers as it did when the cache {cache.path} was filled; name another file."
        )


def alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two answers to one text can be the same model's, on another machine or in another batch."""
    return len(one) == len(other) and max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1e-3


def short(scores: Sequence[float]) -> str:
    """Scores as a person reads them."""
    return f"[{', '.join(f'{score:.3f}' for score in scores)}]"


def _dataset(examples: Examples, labels: Sequence[str], n: int | None) -> Dataset | list[Example]:
    if isinstance(examples, (str, Path)):
        examples = Dataset(str(examples))
    if isinstance(examples, Dataset):
        return replace(examples, labels=examples.labels or tuple(labels), n=examples.n if n is None else n)
    return examples_from(examples, labels)[:n]


def _survey(data: Dataset | list[Example]) -> tuple[int, int, str]:
    if isinstance(data, Dataset):
        return data.survey()
    return Dataset("the examples given").survey(data)


def _reading(data: Dataset | list[Example]) -> dict[str, Any]:
    """How the data is read, as options that a manifest can repeat."""
    if not isinstance(data, Dataset):
        return {}
    return {
        "fields": list(data.fields),
        "label_field": data.label_field,
        "id_field": data.id_field,
        "change": list(data.change),
        "encoding": data.encoding,
        **({} if data.sample is None else {"sample": data.sample}),
    }


def victim_of(
    victim: Any,
    device: str,
    labels: Sequence[str],
    options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
) -> Victim:
    """The victim by its name, or the object or function itself."""
    if isinstance(victim, str):
        return load_victim(
            victim,
            device=device,
            labels=labels,
            options=options,
            trust_pickle=trust_pickle,
            trust_code=trust_code,
        )
    if hasattr(victim, "launch") and hasattr(victim, "collect"):
        found: Victim = victim
        return found
    if callable(victim):
        return FunctionVictim(victim, labels=labels, output=(options or {}).get("output", "probabilities"))
    raise BadInput(
        f"A {type(victim).__name__} is no victim; give a name, a function from texts to probabilities, or a victim."
    )


def written(part: Any) -> Any:
    """A part as the command line would name it."""
    return part if part is None or isinstance(part, str) else describe(part, defaults=False)


def named(part: Any) -> str:
    """How a model was named, or calls itself."""
    return str(part) if isinstance(part, str | Path) else str(part.name)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("mohs", "numpy", "tokenizers", "torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
