"""The third stage: texts that are near enough to their originals (AdvGLUE, 3.3).

A word-level attack may change at most a share of the words. Of what a sentence-level attack made of one original, the
text that is most similar to it stays. Texts that are valid by definition are measured, and all stay.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from mohs import engine
from mohs.curation.config import Config
from mohs.curation.item import Dropped, Item
from mohs.curation.stage import Outcome
from mohs.engine import Service
from mohs.models.device import first_device
from mohs.space import BertScore, Measure, SentenceSimilarity, Services
from mohs.text import Text

_AT_ONCE = 256
_ROUNDING = 1e-9

Similarities = Callable[[Sequence[Item]], list[float]]


def fidelity(config: Config, items: Sequence[Item], similar: Similarities) -> Outcome:
    """Apply the filters. similar: the similarity of each item with its original."""
    attacks = {one.name: one for one in config.attacks}
    sentences = [item for item in items if attacks[item.method].of_class == "sentence"]
    values = dict(zip((item.id for item in sentences), similar(sentences), strict=True))
    measured = [replace(item, similarity=values.get(item.id)) for item in items]
    best: dict[tuple[str, str, str], tuple[float, Item]] = {}
    for item in measured:
        if item.similarity is not None:
            key = item.task, item.method, item.source
            if key not in best or item.similarity > best[key][0]:  # the first of equals
                best[key] = item.similarity, item
    kept: list[Item] = []
    dropped: list[Dropped] = []
    for item in measured:
        attack = attacks[item.method]
        if attack.by_definition:
            kept.append(item)
        elif attack.of_class == "word" and (item.share_changed or 0) > config.filters.word_change + _ROUNDING:
            dropped.append(Dropped(item, "too many words changed", f"{item.share_changed:.1%}"))
        elif attack.of_class == "sentence" and best[item.task, item.method, item.source][1] is not item:
            dropped.append(Dropped(item, "another text is more similar"))
        else:
            kept.append(item)
    return Outcome(kept, dropped)


def similarities(config: Config, *, trust_code: bool = False) -> Similarities:
    """Measures similarity by the model that the filters name; it is loaded only if there is something to measure."""

    def of(items: Sequence[Item]) -> list[float]:
        if not items:
            return []
        measure, parts = _measure(config, trust_code)
        ask = Services(parts, Random(0))

        def searches() -> Iterator[tuple[int, Coroutine[Any, None, list[float]]]]:
            for number, item in enumerate(items):
                original = Text(*item.original)
                yield number, measure.of_texts(original, None, [Text(*item.text)], ask)

        found = [0.0] * len(items)
        services = [part for part in parts.values() if isinstance(part, Service)]
        for ended in engine.run(searches(), services, _AT_ONCE):
            if ended.error is not None:
                raise ended.error
            if ended.result is not None:
                found[ended.key] = ended.result[0]
        return found

    return of


def check(config: Config, *, trust_code: bool = False) -> None:
    """Refuse a model of the filters that cannot be loaded, before anything is attacked."""
    if any(one.of_class == "sentence" for one in config.attacks):
        _measure(config, trust_code)


def _measure(config: Config, trust_code: bool) -> tuple[Measure, dict[str, Any]]:
    """The measure of similarity, and the model that it needs."""
    from mohs.tasks.services import load_services

    bert = config.filters.similarity == "bertscore"
    measure: Measure = BertScore() if bert else SentenceSimilarity(angular=False)
    given = {"encoder": config.filters.encoder, "token_encoder": config.filters.token_encoder}
    return measure, load_services(measure.needs, given, device=first_device(config.device), trust_code=trust_code)
