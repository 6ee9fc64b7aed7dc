"""A run on paper: when would it end, with workers that share a counter, or with static parts?

Nothing is measured here and no mohs is needed: examples are seconds, workers are speeds, and a clock jumps from event
to event. `benchmarks/scale.py` compares what comes out with measured runs.

Workers claim examples from one counter, as `runs/workers.py` does. Each holds up to `hold` claimed examples at once and
finishes them in the order in which it claimed them. Parts are as `--shard` makes them: who has which example is decided
before, and a part is taken by the next machine that is free.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Worker:
    """A process, or a machine for parts."""

    speed: float = 1.0  # 0.5 takes twice as long
    dies: tuple[float, ...] = ()  # seconds at which it dies


@dataclass
class Timetable:
    """What came of it."""

    finished: dict[int, float] = field(default_factory=dict)  # when each example was finished
    busy: float = 0.0  # seconds of work, what was lost included
    lost: float = 0.0  # of these, work on examples that were not finished
    starts: int = 0

    @property
    def makespan(self) -> float:
        """When the last example was finished."""
        return max(self.finished.values(), default=0.0)


def ideal(seconds: Sequence[float], workers: Sequence[Worker], load: float = 0.0) -> float:
    """Nobody waits, and nothing is lost: no schedule can end earlier."""
    speeds = [worker.speed for worker in workers]
    longest = max(seconds, default=0.0) / max(speeds)
    return load + max(sum(seconds) / sum(speeds), longest)


def shared(
    seconds: Sequence[float],
    workers: Sequence[Worker],
    *,
    hold: int = 1,
    load: float = 0.0,
    again: float = 0.0,
    survives: bool = False,
) -> Timetable:
    """Workers around one counter.

    A worker's death ends the run, as `--workers` has it. After `again` seconds the same command goes on with all
    workers: what was finished is kept, what was not is searched for again.
    survives: the others go on instead, and the examples of the dead worker go back to the counter.
    """
    found = Timetable()
    deaths = sorted((at, number) for number, worker in enumerate(workers) for at in worker.dies)
    if survives:
        _with_heirs(found, seconds, workers, hold, load, {number: at for at, number in reversed(deaths)})
        return found
    begin = 0.0
    while True:
        todo = [number for number in range(len(seconds)) if number not in found.finished]
        if not todo:
            return found
        deaths = [death for death in deaths if death[0] > begin]
        until = deaths[0][0] if deaths else float("inf")
        _work(found, todo, seconds, workers, hold, begin + load, until)
        begin = until + again


def static(
    seconds: Sequence[float],
    parts: Iterable[Sequence[int]],
    workers: Sequence[Worker],
    *,
    load: float = 0.0,
    again: float = 0.0,
) -> Timetable:
    """Parts, each taken by the next machine that is free. A death stops one part, which is started there again."""
    found = Timetable()
    free = [(0.0, number) for number in range(len(workers))]
    for part in parts:
        begin, number = heapq.heappop(free)
        worker = workers[number]
        while True:
            todo = [example for example in part if example not in found.finished]
            until = min((at for at in worker.dies if at > begin), default=float("inf"))
            end = _work(found, todo, seconds, [worker], 1, begin + load, until)
            if end <= until:
                break
            begin = until + again
        heapq.heappush(free, (end, number))
    return found


def by_number(count: int, of: int) -> list[list[int]]:
    """Parts of equal sizes."""
    return [list(range(start, count, of)) for start in range(of)]


def _work(
    found: Timetable,
    todo: Sequence[int],
    seconds: Sequence[float],
    workers: Sequence[Worker],
    hold: int,
    begin: float,
    until: float,
) -> float:
    """Work from `begin` on; what is not finished when `until` comes is lost. When the last worker is done."""
    counter = deque(todo)
    held: list[deque[int]] = [deque() for _ in workers]
    events = [(begin, number) for number in range(len(workers))]
    end = begin
    found.starts += 1
    while events:
        now, number = heapq.heappop(events)
        mine = held[number]
        while counter and len(mine) < hold:
            mine.append(counter.popleft())
        if not mine:
            continue
        done = now + seconds[mine[0]] / workers[number].speed
        end = max(end, done)
        if done > until:
            found.busy += max(0.0, until - now)
            found.lost += max(0.0, until - now)
            continue
        found.busy += done - now
        found.finished[mine.popleft()] = done
        heapq.heappush(events, (done, number))
    return end


def _with_heirs(
    found: Timetable,
    seconds: Sequence[float],
    workers: Sequence[Worker],
    hold: int,
    load: float,
    dies: dict[int, float],
) -> None:
    """As `_work`, but examples of a dead worker go back to the counter. The last worker alive does not die."""
    counter = deque(range(len(seconds)))
    held: list[deque[int]] = [deque() for _ in workers]
    last = max(range(len(workers)), key=lambda number: dies.get(number, float("inf")))
    dies = {number: at for number, at in dies.items() if number != last}
    events = [(load, number) for number in range(len(workers))]
    waiting: list[int] = []  # workers without an example, while others may still leave some
    found.starts = 1
    while events:
        now, number = heapq.heappop(events)
        mine = held[number]
        if mine and mine[0] < 0:  # its first one is finished
            found.finished[~mine.popleft()] = now
        if dies.get(number, float("inf")) <= now:
            counter.extend(mine)
            mine.clear()
            events += [(now, other) for other in waiting]
            waiting.clear()
            heapq.heapify(events)
            continue
        while counter and len(mine) < hold:
            mine.append(counter.popleft())
        if not mine:
            waiting.append(number)
            continue
        done = now + seconds[mine[0]] / workers[number].speed
        death = dies.get(number, float("inf"))
        if death < done:
            found.busy += death - now
            found.lost += death - now
            heapq.heappush(events, (death, number))
        else:
            found.busy += done - now
            mine[0] = ~mine[0]
            heapq.heappush(events, (done, number))
