"""Studies with simulated judges, whose habits and whose items' qualities are planted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mohs.runs.run import Run
from mohs.studies.design import Design, read_design
from mohs.studies.drawing import drawn
from mohs.studies.item import COUNTED, Item, Judgement, Kind
from mohs.studies.study import Study
from tests.audits.toys import record, run_of

# what replaces a word, and how well that keeps the meaning on a scale from 0 to 1
REPLACED = {
    "film": [("movie", 0.95), ("picture", 0.7), ("banana", 0.02)],
    "good": [("great", 0.8), ("fine", 0.75), ("bad", 0.02)],
    "story": [("tale", 0.9), ("plot", 0.7), ("history", 0.3)],
    "funny": [("comic", 0.8), ("odd", 0.35), ("sad", 0.05)],
    "actors": [("players", 0.6), ("performers", 0.9), ("factors", 0.05)],
    "long": [("lengthy", 0.9), ("tall", 0.3), ("short", 0.02)],
}
QUALITY = {(old, new): quality for old, others in REPLACED.items() for new, quality in others}
_WORDS = "the film was good and its story was funny but the actors took a long time".split()


def runs(n: int = 60, attacks: Sequence[str] = ("textfooler:paper",)) -> Run:
    """Successes with one to three changes, and a fifth of failures."""
    random = np.random.default_rng(1)
    records = []
    for number in range(n):
        for attack in attacks:
            text = " ".join([*_WORDS, str(number)])
            places = random.choice([i for i, word in enumerate(_WORDS) if word in REPLACED], 1 + number % 3, False)
            changes = {int(p): REPLACED[_WORDS[p]][int(random.integers(3))][0] for p in places}
            records.append(record(number, text, changes if number % 5 else None, attack=attack, label=number % 2))
    return run_of(records, labels=["bad", "good"])


def quality_of(item: Item) -> float:
    """How well an item keeps its meaning: the product over its changes."""
    facts = item.facts
    if "old" in facts:
        return QUALITY[str(facts["old"]), str(facts["new"])]
    pairs = zip(str(facts["original"][0]).split(), str(facts["final"][0]).split(), strict=True)
    return float(np.prod([QUALITY[pair] for pair in pairs if pair[0] != pair[1]]))


@dataclass(frozen=True)
class Judges:
    """People who see an item's quality with noise, agree a little with everything, and are strict or mild."""

    count: int = 14
    noise: float = 0.12
    habit: float = 0.0  # towards agreement, in shares of the scale
    spread: float = 0.05  # between people

    def fill(self, study: Study, kind: Kind = Kind.IMPORTED, answer: Any = None, seed: int = 0) -> None:
        """Answer every main and accuracy item by as many judges as the design wants."""
        random = np.random.default_rng(seed)
        mild = random.normal(0, self.spread, self.count)
        rows = []
        for item in study.items():
            if item.role not in COUNTED:
                continue
            question = study.design.question(item.question)
            for who in random.choice(self.count, study.design.judges, replace=False).tolist():
                statement = who % len(question.statements)
                value = (answer or self.scaled)(study.design, item, statement, mild[who], self, random)
                rows.append(Judgement(item.key, f"{kind}-{who}", value, statement, seconds=5.0))
        study.add(rows, kind)

    @staticmethod
    def scaled(
        design: Design, item: Item, statement: int, mild: float, judges: Judges, random: np.random.Generator
    ) -> int:
        """An answer on the question's scale."""
        question = design.question(item.question)
        kept = quality_of(item) + mild + random.normal(0, judges.noise)
        agrees = (1 - kept if question.statements[statement].negated else kept) + judges.habit
        values = sorted(question.values, reverse=question.agree == "low")
        return values[int(np.clip(np.floor(agrees * len(values)), 0, len(values) - 1))]


def study_of(
    place: Path,
    design: str | Design = "fragments",
    *,
    run: Run | None = None,
    judges: Judges | None = None,
    kind: Kind = Kind.IMPORTED,
    answer: Callable[..., int] | None = None,
    unchanged: Iterable[tuple[str, int]] | None = None,
    **more: Any,
) -> Study:
    """A study of a run, judged."""
    of = replace(read_design(design) if isinstance(design, str) else design, **more)
    found = drawn([run or runs()], of, seed=1, unchanged=None if unchanged is None else list(unchanged))
    study = Study.create(place, found.design, found.items, **found.source)
    (judges or Judges()).fill(study, kind, answer)
    return study
