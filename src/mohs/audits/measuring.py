"""Measures all adversarial examples of some columns, in large batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import Any

from mohs import engine
from mohs.audits.columns import Column, texts_of
from mohs.audits.gauges import Gauge, Required, Taken, Whole
from mohs.audits.journal import Journal, Key, key_of
from mohs.engine import Service
from mohs.errors import BadInput
from mohs.records import Record
from mohs.space import Services
from mohs.space.services import KINDS
from mohs.tasks.described import identity
from mohs.tasks.services import fingerprint, load_services

Progress = Callable[[None, int, int], None]

_AT_ONCE = 256
# Measured only if such a model is given: there is no default, or the default adds little.
_ON_REQUEST = ("lm", "masked_lm", "token_encoder")


@dataclass(frozen=True)
class Example:
    """One adversarial example and what was measured of it."""

    example_id: str
    words: int
    changed: int
    taken: Taken


@dataclass(frozen=True)
class Tools:
    """The services of an audit, and why a kind is not there."""

    parts: Mapping[str, Any]
    absent: Mapping[str, str]  # by kind: how to get it, as the end of "not measured: ..."

    def why_not(self, needs: Sequence[str]) -> str:
        """Why something with these needs is not measured; empty if it can be."""
        return next((self.absent[kind] for kind in needs if kind in self.absent), "")

    def made_by(self, gauge: Gauge) -> str:
        """What makes a gauge's values: two equal ones give equal values."""
        prints = [fingerprint(self.parts[kind]) for kind in gauge.needs]
        return "; ".join([*([identity(gauge.measure)] if isinstance(gauge, Whole) else []), *prints])


def load_tools(
    gauges: Sequence[Gauge],
    wanted: Sequence[Required],
    given: Mapping[str, Any],
    *,
    device: str = "auto",
    trust_code: bool = False,
) -> Tools:
    """Load what the gauges ask. A default that cannot be loaded is left out; what the user asked for must load."""
    asked = {kind for one in wanted if not one.default for kind in one.gauge.needs}
    parts: dict[str, Any] = {}
    absent: dict[str, str] = {}
    for kind in dict.fromkeys(kind for gauge in gauges for kind in gauge.needs):
        if kind in _ON_REQUEST and given.get(kind) is None and kind not in asked:
            absent[kind] = f"needs --{kind.replace('_', '-')}"
            continue
        nobody: Any = None  # only gradients need a victim, and no measure needs gradients
        try:
            parts |= load_services([kind], given, victim=nobody, device=device, trust_code=trust_code)
        except BadInput as error:
            if given.get(kind) is not None or kind in asked:
                raise
            absent[kind] = _remedy(kind, error)
    return Tools(parts, absent)


def _remedy(kind: str, error: BadInput) -> str:
    return " ".join(str(error).split()).rstrip(".") or f"needs {KINDS[kind][0]}"


@dataclass
class Measuring:
    """Measures what the journals do not have yet."""

    columns: Sequence[Column]
    gauges: Sequence[Gauge]
    tools: Tools
    progress: Progress | None = None
    errors: list[str] = field(default_factory=list)  # values that could not be measured
    broken: int = 0  # lines of a journal that could not be read

    def run(self) -> dict[str, list[Example]]:
        """The examples of each column by name, in the order of the run.

        One gauge after the other measures all examples, and each value is saved at once: a slow model at the end does
        not hold back what the others have measured.
        """
        usable = [gauge for gauge in self.gauges if not self.tools.why_not(gauge.needs)]
        plan = [(gauge, self.tools.made_by(gauge)) for gauge in usable]
        journals: dict[int, Journal] = {}
        for column in self.columns:
            journals.setdefault(id(column.run), Journal(column.run.folder))
        self.broken = sum(journal.broken for journal in journals.values())
        services = [part for part in self.tools.parts.values() if isinstance(part, Service)]
        ask = Services(self.tools.parts, Random(0))

        def todo() -> Iterator[tuple[Gauge, str, Column, Record]]:
            for gauge, by in plan:
                for column in self.columns:
                    for record in column.hits():
                        if not journals[id(column.run)].line(key_of(record)).has(gauge.names, by):
                            yield gauge, by, column, record

        def searches() -> Iterator[tuple[Any, Any]]:
            for gauge, by, column, record in todo():
                yield (by, column, record.example_id, key_of(record)), _measured(gauge, record, ask)

        total, finished, ended = sum(1 for _ in todo()), 0, False
        try:
            self._tell(0, total)
            for done in engine.run(searches(), services, _AT_ONCE):
                by, column, example, key = done.key
                if done.result is not None:
                    journals[id(column.run)].write(key, done.result, by)
                else:  # one text that a model cannot read costs one gauge of one example
                    reason = " ".join(f"{type(done.error).__name__}: {done.error}".split())
                    self.errors.append(f"{column.name}, example {example}: {reason}")
                finished += 1
                self._tell(finished, total)
            ended = True
        finally:
            for number, journal in journals.items():
                mine = [column for column in self.columns if id(column.run) == number]
                journal.close(_keys(mine) if ended else None)
        return {column.name: list(self._examples(column, journals[id(column.run)], plan)) for column in self.columns}

    def _tell(self, finished: int, total: int) -> None:
        if self.progress is not None:
            self.progress(None, finished, total)

    def _examples(self, column: Column, journal: Journal, plan: Sequence[tuple[Gauge, str]]) -> Iterator[Example]:
        for record in column.hits():
            line = journal.line(key_of(record))
            known = [gauge for gauge, by in plan if line.has(gauge.names, by)]
            taken = line.taken(name for gauge in known for name in gauge.names)
            if not any("grammar" in gauge.needs for gauge in known):  # the rules are of another checker
                taken = Taken(taken.values)
            yield Example(record.example_id, record.words, len(record.edits), taken)


def _keys(columns: Sequence[Column]) -> list[Key]:
    """The adversarial examples of a run; attacks that are left out are not measured either."""
    return [key_of(record) for record in chain.from_iterable(column.hits() for column in columns)]


async def _measured(gauge: Gauge, record: Record, ask: Services) -> Taken:
    original, final = texts_of(record)
    return await gauge(original, final, ask)
