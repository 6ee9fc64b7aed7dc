"""Draws the items of a study from finished runs, and notes what the figures will need of the runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from mohs.attacks.goal import keeps_label
from mohs.audits.columns import texts_of
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.runs.run import Run, sound
from mohs.second_order.finding import SecondOrderFinding
from mohs.studies.design import Design
from mohs.studies.item import Item, Role
from mohs.text import Text

_TRAINING_POOL = 5  # training items to draw from, for each that an annotator gets
ATTACKED = (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED, Outcome.DETECTED)

VERSIONS = ("x", "x+p", "x~", "x~+p")  # the original and its neighbour, without and with the synonym p
Labelled = tuple[str, int]


@dataclass(frozen=True)
class Group:
    """The successes of one attack of one run."""

    name: str
    attack: str
    run: Run = field(repr=False)
    records: tuple[Record, ...] = field(repr=False)  # all of the attack, without errors

    @property
    def successes(self) -> list[Record]:
        """The adversarial examples."""
        return [one for one in self.records if one.outcome is Outcome.SUCCESS and one.perturbed is not None]

    def facts(self) -> dict[str, Any]:
        """What the figures need of the run, besides the items drawn."""
        return {
            "attack": self.attack,
            "run": str(self.run.folder or ""),
            "attacked": sum(one.outcome in ATTACKED for one in self.records),
            "successes": len(self.successes),
            "changes": {str(n): k for n, k in sorted(Counter(len(one.edits) for one in self.successes).items())},
        }


@dataclass(frozen=True)
class Drawn:
    """The items of a new study."""

    design: Design
    items: list[Item]
    source: dict[str, Any]
    notes: list[str]


def drawn(runs: Sequence[Run], design: Design, *, seed: int = 0, unchanged: Sequence[Labelled] | None = None) -> Drawn:
    """Draw a study's items from runs.

    unchanged: texts with their labels, for the training and the accuracy of a label study. By default those originals
    of the runs are used whose adversarial text was not drawn.
    """
    if design.items != "versions" and len(design.questions) > 1:
        raise BadInput(
            f"The design {design.name} has {len(design.questions)} questions, and with `items: {design.items}` one is "
            "asked about what a run gives; make a design, and a study, for each."
        )
    groups = _groups(runs, design)
    labels = tuple(str(label) for label in runs[0].manifest.get("config", {}).get("labels") or ())
    for run in runs[1:]:
        own = tuple(str(label) for label in run.manifest.get("config", {}).get("labels") or ())
        if design.items == "labels" and own != labels:
            raise BadInput(f"{run.folder} has other classes than {runs[0].folder}; make a study for each.")
    design = design.with_labels(labels)
    items: list[Item] = []
    notes: list[str] = []
    for group in groups:
        found, note = _DRAW[design.items](group, design, Random(f"{seed}/study/{group.name}"))
        items += found
        notes += [f"{group.name}: {note}"] if note else []
    if not items:
        raise BadInput("The runs have no success that this design can show; attack more examples.")
    items += control_items(design)
    source: dict[str, Any] = {
        "runs": [str(run.folder or "") for run in runs],
        "victims": [str(run.manifest.get("config", {}).get("victim", "")) for run in runs],
        "data": [str(run.manifest.get("config", {}).get("data", "")) for run in runs],
        "groups": {group.name: group.facts() for group in groups},
        "labels": list(labels),
    }
    if design.items == "labels":
        more, examples, note = _unchanged(groups, items, design, seed, unchanged)
        items += more
        notes += [note] if note else []
        source["examples"] = examples
    return Drawn(design, items, source, notes)


def control_items(design: Design) -> list[Item]:
    """The design's items with known answers."""
    return [
        Item(f"control {number}", design.questions[0].name, control.texts, "", Role.CONTROL, control.expected)
        for number, control in enumerate(design.controls, 1)
    ]


def _groups(runs: Sequence[Run], design: Design) -> list[Group]:
    if not runs:
        raise BadInput("No run was given; name the folder of a finished run with --from.")
    wanted = "second-order" if design.items == "versions" else "attack"
    found: list[tuple[str, Run, tuple[Record, ...]]] = []
    for run in runs:
        if run.command != wanted:
            raise BadInput(
                f"{run.folder or 'The run'} is a run of `mohs {run.command}`, and the design {design.name} shows the "
                f"successes of `mohs {wanted}`."
            )
        with sound(run):
            records = [one for one in run.records() if one.outcome is not Outcome.ERROR]
            attacks = dict.fromkeys(one.attack for one in records)
            for attack in attacks:
                if wanted == "attack" and keeps_label(run.goal_of(attack)):
                    continue
                found.append((attack, run, tuple(one for one in records if one.attack == attack)))
    times = Counter(attack for attack, _, _ in found)
    groups = []
    for number, (attack, run, own) in enumerate(found, 1):
        folder = run.folder.name if run.folder else f"run {number}"
        groups.append(Group(attack if times[attack] == 1 else f"{folder}: {attack}", attack, run, own))
    if len({group.name for group in groups}) < len(groups):
        raise BadInput("Two of the runs have the same name and the same attack; rename one folder.")
    return groups


