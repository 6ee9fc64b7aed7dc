"""I/O errors at the writes of every command: of its journal, caches, manifest, pages, certificates and checkpoints."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from random import Random

from tests.faults.sabotage import ACTIONS
from tests.faults.tally import Tally
from tests.faults.undisturbed import Attempt, Undisturbed

_SMALLEST_LIMIT = 4096  # bytes; a message must still fit


def places(whole: Undisturbed, chance: Random, count: int) -> list[int]:
    """Some of the numbers of a command's writes: one of each kind first, as most are SQLite's."""
    kinds: dict[str, list[int]] = {}
    for number, kind in enumerate(whole.writes, 1):
        kinds.setdefault(kind, []).append(number)
    found: list[int] = []
    while len(found) < min(count, len(whole.writes)):
        found += [numbers.pop(chance.randrange(len(numbers))) for numbers in kinds.values() if numbers]
    return found[:count]


def writes(commands: Sequence[Undisturbed], count: int, seed: int, *, every: bool = False) -> list[Tally]:
    """Let writes fail, `count` in all; with `every`, each write of each command with each error instead."""
    tallies = []
    for index, whole in enumerate(commands):
        chance = Random(f"writes/{seed}/{whole.command.name}")
        tally = Tally(f"I/O error {whole.command.name}")
        share = (count + index) // len(commands)
        if every:
            cases = [(at, action) for at in range(1, len(whole.writes) + 1) for action in ACTIONS]
        else:
            cases = [(at, chance.choice(ACTIONS)) for at in places(whole, chance, share - share // 5)]
        for at, action in cases:
            lasting = chance.random() < 0.5
            story = f"{action} {'from' if lasting else 'at'} write {at} ({whole.writes[at - 1]})"
            told = {"folder": str(whole.nurse.scene), "at": at, "action": action, "lasting": lasting}
            _spoil(whole, tally, story, sabotage=told)
        for _ in range(share // 5):
            size = int(2 ** chance.uniform(12, 18))
            _spoil(whole, tally, f"files of at most {size} bytes", limit=max(size, _SMALLEST_LIMIT))
        tallies.append(tally)
    return tallies


def _spoil(whole: Undisturbed, tally: Tally, story: str, **job: object) -> None:
    """Run a command with a fault, then without."""
    scene = whole.nurse.scene
    for cache in (*scene.glob("answers.sqlite*"), scene / "cache"):  # they are written only if they are new
        shutil.rmtree(cache) if cache.is_dir() else cache.unlink(missing_ok=True)
    attempt = Attempt(whole, scene / "spoilt", tally)
    ended = attempt.run(story, **job)
    tally.cases += 1
    tally.said(ended, str(attempt))
    if ended.status == 0:  # the write did not matter
        attempt.compare_whole()
    attempt.finish()
