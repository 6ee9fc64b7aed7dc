"""Parses detectors as written on the command line, and puts them around a victim.

- `rde(hf:./model, train=train.jsonl, rate=0.1)`: around a victim
- `fgws(V, train=train.jsonl, held=dev.jsonl, delta=80, vectors=my-vectors.txt)`: with settings and word vectors
- `rde(dims=50)` or `rde`: the detector alone, as `mohs detect` takes it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mohs.defences.density import Rde
from mohs.defences.detector import Detector, Rejecting, fitted
from mohs.defences.frequency import Fgws
from mohs.errors import BadInput
from mohs.models.victim import Victim
from mohs.text import Example
from mohs.text.dataset import Dataset

DETECTORS: Mapping[str, type] = {"rde": Rde, "fgws": Fgws}
DATA = ("train", "held", "text_field", "label_field")  # settings about data
RATE = "rate"

Books = Callable[[Iterable[str], Mapping[str, str]], Mapping[str, Any]]


def rejecting(
    victim: Victim,
    detector: Any,
    train: str | Dataset | Sequence[Example | tuple[str, Any]],
    held: str | Dataset | Sequence[Example | tuple[str, Any]] | None = None,
    *,
    rate: float = 0.1,
    seed: int = 0,
    name: str | None = None,
) -> Rejecting:
    """A victim that rejects the texts that a detector (`Rde()`, `Fgws(books=...)`) finds suspicious.

    train: what the detector learns from, usually the victim's training data. held: data that the victim has not seen,
    of which a share `rate` may be rejected; by default a fifth of the training data is held out from the detector.
    """
    books = " ".join(f"{book.name} {book.fingerprint}" for book in getattr(detector, "books", {}).values())
    fit = fitted(detector, victim, train, held, rate=rate, seed=seed, books=books)
    kind = next((kind for kind, made in DETECTORS.items() if isinstance(detector, made)), type(detector).__name__)
    return Rejecting(victim, fit, name or f"{kind}({victim.name})")


def detector_of(name: str, settings: Mapping[str, Any], named: Mapping[str, str], books: Books) -> Detector:
    """A detector from its settings, with the word books that it asks; `named` are books by kind."""
    kind = DETECTORS[name]
    needs = kind(**settings).needs
    for one in named:
        if one not in needs:
            raise BadInput(f"{name}(...) has {one}={named[one]}, but it does not ask {one} with these settings.")
    found: Detector = kind(**settings, books=dict(books(needs, named))) if needs else kind(**settings)
    return found


def watched(
    name: str, victim: Victim, given: Mapping[str, str], key: int, named: Mapping[str, str], settings: dict[str, Any],
    books: Books,
) -> Victim:  # fmt: skip
    """The victim that `name(V, ...)` stands for."""
    told = {one: settings.pop(one) for one in (*DATA, RATE) if one in settings}
    detector = detector_of(name, settings, named, books)
    train, held = data_of(name, told, victim.labels)
    called = ", ".join([victim.name, *(f"{one}={value}" for one, value in given.items())])
    return rejecting(victim, detector, train, held, rate=told.get(RATE, 0.1), seed=key, name=f"{name}({called})")


def data_of(name: str, told: Mapping[str, Any], labels: Sequence[str]) -> tuple[Dataset, Dataset | None]:
    """The training data and the held-out data that the settings name."""
    if not told.get("train"):
        raise BadInput(f"{name}(...) learns from training data; name it as in {name}(V, train=FILE).")
    fields = tuple(filter(None, told.get("text_field", "").split("+")))
    label = told.get("label_field", "label")
    train, held = (
        Dataset(told[one], fields=fields, label_field=label, labels=tuple(labels)) if told.get(one) else None
        for one in ("train", "held")
    )
    assert train is not None
    return train, held
