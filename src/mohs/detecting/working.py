"""Makes the figures of `mohs detect`: fits the detectors, and asks them about every text of the runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mohs.defences.detector import Rejecting
from mohs.defences.watching import DATA, DETECTORS, RATE, detector_of, rejecting
from mohs.defences.written import parts_of, settings_of
from mohs.detecting.result import AttackDetection, Detection, DetectorFigures, Scored
from mohs.detecting.roc import area_of, curve_of, f1_of
from mohs.detecting.texts import Column, columns_of
from mohs.errors import BadInput
from mohs.models.victim import Fields, Victim
from mohs.report.rates import Rate
from mohs.runs.run import Run
from mohs.runs.settings import VictimSettings
from mohs.runs.subject import victim_of
from mohs.runs.trust import refuse_code_of
from mohs.tasks.option import check_numbers
from mohs.tasks.reading import comma
from mohs.tasks.services import load_books
from mohs.text.dataset import Dataset, examples_from

if TYPE_CHECKING:
    from mohs.detecting.settings import Detecting

Told = Callable[[None, int, int], None]

_ROWS = 512  # texts between two reports of progress
_MARGINS = ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0))  # near the boundary, between, and far from it


@dataclass(frozen=True)
class Judgement:
    """What the victim and a detector say about one text."""

    scores: tuple[float, ...]
    suspicion: float

    @property
    def predicted(self) -> int:
        """The class that the victim predicts."""
        return self.scores.index(max(self.scores))

    @property
    def margin(self) -> float:
        """How far the highest probability lies above the next one."""
        first, second = sorted(self.scores)[-1:-3:-1]
        return first - second


def detected(runs: Sequence[Run], options: Detecting, progress: Told | None = None) -> Detection:
    """The figures of all detectors on all attacks of the runs."""
    check_numbers(options)
    if not options.detector:
        raise BadInput(f"There is no detector; name one with --detector: {', '.join(DETECTORS)}.")
    if options.train is None:
        raise BadInput("Detectors learn from training data; name the victim's with --train.")
    columns, notes = columns_of(runs)
    victim = _victim(runs[0], options)
    known = runs[0].manifest.get("identity", {}).get("victim_fingerprint")
    if known is not None and victim.fingerprint != known:
        notes.append(f"{victim.name} is not the victim of the runs; texts that do not fool it are left out.")
    guards = {spec: _guard(spec, victim, runs[0], options) for spec in dict.fromkeys(options.detector)}
    texts = list(dict.fromkeys(text for column in columns for text in column.texts))
    notes += _seen_before({record.original for column in columns for record in column.records}, runs[0], options)
    judged: dict[str, dict[Fields, Judgement]] = {}
    for number, (spec, guard) in enumerate(guards.items()):
        judged[spec] = {}
        for start in range(0, len(texts), _ROWS):
            if progress is not None:
                progress(None, number * len(texts) + start, len(guards) * len(texts))
            part = texts[start : start + _ROWS]
            answers, suspicions = guard.judged(part)
            rows = zip(part, answers.tolist(), suspicions.tolist(), strict=True)
            judged[spec].update((text, Judgement(tuple(scores), value)) for text, scores, value in rows)
    if progress is not None:
        progress(None, len(guards) * len(texts), len(guards) * len(texts))
    found, scored = [], []
    for column in columns:
        figures, own, said = _figures(column, judged, guards, options.rate)
        found.append(figures)
        scored += own
        notes += said
    return Detection(
        victim=victim.name,
        rate=options.rate,
        folder=runs[0].folder,
        manifest=runs[0].manifest,
        attacks=tuple(found),
        texts=tuple(scored),
        notes=tuple(notes),
    )


def _victim(run: Run, options: Detecting) -> Victim:
    config = run.manifest.get("config", {})
    name = options.victim
    if name is None:
        refuse_code_of(run, ["victim"], trusted=options.trust_code)
        name = str(config.get("victim", ""))
        if not (name == "pocket" or re.match(r"[A-Za-z]+[:(]", name)):
            raise BadInput(f"The run's victim {name!r} cannot be loaded by its name; give it with --victim.")
    return victim_of(
        VictimSettings(
            victim=name,
            device=options.device,
            labels=tuple(config.get("labels") or ()),
            victim_options=config.get("victim_options") or {},
            trust_pickle=options.trust_pickle,
            trust_code=options.trust_code,
        )
    )


def _guard(spec: str, victim: Victim, run: Run, options: Detecting) -> Rejecting:
    """The victim with the detector around it that a spec such as `rde(dims=50)` names."""
    name, bracket, rest = spec.strip().partition("(")
    name = name.strip()
    if name not in DETECTORS or (bracket and not rest.endswith(")")):
        raise BadInput(f"Unknown detector {spec!r}; use {' or '.join(DETECTORS)}, as in {name or 'rde'}(key=1).")
    victims, given = parts_of(spec, rest.removesuffix(")"))
    if victims:
        raise BadInput(f"The detector {spec!r} names a victim; `mohs detect` puts detectors around the runs' victim.")
    key, named, settings = settings_of(name, given)
    for setting in (*DATA, RATE):
        if setting in settings:
            flag = {"text_field": "text-field", "label_field": "label-field"}.get(setting, setting)
            raise BadInput(f"The detector {spec!r} sets {setting}, which is an option of its own here: --{flag}.")
    detector = detector_of(name, settings, named, load_books)
    held = None if options.held is None else _data(options.held, run, options)
    train = _data(options.train, run, options)
    return rejecting(victim, detector, train, held, rate=options.rate, seed=options.seed + key)


def _data(given: Any, run: Run, options: Detecting) -> Any:
    """Data as an option names them: a file as a stream, or values as they are."""
    if not isinstance(given, str | Path):
        return given
    labels = comma(options.labels) or tuple(map(str, run.manifest.get("config", {}).get("labels") or ()))
    more: dict[str, Any] = {} if given == options.train else {"n": None, "sample": None}
    return options.dataset(str(given), labels=labels, **more)


def _seen_before(originals: set[Fields], run: Run, options: Detecting) -> list[str]:
    """Says how many originals stand in the data that the detectors learn from: figures on these are too good."""
    notes = []
    for flag, given in (("--train", options.train), ("--held", options.held)):
        data = _data(given, run, options)
        if not isinstance(data, Dataset | Sequence):
            continue
        seen: set[Fields] = set()
        for example in data if isinstance(data, Dataset) else examples_from(data):
            seen |= {example.text.fields} & originals
        if seen:
            notes.append(
                f"{len(seen):,} of the {len(originals):,} originals also stand in the data of {flag}, so these figures "
                "may be too good; attack texts that the detectors have not seen."
            )
    return notes


def _figures(
    column: Column, judged: Mapping[str, Mapping[Fields, Judgement]], guards: Mapping[str, Rejecting], rate: float
) -> tuple[AttackDetection, list[Scored], list[str]]:
    any_of = next(iter(judged.values()))
    fooled = [record for record in column.successes if any_of[record.perturbed or ()].predicted != record.label]
    notes = []
    if len(fooled) < len(column.successes):
        notes.append(
            f"{column.name}: {len(column.successes) - len(fooled)} of {len(column.successes)} successes do not change "
            f"the prediction (goal {column.goal}); they are left out."
        )
    figures, scored = [], []
    for spec, known in judged.items():
        threshold = guards[spec].fit.threshold
        originals = [(record, known[record.original]) for record in column.records]
        adversarial = [(record, known[record.perturbed or ()]) for record in fooled]
        figures.append(_of_detector(spec, originals, adversarial, threshold, rate))
        for kind, rows in (("original", originals), ("adversarial", adversarial)):
            for record, one in rows:
                scored.append(
                    Scored(
                        run=column.run,
                        attack=column.attack,
                        example_id=record.example_id,
                        text=kind,
                        label=record.label,
                        predicted=one.predicted,
                        margin=one.margin,
                        detector=spec,
                        suspicion=one.suspicion,
                        rejected=one.suspicion > threshold,
                    )
                )
    told = AttackDetection(
        column.name, column.run, column.attack, column.goal, len(column.records), len(fooled), tuple(figures)
    )
    return told, scored, notes


def _of_detector(
    spec: str, originals: list[tuple[Any, Judgement]], adversarial: list[tuple[Any, Judgement]], threshold: float,
    rate: float,
) -> DetectorFigures:  # fmt: skip
    low = np.array([one.suspicion for _, one in originals])
    high = np.array([one.suspicion for _, one in adversarial])
    ids_low, ids_high = ([record.example_id for record, _ in rows] for rows in (originals, adversarial))
    margins = np.array([one.margin for _, one in adversarial])
    by_margin = {}
    for least, below in _MARGINS:
        inside = (margins >= least) & ((margins < below) | (below == 1))
        ids = [example for example, within in zip(ids_high, inside, strict=True) if within]
        by_margin[f"{least:g} to {below:g}"] = area_of(high[inside], low, ids, ids_low)
    curve = curve_of(high, low) if len(high) and len(low) else None
    at = None if curve is None else curve.at(rate)
    return DetectorFigures(
        detector=spec,
        area=area_of(high, low, ids_high, ids_low),
        by_margin=by_margin,
        curve=curve,
        found_at_rate=None if at is None else at[0],
        f1_at_rate=None if at is None else f1_of(*at),
        detected=Rate(int((high > threshold).sum()), len(high), "adversarial texts"),
        alarms=Rate(int((low > threshold).sum()), len(low), "originals"),
    )
