"""What a judge says about the words that an attack changed, outside of a run."""

from __future__ import annotations

import math
from collections.abc import Coroutine, Iterable, Iterator
from functools import cache
from random import Random
from typing import Any

from mohs.engine import Service, run
from mohs.models.judge import CrossEncoderJudge, load_judge
from mohs.models.tagger import PocketTagger
from mohs.space import Acceptable, Services
from mohs.text import Text
from mohs.text.judge import Judge

_AT_ONCE = 4096  # texts whose questions share batches

Found = dict[tuple[int, str], float]


def word_values(
    pairs: Iterable[tuple[Text, Text]],
    judge: str | Judge | CrossEncoderJudge = "pocket",
    device: str = "auto",
    trust_code: bool = False,
) -> list[list[float] | None]:
    """For each original and final text, the probability that people would accept each changed word, in their order.

    None where the texts do not correspond word by word; nan where a word cannot be judged. An empty list if nothing
    changed.
    `judge` is `pocket`, refit:FOLDER, hf:PATH_OR_ID or the judge itself; tags come from the bundled tagger. Each
    distinct change is judged once, in batches over all texts. It may also be called in a notebook: it needs no event
    loop.

    >>> [values] = word_values([(Text("a big house"), Text("a large house"))])
    >>> len(values), 0 < values[0] < 1
    (1, True)
    """
    pairs = list(pairs)
    part = load_judge(judge, device, trust_code) if isinstance(judge, str) else judge
    changes: dict[Text, dict[int, dict[str, None]]] = {}
    for original, final in pairs:
        if original.same_shape(final):
            for edit in original.edits(final):
                changes.setdefault(original, {}).setdefault(edit.position, {})[edit.new] = None
    found = _judged(changes, part)
    return [_values(found.get(original, {}), original, final) for original, final in pairs]


@cache
def _tagger() -> PocketTagger:
    return PocketTagger()


def _judged(changes: dict[Text, dict[int, dict[str, None]]], judge: Judge | CrossEncoderJudge) -> dict[Text, Found]:
    """The probability of each change of each text. A fault of the judge ends it: it is no verdict about a text."""
    tagger: Service[Any, Any] = Service(_tagger())
    services = [tagger] if isinstance(judge, Judge) else [tagger, Service(judge)]
    ask = Services({"tagger": tagger, "judge": judge if isinstance(judge, Judge) else services[1]}, Random(0))
    measure = Acceptable()

    def searches() -> Iterator[tuple[Text, Coroutine[Any, None, Found]]]:
        for text, places in changes.items():
            yield text, measure.of_changes(text, {place: list(words) for place, words in places.items()}, ask)

    found: dict[Text, Found] = {}
    for ended in run(searches(), services, _AT_ONCE):
        if ended.error is not None:
            raise ended.error
        if ended.result is not None:
            found[ended.key] = ended.result
    return found


def _values(found: Found, original: Text, final: Text) -> list[float] | None:
    if not original.same_shape(final):
        return None
    return [found.get((edit.position, edit.new), math.nan) for edit in original.edits(final)]
