"""The tables of advglue.py: of what is there, beside those of Wang et al. 2021."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

# Table 3 of the paper: attack success and curated success in percent, of each attack, by task.
PRINTED = {
    "sst2": {
        "sememe-pso": (89.08, 8.29),
        "textfooler": (95.38, 8.97),
        "textbugger": (88.08, 8.85),
        "comp-attack": (31.91, 4.02),
        "bert-attack": (39.77, 4.04),
        "t3": (97.69, 10.45),
        "scpn": (65.37, 6.88),
        "adv-fever": (0.57, 0.23),
    },
    "rte": {
        "sememe-pso": (76.67, 6.20),
        "textfooler": (75.67, 8.14),
        "textbugger": (85.89, 10.03),
        "comp-attack": (73.36, 6.97),
        "bert-attack": (72.05, 5.58),
        "t3": (92.39, 7.05),
        "scpn": (88.45, 8.30),
        "adv-fever": (6.62, 2.53),
    },
    "qqp": {
        "sememe-pso": (45.86, 1.52),
        "textfooler": (48.59, 1.74),
        "textbugger": (57.92, 5.87),
        "comp-attack": (49.33, 3.05),
        "bert-attack": (43.66, 0.76),
        "t3": (48.20, 1.47),
        "scpn": (44.37, 1.50),
        "adv-fever": (0.30, 0.00),
    },
    "snli": {  # the paper's MNLI
        "sememe-pso": (78.45, 3.48),
        "textfooler": (61.50, 1.55),
        "textbugger": (69.35, 8.94),
        "comp-attack": (68.58, 3.11),
        "bert-attack": (65.02, 2.58),
        "t3": (91.23, 3.41),
        "scpn": (87.73, 6.75),
        "adv-fever": (2.25, 0.30),
    },
}
# Table 4: averages on AdvGLUE and on GLUE.
SYSTEMS = {
    "BERT (Large)": (33.68, 85.76),
    "RoBERTa (Large)": (50.21, 91.44),
    "SMART (BERT)": (30.29, 85.70),
    "SMART (RoBERTa)": (53.71, 92.62),
    "FreeLB (RoBERTa)": (50.47, 92.28),
    "InfoBERT (RoBERTa)": (46.04, 89.06),
}


def tables(folder: Path, scores: Path, victims: Sequence[str]) -> str:
    """All tables as Markdown."""
    about = json.loads((folder / "benchmark.json").read_text())
    parts = [
        ("Table 1: texts of each family", counts(about)),
        ("Table 3: in %, in brackets the paper's; THE JUDGES ARE SIMULATED", validity(about)),
    ]
    for where, title in (("own", "this benchmark"), ("advglue", "the published AdvGLUE dev set")):
        found = [json.loads(path.read_text()) for name in victims if (path := scores / f"{where}-{name}.json").exists()]
        if found:
            parts.append((f"Table 4: scores on {title}", systems(found, where)))
        if found and where == "own":
            parts.append(("Table 5: accuracy by family", families(found)))
    return "\n\n".join(f"**{title}**\n\n{body}" for title, body in parts)


def counts(about: dict[str, Any]) -> str:
    """How many texts of each family each task has, dev and test together."""
    by_task: dict[str, Counter[str]] = {}
    for one in about["table1"]:
        by_task.setdefault(one["task"], Counter()).update(one["families"])
    names = list(next(iter(by_task.values())))
    body = [[task, *(str(own[name]) for name in names), str(own.total())] for task, own in by_task.items()]
    totals = [sum(own[name] for own in by_task.values()) for name in names]
    return markdown(["task", *names, "all"], [*body, ["all", *map(str, totals), str(sum(totals))]])


def validity(about: dict[str, Any]) -> str:
    """Success, curated success and filter rate of each attack and task, beside the paper's; and what judges said."""
    rows = []
    for one in about["validity"]:
        printed = PRINTED.get(one["task"], {})
        if one["method"] == "average":
            success, curated = (fmean(pair[number] for pair in printed.values()) for number in (0, 1))
        else:
            success, curated = printed.get(one["method"], (None, None))
        rows.append(
            [
                one["task"],
                one["method"],
                beside(one["asr"], success),
                beside(one["curated_asr"], curated),
                beside(one["filter_rate"], None if not success else 100 * (1 - curated / success)),
                *(percent(one[name]["value"]) for name in ("kappa", "curated_kappa")),
                percent(one["human_accuracy"]["with_own"]["value"]),
            ]
        )
    judged = ["kappa", "curated kappa", "judges' accuracy"]
    return markdown(["task", "attack", "success", "curated success", "filter rate", *judged], rows)


def beside(share: float | None, printed: float | None) -> str:
    """A share, and in brackets the paper's percentage."""
    return percent(share) + ("" if printed is None else f" ({printed:.1f})")


def systems(found: Iterable[dict[str, Any]], where: str) -> str:
    """Scores of all victims; below them some of the paper's."""
    found = list(found)
    tasks = [task["task"] for task in found[0]["tasks"]]
    rows = []
    for one in found:
        by_task = {task["task"]: task for task in one["tasks"]}
        cells = [percent(by_task[task]["score"]["value"]) if task in by_task else "-" for task in tasks]
        low, high = one["average"]["interval"] or (0.0, 0.0)
        average = f"{percent(one['average']['value'])} [{100 * low:.1f}, {100 * high:.1f}]"
        benign = "-" if one["benign"] is None else percent(one["benign"]["value"])
        rows.append([one["name"], *cells, average, benign])
    if where == "advglue":
        for name, (robust, clean) in SYSTEMS.items():
            rows.append([f"{name}, printed, test set", *("" for _ in tasks), f"{robust:.1f}", f"{clean:.1f} (GLUE)"])
    return markdown(["victim", *tasks, "average", "benign"], rows)


def families(found: Iterable[dict[str, Any]]) -> str:
    """Accuracy by family of attacks: the mean over tasks."""
    found = list(found)
    names = list(dict.fromkeys(name for one in found for name in one["families"]))
    rows = [[one["name"], *(percent(one["families"].get(name, {}).get("value")) for name in names)] for one in found]
    means = [
        fmean(value for one in found if (value := one["families"].get(name, {}).get("value")) is not None)
        for name in names
    ]
    return markdown(["victim", *names], [*rows, ["mean", *map(percent, means)]])


def percent(value: float | None) -> str:
    """A share."""
    return "-" if value is None else f"{100 * value:.1f}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
