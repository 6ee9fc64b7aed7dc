"""How many successes would people accept? Attacks loose and with --fair, beside what papers say about validity.

    python reproductions/validity.py --assets DIR [--quick] [--data mr ag_news] [--attacks textfooler pwws ...]

DIR holds data/, lexical/ and models/ as for first_order.py, whose victims and folders this uses: CNNs trained on first
use, runs kept under --out and resumed. --quick: 50 examples, victims trained on 2,000 rows, at most 500 queries an
example. `valid of successes` is fair success over success; `by 004` is Hauser et al.'s formula, the sum over numbers of
changes i of (share of successes with i changes) * (mean probability of a changed word)^i.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from first_order import LABELS, Setting, trained

ATTACKS = (
    "textfooler textfooler:adjusted pwws pwws:cos50 bert-attack bert-attack:cos50 bae genetic genetic:adjusted".split()
)
SAID = {  # what papers say of the validity of these attacks' successes; scales and questions differ from the judge's
    "textfooler": "about 4% valid at T_h = 5 (004); MR: meaning kept 2.82 (1 is best, 5 worst), "
    "errors added in 35.5% (003)",
    "pwws": "slightly less than TextFooler's 4% (004)",
    "bert-attack": "under 2% (004)",
    "bae": "about 1% (004)",
    "genetic": "IMDB: meaning kept 3.41, Yelp 3.62 (1 is best, 5 worst; 003)",
}


@dataclass(frozen=True)
class Row:
    """One attack on one victim."""

    success: str
    fair: str
    valid: str
    formula: str
    words: str


def row_of(run: Any, name: str) -> Row:
    """The figures of one attack of a run."""
    from mohs.report.verdicts import Verdicts

    summary = next(s for s in run.summary() if s.attack == name)
    verdicts = Verdicts(record for record in run.records() if record.attack == name)
    judged = [
        words
        for r in run.records()
        if r.attack == name and r.outcome == "success" and (words := verdicts.words(r)) and verdicts.text(r) is not None
    ]
    fair, success = summary.fair, summary.success
    low, high = fair.interval or (0.0, 0.0)
    changes = Counter(map(len, judged))
    every = [value for words in judged for value in words]
    mean = sum(every) / len(every) if every else 0.0
    formula = sum(count * mean**number for number, count in changes.items()) / max(1, len(judged))
    unjudged = f", {fair.unjudged} not judged" if fair.unjudged else ""
    return Row(
        f"{success.value:.1%} ({success.hits}/{success.total})" if success.total else "-",
        f"{fair.expected / fair.total:.1%} [{100 * low:.1f}, {100 * high:.1f}]{unjudged}" if fair.total else "-",
        f"{fair.expected / fair.judged:.0%}" if fair.judged else "-",
        f"{formula:.0%}" if judged else "-",
        f"{summary.words_changed.value:.1f}" if summary.words_changed.value is not None else "-",
    )


def attacked(data: str, victim: str, attack: str, setting: Setting) -> list[tuple[str, Row]]:
    """The rows of an attack, loose and fair, which share a run folder."""
    import mohs
    from mohs.text.dataset import Dataset

    folder = setting.out / "validity" / f"{data}-{attack.replace(':', '-')}-{setting.n}"
    with mohs.attack(
        victim,
        Dataset(setting.test(data), n=setting.n, sample=0),
        [attack, f"{attack}+fair"],
        labels=LABELS[data],
        out=folder,
        budget=setting.budget,
        device=setting.device,
        **setting.services(),
    ) as run:
        return [(name, row_of(run, name)) for name in run.manifest["tasks"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/ and models/")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions"))
    parser.add_argument("--data", nargs="+", default=["mr", "ag_news"], choices=LABELS)
    parser.add_argument("--attacks", nargs="+", default=ATTACKS)
    parser.add_argument("--n", type=int, default=100, help="examples")
    parser.add_argument("--budget", type=int, help="queries an example")
    parser.add_argument("--encoder", default="minilm", help="for similarity: an asset, hf:PATH or pocket")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.n, options.encoder, options.budget = 50, "pocket", 500
    setting = Setting(
        options.assets, options.out, options.n, options.budget, options.encoder, None, "", options.device, options.quick
    )
    options.out.mkdir(parents=True, exist_ok=True)
    lines = []
    for data in options.data:
        victim, about = trained(data, "cnn", setting)
        print(about, flush=True)
        for attack in options.attacks:
            for name, row in attacked(data, victim, attack, setting):
                said = SAID.get(attack.partition(":")[0], "") if ":" not in attack and "+" not in name else ""
                lines.append(
                    f"| {data} | {name} | {row.success} | {row.fair} | {row.valid} | {row.formula} | {row.words} "
                    f"| {said} |"
                )
                print(lines[-1], flush=True)
    print("\n| data | attack | success | fair success | valid of successes | by 004 | words | papers |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
