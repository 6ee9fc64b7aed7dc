"""A model behind a queue: collects questions from many searches and answers them in large batches."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from mohs.engine.cache import AnswerCache
from mohs.engine.question import Answer, Item, Question
from mohs.errors import MohsError, ServiceFailed

AnswerOut = TypeVar("AnswerOut", covariant=True)


_ROUNDS_A_SMALL_BATCH_WAITS = 16


class Model(Protocol[Item, AnswerOut]):
    """What a service needs from a model. `launch` may return before the work is done; `collect` waits for it.

    The preferred batch size is an argument of Service.
    """

    @property
    def name(self) -> str:
        """The model's name in messages."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal for models that give equal answers."""
        ...

    @property
    def in_flight(self) -> int:
        """How many batches may be launched before the first is collected."""
        ...

    def plan(self, items: list[Item]) -> list[list[Item]]:
        """Split waiting items into batches, in launch order. Must depend only on the items."""
        ...

    def launch(self, batch: list[Item]) -> Any:
        """Start answering a batch."""
        ...

    def collect(self, ticket: Any) -> Sequence[AnswerOut]:
        """The answers of a launched batch, in its order."""
        ...


class AtOnce:
    """What models have in common that do all their work on collecting; any order of the items will do."""

    in_flight = 1
    rows = 4096  # of a batch

    def plan(self, items: list[Any]) -> list[list[Any]]:
        """Batches in the order of the items."""
        return cut(items, self.rows)

    def launch(self, batch: list[Any]) -> list[Any]:
        """Nothing to start."""
        return batch


def cut(items: list[Item], rows: int) -> list[list[Item]]:
    """Batches of `rows` items, in their order."""
    return [items[start : start + rows] for start in range(0, len(items), rows)]


def by_size(items: list[Item], size: Callable[[Item], int], rows: int) -> list[list[Item]]:
    """Batches of `rows` items, largest items first and ties by content, so arrival order does not matter."""
    return cut(sorted(items, key=lambda item: (-size(item), item)), rows)


def by_length(items: Iterable[Item], length: Callable[[Item], int], rows: Callable[[int], int]) -> list[list[Item]]:
    """Batches of items of one length, the longest first; `rows` says how many of a length make a batch."""
    groups: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        groups[length(item)].append(item)
    return [batch for found in sorted(groups, reverse=True) for batch in cut(groups[found], rows(found))]


class Failed:
    """The exception that a model raised for one item. Stands in for its answer."""

    __slots__ = ("cause", "trace")

    def __init__(self, cause: Exception) -> None:
        self.cause = cause
        self.trace = cause.__traceback__


