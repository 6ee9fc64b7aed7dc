"""A checked victim and the examples for it."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mohs import engine
from mohs.engine import AnswerCache, Answers, Service
from mohs.models.sheets import Sheet
from mohs.models.victim import Fields, Scores, Traits, Victim, traits_of
from mohs.space import Services
from mohs.tasks.shard import Shard
from mohs.text import Example, Text
from mohs.text.dataset import Dataset
from mohs.text.placeholders import without_placeholders
from mohs.text.sweep import Sweep

Result = TypeVar("Result")


@dataclass(frozen=True)
class Searched:
    """A victim that is asked with texts, or with a sweep of them. Where it needs strings, they are made here."""

    strings: Answers[Fields, Scores]
    sweeps: Answers[Sweep, Sequence[Scores]] | None

    def ask(self, items: Sequence[Text]) -> Awaitable[Sequence[Scores]]:
        """Await the answers."""
        if isinstance(items, Sweep) and self.sweeps is not None:
            return self._of_sweep(items, self.sweeps)
        return self.strings.ask([text.fields for text in items])

    async def _of_sweep(self, items: Sweep, service: Answers[Sweep, Sequence[Scores]]) -> Sequence[Scores]:
        (answers,) = await service.ask([items])
        return answers


@dataclass(frozen=True)
class Target:
    """A victim and its services, for the tasks to query."""

    model: Victim
    victim: Answers[Fields, Scores]
    judge: Answers[Fields, Scores]  # its answers do not depend on the rest of the batch
    classes: int
    sheets: Answers[Sheet, Any] | None = None  # the same network, if it accepts rows of tokens
    steady: bool = True  # whether it gives the same answer again
    alike: bool = True  # whether it answers in a batch, in any order, as it does alone
    alone: Answers[Fields, Scores] | None = None  # asks the judging victim each text by itself, and no cache
    change_placeholders: bool = False  # whether words in placeholders, links and tags may change
    most_memory: int | None = None  # bytes that the candidates of one example may take
    known: Mapping[Fields, Scores] = field(default_factory=dict)  # what the judging victim answered before the run
    sweeps: Answers[Sweep, Sequence[Scores]] | None = None  # the victim, asked with sweeps, if it takes them
    memory: Answers[Text, Scores] | None = None  # of what other searches of the same example have asked
    uncached: Answers[Fields, Scores] | None = None  # the victim without its cache, if it has one

    @property
    def anew(self) -> Answers[Fields, Scores]:
        """The victim, asked now: for proofs and for figures made of answers, which no cache may give."""
        return self.victim if self.uncached is None else self.uncached

    @property
    def searched(self) -> Answers[Text, Scores]:
        """The victim, asked with texts."""
        return Searched(self.victim, self.sweeps) if self.memory is None else self.memory

    @property
    def traits(self) -> Traits:
        """What the victim can do."""
        return traits_of(self.model)

    @property
    def refusal(self) -> int | None:
        """The score column for "rejected"; None if the victim never rejects."""
        return self.classes if self.traits.rejects else None

    @property
    def width(self) -> int:
        """The number of scores in an answer."""
        return self.classes + self.traits.rejects

    def window(self, example: Example) -> tuple[int, ...]:
        """The positions in the fields that may change, as far as the victim's window reaches."""
        limits = self.model.visible(example.text.fields)
        if limits is None:
            return example.positions
        spans = example.text.spans()
        return tuple(p for p in example.positions if spans[p][2] <= limits[spans[p][0]])

    def sees(self, example: Example) -> tuple[int, ...]:
        """The positions of an example that may change and lie in the victim's window."""
        return self.free(example, self.window(example))

    def free(self, example: Example, positions: tuple[int, ...]) -> tuple[int, ...]:
        """Some positions of an example, without those of placeholders, links and tags unless these may change."""
        return positions if self.change_placeholders else without_placeholders(example.text, positions)


@dataclass(frozen=True)
class Survey:
    """What reading all of the data once has shown."""

    examples: int
    highest: int  # label
    digest: str
    in_shard: int  # examples of this run's part


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A target and its data, read and checked."""

    target: Target
    data: Dataset | list[Example]
    survey: Survey
    labels: tuple[str, ...]
    seed: int
    cache: AnswerCache | None
    config: Mapping[str, Any]  # the shared options of this run
    origin: Mapping[str, str] = field(default_factory=dict)  # where the victim's code comes from
    shard: Shard | None = None  # the part of the examples that this run takes

    def numbered(self) -> Iterator[tuple[int, Example]]:
        """The examples that this run takes, each with its number among all."""
        for number, example in enumerate(self.data):
            if self.shard is None or self.shard.holds(example.id):
                yield number, example

    @property
    def examples(self) -> int:
        """How many there are, of all parts."""
        return self.survey.examples

    @property
    def model(self) -> Victim:
        """The victim."""
        return self.target.model

    def changing(self, placeholders: bool) -> Subject:
        """The subject with placeholders that may change, or that are kept."""
        return replace(self, target=replace(self.target, change_placeholders=placeholders))


def answered(search: Coroutine[Any, None, Result], ask: Services, *services: Any) -> Result:
    """Run one search to its end before the others start, and give its result."""
    asked = [part for part in (*services, *ask.parts.values()) if isinstance(part, Service)]
    for ended in engine.run([(0, search)], asked):
        if ended.error is not None:
            raise ended.error
        found: Any = ended.result
        return found  # type: ignore[no-any-return]
    raise AssertionError("the search did not end")
