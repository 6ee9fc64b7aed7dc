"""`mohs study calibrate`: fits the bundled judge's probabilities to the people of a study, and writes the new judge."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mohs.assets.writing import opened_for_writing
from mohs.errors import BadInput, MohsError
from mohs.models.refit import FILE, FORMAT, Refit
from mohs.studies.design import Design
from mohs.studies.fit_cases import Cases
from mohs.studies.judged_words import judged_words
from mohs.studies.pool import Pool, gathered
from mohs.studies.ratings import Crossed
from mohs.studies.refitting import FOLDS, Check, Curve, Panel, checked, fitted_curve
from mohs.studies.study import Study
from mohs.studies.validity import Rule, moved, verdicts
from mohs.studies.verdict_rule import expected_of, judged_valid, rule_of, rule_told
from mohs.text.judge import Judge, bundled

LEAST = 20  # items; fewer say nothing about five folds


@dataclass(frozen=True)
class LeftOut:
    """Judged items that cannot be fitted, by reason."""

    undecided: int  # too few people
    unjudged: int  # the judge has no opinion on a word, or the texts do not correspond word by word
    unchanged: int  # no word changed but in its case

    @property
    def notes(self) -> list[str]:
        """A sentence for each reason."""
        told = (
            (self.undecided, "have no verdict, because too few people judged them"),
            (self.unjudged, "have a word that the judge has no opinion on, or do not correspond word by word"),
            (self.unchanged, "have no changed word"),
        )
        return [f"{count:,} judged items {reason}; they are left out." for count, reason in told if count]


@dataclass(frozen=True)
class Fitted:
    """A judge that was fitted to a study, and whether that helps on source texts it has not seen."""

    study: str
    design: str
    rule: str
    curve: Curve
    check: Check
    refit: Refit
    valid: int  # of the items fitted
    judgements: int
    judges: int | None  # None if nobody knows which judgements come from one person
    left_out: LeftOut
    notes: tuple[str, ...] = field(repr=False)

    @property
    def sentence(self) -> str:
        """What was fitted to what."""
        who = "" if self.judges is None else f" by {self.judges:,} people"
        return (
            f"{self.valid:,} of {self.check.items:,} items from {self.check.sources:,} texts are valid ({self.rule}), "
            f"after {self.judgements:,} judgements{who}."
        )

    @property
    def moved(self) -> str:
        """How the probabilities change."""
        low, high = self.curve.shift_ends
        least, most = self.curve.stretch_ends
        points = [0.1, 0.3, 0.5, 0.7, 0.9]
        told = ", ".join(
            f"{one:.0%} becomes {new:.0%}"
            for one, new in zip(points, self.curve.probability(points).tolist(), strict=True)
        )
        return (
            f"Log-odds are shifted by {self.curve.shift:+.2f} [{low:+.2f}, {high:+.2f}] and stretched by "
            f"{self.curve.stretch:.2f} [{least:.2f}, {most:.2f}]: {told}."
        )

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A figure's name, its values before and after, and what it is."""
        check = self.check
        folds = f"on source texts that the fit did not see ({FOLDS} folds)"

        def pair(name: str, values: tuple[float, float], digits: int, about: str) -> tuple[str, str, str, str]:
            said = ["-" if math.isnan(one) else f"{one:.{digits}f}" for one in values]
            return name, said[0], said[1], about

        return [
            pair("mean probability", check.said, 3, f"people: {self.valid / check.items:.3f}"),
            pair("log-loss", check.loss, 4, f"less is better, {folds}"),
            pair("calibration error", check.error, 3, f"in {check.bins} bins of equal size"),
            pair("AUC", check.auc, 3, "of the order of items"),
        ]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        check = self.check

        def told(values: tuple[float, float]) -> dict[str, float | None]:
            before, after = (None if math.isnan(one) else one for one in values)
            return {"before": before, "after": after}

        return {
            "study": self.study,
            "design": self.design,
            "rule": self.rule,
            "items": check.items,
            "valid": self.valid,
            "sources": check.sources,
            "judgements": self.judgements,
            "judges": self.judges,
            "shift": self.curve.shift,
            "shift_interval": self.curve.shift_ends,
            "stretch": self.curve.stretch,
            "stretch_interval": self.curve.stretch_ends,
            "spread": self.curve.spread,
            "helps": check.helps,
            "gain": check.gain,
            "gain_interval": check.gain_ends,
            "mean_probability": told(check.said),
            "log_loss": told(check.loss),
            "calibration_error": told(check.error),
            "auc": told(check.auc),
            "undecided": self.left_out.undecided,
            "unjudged": self.left_out.unjudged,
            "unchanged": self.left_out.unchanged,
            "notes": list(self.notes),
        }


