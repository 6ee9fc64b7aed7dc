"""The bias of a base and a debiased LSTM over gender pairs: Figures 5, 6 and 8 and Table 5 of Zhang et al. 2021."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sst2 import LABELS, Setting, trained

if TYPE_CHECKING:
    from mohs.bias import PairBias

# Table 5: sentences of the filtered set, and their neighbours at k = 3.
COUNTS = {
    ("he", "she"): (5, 325_401),
    ("his", "her"): (4, 255_245),
    ("him", "her"): (4, 233_803),
    ("men", "women"): (3, 192_504),
    ("man", "woman"): (3, 222_981),
    ("actor", "actress"): (2, 141_780),
}


def bias(setting: Setting, masked_lm: Any) -> None:
    """The base and the debiased LSTM over all of the dev part: two tables, and the page that sets them side by side."""
    import mohs
    from mohs.bias import pair_biases

    names = {"base": trained("bilstm", setting), "debiased": trained("bilstm", setting, debiased=True)}
    runs = {}
    for kind, victim in names.items():
        started = time.perf_counter()
        runs[kind] = mohs.token_bias(
            victim,
            setting.dev,
            "gender",
            k=setting.k,
            most=1_000 if setting.breadth < 800 else 1_000_000,
            breadth=setting.breadth,
            labels=LABELS,
            label="positive",
            out=setting.run(f"bias-{kind}-{setting.k}-{setting.breadth}"),
            device=setting.bias_device,
            masked_lm=masked_lm,
        )
        print(f"bias of the {kind} LSTM measured in {time.perf_counter() - started:.0f} s", flush=True)
    for epsilon, title in ((None, "all sentences"), (0.005, "sentences that the pair moves by less than 0.005")):
        print(f"\nBias, {title}:\n")
        print(bias_table({kind: pair_biases(run.records(), epsilon=epsilon) for kind, run in runs.items()}, setting.k))
    page = runs["debiased"].report(setting.out / f"bias{setting.mark}.html", against=runs["base"])
    print(f"\nFigures: {page}, as `mohs report {runs['debiased'].folder} --against {runs['base'].folder}` writes them.")
    for run in runs.values():
        run.close()


def bias_table(found: dict[str, list[PairBias]], k: int) -> str:
    """One row a pair with at least two sentences, and one for all pairs together."""
    heads = [f"{kind}, k={depth}" for kind in found for depth in range(k + 1)]
    lines = [
        f"| pair | sentences ({', '.join(found)}) | neighbours, k={k} | paper (filtered, k=3) | {' | '.join(heads)} |",
        "|---" * (4 + len(heads)) + "|",
    ]
    pairs = list(dict.fromkeys((one.old, one.new) for group in found.values() for one in group))
    cells = {
        (kind, pair): {one.k: one for one in group if (one.old, one.new) == pair}
        for kind, group in found.items()
        for pair in pairs
    }
    for pair in pairs:
        rows = [cells[kind, pair] for kind in found]
        if max(row[0].sentences if row else 0 for row in rows) < 2:
            continue
        lines.append(
            f"| {', '.join(pair)} | {', '.join(str(row[0].sentences) if row else '0' for row in rows)} "
            f"| {', '.join(f'{row[k].neighbours:,}' if k in row else '0' for row in rows)} "
            f"| {'{} → {:,}'.format(*COUNTS[pair]) if pair in COUNTS else ''} | "
            + " | ".join(signed(row.get(depth)) for row in rows for depth in range(k + 1))
            + " |"
        )
    lines.append(
        f"| all {len(pairs)} pairs | {', '.join(str(total(group, 0).sentences) for group in found.values())} "
        f"| {', '.join(f'{total(group, k).neighbours:,}' for group in found.values())} | 34 → 2,317,635 | "
        + " | ".join(f"{100 * total(group, d).bias:+.2f}" for group in found.values() for d in range(k + 1))
        + " |"
    )
    return "\n".join(lines)


@dataclass(frozen=True)
class Total:
    """All pairs at one distance."""

    sentences: int
    neighbours: int
    bias: float


def total(group: Iterable[PairBias], k: int) -> Total:
    """Pairs weigh by their neighbours, as sentences do in a pair."""
    level = [one for one in group if one.k == k]
    count = sum(one.neighbours for one in level)
    sizes = [one.size or one.neighbours for one in level]
    pooled = sum(one.bias * size for one, size in zip(level, sizes, strict=True))
    return Total(sum(one.sentences for one in level), count, pooled / sum(sizes) if count else 0.0)


def signed(one: PairBias | None) -> str:
    """A bias in points of probability, its interval, and a star where it holds for all pairs together."""
    if one is None:
        return "-"
    spread = f" [{100 * one.low:+.2f}, {100 * one.high:+.2f}]" if one.low == one.low else ""  # nan: too few
    return f"{100 * one.bias:+.2f}{spread}{'*' if one.holm < 0.05 else ''}"
