"""The model card: what a model was trained on, how well it does, and how to make it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_ABOUT = {
    "bow": "The mean of the word vectors and one hidden layer.",
    "cnn": "Filters over three, four and five words, with max pooling over the text (Kim 2014); a text of fewer than "
    "five words is padded to five.",
    "lstm": "One LSTM layer, with max pooling over the text.",
    "bilstm": "One LSTM layer in each direction, with max pooling over the text.",
    "transformer": "A transformer encoder trained from scratch, with learned positions and mean pooling over the text.",
}


def versions() -> dict[str, str]:
    """The versions of everything that affects the weights."""
    found = {"python": platform.python_version()}
    for name in ("mohs", "numpy", "safetensors", "tokenizers", "torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def card(facts: Mapping[str, Any]) -> str:
    """The text of README.md, from the facts of a finished training."""
    arch, metrics = facts["settings"]["arch"], facts["metrics"]
    lines = [f"# {arch}", "", _ABOUT.get(arch, f"{arch}, fine-tuned as a classifier."), ""]
    if arch in _ABOUT:
        lines += ["It reads lower-cased words, with a separator between the texts of a pair.", ""]
    lines += [f"Attack it with `mohs attack --victim {facts['victim']} --data ...`.", "", "## Accuracy", ""]
    lines += ["| part | right | of | share |", "|---|---|---|---|"]
    for name in ("dev", "test"):
        if name in metrics:
            right, of = metrics[name]["right"], metrics[name]["of"]
            lines.append(f"| {name} | {right} | {of} | {right / of:.2%} |")
    lines += [
        "",
        f"The weights are those of epoch {metrics['best_epoch']} of {len(metrics['history'])}, chosen by dev accuracy.",
        "",
        "| epoch | mean training loss | right of dev |",
        "|---|---|---|",
        *(f"| {number} | {loss:.4f} | {right} |" for number, (loss, right) in enumerate(metrics["history"], 1)),
        "",
        "## Data",
        "",
        "| part | source | examples | hash |",
        "|---|---|---|---|",
        *(f"| {name} | {d['source']} | {d['examples']} | {d['hash']} |" for name, d in facts["data"].items()),
        "",
        f"Learned from {_learned_from(facts)}. Classes: {', '.join(facts['labels'])}.",
        "",
        "## How it was made",
        "",
        f"```\n{facts['command']}\n```",
        "",
        "| setting | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in {**facts["settings"], **facts["about"]}.items()),
        f"| device | {facts['device']} |",
        *(f"| {name} | {value} |" for name, value in facts["versions"].items()),
        "",
    ]
    return "\n".join(lines)


def _learned_from(facts: Mapping[str, Any]) -> str:
    data = facts["data"]["train"]
    count = f"{data['learned_from']} examples"
    if "added" not in data:
        return count
    return f"{count}, including {data['added']} copies with swapped words (`--swap {facts['settings']['swap']}`)"
