"""Patch words of a whole run: the synonyms of every word of the data, and the victim's scores for each word alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from mohs.engine import AnswerCache, Answers, together
from mohs.errors import BadInput, ServiceFailed
from mohs.models.victim import Fields, Scores, is_scores
from mohs.second_order.patches import PatchBook, partners_of, words_in
from mohs.space import Services, Source
from mohs.tasks.subject import Subject, answered
from mohs.text.neighbours import cache_folder

_FILE = "patch-words.sqlite"
_WORDS_TO_TELL_MODELS_APART = 8  # their scores reveal another model under the same name
_DECIMALS_TO_TELL_MODELS_APART = 4


def patch_book(subject: Subject, source: Source, ask: Services) -> tuple[PatchBook, list[str]]:
    """The pairs with the victim's scores, and the words that make the victim raise."""
    target = subject.target
    words = {example.text.words[position].lower() for example in subject.data for position in target.sees(example)}
    partners = answered(partners_of(words, source, ask), ask)
    if not partners:
        raise BadInput(
            f"The source has no synonym for any of the {len(words):,} words of the data; "
            "use another source with --synonyms."
        )
    names = next(iter(subject.data)).names
    items: dict[Fields, str] = {(word, *("" for _ in names[1:])): word for word in words_in(partners)}
    some = list(items)[:: -(-len(items) // _WORDS_TO_TELL_MODELS_APART)]
    told = answered(_asked(target.anew, some), ask, target.anew)
    digits = [[round(p, _DECIMALS_TO_TELL_MODELS_APART) for p in scores or ()] for scores in told]
    key = f"{subject.model.fingerprint}/{digits}"
    with _file() as file:
        kept: dict[Fields, Scores] = {} if file is None else file.get(key, list(items))
        known = {item: scores for item, scores in kept.items() if is_scores(scores, target.width)}
        missing = [item for item in items if item not in known]
        found = answered(_asked(target.victim, missing), ask, target.victim) if missing else []
        fresh = {item: scores for item, scores in zip(missing, found, strict=True) if scores}
        if file is not None and fresh:
            with suppress(BadInput):
                file.put(key, fresh)
    known |= fresh
    scores = {word: known[item] for item, word in items.items() if item in known}
    if not scores:
        raise BadInput(f"{subject.model.name} raises an error for every single word, so no patch words can be chosen.")
    read = {word: tuple(other for other in others if other in scores) for word, others in partners.items()}
    book = PatchBook({word: others for word, others in read.items() if word in scores and others}, scores)
    return book, [word for word in items.values() if word not in scores]


async def _asked(service: Answers[Fields, Scores], items: Sequence[Fields]) -> list[Scores | None]:
    """The scores of each word, or None if the victim raises: only that word is lost."""
    return await together(*(_answer(service, item) for item in items))


async def _answer(service: Answers[Fields, Scores], item: Fields) -> Scores | None:
    try:
        found: Any = (await service.ask([item]))[0]
        return tuple(found)
    except ServiceFailed:
        raise
    except Exception:  # a victim may raise anything for a single word
        return None


@contextmanager
def _file() -> Iterator[AnswerCache | None]:
    """The cache of scores for single words; None if the folder cannot be used, which only costs time."""
    folder = cache_folder()
    try:
        cache = None if folder is None else AnswerCache(folder / _FILE)
    except BadInput as error:
        if not isinstance(error.__cause__, OSError | sqlite3.OperationalError):  # a damaged file stays damaged
            raise
        cache = None
    try:
        yield cache
    finally:
        if cache is not None:
            cache.close()
