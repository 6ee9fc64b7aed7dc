"""Measure judges of substitutions on people's judgements.

    python -m scripts.measure_judge --data swords-v1.1_test.json.gz --judge hf:PATH [--n 5000] [--sample 0]

Prints AUC and calibration error of each judge (repeat --judge; the bundled one is always measured) on the same rows,
and the AUC of the sum of their log-odds. Values are those of `acceptable` for a text with one changed word.
"""

from __future__ import annotations

import argparse
from random import Random

import numpy as np

from mohs.report.judged import word_values
from mohs.text import Text
from mohs.training.acceptability import figures
from mohs.training.calibrating import auc
from mohs.training.judgements import Judgement, read_judgements


def pair(judgement: Judgement) -> tuple[Text, Text] | None:
    """The original and the changed text; None if the target is a part of a word."""
    text = Text(judgement.context)
    span = 0, judgement.start, judgement.end
    if span not in (spans := text.spans()):
        return None
    return text, text.replace(spans.index(span), judgement.substitute)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--judge", action="append", default=[])
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    everything = read_judgements(options.data)
    rows = Random(options.sample).sample(everything, min(options.n, len(everything)))
    pairs = [pair(row) for row in rows]
    rows = [row for row, found in zip(rows, pairs, strict=True) if found]
    print(f"{len(rows)} rows; left out {len(pairs) - len(rows)} whose target is a part of a word")
    said = {}
    for name in ["pocket", *options.judge]:
        values = word_values([found for found in pairs if found], name)
        assert None not in values
        said[name] = np.array([value[0] if value else 1.0 for value in values])  # 1 if the word is the same
    judged = np.all([np.isfinite(values) for values in said.values()], axis=0)
    print(f"left out {(~judged).sum()} on which a judge has no opinion")
    rows = [row for row, kept in zip(rows, judged, strict=True) if kept]
    said = {name: values[judged] for name, values in said.items()}
    for name, kept_values in said.items():
        found = figures(kept_values, rows)
        print(f"\n{name}: AUC {found['auc']:.4f}   ECE {found['ece']:.4f}   accepted {found['accepted']}")
        print("  said found count")
        for point in found["reliability"]:
            print("  {:.3f} {:.3f} {}".format(*point))
    odds = [np.log(p) - np.log1p(-p) for p in (np.clip(values, 1e-4, 1 - 1e-4) for values in said.values())]
    both = auc(np.sum(odds, axis=0).tolist(), [row.accepted for row in rows])
    print(f"\nsum of the log-odds: AUC {both:.4f}")


if __name__ == "__main__":
    main()
