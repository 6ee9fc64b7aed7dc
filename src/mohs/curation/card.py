"""The data card: README.md, whose head tells `datasets.load_dataset` where the tasks are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from mohs.curation.config import Config
from mohs.curation.counts import Rows, families_of
from mohs.curation.folder import DATA, PRIVATE
from mohs.curation.rows import columns
from mohs.curation.tables import agreement_table, counts_table, drops_table, validity_table

_LICENCE_ID = re.compile(r"[A-Za-z0-9.+-]+")


def card(config: Config, about: Mapping[str, Any], rows: Rows) -> str:
    """The file's content."""
    head = yaml.safe_dump(_head(config, about, rows), sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{head}---\n\n" + "\n".join(_body(config, about)).rstrip() + "\n"


def _head(config: Config, about: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    configs, infos = [], []
    for task, parts in rows.items():
        there = [split for split, own in parts.items() if own]
        files = [{"split": split, "path": f"{DATA}/{task}/{split}.jsonl"} for split in there]
        configs.append({"config_name": task, "data_files": files})
        infos.append({"config_name": task, "features": _features(about["tasks"][task])})
    head: dict[str, Any] = {"pretty_name": config.name}
    if _LICENCE_ID.fullmatch(config.licence):
        head["license"] = config.licence.lower()
    elif config.licence:  # the Hub knows ids alone; other words stand beside `other`
        head |= {"license": "other", "license_name": config.licence}
    head |= {"task_categories": ["text-classification"], "tags": ["adversarial", "robustness"]}
    return {**head, "configs": configs, "dataset_info": infos}


def _features(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, (kind, _, _) in columns(task["names"]).items():
        if name == "label":
            names = {str(number): label for number, label in enumerate(task["labels"])}
            found.append({"name": name, "dtype": {"class_label": {"names": names}}})
        else:
            found.append({"name": name, "dtype": kind})
    return found


def _body(config: Config, about: Mapping[str, Any]) -> Iterable[str]:
    yield f"# {config.name}\n"
    if config.about:
        yield f"{config.about}\n"
    for note in about["notes"]:
        yield f"> **Note.** {note}\n"
    yield "Adversarial texts for measuring how robust classifiers are, made as AdvGLUE was (Wang et al. 2021): of what"
    yield "attacks find on several surrogate models, only texts stay that fool all of them, that are near enough to"
    yield f"their originals, and that pass the judges. Version {config.version}, made with {about['made_with']}; the"
    yield f"hash of all rows is `{about['hash'][:16]}`.\n"
    first = next(iter(about["tasks"]), "TASK")
    yield f'```python\nimport datasets\n\ndatasets.load_dataset("FOLDER", "{first}")["test"]\n```\n'
    yield "## Tasks\n"
    yield from _table(
        ("task", "kind", "texts", "labels", "metrics", "source", "licence of the source", "surrogates"),
        (
            (
                name, task["kind"], ", ".join(task["names"]), ", ".join(task["labels"]), ", ".join(task["metrics"]),
                task["data"], task["licence"] or "not stated",
                "; ".join(f"{key}: {spec}" for key, spec in task["surrogates"].items()),
            )
            for name, task in about["tasks"].items()
        ),
    )  # fmt: skip
    yield "## Counts\n"
    yield "Texts by kind of perturbation, as in Table 1 of the paper.\n"
    yield from _table(*counts_table(about, families_of(config)))
    yield "## How the attacks fared\n"
    yield f"{_rule(config)} The columns are those of Table 3 of the paper: shares are means over surrogates.\n"
    yield from _table(*validity_table(about))
    yield "## What the filters took\n"
    yield "Shares as in section 3.4 of the paper; what was dropped, and why, is in `stages/`.\n"
    yield from _table(*drops_table(about))
    yield "## Agreement\n"
    yield "Of the judges, before and after curation, over all attacks of a task.\n"
    yield from _table(*agreement_table(about))
    yield "## Methods\n"
    yield from _table(
        ("name", "attack or file", "class", "family", "licence"),
        (
            (m["name"], m["attack"], m["class"], m["family"], m.get("licence", "") or _unstated(m))
            for m in about["methods"]
        ),
    )
    yield "## Columns\n"
    yield from _columns(about)
    yield "## Splits\n"
    yield f"dev has the texts made of {config.split:.0%} of the benign sources, test the others, so no source is on"
    yield "both sides; examples that people made are divided at random."
    if config.hide_test:
        yield f"The labels of test are hidden (-1). Whoever scores predictions needs the folder `{PRIVATE}`, which is"
        yield "not for publishing."
    yield "\n## Licence\n"
    yield f"{config.licence or 'Not stated'}. The sources keep their own licences (see Tasks and Methods).\n"


def _columns(about: Mapping[str, Any]) -> Iterable[str]:
    names = list(dict.fromkeys(name for task in about["tasks"].values() for name in task["names"]))
    yield from _table(("column", "what it is"), ((f"`{name}`", told) for name, (_, _, told) in columns(names).items()))


def _unstated(method: Mapping[str, Any]) -> str:
    """Attacks have no licence, and sets should have one."""
    return "not stated" if method["class"] == "human" else ""


def _rule(config: Config) -> str:
    judging = config.judging
    if judging.by == "none":
        return "Nobody judged the texts."
    who = {"study": "People", "judgements": "Judges", "simulated": "Simulated judges"}[judging.by]
    return (
        f"{who} gave each text a label: it stays if at least {judging.agreeing} of {judging.judges} agree, and on the "
        "label of the original."
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterable[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(_cell(value) for value in row)} |"
    yield ""


def _cell(value: object) -> str:
    """A cell that cannot break out of its table."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "&lt;")
