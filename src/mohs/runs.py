"""From a victim, examples and attacks to a run: the Python face of the package, and what the command line calls."""

from __future__ import annotations

import gc
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mohs import engine
from mohs.attacks.battery import Battery
from mohs.attacks.catalogue import describe, identity, members_of
from mohs.attacks.goal import UNTARGETED, parse_goal
from mohs.attacks.method import Attack, goal_of, needs
from mohs.attacks.named_entities import NamedEntities
from mohs.attacks.trial import NEAR_TIE, Trial
from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.models.load import load_victim
from mohs.models.victim import Fields, Scores, Victim
from mohs.records import Record, RunStore
from mohs.resources import DEFAULTS, fingerprint, load_services
from mohs.space import Constraint, Measure, Source, parse_constraint, parse_measure, parse_source
from mohs.text import Example
from mohs.text.dataset import Dataset, examples_from
from mohs.text.stopwords import read_stopwords

if TYPE_CHECKING:
    from mohs.report.metrics import Summary

Examples = str | Path | Dataset | Iterable[Example | tuple[str, Any] | Mapping[str, Any]]
Progress = Callable[[Record | None, int, int], None]  # the newest record, how many are finished, of how many

_PROBE = "It was a good day."  # put to every victim first
_SELDOM = (200_000, 20, 100)  # new objects between two collections of garbage, and collections between thorough ones
_PRIVATE = ("header",)  # victim options that are secrets: neither stored nor compared


