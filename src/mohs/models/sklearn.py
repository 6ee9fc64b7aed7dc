"""Fitted scikit-learn estimators: in memory, or `sklearn:PATH`, a pickle that is opened only if the user trusts it."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.models.victim import Output, in_order


def load_sklearn(
    spec: str, *, trust_pickle: bool = False, labels: Sequence[str] = (), batch: int = 1024
) -> FunctionVictim:
    """Load a fitted pipeline that takes raw strings. With predict_proba it gives scores, otherwise labels only."""
    path = Path(spec).expanduser()
    if not path.is_file():
        raise BadInput(f"There is no file {path}; sklearn: takes the path of a pickled estimator.")
    if not trust_pickle:
        raise BadInput(
            f"{path} is a pickle, and opening a pickle runs whatever code is in it; "
            "if you trust this file, add --trust-pickle."
        )
    try:
        import joblib
    except ImportError as error:
        raise BadInput("sklearn: victims need scikit-learn: pip install 'mohs[sklearn]'.") from error
    data = path.read_bytes()
    try:
        model: Any = joblib.load(path)
    except Exception as error:  # unpickling can raise anything
        raise BadInput(f"{path} cannot be opened ({type(error).__name__}: {' '.join(str(error).split())}).") from error
    return sklearn_victim(
        model, name=f"sklearn:{spec}", place=str(path), labels=labels, batch=batch, fingerprint=_short(data)
    )


def sklearn_victim(
    model: Any,
    *,
    name: str | None = None,
    place: str = "The estimator",
    labels: Sequence[str] = (),
    batch: int = 1024,
    fingerprint: str | None = None,
) -> FunctionVictim:
    """Wrap a fitted estimator that takes raw strings. With predict_proba it gives scores, otherwise labels only."""
    classes = list(getattr(model, "classes_", []))
    names = tuple(labels) or tuple(map(str, classes))
    if classes and len(classes) != len(names):
        raise BadInput(
            f"{place} has {len(classes)} classes ({', '.join(map(str, classes))}), but --labels names {len(names)}."
        )
    in_order(place, [str(name) for name in classes], names)
    soft = hasattr(model, "predict_proba")
    if not soft and not hasattr(model, "predict"):
        raise BadInput(f"{place} holds a {type(model).__name__}, which has neither predict_proba nor predict.")

    def answer(texts: list[str]) -> Any:
        if soft:
            return model.predict_proba(texts)
        found = model.predict(texts)
        return [classes.index(label) for label in found] if classes else found

    made = FunctionVictim(
        answer,
        name=name or f"sklearn:{type(model).__name__}",
        output=Output.PROBABILITIES if soft else Output.LABELS,
        labels=names,
        batch=batch,
        fingerprint=fingerprint or _short(pickle.dumps(model)),
    )
    made.made_of = model
    return made


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
