"""`mohs.detect`: the command as a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.detecting.result import Detection
from mohs.detecting.settings import Detecting
from mohs.runs.run import Run

if TYPE_CHECKING:
    from mohs.detecting.working import Told


def detect(
    runs: Run | str | Path | Sequence[Run | str | Path],
    detector: str | Sequence[str],
    *,
    train: Any,
    held: Any = None,
    rate: float = 0.1,
    seed: int = 0,
    victim: Any = None,
    device: str = "auto",
    trust_pickle: bool = False,
    trust_code: bool = False,
    progress: Told | None = None,
    **reading: Any,
) -> Detection:
    """Tell the adversarial texts of finished attacks from originals with detectors: ROC curves and their areas.

    The result has `attacks` (figures), `texts`, `notes`, `to_json()`, `write(path)` and `page(path)`.

    runs: run folders, or Runs of `mohs.attack`, all of one undefended victim.
    detector: rde or fgws, with settings as in "rde(dims=50)"; or several.
    train, held: files, Datasets or examples; held are for the thresholds, by default a fifth of train.
    rate: the share of false alarms.
    victim: the runs' victim, if they cannot name it.
    progress: called with None, the texts scored, and their total.
    The other arguments are for reading files of training data: fields, label_field, labels, n, sample, encoding ...

    >>> import mohs
    >>> found = detect(mohs.attack("pocket", "pocket", n=30), "fgws", train="pocket:train")
    >>> found.attacks[0].originals
    30
    """
    given = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    options = Detecting(
        runs=tuple(one for one in given if not isinstance(one, Run)),
        detector=(detector,) if isinstance(detector, str) else tuple(detector),
        train=train,
        held=held,
        rate=rate,
        seed=seed,
        victim=victim,
        device=device,
        trust_pickle=trust_pickle,
        trust_code=trust_code,
        **reading,
    )
    return options.carry_out([one for one in given if isinstance(one, Run)], progress)