def shown(names: Sequence[str], fields: Sequence[str]) -> str:
    """A text as people see it; of several fields, each after its name."""
    if len(fields) == 1:
        return fields[0]
    return "\n".join(f"{name}: {field}" for name, field in zip(names, fields, strict=True))


def _facts(record: Record, group: Group, **more: Any) -> dict[str, Any]:
    facts = {
        "attack": group.attack,
        "example": record.example_id,
        "source": hashlib.sha256("\n".join(record.original).encode("utf-8", "surrogatepass")).hexdigest()[:12],
        "label": record.label,
        "changes": len(record.edits),
        "original": list(record.original),
        "final": list(record.perturbed or ()),
    }
    if len(record.edits) == 1:
        (edit,) = record.edits
        facts |= {"old": edit.old, "new": edit.new, "position": edit.position}
    return facts | more


def _drawn(group: Group, design: Design, random: Random) -> tuple[list[Record], str]:
    """The successes drawn, and a note if there are fewer than wanted."""
    successes = group.successes
    note = "" if len(successes) >= design.n else f"{len(successes)} successes, {design.n} wanted; all are taken."
    return random.sample(successes, min(design.n, len(successes))), note


def _pairs(group: Group, design: Design, random: Random) -> tuple[list[Item], str]:
    records, note = _drawn(group, design, random)
    name = design.questions[0].name
    return [
        Item(
            f"{group.name}/{one.example_id}",
            name,
            (shown(one.names, one.original), shown(one.names, one.perturbed or ())),
            group.name,
            facts=_facts(one, group),
        )
        for one in records
    ], note


def _changes(group: Group) -> tuple[list[tuple[Record, Text, int]], int]:
    """Every single change of every success, and the successes that do not correspond word by word."""
    found: list[tuple[Record, Text, int]] = []
    odd = 0
    for record in group.successes:
        original, final = texts_of(record)
        if not record.edits or not original.same_shape(final):
            odd += 1
            continue
        found += [(record, original, edit.position) for edit in record.edits if edit.new]
    return found, odd


def _of_changes(
    make: Callable[[Text, int, str, Design], tuple[str, str]],
) -> Callable[[Group, Design, Random], tuple[list[Item], str]]:
    """Items about single changes. make: the two texts of one."""

    def draw(group: Group, design: Design, random: Random) -> tuple[list[Item], str]:
        changes, odd = _changes(group)
        chosen = random.sample(changes, min(design.n, len(changes)))
        items = []
        for record, original, position in chosen:
            new = next(edit.new for edit in record.edits if edit.position == position)
            facts = _facts(record, group, old=original.words[position], new=new, position=position)
            key = f"{group.name}/{record.example_id}/{position}"
            texts = make(original, position, new, design)
            items.append(Item(key, design.questions[0].name, texts, group.name, facts=facts))
        notes = [f"{len(changes)} changes, {design.n} wanted; all are taken."] if len(changes) < design.n else []
        notes += [f"{odd} successes do not correspond word by word and are left out."] if odd else []
        return items, " ".join(notes)

    return draw


def _words(original: Text, position: int, new: str, design: Design) -> tuple[str, str]:
    return original.words[position], new


def _fragment(original: Text, position: int, new: str, design: Design) -> tuple[str, str]:
    """The words around one change, before and after it; other changes of the attack are not shown."""
    changed = original.replace(position, new)
    return original.around(position, design.window).strip(), changed.around(position, design.window).strip()


def _texts(group: Group, design: Design, random: Random) -> tuple[list[Item], str]:
    """Originals and final texts, one by one. The first answer is right for originals, the second for final texts."""
    records, note = _drawn(group, design, random)
    question = design.questions[0]
    if len(question.values) != 2:
        raise BadInput(f"The design {design.name} shows single texts, so its question needs exactly two answers.")
    items = []
    for one in records:
        for truth, fields, right in zip(
            ("real", "altered"), (one.original, one.perturbed or ()), question.values, strict=True
        ):
            key = f"{group.name}/{one.example_id}/{truth}"
            text, facts = shown(one.names, fields), _facts(one, group, truth=truth)
            items.append(Item(key, question.name, (text,), group.name, expected=(right,), facts=facts))
    return items, note


