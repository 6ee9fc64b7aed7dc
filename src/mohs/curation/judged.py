"""The fourth stage: texts whose label judges agree on, and agree with (AdvGLUE, 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mohs.curation.config import Config
from mohs.curation.item import Dropped, Item, Vote, in_chance
from mohs.curation.stage import Outcome
from mohs.studies.agreement import consensus

BY_DEFINITION, NOBODY = "by definition", "nobody"
NOT_SEEN = "not drawn for the judges"
WHO = {"study": "people", "judgements": "imported", "simulated": "simulated", "none": NOBODY}


def to_judge(config: Config, items: Sequence[Item]) -> tuple[list[Item], list[Dropped]]:
    """The items that judges see, and those that were not drawn because there is a limit."""
    certain = {one.name for one in config.attacks if one.by_definition}
    asked = [item for item in items if item.method not in certain]
    most = config.limits.most_judged
    if most is None or config.judging.by == "none":
        return asked, []
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in asked:
        groups.setdefault((item.task, item.method), []).append(item)
    drawn = {
        item.id
        for group in groups.values()
        for item in sorted(group, key=lambda item: in_chance(config.seed, "judged", item.id))[:most]
    }
    left = [Dropped(item, NOT_SEEN) for item in asked if item.id not in drawn]
    return [item for item in asked if item.id in drawn], left


def judged(config: Config, items: Sequence[Item], votes: Mapping[str, tuple[Vote, ...]]) -> Outcome:
    """Keep the items on whose original label enough judges agree."""
    asked, dropped = to_judge(config, items)
    seen = {item.id for item in asked}
    left = {one.item.id for one in dropped}
    who = WHO[config.judging.by]
    kept: list[Item] = []
    for item in items:
        if item.id in left:
            continue
        if item.id not in seen:
            kept.append(replace(item, judged=BY_DEFINITION))
            continue
        given = replace(item, votes=votes.get(item.id, ()), judged=who)
        reason, more = ("", "") if config.judging.by == "none" else _why_not(config, given)
        if reason:
            dropped.append(Dropped(given, reason, more))
        else:
            kept.append(given)
    order = {item.id: place for place, item in enumerate(items)}
    dropped.sort(key=lambda one: order[one.item.id])
    return Outcome(kept, dropped)


def _why_not(config: Config, item: Item) -> tuple[str, str]:
    """Why judges reject an item; empty if they do not."""
    labels = [float(label) for _, label in item.votes]
    if len(labels) < config.judging.agreeing:
        return "too few judges", str(len(labels))
    agreed = consensus(labels, config.judging.agreeing)
    if agreed is None:
        return "no consensus", ""
    if agreed != item.label:
        return "another label", config.task(item.task).labels[int(agreed)]
    return "", ""
