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
_WORDS = "A layer and a ReLU for each single word, then the mean over the text of"
_VERIFIABLE = {
    "bow": f"{_WORDS} the words, and one hidden layer. `mohs certify` knows bounds for it.",
    "cnn": f"{_WORDS} filters over three words, and one hidden layer. `mohs certify` knows bounds for it.",
    "lstm": f"{_WORDS} an LSTM's states, and one hidden layer. `mohs certify` knows bounds for it.",
    "bilstm": f"{_WORDS} the states of an LSTM in each direction, and one hidden layer. `mohs certify` knows bounds "
    "for it.",
    "transformer": "A transformer encoder whose LayerNorm does not divide by the variance, averaged over the text. "
    "`mohs certify` knows bounds for it.",
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
    about = _VERIFIABLE if facts["settings"].get("verifiable") else _ABOUT
    lines = [f"# {arch}", "", about.get(arch, f"{arch}, fine-tuned as a classifier."), ""]
    if arch in _ABOUT:
        lines += ["It reads lower-cased words, with a separator between the texts of a pair.", ""]
    lines += [f"Attack it with `mohs attack --victim {facts['victim']} --data ...`.", "", "## Accuracy", ""]
    lines += ["| part | right | of | share |", "|---|---|---|---|"]
    for name in ("dev", "test"):
        if name in metrics:
            right, of = metrics[name]["right"], metrics[name]["of"]
            lines.append(f"| {name} | {right} | {of} | {right / of:.2%} |")
    if "certified" in metrics:
        right, of = metrics["certified"]["right"], metrics["certified"]["of"]
        lines.append(f"| dev, certified by the bounds it was trained with | {right} | {of} | {right / of:.2%} |")
        lines += [*_epochs(metrics, "certified accuracy", "certified of dev"), ""]
    else:
        lines += [*_epochs(metrics, "accuracy", "right of dev"), ""]
    lines += [
        "## Data",
        "",
        "| part | source | examples | hash |",
        "|---|---|---|---|",
        *(f"| {name} | {d['source']} | {d['examples']} | {d['hash']} |" for name, d in facts["data"].items()),
        "",
        f"Learned from {_learned_from(facts)}. Classes: {', '.join(facts['labels'])}.",
        *_cost(facts),
        "",
        *_made(facts),
        "",
    ]
    return "\n".join(lines)


def judge_card(facts: Mapping[str, Any]) -> str:
    """The text of README.md for a judge of substitutions."""
    settings, metrics = facts["settings"], facts["metrics"]
    parts = [name for name in ("dev", "test") if name in metrics]
    lines = [
        f"# {settings['arch']} as a judge of substitutions",
        "",
        "It gives the probability that at least half of the people asked would accept one word for another where it "
        "stands. judge.json has the form of its input and its calibration.",
        "",
        f"Use it with `mohs attack --measure acceptable --judge {facts['judge']} ...`.",
        "",
        "## How good it is",
        "",
        "| part | substitutes | accepted | AUC | calibration error |",
        "|---|---|---|---|---|",
    ]
    for name in parts:
        found = metrics[name]
        lines.append(f"| {name} | {found['of']} | {found['accepted']} | {found['auc']:.3f} | {found['ece']:.3f} |")
    lines += ["", "The values for dev come from calibration curves that did not see the target."]
    for name in parts:
        lines += ["", f"| said, {name} | found | substitutes |", "|---|---|---|"]
        lines += [f"| {said:.3f} | {found:.3f} | {count} |" for said, found, count in metrics[name]["reliability"]]
    lines += _epochs(metrics, "AUC", "AUC on dev")
    lines += ["", "## Data", "", "| part | source | judgements | words in context | hash |", "|---|---|---|---|---|"]
    for name, data in facts["data"].items():
        lines.append(f"| {name} | {data['source']} | {data['examples']} | {data['targets']} | {data['hash']} |")
    lines += ["", f"Learned from {facts['data']['train']['learned_from']} judgements.", "", *_made(facts), ""]
    return "\n".join(lines)


def paraphraser_card(facts: Mapping[str, Any]) -> str:
    """The text of README.md for a paraphraser with structures."""
    metrics = facts["metrics"]
    dev = metrics["dev"]
    cosine = "none" if dev["cosine"] is None else f"{dev['cosine']:.3f}"
    lines = [
        f"# {facts['settings']['arch']} as a paraphraser",
        "",
        "It reads a structure and a text, as in `[S(PP , NP VP .)] he left in 1990 .`, and writes the text in it.",
        "",
        f"Use it with `mohs attack --attack scpn:paper --paraphraser {facts['paraphraser']} ...`.",
        "",
        "## How good it is",
        "",
        f"On sentences that it did not learn from: {dev['right']} of {dev['of']} tokens right, each after the right "
        "ones before it.",
        "",
        f"It was asked for {dev['asked']} texts. {dev['finished']} were finished, {dev['same']} of them word by word "
        f"as in the data. Their mean cosine with the text that was asked about is {cosine} ({dev['encoder']}).",
        *_epochs(metrics, "tokens", "tokens right on dev"),
        "",
        "## Data",
        "",
        "| part | source | pairs |",
        "|---|---|---|",
        *(f"| {name} | {data['source']} | {data['pairs']} |" for name, data in facts["data"].items()),
        *_cost(facts),
        "",
        *_made(facts),
        "",
    ]
    return "\n".join(lines)


def trees_card(facts: Mapping[str, Any]) -> str:
    """The text of README.md for a tree auto-encoder."""
    metrics = facts["metrics"]
    parts = [name for name in ("dev", "test") if name in metrics]
    lines = [
        "# A tree auto-encoder",
        "",
        "It turns a sentence into the vector of its dependency tree's root, and decodes it down the same tree (T3).",
        "",
        f"Use it with `mohs attack --attack t3 --autoencoder {facts['autoencoder']} ...`.",
        "",
        "## How much it gives back",
        "",
        "Tokens of sentences of at most 15 words that it did not learn from, decoded from the vector and the tree "
        "alone. Unknown words count as wrong.",
        "",
        "| part | right | of | share | unknown words | sentences |",
        "|---|---|---|---|---|---|",
    ]
    for name in parts:
        m = metrics[name]
        share = f"{m['right'] / m['of']:.2%}"
        lines.append(f"| {name} | {m['right']} | {m['of']} | {share} | {m['unknown']} | {m['sentences']} |")
    lines += [
        *_epochs(metrics, "tokens given back", "tokens given back of dev"),
        "",
        "## Data",
        "",
        "| part | source | examples | hash |",
        "|---|---|---|---|",
        *(f"| {name} | {d['source']} | {d['examples']} | {d['hash']} |" for name, d in facts["data"].items()),
        "",
        f"Learned from {facts['sentences']:,} sentences, parsed by {facts['parser']}.",
        *_cost(facts),
        "",
        *_made(facts),
        "",
    ]
    return "\n".join(lines)


def _epochs(metrics: Mapping[str, Any], chosen: str, title: str) -> list[str]:
    history = metrics["history"]
    return [
        "",
        f"The weights are those of epoch {metrics['best_epoch']} of {len(history)}, chosen by dev {chosen}.",
        "",
        f"| epoch | mean training loss | {title} |",
        "|---|---|---|",
        *(f"| {number} | {loss:.4f} | {right} |" for number, (loss, right) in enumerate(history, 1)),
    ]


def _made(facts: Mapping[str, Any]) -> list[str]:
    return [
        "## How it was made",
        "",
        f"```\n{facts['command']}\n```",
        "",
        "| setting | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in {**facts["settings"], **facts["about"]}.items()),
        f"| device | {facts['device']} |",
        *(f"| {name} | {value} |" for name, value in facts["versions"].items()),
    ]


def _cost(facts: Mapping[str, Any]) -> list[str]:
    seconds = facts.get("seconds") or []
    if not seconds:
        return []
    mean = sum(seconds) / len(seconds)
    lines = ["", f"An epoch took {mean:.2f} seconds on average, {sum(seconds):.1f} in all, without measuring."]
    if "made" in facts:
        lines += ["", f"Adversarial texts made before each epoch: {', '.join(map(str, facts['made']))}."]
    return lines


def _learned_from(facts: Mapping[str, Any]) -> str:
    data = facts["data"]["train"]
    parts = []
    if "added" in data:
        parts.append(f"{data['added']} copies with swapped words (`--swap {facts['settings']['swap']}`)")
    if "adversarial" in data:
        found = data["adversarial"]
        parts.append(f"{found['texts']} adversarial ones by {found['attack']} (adversarial.jsonl)")
    return f"{data['learned_from']} examples" + (f", including {' and '.join(parts)}" if parts else "")