def _versions(group: Group, design: Design, random: Random) -> tuple[list[Item], str]:
    records, note = _drawn(group, design, random)
    items = []
    for one in records:
        finding = one.finding
        if not isinstance(finding, SecondOrderFinding):
            raise BadInput(f"The run {group.run.folder} has a success without its patch words; run it again.")
        patch = finding.patch
        first, second = Text(*one.original), Text(*(one.perturbed or ()))
        texts = (first, patch.applied(first), second, patch.applied(second))
        for version, text in zip(VERSIONS, texts, strict=True):
            for question in design.questions:
                key = f"{group.name}/{one.example_id}/{version}/{question.name}"
                facts = _facts(one, group, version=version, patch=[patch.old, patch.new])
                items.append(Item(key, question.name, (shown(one.names, text.fields),), group.name, facts=facts))
    return items, note


def _labels(group: Group, design: Design, random: Random) -> tuple[list[Item], str]:
    records, note = _drawn(group, design, random)
    return [
        Item(
            f"{group.name}/{one.example_id}",
            design.questions[0].name,
            (shown(one.names, one.perturbed or ()),),
            group.name,
            expected=(design.questions[0].values[one.label],),
            facts=_facts(one, group),
        )
        for one in records
    ], note


_DRAW: dict[str, Callable[[Group, Design, Random], tuple[list[Item], str]]] = {
    "pairs": _pairs,
    "words": _of_changes(_words),
    "fragments": _of_changes(_fragment),
    "texts": _texts,
    "versions": _versions,
    "labels": _labels,
}


def _unchanged(
    groups: Sequence[Group], items: Sequence[Item], design: Design, seed: int, given: Sequence[Labelled] | None
) -> tuple[list[Item], list[dict[str, Any]], str]:
    """Unchanged texts for the instructions, the training and the accuracy of people; no text serves twice."""
    question = design.questions[0]
    keys = {item.key for item in items}
    used = {
        shown(record.names, record.original)
        for group in groups
        for record in group.records
        if f"{group.name}/{record.example_id}" in keys
    }
    pool = list(dict.fromkeys(given if given is not None else _originals(groups)))
    pool = [one for one in pool if one[0] not in used and 0 <= one[1] < len(question.values)]
    pool.sort()
    Random(f"{seed}/study/unchanged").shuffle(pool)
    examples: list[dict[str, Any]] = []
    for number, answer in enumerate(question.answers):
        own = [text for text, label in pool if label == number][: design.examples]
        examples.append({"label": answer.label, "texts": own})
        pool = [one for one in pool if one[0] not in own]
    training = design.training
    wanted = training.items * _TRAINING_POOL if training else 0
    if training and len(pool) < wanted + design.accuracy:  # a small run: people are trained first
        wanted = max(training.items, len(pool) - design.accuracy)
    parts = ((Role.TRAINING, pool[:wanted]), (Role.ACCURACY, pool[wanted : wanted + design.accuracy]))
    found = [
        Item(f"{role} {number}", question.name, (text,), str(role), role, (question.values[label],), {"label": label})
        for role, part in parts
        for number, (text, label) in enumerate(part, 1)
    ]
    counts = Counter(item.role for item in found)
    short = [
        f"{len(one['texts'])} {'example' if len(one['texts']) == 1 else 'examples'} of {one['label']} instead of "
        f"{design.examples}"
        for one in examples
        if len(one["texts"]) < design.examples
    ]
    if training and counts[Role.TRAINING] < training.items:
        short.append(f"{counts[Role.TRAINING]} training texts instead of {training.items}")
    if counts[Role.ACCURACY] < design.accuracy:
        short.append(f"{counts[Role.ACCURACY]} texts for people's accuracy instead of {design.accuracy}")
    if training and not counts[Role.TRAINING]:
        raise BadInput("There is no unchanged text left for the training; give a file of labelled texts with --dev.")
    note = f"Only {', '.join(short)}: give a file of labelled texts with --dev." if short else ""
    return found, examples, note


def _originals(groups: Sequence[Group]) -> Iterator[Labelled]:
    for group in groups:
        for record in group.records:
            yield shown(record.names, record.original), record.label


def opened(places: Sequence[str | Path | Run]) -> list[Run]:
    """The runs in these folders."""
    return [one if isinstance(one, Run) else Run.open(one) for one in places]
