"""`mohs.token_bias`, made ready."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from mohs.attacks.trial import seen_by
from mohs.bias import BiasTask, Pairs, read_pairs
from mohs.bias.statistics import check_epsilon
from mohs.errors import BadInput, ServiceFailed
from mohs.job import Examples, Job, Subject, answered, crowd, known_to, named_models, subject_of
from mohs.models.victim import Victim
from mohs.resources import load_services
from mohs.space import Services
from mohs.space.natural import Neighbourhood, size_of
from mohs.text import Example
from mohs.text.stopwords import read_words

_LOOKED_AT = 8  # examples by which the size of neighbourhoods is estimated
_NAMED = 5  # of the pairs that fit nowhere; the manifest has all


def bias_job(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    pairs: str | Path | Pairs,
    *,
    k: int,
    label: str | int | None,
    epsilon: float,
    both_directions: bool,
    blacklist: str | Path | Iterable[str] | None,
    floor: float | None,
    most: int,
    breadth: int,
    seed: int,
    n: int | None,
    budget: int | None,
    models: Mapping[str, Any],
    device: str,
    labels: Sequence[str],
    victim_options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
    at_once: int | None,
    cache: str | Path | None,
) -> Job:
    """Load and check everything that `mohs.token_bias` needs; for its arguments see there."""
    chosen = pairs if isinstance(pairs, Pairs) else read_pairs(pairs)
    check_epsilon(epsilon)
    if isinstance(labels, str):
        labels = labels.split(",")
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
    avoid = frozenset[str]()
    if blacklist is not None:
        avoid = read_words(blacklist, "blacklist", "name a text file of words")
    near = Neighbourhood(avoid=avoid, floor=floor)
    if k and models.get("masked_lm") is None:
        raise BadInput(
            "This needs a masked language model, and none is given; use --masked-lm hf:PATH_OR_ID, or -k 0, which "
            "needs none."
        )
    kinds = dict.fromkeys(near.needs) if k else {}
    parts = load_services(kinds, models, victim=subject.model, device=device, trust_code=trust_code)
    name = f"bias:{chosen.name}"
    task = BiasTask(
        name=name,
        pairs=chosen,
        model=subject.model,
        victim=subject.service,
        judge=subject.judge,
        services=parts,
        label=_number(label, subject),
        k=k,
        near=near,
        most=most,
        breadth=breadth,
        seed=seed,
        budget=budget,
        both_directions=both_directions,
    )
    found, used = [], set[tuple[str, str]]()
    for example in subject.data:
        if fits := task.fits(example):
            found.append(example)
            used.update(fits)
    unused = [pair for pair in chosen.pairs if pair not in used]
    if not found:
        raise BadInput(
            f"None of the {len(chosen.pairs)} pairs of {chosen.name} fits any of the {subject.examples} examples: the "
            "first word must stand in one exactly once, and the second not at all; name other pairs or more data."
        )
    notes = _notes(chosen, unused)
    if k:
        known_to(parts["masked_lm"], {word for pair in used for word in pair})
        *smaller, texts = _estimate(task, found, Services(parts, Random(0)))
        if budget is not None and texts > budget:
            fewer = max((step for step, size in enumerate(smaller) if size <= budget), default=None)
            raise BadInput(
                f"k={k} asks the victim about {texts:,.0f} texts for an example, and --budget is {budget:,}; use "
                f"{'' if fewer is None else f'-k {fewer}, '}a smaller --breadth or --most, or a larger budget."
            )
        notes.append(
            f"About {texts:,.0f} texts were expected around each example with a pair ({len(found):,} of them)."
        )
    config = {
        **subject.config,
        "attacks": [name],
        "pairs": str(pairs) if isinstance(pairs, str | Path) else chosen.name,
        "k": k,
        "label": task.label,
        "epsilon": epsilon,
        "both_directions": both_directions,
        "blacklist": str(blacklist) if isinstance(blacklist, str | Path) else None if blacklist is None else "given",
        "floor": floor,
        "most": most,
        "breadth": breadth,
        "seed": seed,
        "budget": budget,
        **named_models(parts, models),
    }
    settings = {"pairs_hash": chosen.fingerprint, "avoid": sorted(avoid)}
    facts = {"notes": notes, "unused_pairs": ["|".join(pair) for pair in unused]}
    return subject.job([task], parts, config, settings, facts, at_once or crowd(subject))


def _notes(chosen: Pairs, unused: Sequence[tuple[str, str]]) -> list[str]:
    """What is to be said of the pairs."""
    notes = []
    if chosen.headed:
        first, second = chosen.pairs[0]
        notes.append(
            f"The first pair of {chosen.name}, {first}|{second}, looks like a header and is taken as a pair; if it is "
            "a header, take it out of the file."
        )
    if unused:
        names = ", ".join("|".join(pair) for pair in unused[:_NAMED])
        more = f" and {len(unused) - _NAMED} more" if len(unused) > _NAMED else ""
        notes.append(f"{len(unused)} of {len(chosen.pairs)} pairs fit no example: {names}{more}.")
    return notes


def _number(label: str | int | None, subject: Subject) -> int:
    """The class whose probability is looked at, by name or number; by default the last."""
    known = subject.labels
    if label is None:
        return subject.classes - 1
    if isinstance(label, str) and label in known:
        return known.index(label)
    if not str(label).isdigit() or int(label) >= subject.classes:
        named = ", ".join(known) if known else f"0 to {subject.classes - 1} without names; name them with --labels"
        raise BadInput(f"There is no label {label!r}: {subject.model.name} has the classes {named}.")
    return int(label)


def _estimate(task: BiasTask, found: Sequence[Example], ask: Services) -> list[float]:
    """About how many texts the victim is asked for an example, up to each k: each with both words of each pair."""
    totals = []
    for example in found[:_LOOKED_AT]:
        positions = seen_by(task.model, example)[1:]
        near = replace(task.near, avoid=task.near.avoid | task.pairs.blacklist)
        try:
            first = answered(size_of(example.text, 1, near, positions, ask), ask)
        except ServiceFailed:
            raise
        except Exception:  # that example will say so itself
            continue
        fits = task.fits(example)
        sizes = [1.0]
        for step in range(task.k):
            size = sizes[-1] * first / (step + 1)
            sizes.append(size if size <= task.most else min(size, task.breadth * first))
        texts = len(fits) + len({old for old, _ in fits})
        totals.append([texts * size for size in accumulate(sizes)])
    return [sum(column) / len(totals) for column in zip(*totals, strict=True)] or [0.0] * (task.k + 1)
