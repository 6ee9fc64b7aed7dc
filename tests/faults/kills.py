"""SIGKILL at random moments of every command: by the clock, and in the middle of its writes."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.faults.sabotage import KILL
from tests.faults.tally import Tally
from tests.faults.undisturbed import Attempt, Undisturbed

_MOST_KILLS_OF_A_RUN = 8
_SPAWNED = 0.03  # the share of commands with workers whose workers are started as usual, which takes seconds


def kills(commands: Sequence[Undisturbed], count: int, seed: int) -> list[Tally]:
    """Kill commands until that many were killed: each command in turn, and each several times before it may finish."""
    chance = Random(f"kills/{seed}")
    tallies = {whole.command.name: Tally(f"kill {whole.command.name}") for whole in commands}
    several = [whole for whole in commands if whole.command.workers]
    turns = [*(whole for whole in commands if not whole.command.workers), *several[:1]] if several else list(commands)
    most = max(1, min(_MOST_KILLS_OF_A_RUN, count // len(commands)))  # with few kills, all commands get some
    number = 0
    while sum(tally.cases for tally in tallies.values()) < count:
        whole = turns[number % len(turns)]
        if whole.command.workers:  # they take longest, so one of them a turn
            whole = several[number // len(turns) % len(several)]
        tally = tallies[whole.command.name]
        attempt = Attempt(whole, whole.nurse.scene / f"killed-{number}", tally)
        for _ in range(chance.randint(1, most)):
            story, job = moment(whole, chance)
            ended = attempt.run(story, **job)
            if ended.status == 0:
                break
            died = "worker" in story and ended.status == 4 and "A worker process died" in ended.sentence
            if ended.status == -signal.SIGKILL or died:
                tally.cases += 1
            elif not ended.traceback and not ended.hung:
                tally.note("wrong", f"{attempt}: exit code {ended.status}: {ended.stderr[-500:]}")
        attempt.finish()
        number += 1
    return list(tallies.values())


def moment(whole: Undisturbed, chance: Random) -> tuple[str, dict[str, Any]]:
    """When the next kill comes, in words and as a job."""
    first, total = whole.ended.times[0], whole.ended.seconds
    job: dict[str, Any] = {"seed": chance.randrange(10**9)}
    kind = chance.random()
    if whole.command.workers and chance.random() < _SPAWNED:
        job["forked"] = False
        first, total = first + 3.0, total + 8.0
    if kind < 0.35:
        at = chance.randint(1, len(whole.writes))
        story = f"a kill at write {at} ({whole.writes[at - 1]})"
        return story, {**job, "sabotage": {"folder": str(whole.nurse.scene), "at": at, "action": KILL}}
    after = chance.uniform(0, total) if kind < 0.55 else chance.uniform(first, total)
    if whole.command.workers and chance.random() < 0.5:
        return f"a kill of a worker after {after:.3f} s", {**job, "kill_after": after, "kill_worker": True}
    return f"a kill after {after:.3f} s", {**job, "kill_after": after}
