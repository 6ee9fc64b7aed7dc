"""The examples of a training: training data, dev data for early stopping, and test data."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from mohs.errors import BadInput
from mohs.text import Example, pocket
from mohs.text.dataset import Dataset, examples_from

Source = str | Path | Dataset | Iterable[Any]


@dataclass(frozen=True)
class Parts:
    """Training, dev and test examples, the class names, and facts about the data."""

    train: list[Example]
    dev: list[Example]
    test: list[Example]
    labels: tuple[str, ...]
    facts: dict[str, dict[str, Any]]  # source, size and hash of each part; number of training examples


def read_parts(
    data: Source,
    dev: Source | None,
    test: Source | None,
    labels: Sequence[str],
    dev_share: float | None,
    seed: int,
    *,
    labels_used: bool = True,
) -> Parts:
    """Read and check everything before any work is done. Without dev data, a share of each class is set aside.

    labels_used: whether the training needs the classes; if not, all examples may be of one.
    """
    if dev is not None and dev_share is not None:
        raise BadInput("--dev names the dev data and --dev-share sets training data aside for it; give only one.")
    share = 0.1 if dev_share is None else dev_share
    if not 0 < share < 1:
        raise BadInput(f"--dev-share is {share}; it must be above 0 and below 1.")
    reader = data if isinstance(data, Dataset) else Dataset("the examples given")
    reader = replace(reader, labels=tuple(labels) or reader.labels)
    learned, about, made_from = _read(data, reader)
    named = reader.labels
    classes = _classes(learned, named, about["source"]) if labels_used else ()
    facts = {"train": about}
    if dev is None:
        learned, held = split(learned, share, seed, made_from)
        digest = Dataset("dev").survey(held)[2]
        facts["dev"] = {"source": f"drawn from these with seed {seed}", "examples": len(held), "hash": digest}
    else:
        held, facts["dev"], _ = _read(dev, replace(reader, n=None))
    facts["train"]["learned_from"] = len(learned)
    measured: list[Example] = []
    if test is not None:
        try:
            measured, facts["test"], _ = _read(test, replace(reader, n=None))
        except BadInput as error:  # its columns have options of their own
            raise BadInput(re.sub(r"--(text|label|id)-field", r"--test-\1-field", str(error))) from error
    for name, examples in (("dev", held), ("test", measured)):
        for example in examples:
            if labels_used and example.label >= len(classes):
                raise BadInput(
                    f"The {name} example {example.id!r} has label {example.label}, but the training data has "
                    f"{len(classes)} classes (0 to {len(classes) - 1})."
                )
        if examples and len(examples[0].names) != len(learned[0].names):
            raise BadInput(
                f"The {name} data has the fields {', '.join(examples[0].names)}, but the training data has "
                f"{', '.join(learned[0].names)}; give both the same number of texts."
            )
    return Parts(learned, held, measured, classes, facts)


def split(
    examples: list[Example], share: float, seed: int, made_from: Mapping[str, str] | None = None
) -> tuple[list[Example], list[Example]]:
    """Set aside a share of each class, drawn with a seed. Both parts keep the order of the data.

    made_from: for copies, as `mohs augment` writes them, the id of what they were made from. Copies are not set aside,
    and copies of what is set aside are not learnt: they would tell the answers.
    """
    roots = [_root(example.id, made_from or {}) for example in examples]
    firsts = {root: number for number, root in reversed(list(enumerate(roots)))}
    by_class: dict[int, list[int]] = defaultdict(list)
    for number in sorted(firsts.values()):
        by_class[examples[number].label].append(number)
    aside: set[int] = set()
    for label, numbers in sorted(by_class.items()):
        size = min(
            max(1, round(share * len(numbers))), len(numbers) - 1
        )  # keep at least one of each class for training
        aside.update(Random(f"{seed}/dev/{label}").sample(numbers, size))
    if not aside:
        raise BadInput(
            f"The {len(examples)} examples have one of each class, so none can be set aside for dev; "
            "give more, or name dev data with --dev."
        )
    gone = {roots[number] for number in aside}
    kept = [example for example, root in zip(examples, roots, strict=True) if root not in gone]
    return kept, [examples[number] for number in sorted(aside)]


def _root(name: str, made_from: Mapping[str, str]) -> str:
    """The id of the original that a copy, or a copy of copies, was made from."""
    seen = {name}
    while (name := made_from.get(name, name)) not in seen:
        seen.add(name)
    return name


def _read(source: Source, reader: Dataset) -> tuple[list[Example], dict[str, Any], dict[str, str]]:
    """The examples, facts about them, and what copies were made from.

    A plain path is read with the settings of the training data.
    """
    examples: list[Example]
    made_from: dict[str, str] = {}
    if isinstance(source, (str, Path, Dataset)):
        if isinstance(source, Dataset):
            dataset = replace(source, labels=source.labels or reader.labels)
        else:
            dataset = replace(reader, source=str(source))
        examples = []
        for example, row in dataset.with_rows():
            examples.append(example)
            if "origin" in row and example.id.startswith(f"{row.get('from')}+"):
                made_from[example.id] = str(row["from"])
    else:
        dataset = Dataset("the examples given")
        given: Any = source
        examples = examples_from(given, reader.labels)
    count, _, digest = dataset.survey(examples)
    return examples, {"source": dataset.source, "examples": count, "hash": digest}, made_from


def _classes(examples: list[Example], labels: tuple[str, ...], source: str) -> tuple[str, ...]:
    """The class names; numbers if no names are given."""
    present = {example.label for example in examples}
    if len(present) == 1:
        raise BadInput(
            f"{source} has only one class (label {present.pop()} in all {len(examples)} examples); "
            "give examples of at least two."
        )
    highest = max(present)
    if labels:
        if highest >= len(labels):
            raise BadInput(f"{source} has a label {highest}, but --labels names {len(labels)} classes.")
        return labels
    missing = next((label for label in range(highest) if label not in present), None)
    if missing is not None:
        raise BadInput(
            f"{source} has label {highest} but no label {missing}; number the classes from 0 without gaps, "
            "or name all of them with --labels."
        )
    if source.partition(":")[0] == "pocket":
        return pocket.LABELS
    return tuple(str(label) for label in range(highest + 1))
