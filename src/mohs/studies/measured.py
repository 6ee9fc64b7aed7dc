"""Fair success of a run, measured by the people of a study that was drawn from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.measured import NO_VERDICT, ByPeople, Measured, Share
from mohs.runs.run import Run
from mohs.studies.analysis_notes import nothing_judged
from mohs.studies.drawing import ATTACKED
from mohs.studies.item import Item
from mohs.studies.pool import Pool, gathered
from mohs.studies.ratings import Estimate
from mohs.studies.study import Study
from mohs.studies.validity import Rule, fair_attacks, fair_success, valid_attacks, validity, verdicts
from mohs.studies.verdict_rule import expected_of, is_direct, judged_valid, rule_of, rule_told

Key = tuple[str, str]  # attack and example


def measured_by(study: Study | str | Path, run: Run, *, threshold: float | None = None) -> ByPeople:
    """What the people of a study say about the successes of a run, for `run.report(measured=...)`.

    Attack success is that of the run; the share of it that is valid is that of the successes which people judged. Where
    they judged single changes, it is computed from these (Hauser et al. 2021, Eq. 6.2).

    study: a Study, its folder, or its PostgreSQL address. It must have been drawn from this run.
    threshold: instead of the one in the design's rule of validity.
    """
    if not isinstance(study, Study):
        with Study.open(study) as opened:
            return measured_by(opened, run, threshold=threshold)
    if run.command != "attack":
        raise BadInput(
            f"{run.folder or 'This run'} is a run of `mohs {run.command}`; people measure the fair success of runs of "
            "`mohs attack`."
        )
    rule = rule_of(study.design, threshold)
    if rule is None:
        raise BadInput(
            f"The design {study.design.name} of {study.place} says nowhere when an item is valid, so it measures no "
            "fair success; use a study with a rule `valid`."
        )
    found = gathered(study, "people")
    records = {(one.attack, one.example_id): one for one in run.records()}
    groups = _groups(study, found.pool, run, records)
    if not groups:
        raise BadInput(_another(study, run))
    by_attack = {attack: _measured(found.pool, items, rule, records, attack) for attack, items in groups.items()}
    if not any(one.judgements for one in by_attack.values()):
        raise BadInput(nothing_judged(study, found))
    return ByPeople(study.place, by_attack, tuple(_notes(study, found.pool, by_attack, records)))


def _groups(study: Study, pool: Pool, run: Run, records: Mapping[Key, Record]) -> dict[str, list[Item]]:
    """The items of each attack of the run. Texts decide what belongs to it, so that folders may be moved.

    Of two groups that fit, the one from a folder of this name is taken.
    """
    facts: Mapping[str, Mapping[str, Any]] = study.source.get("groups") or {}
    found: dict[str, list[Item]] = {}
    for name, told in sorted(facts.items(), key=lambda pair: str(pair[1].get("run")) != str(run.folder or "")):
        attack = str(told.get("attack", name))
        items = [item for item in pool.main() if item.group == name]
        fits = all(_is_of(item, records.get((attack, str(item.facts.get("example"))))) for item in items)
        if items and fits:
            found.setdefault(attack, items)
    return found


def _is_of(item: Item, record: Record | None) -> bool:
    """Whether an item shows the success in a record."""
    return (
        record is not None
        and record.outcome is Outcome.SUCCESS
        and item.facts.get("original") == list(record.original)
        and item.facts.get("final") == list(record.perturbed or ())
    )


def _another(study: Study, run: Run) -> str:
    drawn = [str(one) for one in study.source.get("runs") or () if one]
    origin = f"was drawn from {' and '.join(drawn)}" if drawn else "was not drawn from a run in a folder"
    own = run.folder or "this run"
    remedy = f"make a study of it with `mohs study new --from {own}`" if run.folder else "make a study of it"
    return f"{study.place} {origin}, and its items are not the successes of {own}; {remedy}."


def _measured(pool: Pool, items: Sequence[Item], rule: Rule, records: Mapping[Key, Record], attack: str) -> Measured:
    design = pool.design
    own = [record for (name, _), record in records.items() if name == attack]
    counts = Counter(record.outcome for record in own)
    successes, attacked = counts[Outcome.SUCCESS], sum(counts[outcome] for outcome in ATTACKED)
    about = judged_valid(design, items)
    expected = expected_of(design, about)
    ratings = pool.ratings(about)
    valid = validity(ratings, rule, expected)
    held = verdicts(ratings, rule, expected)
    direct = is_direct(design)
    if direct:
        attacks: Estimate = valid
        fair = fair_success(successes, attacked, valid)
    else:
        changes = Counter(len(record.edits) for record in own if record.outcome is Outcome.SUCCESS)
        attacks, fair = valid_attacks(valid, changes), fair_attacks(valid, changes, attacked)
    return Measured(
        fair=_share(fair),
        successes_valid=_share(attacks),
        judged_valid=_share(valid),
        way="directly" if direct else "by formula",
        attacked=attacked,
        successes=successes,
        judged=valid.items,
        valid=valid.valid,
        undecided=valid.undecided,
        judgements=len(ratings.values),
        people=ratings.n_judges,
        design=design.name,
        rule=rule_told(design, rule),
        errors=counts[Outcome.ERROR],
        said=_said(about, held, direct),
    )


def _share(found: Estimate) -> Share:
    return Share(found.value, found.low, found.high)


def _said(items: Iterable[Item], held: Mapping[str, bool | None], direct: bool) -> dict[str, str]:
    """What people said of each success: of the whole, or of so many of its changes."""
    by_example: dict[str, list[bool | None]] = {}
    for item in items:
        if item.key in held:
            by_example.setdefault(str(item.facts["example"]), []).append(held[item.key])
    found = {}
    for example, own in by_example.items():
        decided = [verdict for verdict in own if verdict is not None]
        if not decided:
            found[example] = NO_VERDICT
        elif direct:
            found[example] = "valid" if decided[0] else "not valid"
        else:
            found[example] = f"{sum(decided)} of {len(decided)} valid"
    return found


def _notes(study: Study, pool: Pool, found: Mapping[str, Measured], records: Mapping[Key, Record]) -> list[str]:
    notes = []
    left = sorted({attack for attack, _ in records} - set(found))
    if left:
        notes.append(f"The study {study.place} has no item of {', '.join(left)}: no fair success is measured there.")
    if not is_direct(pool.design):
        notes.append(
            "Measured fair success is computed from single changes (Eq. 6.2 of Hauser 2021), as if changes of an "
            "attack were independent and all alike. The thesis expects that to be too high for whole texts; it can "
            "also be too low."
        )
    if pool.design.items == "texts":
        notes.append(
            "People said which texts look altered, not whether the meaning is kept; so measured fair success counts "
            "successes that do not look altered."
        )
    if not pool.named:
        notes.append(
            "Nobody knows which judgements of the study come from one person, so intervals of measured fair success "
            "are too narrow if judges differ."
        )
    return notes
