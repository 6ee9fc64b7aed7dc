"""Set the judge's values for whole texts beside what people said about whole texts.

    python -m scripts.judge_texts --assets DIR

DIR/human/morris2020 has judgements of meaning on five points for texts that an attack changed; DIR/human/parabank has
scores from 0 to 100 for paraphrases, of which those are taken that differ from their reference word by word. Nothing
is fitted here: it shows which way of putting the words of a text together agrees best with people. What follows from
them for the judge's calibration is in scripts/judge_calibration.py.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import math
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from mohs.models.tagger import PocketTagger
from mohs.space import Acceptable, Services
from mohs.text import Text
from mohs.text.judge import Judge, bundled

People = dict[tuple[str, str], list[float]]  # original and changed text -> scores

POINTS = {"strongly disagree": 1, "disagree": 2, "not sure": 3, "agree": 4, "strongly agree": 5}


class Tagging:
    """The bundled tagger, answering at once."""

    def __init__(self) -> None:
        self.tagger = PocketTagger()

    async def ask(self, spots: Any) -> Any:
        """The tags of some words."""
        return self.tagger.collect(list(spots))


def table(path: Path, delimiter: str) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        return list(csv.DictReader(lines, delimiter=delimiter, quoting=quoting))


def values_of(judge: Judge, people: People) -> list[tuple[list[float], float]]:
    """For each text that differs from its original word by word: the words' probabilities, and what people said."""
    measure, ask = Acceptable(), Services({"tagger": Tagging(), "judge": judge}, Random(0))
    found = []
    for (one, other), said in people.items():
        x, y = Text(one), Text(other)
        if not x.same_shape(y) or not x.changes(y):
            continue
        values = asyncio.run(measure.of_changes(x, {edit.position: [edit.new] for edit in x.edits(y)}, ask))
        if not any(map(math.isnan, values.values())):
            found.append((list(values.values()), float(np.mean(said))))
    return found


def shown(title: str, judge: Judge, people: People, half: float) -> None:
    rows = []
    for values, said in values_of(judge, people):
        product = math.prod(values)
        rows.append((product, min(values), product ** (1 / len(values)), float(np.mean(values)), -len(values), said))
    found_rows = np.array(rows)
    print(f"{title}: {len(rows)} texts, {-found_rows[:, 4].mean():.1f} changes, people {found_rows[:, 5].mean():.2f}")
    for number, name in enumerate(("product", "least", "geometric mean", "mean", "fewer words changed")):
        agreement = spearmanr(found_rows[:, number], found_rows[:, 5])
        print(f"  {name}: Spearman {agreement.statistic:.3f} (p {agreement.pvalue:.2g})")
    for low, high in ((0, 0.02), (0.02, 0.1), (0.1, 0.3), (0.3, 1.01)):
        inside = (found_rows[:, 0] >= low) & (found_rows[:, 0] < high)
        if inside.any():
            part = found_rows[inside]
            print(
                f"  product {low} to {min(high, 1)}: {inside.sum()} texts, people {part[:, 5].mean():.2f}, "
                f"accepted by them {np.mean(part[:, 5] >= half):.2f}, said {part[:, 0].mean():.3f}"
            )


def answers(human: Path) -> dict[str, tuple[People, float]]:
    """What people said about pairs of texts, and the score from which on they accepted a text."""
    morris: People = defaultdict(list)
    for row in table(human / "morris2020" / "alz_mr_examples_sampled_mturk_results.csv.gz", ","):
        points = POINTS.get(row["Answer.semantic-similarity.label"].strip().lower())
        if points is not None:
            morris[row["Input.text1"], row["Input.text2"]].append(points)
    references = {row["ref_id"]: row["ref_sent"] for row in table(human / "parabank" / "ref.tsv.gz", "\t")}
    bank: People = defaultdict(list)
    for row in table(human / "parabank" / "candidates.tsv.gz", "\t"):
        if row["human_score"]:
            bank[references[row["ref_id"]].strip('"'), row["candidate"].strip('"')].append(float(row["human_score"]))
    return {"Morris et al. 2020, meaning kept (1 to 5)": (morris, 3.5), "ParaBank, alike (0 to 100)": (bank, 75)}


def people(human: Path, judge: Judge) -> dict[str, tuple[list[list[float]], list[bool]]]:
    """For each set of answers, the words' probabilities of each text and whether people accepted it."""
    found = {}
    for title, (said, half) in answers(human).items():
        rows = values_of(judge, said)
        found[title] = [values for values, _ in rows], [score >= half for _, score in rows]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True)
    for title, (said, half) in answers(parser.parse_args().assets / "human").items():
        shown(title, bundled(), said, half)


if __name__ == "__main__":
    main()
