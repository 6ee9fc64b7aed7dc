"""Scoring from Python, and what the commands share with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.curation.asking import Told, ask, victims_by_task
from mohs.curation.predictions import read_predictions
from mohs.curation.scored import ScoredSet, read_advglue, read_built
from mohs.curation.scoring import Score, scored
from mohs.errors import BadInput

ADVGLUE = "advglue"


def read_benchmark(place: str | Path, split: str | None = None, *, answers: bool = True) -> ScoredSet:
    """A benchmark's folder, or `advglue:FILE` for the dev set of AdvGLUE as it was published.

    split: dev or test; by default test, of AdvGLUE dev. answers: with the labels of a hidden test set, where they are.
    """
    name, _, file = str(place).partition(":")
    if name == ADVGLUE:
        if split not in (None, "dev"):
            raise BadInput("AdvGLUE's test set was not published; leave out --split.")
        if not file:
            raise BadInput("Name the published dev.json of AdvGLUE, as in advglue:dev.json.")
        return read_advglue(file)
    return read_built(place, split or "test", answers)


def score_benchmark(
    benchmark: str | Path | ScoredSet,
    victims: Any = None,
    *,
    predictions: str | Path | None = None,
    name: str = "",
    split: str | None = None,
    benign: bool = True,
    progress: Told | None = None,
    **settings: Any,
) -> Score:
    """Score victims on a benchmark, or predictions in a file.

    benchmark: a folder of `mohs benchmark build`, or `advglue:FILE`.
    victims: one for all tasks, or a mapping from task to victim.
    predictions: a file of `mohs benchmark predict` instead of victims.
    name: what the system is called in tables; by default its victims.
    split: dev or test; by default test, of AdvGLUE dev.
    benign: also ask about the originals of the texts, for the gap.
    progress: called with None, the number of texts answered, and their total.
    The other arguments are for loading victims: device, labels, victim_options, trust_pickle, trust_code.

    >>> import mohs, tempfile
    >>> task = {"kind": "sentiment", "data": "pocket", "n": 12, "labels": ["negative", "positive"],
    ...         "surrogates": {"bundled": "pocket"}}
    >>> attack = {"attack": "textfooler", "class": "word", "family": "embedding"}
    >>> config = {"name": "small", "tasks": {"reviews": task}, "attacks": [attack], "filters": {"word_change": 1.0}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = mohs.build_benchmark(config, folder)
    ...     found = mohs.score_benchmark(folder, "ensemble(pocket)", name="ensemble")
    >>> found.name, list(found.families), found.average.n == found.tasks[0].score.n
    ('ensemble', ['embedding'], True)
    """
    texts = benchmark if isinstance(benchmark, ScoredSet) else read_benchmark(benchmark, split)
    if (victims is None) == (predictions is None):
        raise BadInput("Give either victims or a file of predictions.")
    if predictions is not None:
        said = read_predictions(predictions, texts)
        return scored(name or Path(predictions).name, texts, said)
    given = victims if isinstance(victims, Mapping) else _listed(victims)
    found, notes = ask(texts, victims_by_task(texts, given), settings, benign=benign, progress=progress)
    systems = dict.fromkeys(one.system for one in found.values())
    return scored(name or ", ".join(systems), texts, found, notes)


def write_score(score: Score, path: str | Path) -> Path:
    """Write a score file."""
    return score.write(path)


def _listed(victims: Any) -> Sequence[Any]:
    return victims if isinstance(victims, list) else [victims]