class Service(Generic[Item, Answer]):
    """Queues items, removes duplicates, asks the model in batches and returns the answers.

    With `alone=True` every item gets its own batch, or shares one of at most `together` items if the model gives all
    such batches one shape. So the model always sees a question in the same shape. Final verdicts are taken this way.
    """

    def __init__(
        self,
        model: Model[Item, Answer],
        *,
        cache: AnswerCache | None = None,
        alone: bool = False,
        together: int = 1,
        few: int = 1,
        rows: Callable[[list[Item], Any], int] = lambda batch, _: len(batch),
    ) -> None:
        self.model = model
        self.cache = cache
        self.alone = alone
        self.forwards = 0  # rows the model actually computed
        self.batches = 0
        self.reused = 0  # rows answered by the persistent cache
        self._waiting: dict[Item, list[tuple[Question[Item, Answer], int]]] = {}
        self._planned: deque[list[Item]] = deque()
        self._flying: deque[tuple[list[Item], Any]] = deque()
        self._asked: dict[Item, list[tuple[Question[Item, Answer], int]]] = {}
        self._patience = _ROUNDS_A_SMALL_BATCH_WAITS
        self._few = few
        self._together = together
        self._rows = rows
        self._proven: Item | None = None  # an item the model has answered; tells a bad text from a dead model

    def ask(self, items: Sequence[Item]) -> Question[Item, Answer]:
        """Queue items. Equal items share one row, even across searches."""
        question: Question[Item, Answer] = Question(items)
        waiting, asked = self._waiting, self._asked
        for index, item in enumerate(items):
            place = asked.get(item)
            if place is None:
                place = waiting.get(item)
                if place is None:
                    place = waiting[item] = []
            place.append((question, index))
        return question

    @property
    def waiting(self) -> int:
        """The number of distinct items that wait for a batch."""
        return len(self._waiting)

    @property
    def planned(self) -> int:
        """The number of batches planned but not launched."""
        return len(self._planned)

    @property
    def flying(self) -> int:
        """The number of batches launched but not collected."""
        return len(self._flying)

    def launch(self) -> Iterator[Question[Item, Answer]]:
        """Plan the waiting items if nothing is planned, then launch as many batches as the model accepts.

        While batches are in flight, a small queue is left to grow. Otherwise a run would split into many small groups.
        Yields the questions that the persistent cache completed.
        """
        room = len(self._flying) < self.model.in_flight
        if room and not self._planned and self._waiting and 2 * len(self._waiting) >= self.rows_flying:
            queue, self._waiting = self._waiting, {}
            self._asked.update(queue)
            items = list(queue)
            if self.cache is not None:
                found = self.cache.get(self._key, items)
                self.reused += len(found)
                yield from self._deliver(list(found), list(found.values()))
                items = [item for item in items if item not in found]
            self._planned.extend(self._apart(items) if self.alone else self._worthwhile(self.model.plan(items)))
        while self._planned and len(self._flying) < self.model.in_flight:
            batch = self._planned.popleft()
            try:
                ticket = self.model.launch(batch)
            except ServiceFailed:
                raise
            except Exception as error:
                ticket = Failed(error)
            self._flying.append((batch, ticket))

    def _worthwhile(self, batches: list[list[Item]]) -> list[list[Item]]:
        """The batches with at least `few` rows, the number that the model computes at once anyway.

        Smaller batches wait for more items, but only for a few rounds. If all are small, none waits.
        """
        large = [batch for batch in batches if len(batch) >= self._few]
        if not large or len(large) == len(batches) or self._patience == 0:
            self._patience = _ROUNDS_A_SMALL_BATCH_WAITS
            return batches
        self._patience -= 1
        for batch in batches:
            if len(batch) < self._few:
                self._waiting |= {item: self._asked.pop(item) for item in batch}
        return large

    def _apart(self, items: list[Item]) -> list[list[Item]]:
        """Batches of at most `together` items. They all have one shape, so an answer does not depend on the others."""
        size = self._together
        if size == 1:
            return [[item] for item in sorted(items, key=repr)]
        return [batch[at : at + size] for batch in self.model.plan(items) for at in range(0, len(batch), size)]

    def collect(self) -> Iterator[Question[Item, Answer]]:
        """Wait for the oldest batch and deliver its answers. Yields the questions that are now complete."""
        batch, ticket = self._flying.popleft()
        answers = self._answers(batch, ticket)
        self.forwards += self._rows(batch, ticket)
        self.batches += 1
        if self.cache is not None:
            good = {i: a for i, a in zip(batch, answers, strict=True) if not isinstance(a, Failed)}
            self.cache.put(self._key, good)
        yield from self._deliver(batch, answers)

    def prove(self, items: list[Item]) -> list[Answer]:
        """Query the model at once, outside any run, to show that it works before anything depends on it."""
        try:
            answers = self._exactly(items, self.model.collect(self.model.launch(items)))
        except MohsError:
            raise
        except Exception as error:
            raise ServiceFailed(f"{self.model.name} could not read its first text: {_sentence(error)}") from error
        self._proven = items[0]
        return list(answers)

    def again(self, items: Sequence[Item]) -> list[Answer | None]:
        """Query the model at once, outside any run and without the cache. None for an item that makes it raise."""
        found: dict[Item, Any] = {}
        for batch in self.model.plan(list(dict.fromkeys(items))):
            try:
                answers = list(self._exactly(batch, self.model.collect(self.model.launch(batch))))
            except ServiceFailed:
                raise
            except Exception:  # one bad text must not hide the answers to the others
                answers = [self._alone(item) for item in batch]
            found.update(zip(batch, answers, strict=True))
        return [None if isinstance(found[item], Failed) else found[item] for item in items]

    def reset(self) -> None:
        """Forget all waiting and launched items. For a run that ends early, when nobody waits for the answers."""
        self._waiting, self._asked = {}, {}
        self._planned.clear()
        self._flying.clear()

    @property
    def rows_flying(self) -> int:
        """The number of rows launched but not collected."""
        return sum(len(batch) for batch, _ in self._flying)

    @property
    def _key(self) -> str:
        """The cache key. Answers given alone are kept apart: in a batch the same text may score slightly otherwise."""
        return f"{self.model.fingerprint}/alone" if self.alone else self.model.fingerprint

    def _exactly(self, batch: list[Item], answers: Sequence[Answer]) -> Sequence[Answer]:
        if len(answers) != len(batch):
            raise ServiceFailed(f"{self.model.name} gave {len(answers)} answers to {len(batch)} texts.")
        return answers

    def _answers(self, batch: list[Item], ticket: Any) -> list[Any]:
        try:
            if isinstance(ticket, Failed):
                raise ticket.cause
            answers = list(self._exactly(batch, self.model.collect(ticket)))
        except ServiceFailed:
            raise
        except Exception as error:
            return self._one_by_one(batch, error)
        self._proven = batch[0]
        return answers

    def _one_by_one(self, batch: list[Item], error: Exception) -> list[Any]:
        """Ask each item of a failed batch alone, so that one bad text costs only its own example.

        When an item fails again, ask one that was answered before. This tells a bad text from a dead model.
        """
        answers: list[Any] = []
        sound = False
        for item in batch:
            answer = Failed(error) if len(batch) == 1 else self._alone(item)
            if not isinstance(answer, Failed):
                self._proven = item
            elif not sound and self._proven is not None:
                sound = not isinstance(self._alone(self._proven), Failed)
                if not sound:
                    break
            answers.append(answer)
        if self._proven is None or len(answers) < len(batch):
            raise ServiceFailed(f"{self.model.name} stopped answering: {_sentence(error)}") from error
        return answers

    def _alone(self, item: Item) -> Any:
        self.forwards += self._rows([item], None)
        try:
            return self._exactly([item], self.model.collect(self.model.launch([item])))[0]
        except ServiceFailed:
            raise
        except Exception as error:
            return Failed(error)

    def _deliver(self, items: list[Item], answers: Sequence[Any]) -> Iterator[Question[Item, Answer]]:
        asked = self._asked
        for item, answer in zip(items, answers, strict=True):
            failed = answer if isinstance(answer, Failed) else None
            for question, index in asked.pop(item):
                if failed is not None and (question.failure is None or index < question.failure[0]):
                    question.failure = (index, failed.cause, failed.trace)
                question.answers[index] = answer
                question.missing -= 1
                if not question.missing:
                    yield question


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, MohsError) else f"{type(error).__name__}: {text}"
