"""What a run does, as one process does it: trials, the examples they are about and the services they ask."""

from __future__ import annotations

import gc
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from mohs import engine
from mohs.attacks.battery import Battery
from mohs.attacks.catalogue import describe, identity, members_of
from mohs.attacks.goal import parse_goal
from mohs.attacks.method import Attack, goal_of, needs
from mohs.attacks.named_entities import NamedEntities
from mohs.attacks.trial import NEAR_TIE, Trial
from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.models.load import load_victim
from mohs.models.victim import Fields, Scores, Victim
from mohs.records import Record
from mohs.resources import DEFAULTS, fingerprint, load_services
from mohs.space import Constraint, Measure, Source, parse_constraint, parse_measure, parse_source
from mohs.text import Example
from mohs.text.dataset import Dataset, examples_from
from mohs.text.stopwords import read_stopwords

Examples = str | Path | Dataset | Iterable[Example | tuple[str, Any] | Mapping[str, Any]]

_PROBE = "It was a good day."  # put to every victim first
_SELDOM = (200_000, 20, 100)  # new objects between two collections of garbage, and collections between thorough ones
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
    victims: Sequence[Service[Any, Any]]  # the victim's service, and its judge's where that is another
    others: Sequence[Service[Any, Any]]
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
            for ended in engine.run(searches(), [*self.victims, *self.others], at_once or self.at_once):
                if ended.error is not None or ended.result is None:
                    raise ended.error or AssertionError("a trial gave no record")
                yield ended.key, ended.result
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()

    def effort(self) -> dict[str, float]:
        """What the victim was asked so far."""
        return {
            "forwards": sum(s.forwards for s in self.victims),
            "batches": sum(s.batches for s in self.victims),
            "reused": sum(s.reused for s in self.victims),
        }

    def close(self) -> None:
        """Close what is open."""
        if self.cache is not None:
            self.cache.close()


def attack_job(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    attacks: str | Sequence[str | Attack],
    *,
    seed: int,
    goal: str,
    n: int | None,
    budget: int | None,
    source: str | Source | None,
    constraints: Sequence[str | Constraint],
    measures: Sequence[str | Measure],
    stopwords: str | Path | Iterable[str] | None,
    entities: str | Path | NamedEntities | None,
    models: Mapping[str, Any],
    device: str,
    labels: Sequence[str],
    victim_options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
    at_once: int | None,
    cache: str | Path | None,
) -> Job:
    """Load and check everything that `mohs.attack` needs; for its arguments see there."""
    if isinstance(attacks, str):
        attacks = [attacks]
    if isinstance(labels, str):
        labels = labels.split(",")
    plain = [members_of(a) for a in attacks]
    known = NamedEntities.read(entities) if isinstance(entities, str | Path) else entities
    teams = [_changed(name, team, source, constraints, stopwords, known) for name, team in plain]
    chosen = [member for _, team in teams for member in team]
    also = tuple(parse_measure(m) if isinstance(m, str) else m for m in measures)
    if not teams:
        raise BadInput("No attack was named; see `mohs attacks`.")
    if len({name for name, _ in teams}) != len(teams):
        raise BadInput("An attack is named twice.")
    model = _victim(victim, device, labels, victim_options, trust_pickle, trust_code)
    data = _dataset(examples, labels or model.labels, n)
    size, highest, digest = _survey(data)
    for name, method in chosen:
        if model.hard and method.needs_scores:
            raise BadInput(
                f"{name} steers by the victim's scores, and {model.name} gives labels only; "
                "use --attack random, or a victim that gives scores."
            )
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
    goal = _by_number(goal, labels or model.labels)
    goals = {name: goal_of(name, method, goal) for name, method in chosen}
    for each in dict.fromkeys([goal, *goals.values()]):
        parse_goal(each, 0, classes, labels or model.labels)
    kinds = dict.fromkeys(k for _, method in chosen for k in needs(method)) | dict.fromkeys(
        k for m in also for k in m.needs
    )
    parts = load_services(kinds, models, victim=model, device=device, trust_code=trust_code)

    config = {
        "victim": victim if isinstance(victim, str) else model.name,
        "data": data.source if isinstance(data, Dataset) else "examples",
        "attacks": [name for name, _ in plain],
        "goal": goal,
        "n": data.n if isinstance(data, Dataset) else n,
        "seed": seed,
        "budget": budget,
        "source": _written(source),
        "constraints": [_written(c) for c in constraints],
        "measures": [_written(m) for m in measures],
        "stopwords": str(stopwords) if isinstance(stopwords, str | Path) else None if stopwords is None else "given",
        **({} if known is None else {"entities": known.path}),
        **{k: _named(models[k] or DEFAULTS.get(k)) for k in sorted(parts) if k in models},
        "device": device,
        "labels": list(labels or model.labels),
        "victim_options": {k: v for k, v in (victim_options or {}).items() if k not in _PRIVATE},
        **_reading(data),
    }
    hashes = {
        "victim_fingerprint": model.fingerprint,
        "data_hash": digest,
        "examples": size,
        "services": {kind: fingerprint(parts[kind]) for kind in sorted(parts)},
    }
    aims = {n: f" for {aim}" if aim != goal else "" for n, aim in goals.items()}
    settings = {name: "; ".join(identity(method) + aims[n] for n, method in team) for name, team in teams}
    same = (
        [second, third, first] if final is model else [second, third]
    )  # in coarse numbers it differs from its verdict
    steady = max(max(column) - min(column) for column in zip(*same, strict=True)) < NEAR_TIE
    boxes = {n: "white" if any("gradients" in needs(m) for _, m in team) else "black" for n, team in teams}
    facts = {"classes": classes, "repeats_itself": steady, "hard_labels": model.hard, "boxes": boxes}
    facts["goals"] = {name: goals[team[0][0]] for name, team in teams}
    facts["notes"] = _remarks(parts, chosen, models)
    facts["versions"] = _versions()
    trials: list[Trial | Battery] = []
    for name, team in teams:
        members = tuple(
            Trial(n, m, model, service, judge, parts, classes, goals[n], seed, budget, also) for n, m in team
        )
        trials.append(members[0] if len(members) == 1 else Battery(name, members, budget))
    return Job(
        tasks=trials,
        data=data,
        examples=size,
        victims=list(dict.fromkeys([service, judge])),
        others=[part for part in parts.values() if isinstance(part, Service)],
        at_once=at_once or int(getattr(model, "crowd", 256)),
        config=config,
        identity={**config, **hashes, "settings": settings},
        facts=facts,
        cache=answers,
        lender=_lender(model) if "gradients" not in parts else None,
        steady=steady,
    )