def calibrated(study: Study, *, threshold: float | None = None, seed: int = 0) -> Fitted:
    """Fit the bundled judge to the people of a study. Nothing is written.

    threshold: instead of the one in the design's rule of validity. seed: of the folds and of the bootstrap.
    """
    design = study.design
    rule = rule_of(design, threshold)
    if rule is None:
        raise BadInput(
            f"The design {design.name} says nowhere when an item is valid, so no judge can be fitted to it; give it a "
            "rule `valid`."
        )
    pool = gathered(study, "people").pool
    base = bundled()
    cases, panel, left_out, judgements = _cases(pool, rule, base)
    sources = len(set(cases.sources)) if cases is not None else 0
    if cases is None or len(cases) < LEAST or sources < FOLDS:
        found = 0 if cases is None else len(cases)
        raise BadInput(
            f"{study.place} has {found} items of {sources} texts that people decided and the judge can read, and a fit "
            f"needs {LEAST} of {FOLDS}; let people judge more."
        )
    # Other texts than these are as far away as ever: the judge's own spread between kinds of text stays.
    curve = fitted_curve(cases, panel, base.calibration.spread, seed)
    check = checked(cases, seed)
    return Fitted(
        study.place,
        design.name,
        rule_told(design, rule),
        curve,
        check,
        curve.refit(base.fingerprint, base.calibration.independence),
        int(cases.valid.sum()),
        judgements,
        len(set(panel.rows.judges.tolist())) if panel.rows.judges is not None else None,
        left_out,
        tuple(_notes(design, pool, check, left_out)),
    )


def write(fitted: Fitted, folder: Path) -> Path:
    """Write the judge into a folder, in place of an older one that was fitted to a study. Returns the folder.

    Judgements and texts are not written.
    """
    path = folder / FILE
    content = {
        **fitted.refit.parts(),
        "fitted": {name: fitted.to_json()[name] for name in ("rule", "items", "valid", "sources", "judgements")},
    }
    try:
        if folder.is_dir() and any(folder.iterdir()) and not _is_refit(path):
            raise BadInput(f"{folder} holds something else than a fitted judge; name a new folder with --out.")
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{FILE}.part"
        with opened_for_writing(part, "wb") as file:
            file.write((json.dumps(content, indent=1) + "\n").encode())
        part.replace(path)
    except OSError as error:
        raise MohsError(f"{path} cannot be written ({error.strerror or error}); name another --out.") from error
    return folder


def _is_refit(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_bytes())["format"] == FORMAT)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return False


def _cases(pool: Pool, rule: Rule, base: Judge) -> tuple[Cases | None, Panel, LeftOut, int]:
    """What people decided, with what the judge says of it, and who judged."""
    items = judged_valid(pool.design, pool.main())
    known = {item.key: item for item in items}
    expected = expected_of(pool.design, items)
    ratings = pool.ratings(items)
    found = verdicts(ratings, rule, expected)
    decided = [known[key] for key, verdict in found.items() if verdict is not None]
    words = judged_words(decided, pool.design, base)
    texts = {item.key: own for item, own in zip(decided, words, strict=True) if own}
    left_out = LeftOut(len(found) - len(decided), sum(own is None for own in words), sum(own == [] for own in words))
    kept = ratings.keep(set(texts))
    rows = Crossed.of_ratings(kept)
    names = list(kept.by_item)
    wanted = np.array([(expected or {}).get(name, math.nan) for name in names])
    panel = Panel(rows, moved(rows, np.array(kept.values), wanted, rule)[1] if names else np.zeros(0))
    if not names:
        return None, panel, left_out, 0
    cases = Cases.of(
        [texts[name] for name in names],
        [bool(found[name]) for name in names],
        [known[name].source for name in names],
        [known[name].group for name in names],
        base.calibration.independence,
    )
    return cases, panel, left_out, len(kept.values)


def _notes(design: Design, pool: Pool, check: Check, left_out: LeftOut) -> list[str]:
    notes = left_out.notes
    if design.items == "words":
        notes.append("People saw words without their texts; the judge reads them in their texts.")
    elif design.items in ("labels", "texts"):
        notes.append("People were not asked about the meaning, so the fitted judge says how often this rule holds.")
    if not pool.named:
        notes.append("Nobody knows which judgements come from one person, so the intervals may be too narrow.")
    if check.gain_ends is not None and check.gain < 0 <= check.gain_ends[1]:
        notes.append("The fit does better, but so little that it may be chance: more judgements would tell.")
    return notes