class Run:
    """A run's records and figures. Also a context manager, which closes the files at the end."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Read a run folder."""
        return cls(RunStore.read(Path(folder)))

    @property
    def folder(self) -> Path | None:
        """Where the run is kept; None if only in memory."""
        return self._store.folder

    @property
    def manifest(self) -> dict[str, Any]:
        """What was asked for, and with which versions and hashes."""
        return self._store.manifest

    def goal_of(self, attack: str) -> str:
        """What an attack of the run is after: the run's goal, or its own where that differs."""
        goals = self.manifest.get("facts", {}).get("goals", {})
        return str(goals.get(attack, self.manifest["config"].get("goal", UNTARGETED)))

    @property
    def goal(self) -> str:
        """The goals of the run in words."""
        own = self.manifest.get("facts", {}).get("goals", {})
        usual = str(self.manifest["config"].get("goal", UNTARGETED))
        apart = [f"{goal} for {name}" for name, goal in own.items() if goal != usual]
        if apart and len(apart) == len(own):
            return ", ".join(dict.fromkeys(own.values()))
        return ", ".join([usual, *apart])

    def records(self) -> Iterator[Record]:
        """Every record, by attack and then in the order of the data."""
        return self._store.records()

    def effort(self) -> dict[str, float]:
        """Forwards, batches and seconds; unlike the records these depend on the schedule and the cache."""
        return self._store.effort()

    def summary(self) -> list[Summary]:
        """The figures of each attack, with denominators and 95% intervals."""
        from mohs.report.metrics import summarise

        return summarise(self.records(), self.goal_of)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the browsable page, by default report.html in the run folder, or here for a run in memory."""
        from mohs.report.page import write_page

        return write_page(self, Path(path) if path is not None else (self.folder or Path()) / "report.html")

    def close(self) -> None:
        """Close the files."""
        self._store.close()

    @property
    def planned(self) -> int:
        """How many attempts the run has when it is finished."""
        return int(self.manifest.get("identity", {}).get("examples", 0)) * len(self.manifest["config"]["attacks"])

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        return f"<Run of {', '.join(self.manifest['config']['attacks'])}: {len(self)} attempts>"

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        from mohs.report.table import summary_html

        return summary_html(self.summary())


def attack(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    attacks: str | Sequence[str | Attack] = ("textfooler",),
    *,
    seed: int = 0,
    goal: str = UNTARGETED,
    n: int | None = None,
    budget: int | None = None,
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    measures: Sequence[str | Measure] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    entities: str | Path | NamedEntities | None = None,
    encoder: Any = None,
    token_encoder: Any = None,
    masked_lm: Any = None,
    lm: Any = None,
    tagger: Any = None,
    grammar: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    out: str | Path | None = None,
    device: str = "auto",
    labels: Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    at_once: int | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Attack every example with every attack and return the run.

    victim: a name (`pocket`, `hf:...`, see the README), a victim object, or a function from texts to probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    attacks: names as on the command line, or attack objects.
    out: a run folder, which makes the run resumable; without one it lives in memory.
    goal: `untargeted`, `targeted:CLASS` or `below:PROBABILITY`; for input-reduction, whose own is `reduced:1`, also
    `reduced:WORDS`.
    budget: the most distinct texts one search may ask the victim.
    source: where replacement words come from, instead of each attack's own; constraints: in addition to each attack's
    own; stopwords: words left alone, instead of each attack's own ("none", a file, or words); all as objects of
    mohs.space, or as on the command line ("wordnet", "similarity>=0.9").
    entities: what replaces named entities, for pwws: a file as `mohs entities` writes it.
    measures: taken of each final text, beside those of the constraints ("grammar-errors", "perplexity").
    encoder, token_encoder, masked_lm, lm, tagger, grammar, vectors, wordnet, sememes: the models and word books that
    attacks ask, by name as on the command line, or the object itself.
    at_once: how many searches are alive at a time; by default as many as the victim's device likes.
    cache: a file of the victim's answers, shared between runs.

    >>> import mohs
    >>> run = mohs.attack("pocket", "pocket", ["random"], n=5)
    >>> len(list(run.records()))
    5
    """
    for name, value, least in (("n", n, 1), ("budget", budget, 1), ("at_once", at_once, 1)):
        if value is not None and value < least:
            raise BadInput(f"{name} is {value}; it must be at least {least}.")
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
    count, highest, digest = _survey(data)
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
    named = {
        "encoder": encoder,
        "token_encoder": token_encoder,
        "masked_lm": masked_lm,
        "lm": lm,
        "tagger": tagger,
        "grammar": grammar,
        "vectors": vectors,
        "wordnet": wordnet,
        "sememes": sememes,
    }
    kinds = dict.fromkeys(k for _, method in chosen for k in needs(method)) | dict.fromkeys(
        k for m in also for k in m.needs
    )
    parts = load_services(kinds, named, victim=model, device=device, trust_code=trust_code)
    victims = list(dict.fromkeys([service, judge]))
    others = [part for part in parts.values() if isinstance(part, Service)]

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
        **{k: _named(named[k] or DEFAULTS.get(k)) for k in sorted(parts) if k in named},
        "device": device,
        "labels": list(labels or model.labels),
        "victim_options": {k: v for k, v in (victim_options or {}).items() if k not in _PRIVATE},
        **_reading(data),
    }
    hashes = {
        "victim_fingerprint": model.fingerprint,
        "data_hash": digest,
        "examples": count,
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
    facts["notes"] = _remarks(parts, chosen, named)
    facts["versions"] = _versions()
    manifest = {"command": "attack", "config": config, "facts": facts}
    store = RunStore.open(Path(out) if out is not None else None, manifest, {**config, **hashes, "settings": settings})
    try:
        if steady:
            _same_as_before(store, judge)
        trials: list[Trial | Battery] = []
        for name, team in teams:
            members = tuple(
                Trial(n, m, model, service, judge, parts, classes, goals[n], seed, budget, also) for n, m in team
            )
            trials.append(members[0] if len(members) == 1 else Battery(name, members, budget))
        _drive(store, trials, data, count, victims, others, at_once or int(getattr(model, "crowd", 256)), progress)
    except BaseException:
        store.close()
        raise
    finally:
        if answers is not None:
            answers.close()
    return Run(store)


def _drive(
    store: RunStore,
    trials: Sequence[Trial | Battery],
    data: Dataset | list[Example],
    count: int,
    victims: Sequence[Service[Any, Any]],  # the victim's service, and its judge's where that is another
    others: Sequence[Service[Any, Any]],
    at_once: int,
    progress: Progress | None,
) -> None:
    done = store.done()
    finished, total = len(done), count * len(trials)
    if progress is not None:
        progress(None, finished, total)

    def searches() -> Iterator[tuple[int, Any]]:
        for trial in trials:
            for number, example in enumerate(data):
                if (trial.name, example.id) not in done:
                    yield number, trial(example)

    started, cpu = time.perf_counter(), time.process_time()
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_SELDOM)  # thousands of candidates live at once, and looking through them finds nothing
    try:
        for ended in engine.run(searches(), [*victims, *others], at_once):
            if ended.error is not None or ended.result is None:
                raise ended.error or AssertionError("a trial gave no record")
            store.add(ended.key, ended.result)
            finished += 1
            if progress is not None:
                progress(ended.result, finished, total)
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        store.spend(
            seconds=time.perf_counter() - started,
            cpu_seconds=time.process_time() - cpu,
            forwards=sum(s.forwards for s in victims),
            batches=sum(s.batches for s in victims),
            reused=sum(s.reused for s in victims),
        )


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
    elif not _alike(kept, answer):
        raise BadInput(
            f"{judge.model.name} no longer answers as it did when the cache {cache.path} was filled; name another file."
        )


def _same_as_before(store: RunStore, judge: Service[Fields, Scores]) -> None:
    """Before going on with a run, ask one of its originals again: a changed victim must not be mixed in."""
    record = next((r for r in store.records() if r.scores_before), None)
    if record is not None:
        (answer,) = judge.prove([record.original])
        if not _alike(record.scores_before, answer):
            raise BadInput(
                f"{judge.model.name} no longer answers as it did when {store.folder} was begun: example "
                f"{record.example_id} had {_short(record.scores_before)} and now has {_short(answer)}; "
                "choose another --out."
            )


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1e-3


def _short(scores: Sequence[float]) -> str:
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