def _lender(model: Any) -> Any:
    if not getattr(model, "lends", False):
        return None
    from mohs.models.lending import Lender

    return Lender(model)


def _by_number(goal: str, labels: Sequence[str]) -> str:
    """`targeted:NAME` with the number of the class."""
    kind, _, name = goal.partition(":")
    return f"{kind}:{list(labels).index(name)}" if kind == "targeted" and name in labels else goal


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


def _victim(
    victim: Any,
    device: str,
    labels: Sequence[str],
    options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
) -> Victim:
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


def _changed(
    name: str,
    team: Sequence[tuple[str, Any]],
    source: str | Source | None,
    constraints: Sequence[str | Constraint],
    stopwords: str | Path | Iterable[str] | None,
    entities: NamedEntities | None,
) -> tuple[str, list[tuple[str, Attack]]]:
    """Attacks over another space than their own, under names that say so."""
    changes: dict[str, Any] = {}
    suffix = ""
    if source is not None:
        changes["source"] = parse_source(source) if isinstance(source, str) else source
        suffix += f"+{_written(source)}"
    added = tuple(parse_constraint(c) if isinstance(c, str) else c for c in constraints)
    suffix += "".join(f"+{_written(c)}" for c in constraints)
    if stopwords is not None:
        changes["stopwords"] = read_stopwords(stopwords)
        suffix += "+stopwords"
    if entities is not None:
        changes["entities"] = entities
        suffix += "+entities"
        without = [n for n, m in team if not hasattr(m, "entities")]
        if without:
            raise BadInput(
                f"{without[0]} replaces no named entities; --entities is for pwws, not its preset textattack."
            )
    changed = [
        (n + suffix, replace(m, constraints=(*m.constraints, *added), **changes) if suffix else m) for n, m in team
    ]
    return name + suffix, changed


def _remarks(parts: Mapping[str, Any], chosen: Sequence[tuple[str, Any]], named: Mapping[str, Any]) -> list[str]:
    """What was left out in reading word books, and what was named but is asked by nobody."""
    sources = [source for _, method in chosen for source in getattr(method.source, "sources", (method.source,))]
    books = [*parts.values(), *(getattr(source, "book", None) for source in sources)]
    found = [note for book in books for note in getattr(book, "notes", ())]
    for kind, given in named.items():
        if given is not None and kind not in parts:
            found.append(f"--{kind.replace('_', '-')} {_named(given)} is given, but nothing in this run asks it.")
    return list(dict.fromkeys(found))


def _written(part: Any) -> Any:
    return part if part is None or isinstance(part, str) else describe(part, defaults=False)


def _named(part: Any) -> str:
    return str(part) if isinstance(part, str | Path) else str(part.name)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("mohs", "numpy", "tokenizers", "torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
