"""People with several tabs open, each tab in another process, who judge, dawdle, click twice and come back late.

    python -m tests.studies.racing PLACE SEED NAME...

Prints a JSON list of the answers that this process was told are kept: annotator, item, value and what became of it.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from random import Random

from mohs.studies.desk import Desk, Phase, Taken
from mohs.studies.study import Study

STEPS = 120  # of one tab
_HURRY = 6.0  # seconds that pass whenever somebody looks at the clock, so that batches of a minute expire

Told = list[tuple[str, int, int, str]]


def value_of(name: str, item: int) -> int:
    """What somebody thinks of an item, in all their tabs."""
    return 1 + (len(name) + item) % 3


def tab(desk: Desk, number: int, name: str, random: Random) -> Told:
    """One tab: steps in a random order, until there is nothing left."""
    told: Told = []
    seen: set[int] = set()
    for _ in range(STEPS):
        standing = desk.at(number)
        if standing.task is not None:
            seen.add(standing.task.number)
        wish = random.random()
        if standing.task is not None and wish < 0.2:
            answered = [standing.task.number] * random.choice((1, 1, 2))
        elif seen and wish < 0.35:
            answered = [random.choice(sorted(seen))]  # the page of an item from before, perhaps long ago
        else:
            answered = []
        for item in answered:
            value = value_of(name, item)
            told.append((name, item, value, str(desk.answer(number, item, value))))
        if not answered and wish > 0.97:
            desk.pause(number)
        if standing.phase is Phase.CONSENT:
            desk.agree(number)
        elif standing.phase is not Phase.TASK:
            if standing.phase is Phase.END and random.random() < 0.2:
                break  # until then others may leave something behind
            desk.more(number)
    return told


def race(study: Study, names: list[str], seed: int, hurry: float = _HURRY) -> Told:
    """One tab for each of these people, all at once."""
    numbers = {one.name: one.number for one in study.annotators()}
    ticks = itertools.count()
    desk = Desk(study, lambda: 1000.0 + hurry * next(ticks))
    told: Told = []
    faults: list[BaseException] = []

    def work(name: str) -> None:
        try:
            told.extend(tab(desk, numbers[name], name, Random(f"{seed}/{name}")))
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return told


def kept(told: Told) -> dict[tuple[str, int], int]:
    """The answers that were kept, each once; fails if one was kept twice."""
    found: dict[tuple[str, int], int] = {}
    for name, item, value, taken in told:
        if taken == Taken.KEPT:
            assert (name, item) not in found, f"{name} judged item {item} twice"
            found[name, item] = value
    return found


if __name__ == "__main__":
    with Study.open(sys.argv[1]) as opened:
        print(json.dumps(race(opened, sys.argv[3:], int(sys.argv[2]))))
