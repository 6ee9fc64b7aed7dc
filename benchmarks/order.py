"""How many texts the prover has to try before it meets one that changes the label, by the order of positions.

    python benchmarks/order.py --victim mohs:FOLDER --data test.jsonl.gz [--n 200] [--max-r 2]

Spaces of the five nearest bundled vectors. Of every example that falls at level 1 or 2, the place of the first text of
that level that changes the label is noted: with positions as they stand in the text, by the L1 norm of the gradient
(Yang et al. 2022), and, at level 2, by how near one substitution came (what the prover does from there on). The prover
asks in chunks of 512 texts and more, so it also prints how many texts it asks in chunks up to that place.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from random import Random
from statistics import mean, median
from typing import Any

import numpy as np

from mohs.bounds import Points
from mohs.bounds.order import by_sensitivity, sensitivities
from mohs.bounds.points import TIE, chunks, texts_at
from mohs.engine import Service
from mohs.models.gradients import gradients_of
from mohs.models.load import load_victim
from mohs.models.victim import service_of
from mohs.space import Neighbours, Services, Space, build_space
from mohs.tasks.services import load_services
from mohs.tasks.subject import answered
from mohs.text import Example
from mohs.text.dataset import Dataset
from mohs.text.stopwords import ENGLISH

SOURCE = Neighbours(k=5, min_cosine=0.5)


async def places_of(example: Example, ask: Services, made: Callable[[Space], Points], max_r: int) -> Any:
    """The level at which an example falls, and for each order where; None if it is misread, or does not fall."""
    text, label = example.text, example.label
    points = made(Space(text, {}))
    if (await points.fine(np.full((1, 0), -1), np.full((1, 0), -1), label))[0] <= points.tolerance:
        return None
    space = await build_space(text, SOURCE, (), ENGLISH, example.positions, ask)
    points, count = made(space), range(len(space.choices))
    steep = by_sensitivity(await sensitivities(text, tuple(space.choices), label, ask))
    orders = {"text": list(count), "gradients": steep}
    for r in range(1, min(max_r, len(count)) + 1):
        found = {name: await first(points, order, r, label) for name, order in orders.items()}
        if found["text"][0]:
            return r, found
        if r == 1:
            nearest = found["text"][2]
            orders["level 1"] = sorted(count, key=lambda place: (nearest[place], place))
    return None


async def first(points: Points, order: Sequence[int], r: int, label: int) -> tuple[int, int, dict[int, float]]:
    """The place of the first text that changes the label (0: none), the texts asked in chunks, and margins by place."""
    before = 0
    nearest: dict[int, float] = {}
    for chunk in filter(None, chunks(points.sizes, texts_at(order, r))):
        margins = await points.margins(chunk.places, chunk.picks, label)
        fell = (margins < -TIE).nonzero()[0]
        if len(fell):
            return before + int(fell[0]) + 1, before + len(margins), nearest
        for place, margin in zip(chunk.places[:, 0].tolist(), margins.tolist(), strict=True):
            nearest[place] = min(nearest.get(place, 2.0), margin)
        before += len(margins)
    return 0, before, nearest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--victim", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--max-r", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    victim = load_victim(options.victim, device=options.device)
    many, judge = service_of(victim), service_of(victim, judge=True)
    gradients: Any = Service(gradients_of(victim))
    parts = {**load_services(SOURCE.needs, {}, victim=victim), "gradients": gradients}
    ask = Services(parts, Random(0))
    found: dict[int, list[Any]] = {}
    for example in Dataset(options.data, n=options.n, sample=0):
        search = places_of(example, ask, lambda space: Points(space, many, judge, victim), options.max_r)
        fallen = answered(search, ask, many, judge, gradients)
        if fallen is not None:
            found.setdefault(fallen[0], []).append(fallen[1])
    for r, rows in sorted(found.items()):
        for name in rows[0]:
            place, asked = [row[name][0] for row in rows], [row[name][1] for row in rows]
            print(
                f"r = {r}, order by {name}: {len(rows)} examples; first at text {mean(place):.1f} on average, median "
                f"{median(place):g}; texts asked in chunks {mean(asked):.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
