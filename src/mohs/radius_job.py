"""`mohs.radius`, made ready."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mohs.attacks.catalogue import identity, members_of
from mohs.attacks.method import Attack, needs
from mohs.bounds import Prover, RadiusTask, Share
from mohs.bounds.share import Shares, checked, together
from mohs.errors import BadInput
from mohs.job import Examples, Job, named_models, subject_of, written
from mohs.models.victim import Victim
from mohs.resources import load_services
from mohs.space import Constraint, Source, parse_constraint, parse_source
from mohs.text.stopwords import ENGLISH, read_stopwords

SOURCE = "neighbours:k=5,min_cosine=0.5"
_TIMED = 8  # examples at once where each has a time limit, which the others' work counts against
_FEWER = 16  # than attacks: each asks thousands of texts together


def radius_job(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    *,
    source: str | Source | None,
    constraints: Sequence[str | Constraint],
    stopwords: str | Path | Iterable[str] | None,
    attacks: Sequence[str | Attack],
    max_r: int,
    most: int,
    seconds: float | None,
    bounds: bool,
    share: Share | str | int | Sequence[Share | str | int] | None,
    all_together: bool,
    seed: int,
    n: int | None,
    models: Mapping[str, Any],
    device: str,
    labels: Sequence[str],
    victim_options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
    at_once: int | None,
    cache: str | Path | None,
) -> Job:
    """Load and check everything that `mohs.radius` needs; for its arguments see there."""
    asked = checked(share)
    if all_together and not asked:
        raise BadInput("There are no intervals to hold together; ask for a share too (--pac).")
    source = SOURCE if source is None else source
    chosen = parse_source(source) if isinstance(source, str) else source
    obeyed = tuple(parse_constraint(c) if isinstance(c, str) else c for c in constraints)
    for constraint in obeyed:
        if not constraint.about_words:
            raise BadInput(
                f"{written(constraint)} judges whole texts, and a radius is over a space of words; use a constraint on "
                "words such as word-cosine, or judge the texts afterwards."
            )
    if seconds is not None and not seconds > 0:
        raise BadInput(f"The time limit is {seconds}; it must be above 0.")
    teams = [members_of(attack) for attack in attacks]
    members = tuple((name, _in_space(method, chosen)) for _, team in teams for name, method in team)
    for name, method in members:
        if getattr(method, "living", False):
            raise BadInput(f"{name} makes its words up as it goes, so it has no fixed space; use pdp or textfooler.")
        if hasattr(method, "goal"):
            raise BadInput(f"{name} is after something else than another label; use pdp or textfooler.")
        if [other for other, _ in members].count(name) > 1:
            raise BadInput(f"The attack {name} is named twice; name it once.")
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
    for name, method in members:
        if subject.model.hard and method.needs_scores:
            raise BadInput(f"{name} steers by the victim's scores, and {subject.model.name} gives labels only.")
    kinds = [*chosen.needs, *(k for c in obeyed for k in c.measure.needs), *(k for _, m in members for k in needs(m))]
    parts = load_services(dict.fromkeys(kinds), models, victim=subject.model, device=device, trust_code=trust_code)
    avoided = ENGLISH if stopwords is None else read_stopwords(stopwords)
    task = RadiusTask(
        name="radius",
        source=chosen,
        constraints=obeyed,
        stopwords=avoided,
        attacks=members,
        model=subject.model,
        victim=subject.service,
        judge=subject.judge,
        services=parts,
        classes=subject.classes,
        prover=Prover(max_r, most),
        seconds=seconds,
        bounds=bounds,
        steady=subject.steady,
        sheets=subject.sheets,
        share=_measured(together(asked, subject.examples) if all_together else asked),
        seed=seed,
    )
    config = {
        **subject.config,
        "attacks": ["radius"],
        "attack": [name for name, _ in teams],
        "source": source if isinstance(source, str) else written(source),
        "constraints": [written(c) for c in obeyed],
        "stopwords": str(stopwords) if isinstance(stopwords, str | Path) else None if stopwords is None else "given",
        "max_r": max_r,
        "most": most,
        "time_limit": seconds,
        "bounds": bounds,
        **_share(asked, all_together),
        "seed": seed,
        **named_models(parts, models),
    }
    some = _TIMED if seconds is not None else max(1, int(getattr(subject.model, "crowd", 256)) // _FEWER)
    settings = {
        "space": [identity(chosen), *map(repr, obeyed), sorted(avoided)],
        "uppers": [identity(method) for _, method in members],
    }
    return subject.job([task], parts, config, settings, {"notes": []}, at_once or some)


def _in_space(method: Any, source: Source) -> Any:
    """An attack that searches the space it is given: what its own would need is not asked for."""
    return replace(method, source=source, constraints=()) if hasattr(method, "source") else method


def _measured(shares: tuple[Share, ...]) -> Share | Shares | None:
    """What the task calls: one share, or several at once."""
    return shares[0] if len(shares) == 1 else Shares(shares) if shares else None


def _share(shares: tuple[Share, ...], all_together: bool) -> dict[str, Any]:
    """Their settings, as the command line names them."""
    if not shares:
        return {"pac": False}
    first = shares[0]
    radii = first.r if len(shares) == 1 else [share.r for share in shares]
    options = {"r": radii, "epsilon": first.epsilon, "delta": first.delta, "interval": first.method, "draws": first.n}
    return {"pac": True, **options, "together": all_together}
