"""`refit:FOLDER`: the bundled judge, with its probabilities fitted again to the people of a study.

The folder holds judge.json: a curve over the judge's log-odds, and how far its values may be off. Trees, tables and the
rule that a reversal gets little stay those of the bundled judge, without which the file means nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.text.calibration import Calibration
from mohs.text.judge import Floats, Judge, bundled

FILE = "judge.json"
FORMAT = "mohs-refit-1"
_EDGE = 1e-3  # probabilities are kept this far from 0 and 1: the bundled curve begins at 0, which has no log-odds
_STEPS = 16  # points between two of the old curve, as the new one is no straight line between them
_MOST_BYTES = 1_000_000
_MOST_POINTS = 1000

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Refit:
    """What judge.json says: a curve from log-odds of the bundled judge to probabilities, flat beyond its ends.

    base: the fingerprint of the judge that it was fitted to.
    """

    base: str
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    calibration: Calibration

    def __post_init__(self) -> None:
        """Refuse curves that do not rise, and numbers out of range."""
        own = self.calibration
        numbers = (*self.scores, *self.probabilities, *own.independence, own.offset, own.slope, own.spread)
        if not 0 < len(self.scores) == len(self.probabilities) <= _MOST_POINTS or not np.isfinite(numbers).all():
            raise ValueError("the curve is not a list of points")
        if (np.diff(self.scores) <= 0).any() or (np.diff(self.probabilities) < 0).any():
            raise ValueError("the curve does not rise")
        if not (self.probabilities[0] >= 0 and self.probabilities[-1] <= 1):
            raise ValueError("a probability lies outside of 0 to 1")
        if not own.independence or not all(0 <= k <= 1 for k in own.independence) or not -1 <= own.correlation <= 1:
            raise ValueError("a number of the calibration is out of range")
        if min(own.offset, own.slope, own.spread) < 0:
            raise ValueError("a number of the calibration is out of range")

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> Refit:
        """From the content of judge.json."""
        if parts["format"] != FORMAT:
            raise ValueError(f"its format is {str(parts['format'])[:40]!r}, not {FORMAT!r}")
        scores, probabilities = (tuple(map(float, parts[name])) for name in ("scores", "probabilities"))
        return cls(str(parts["base"]), scores, probabilities, Calibration.of(parts["calibration"]))

    def parts(self) -> dict[str, Any]:
        """For judge.json."""
        return {"format": FORMAT, **asdict(self)}

    def probability(self, said: npt.ArrayLike) -> Numbers:
        """What the curve makes of probabilities of the bundled judge."""
        found: Numbers = np.interp(log_odds(said), self.scores, self.probabilities)
        return found


def log_odds(said: npt.ArrayLike) -> Numbers:
    """The log-odds of probabilities, which are finite."""
    clipped = np.clip(np.asarray(said, np.float64), _EDGE, 1 - _EDGE)
    found: Numbers = np.log(clipped) - np.log1p(-clipped)
    return found


def refitted(base: Judge, refit: Refit, name: str, fingerprint: str) -> Judge:
    """The judge whose probabilities went through the curve. Reversals keep the ceiling."""
    curves = {form: _through(points, refit) for form, points in base.curves.items()}
    return replace(base, curves=curves, calibration=refit.calibration, name=name, fingerprint=fingerprint)


def load_refit(spec: str) -> Judge:
    """The judge in a folder that `mohs study calibrate` wrote."""
    path = Path(spec).expanduser() / FILE
    try:
        if not spec or not path.is_file():
            raise BadInput(
                f"There is no {path}, so refit:{spec} is no judge; name the folder that `mohs study calibrate` wrote."
            )
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too long")
        content = path.read_bytes()
        refit = Refit.of(json.loads(content))
    except (OSError, ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, LookupError) else " ".join(str(error).split())
        raise BadInput(f"{path} cannot be read ({reason[:200]}); restore it, or calibrate the judge again.") from error
    base = bundled()
    if refit.base != base.fingerprint:
        raise BadInput(
            f"{path} was fitted to the judge {refit.base[:40]!r}, and this version has {base.fingerprint!r}; calibrate "
            "it again."
        )
    digest = hashlib.sha256(base.fingerprint.encode() + content).hexdigest()[:16]
    return refitted(base, refit, f"refit:{spec}", f"refit-1-{digest}")


def _through(points: tuple[Floats, Floats], refit: Refit) -> tuple[Floats, Floats]:
    """A curve of the base, from scores to probabilities, followed by the refit."""
    scores, said = (np.asarray(part, np.float64) for part in points)
    if len(scores) > 1:
        places = np.arange((len(scores) - 1) * _STEPS + 1) / _STEPS
        numbers = np.arange(len(scores))
        finer = np.interp(places, numbers, scores), np.interp(places, numbers, said)
    else:
        finer = scores, said
    return finer[0].astype(np.float32), refit.probability(finer[1]).astype(np.float32)
