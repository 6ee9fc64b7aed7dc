"""What the organiser's page shows while a study runs: numbers, and the same as short texts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mohs.studies.item import PEOPLE, Annotator, State
from mohs.studies.quality import Agreement, Quality, Work, quality
from mohs.studies.study import Progress, Study
from mohs.studies.web.limits import Clock

_STATES = {
    State.INVITED: "invited",
    State.TRAINING: "in training",
    State.WORKING: "working",
    State.FAILED: "did not qualify",
    State.FINISHED: "finished",
    State.WITHDRAWN: "left",
    State.ASIDE: "set aside",
}


@dataclass(frozen=True)
class Row:
    """One annotator. `shown` has what may change, as texts."""

    work: Work
    shown: dict[str, str]

    @property
    def is_person(self) -> bool:
        """Whether this is somebody who judges on the pages, or did so elsewhere."""
        return self.work.annotator.kind in PEOPLE


@dataclass(frozen=True)
class Board:
    """All figures of one moment."""

    progress: Progress
    quality: Quality
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, study: Study, code: Callable[[Annotator], str]) -> Board:
        """Of a study. code: an annotator's code at the end."""
        found = quality(study)
        return cls(study.progress(), found, tuple(_row(work, code) for work in found.work))

    @property
    def people(self) -> list[Row]:
        """People, here and elsewhere."""
        return [row for row in self.rows if row.is_person]

    @property
    def others(self) -> list[Row]:
        """Models and simulated judges, which are never counted with people."""
        return [row for row in self.rows if not row.is_person]

    @property
    def shown(self) -> dict[str, str]:
        """Every text of the page that may change, by its name there."""
        told = {
            "judgements": f"{self.progress.judgements:,} of {self.progress.wanted:,}",
            "complete": f"{self.progress.complete:,} of {self.progress.items:,}",
            "seconds": _seconds(self.quality.seconds),
            "annotators": str(self.progress.annotators),
            "flagged": str(sum(bool(row.work.flags) for row in self.people)),
        }
        told |= {f"agreement-{n}": said(one) for n, one in enumerate(self.quality.agreement)}
        for row in self.rows:
            told |= {f"{name}-{row.work.annotator.number}": text for name, text in row.shown.items()}
        return told

    def to_json(self) -> dict[str, Any]:
        """The figures, and the texts of the page."""
        people = [
            {
                "number": row.work.annotator.number,
                "name": row.work.annotator.name.encode("utf-8", "replace").decode(),
                "kind": str(row.work.annotator.kind),
                "state": str(row.work.annotator.state),
                "answered": row.work.answered,
                "seconds": row.work.seconds,
                "controls": row.work.controls,
                "wrong": row.work.wrong,
                "flags": list(row.work.flags),
            }
            for row in self.rows
        ]
        agreement = [asdict(one) for one in self.quality.agreement]
        return {
            **asdict(self.progress),
            "seconds": self.quality.seconds,
            "agreement": agreement,
            "people": people,
            "shown": self.shown,
        }


@dataclass
class Lately:
    """The board of a study, made anew at most every `seconds`, and less often where that takes long."""

    make: Callable[[], Board]
    seconds: float = 2.0
    clock: Clock = time.monotonic
    _board: Board | None = None
    _made: tuple[float, float] = (0.0, 0.0)  # from when to when the board is good
    _gate: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def get(self, anew: bool = False) -> Board:
        """The board. anew: after something was changed."""
        with self._gate:
            start = self.clock()
            first, last = self._made
            if self._board is None or anew or not first <= start < last:  # clocks are set back at times
                self._board = self.make()
                end = self.clock()
                self._made = start, end + max(self.seconds, 5 * (end - start))
            return self._board


def said(one: Agreement) -> str:
    """Agreement with its interval."""
    if one.value is None:
        return "not yet known"
    if one.low is None or one.high is None:
        return f"{one.value:.2f}"
    return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})"


def _row(work: Work, code: Callable[[Annotator], str]) -> Row:
    who = work.annotator
    shown = {
        "state": _STATES[who.state],
        "answered": f"{work.answered:,}",
        "time": _seconds(work.seconds),
        "controls": f"{work.wrong} of {work.controls}" if work.controls else "–",
        "flags": " ".join(work.flags),
        "code": code(who),
    }
    return Row(work, shown)


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def states(progress: Progress) -> Sequence[tuple[str, int]]:
    """How many people are how far."""
    return [(_STATES[State(state)], count) for state, count in progress.by_state.items()]
