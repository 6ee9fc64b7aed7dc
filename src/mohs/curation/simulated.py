"""Judges that are simulated: they show that the pipeline works, and say nothing about people.

How likely one of them gives the original label depends on how well the text keeps its meaning, as a model sees it: the
bundled judge of substitutions where it has an opinion, else the share of words that stayed, or the similarity of a
rewritten sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

from mohs.curation.config import Config
from mohs.curation.item import Item, Vote
from mohs.report.judged import word_values
from mohs.text import Text
from mohs.text.judge import bundled

_SPREAD = 0.03  # how much simulated judges differ in skill
_LOST = 0.4  # a text with this share of words misspelt keeps nothing


def qualities(config: Config, items: Sequence[Item]) -> dict[str, float]:
    """How well each text keeps its meaning, from 0 to 1."""
    attacks = {one.name: one for one in config.attacks}
    words = [item for item in items if attacks[item.method].of_class == "word"]
    judged = word_values([(Text(*item.original), Text(*item.text)) for item in words])
    whole = bundled().calibration.whole
    found = {item.id: max(0.0, item.similarity or 0.0) for item in items}
    for item, values in zip(words, judged, strict=True):
        value = math.nan if values is None else whole(values)
        kept = max(0.0, 1 - (item.share_changed or 0.0) / _LOST)
        found[item.id] = kept if math.isnan(value) else value
    return found


def simulated_votes(config: Config, items: Sequence[Item], quality: Mapping[str, float]) -> dict[str, tuple[Vote, ...]]:
    """What simulated judges say. Each item's votes depend on the seed, the item and its quality alone."""
    rules = config.judging
    skills = [
        min(1.0, max(0.0, rules.skill + _SPREAD * Random(f"{config.seed}/judge/{number}").uniform(-1, 1)))
        for number in range(rules.pool)
    ]
    found = {}
    for item in items:
        classes = len(config.task(item.task).labels)
        others = [label for label in range(classes) if label != item.label]
        chance = Random(f"{config.seed}/votes/{item.id}")
        votes = []
        for judge in sorted(chance.sample(range(rules.pool), rules.judges)):
            guess = 1 / classes
            right = guess + (skills[judge] - guess) * quality[item.id]
            label = item.label if chance.random() < right else chance.choice(others)
            votes.append((f"simulated-{judge + 1}", label))
        found[item.id] = tuple(votes)
    return found
