"""Bias over the word groups of CheckList, and how often their words come with each label in training.

Figure 7 and Table 7 of Zhang et al. 2021: the base LSTM, over the dev part as it is, with the groups of Ribeiro et al.
2020.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sst2 import LABELS, Setting, table, trained

GROUPS = ("sexual_adj", "religion_adj", "religion", "nationality", "country", "male", "female")
PRINTED = {"gay": (37, 20), "straight": (71, 18)}  # Table 7: negative, positive
PAIR = ("gay", "straight")
LARGE = 30  # words of a group; beyond, k is at most 1: every text is asked with every word


def groups(setting: Setting, masked_lm: Any, names: Sequence[str] | None) -> None:
    """A run, a page and a table for each group, and the counts of all of their words."""
    from mohs.bias import label_counts, read_pairs
    from mohs.errors import BadInput

    victim = trained("bilstm", setting)
    words: list[str] = []
    for name in names or GROUPS:
        pairs = read_pairs(f"{setting.assets / 'bias' / 'checklist_lexicons.json'}:{name}")
        try:
            group(name, victim, pairs, setting, masked_lm)
        except BadInput as error:  # no sentence holds one of its words
            print(f"\n{name}: {error}", flush=True)
        words += [word for some in pairs.groups.values() for word in some]
    print(f"\n{counts_table(label_counts(training(setting), words))}")


def group(name: str, victim: str, pairs: Any, setting: Setting, masked_lm: Any) -> None:
    """The run, the page and the table of one group."""
    import mohs

    started = time.perf_counter()
    k = min(setting.k, 1) if max(map(len, pairs.groups.values())) > LARGE else setting.k
    with mohs.token_bias(
        victim,
        setting.dev,
        pairs,
        k=k,
        most=1_000 if setting.breadth < 800 else 1_000_000,
        breadth=setting.breadth,
        labels=LABELS,
        label="positive",
        out=setting.run(f"bias-{name}-{k}-{setting.breadth}"),
        device=setting.bias_device,
        masked_lm=masked_lm,
    ) as run:
        page = run.report(setting.out / f"bias-{name}{setting.mark}.html")
        found = run.words()
        two = [one for one in run.biases() if (one.old, one.new) == PAIR]
    print(f"\n{name}: {time.perf_counter() - started:.0f} s; {page}\n\n{word_table(found, k)}", flush=True)
    if two:
        print("\n" + "; ".join(f"{'|'.join(PAIR)}, k = {one.k}: {signed(one)}" for one in two), flush=True)


def word_table(found: Sequence[Any], k: int) -> str:
    """One row a word: how far it lies from the mean of its group."""
    by_word: dict[str, dict[int, Any]] = {}
    for one in found:
        by_word.setdefault(one.new, {})[one.k] = one
    rows = [
        [word, str(levels[0].sentences), *(signed(levels.get(depth)) for depth in range(k + 1))]
        for word, levels in sorted(by_word.items(), key=lambda item: -item[1][max(item[1])].bias)
    ]
    return table(["word", "sentences", *(f"k = {depth}" for depth in range(k + 1))], rows)


def signed(one: Any) -> str:
    """A bias in points of probability, its interval, and a star where it holds for all words together."""
    if one is None:
        return "-"
    spread = f" [{100 * one.low:+.2f}, {100 * one.high:+.2f}]" if one.low == one.low else ""
    return f"{100 * one.bias:+.2f}{spread}{'*' if one.holm < 0.05 else ''}"


def counts_table(counts: dict[str, dict[int, int]], least: int = 10) -> str:
    """Words that training has at least some times, with the number of examples of each label."""
    rows = [
        [word, str(each.get(0, 0)), str(each.get(1, 0)), "{}, {}".format(*PRINTED[word]) if word in PRINTED else ""]
        for word, each in sorted(counts.items(), key=lambda item: -sum(item[1].values()))
        if sum(each.values()) >= least or word in PRINTED
    ]
    return table(["word", "negative", "positive", "paper"], rows)


def training(setting: Setting) -> Any:
    """All of the training part, not only what the victim was trained on: what the paper counts."""
    from mohs.text.dataset import Dataset

    return Dataset(setting.train)
