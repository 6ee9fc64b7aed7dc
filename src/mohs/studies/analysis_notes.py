"""What a reader of an analysis must know besides the figures."""

from __future__ import annotations

from collections.abc import Sequence

from mohs.studies.group_figures import GroupFigures
from mohs.studies.pool import Gathered
from mohs.studies.study import Study
from mohs.studies.validity import Rule
from mohs.studies.verdict_rule import is_direct

SIMULATED = "The judges are simulated: no figure here says anything about people."


def nothing_judged(study: Study, found: Gathered) -> str:
    """Why there is nothing to analyse, and what to do about it."""
    counted = found.counted
    told = f"Nobody has judged an item of {study.place} yet"
    if counted.whose == "simulated":
        return f"No simulated judge has judged an item of {study.place}; leave out --kind."
    if counted.set_aside or counted.left_out:
        return f"All judgements of {study.place} were set aside or left out; count some of them again."
    if counted.simulated:
        return f"{told}, and its simulated judges are only analysed with --kind simulated."
    if counted.model:
        return f"{told}, only models; ask people with `mohs study invite` and `mohs study serve`."
    return f"{told}; ask people with `mohs study invite` and `mohs study serve`, or import answers."


def notes_of(
    study: Study, found: Gathered, rule: Rule | None, groups: Sequence[GroupFigures], whole: GroupFigures
) -> list[str]:
    """The notes of an analysis."""
    counted, design = found.counted, study.design
    notes = []
    if counted.whose == "simulated":
        notes.append(SIMULATED)
    elif counted.simulated:
        notes.append(f"{counted.simulated:,} judgements of simulated judges are in no figure.")
    if not found.pool.named:
        notes.append(
            "Nobody knows which judgements come from one person, so intervals allow for other items alone and are too "
            "narrow if judges differ."
        )
    elif counted.judges == 1:
        notes.append("All judgements are one person's, so intervals allow for other items, and not for other judges.")
    main = {item.key for item in found.pool.main()}
    sizes: dict[str, int] = dict.fromkeys(main, 0)
    for one in found.pool.judgements:
        if one.item in main:
            sizes[one.item] += 1
    fewer = sum(size < design.judges for size in sizes.values())
    if fewer:
        notes.append(f"{fewer:,} of {len(main):,} items have fewer than the {design.judges} judges of the design.")
    if rule is not None and whole.valid.undecided:
        least = rule.least_judges
        notes.append(
            f"{whole.valid.undecided:,} judged items have fewer than {least} judges and no verdict (--least-judges)."
        )
    if rule is not None and not is_direct(design) and any(group.measured for group in groups):
        notes.append(
            "Valid attacks are computed from single changes (Eq. 6.2 of Hauser 2021), as if changes of an attack were "
            "independent and all alike. The thesis expects that to be too high for whole texts; it can also be too low."
        )
    if counted.people and counted.model:
        notes.append("Answers of models stand apart, and are in no figure of people.")
    return notes
