"""`mohs.attack`, made ready."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mohs.attacks.battery import Battery
from mohs.attacks.catalogue import identity, members_of
from mohs.attacks.goal import parse_goal
from mohs.attacks.method import Attack, goal_of, needs
from mohs.attacks.named_entities import NamedEntities
from mohs.attacks.trial import Trial
from mohs.errors import BadInput
from mohs.job import Examples, Job, named, named_models, subject_of, written
from mohs.models.victim import Victim
from mohs.resources import load_services
from mohs.space import Constraint, Measure, Source, parse_constraint, parse_measure, parse_source
from mohs.text.stopwords import read_stopwords


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
    subject = subject_of(
        victim,
        examples,
        n=n,
        device=device,
        labels=labels,
        victim_options=victim_options,
        trust_pickle=trust_pickle,
        trust_code=trust_code,
        cache=cache,
    )
    model, classes = subject.model, subject.classes
    for name, method in chosen:
        if model.hard and method.needs_scores:
            raise BadInput(
                f"{name} steers by the victim's scores, and {model.name} gives labels only; "
                "use --attack random, or a victim that gives scores."
            )
    goal = _by_number(goal, labels or model.labels)
    goals = {name: goal_of(name, method, goal) for name, method in chosen}
    for each in dict.fromkeys([goal, *goals.values()]):
        parse_goal(each, 0, classes, labels or model.labels)
    kinds = dict.fromkeys(k for _, method in chosen for k in needs(method)) | dict.fromkeys(
        k for m in also for k in m.needs
    )
    parts = load_services(kinds, models, victim=model, device=device, trust_code=trust_code)

    config = {
        **subject.config,
        "attacks": [name for name, _ in plain],
        "goal": goal,
        "seed": seed,
        "budget": budget,
        "source": written(source),
        "constraints": [written(c) for c in constraints],
        "measures": [written(m) for m in measures],
        "stopwords": str(stopwords) if isinstance(stopwords, str | Path) else None if stopwords is None else "given",
        **({} if known is None else {"entities": known.path}),
        **named_models(parts, models),
    }
    aims = {n: f" for {aim}" if aim != goal else "" for n, aim in goals.items()}
    settings = {name: "; ".join(identity(method) + aims[n] for n, method in team) for name, team in teams}
    boxes = {n: "white" if any("gradients" in needs(m) for _, m in team) else "black" for n, team in teams}
    facts = {
        "boxes": boxes,
        "goals": {name: goals[team[0][0]] for name, team in teams},
        "notes": _remarks(parts, chosen, models),
    }
    trials: list[Trial | Battery] = []
    for name, team in teams:
        members = tuple(
            Trial(n, m, model, subject.service, subject.judge, parts, classes, goals[n], seed, budget, also)
            for n, m in team
        )
        trials.append(members[0] if len(members) == 1 else Battery(name, members, budget))
    return subject.job(trials, parts, config, {"settings": settings}, facts, at_once)


def _by_number(goal: str, labels: Sequence[str]) -> str:
    """`targeted:NAME` with the number of the class."""
    kind, _, name = goal.partition(":")
    return f"{kind}:{list(labels).index(name)}" if kind == "targeted" and name in labels else goal


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
        suffix += f"+{written(source)}"
    added = tuple(parse_constraint(c) if isinstance(c, str) else c for c in constraints)
    suffix += "".join(f"+{written(c)}" for c in constraints)
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


def _remarks(parts: Mapping[str, Any], chosen: Sequence[tuple[str, Any]], models: Mapping[str, Any]) -> list[str]:
    """What was left out in reading word books, and what was named but is asked by nobody."""
    sources = [source for _, method in chosen for source in getattr(method.source, "sources", (method.source,))]
    books = [*parts.values(), *(getattr(source, "book", None) for source in sources)]
    found = [note for book in books for note in getattr(book, "notes", ())]
    for kind, given in models.items():
        if given is not None and kind not in parts:
            found.append(f"--{kind.replace('_', '-')} {named(given)} is given, but nothing in this run asks it.")
    return list(dict.fromkeys(found))
