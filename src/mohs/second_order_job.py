"""`mohs.second_order_attack`, made ready."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from mohs.attacks.catalogue import describe, identity
from mohs.attacks.trial import seen_by
from mohs.engine import AnswerCache, Service, together
from mohs.errors import BadInput, ServiceFailed
from mohs.job import Examples, Job, Subject, answered, crowd, known_to, named_models, subject_of, written
from mohs.models.victim import Fields, Scores, Victim
from mohs.resources import load_services
from mohs.second_order import PatchBook, SecondOrder, SecondOrderTask, find_method
from mohs.second_order.patches import partners_of, words_in
from mohs.space import Services, Source, parse_source
from mohs.space.natural import size_of
from mohs.text.neighbours import cache_folder
from mohs.text.stopwords import read_words

SYNONYMS = "neighbours:k=8,min_cosine=0.5"
_LOOKED_AT = 8  # examples by which the size of neighbourhoods is estimated
_SAMPLED = 8  # words by whose answers another model of the same name is told
_DECIMALS = 4  # of those answers
_ENDLESS = 1e15  # texts that nobody enumerates
_NAMED = 3  # of the words that are no patch words


def second_order_job(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    method: str | SecondOrder,
    *,
    k: int | None,
    beam: int | None,
    synonyms: str | Source | None,
    blacklist: str | Path | Iterable[str] | None,
    floor: float | None,
    most: int,
    seed: int,
    n: int | None,
    budget: int | None,
    models: Mapping[str, Any],
    device: str,
    labels: Sequence[str],
    victim_options: Mapping[str, str] | None,
    trust_pickle: bool,
    trust_code: bool,
    at_once: int | None,
    cache: str | Path | None,
) -> Job:
    """Load and check everything that `mohs.second_order_attack` needs; for its arguments see there."""
    name = method if isinstance(method, str) else "second-order"
    chosen = find_method(method) if isinstance(method, str) else method
    if beam is not None and chosen.width is None:
        raise BadInput(f"{name} keeps no beam; --beam is for so-beam.")
    avoid = frozenset[str]()
    if blacklist is not None:
        avoid = read_words(blacklist, "blacklist", "name a text file of words")
    chosen = replace(
        chosen,
        k=chosen.k if k is None else k,
        width=chosen.width if beam is None else beam,
        near=replace(chosen.near, avoid=chosen.near.avoid | avoid, floor=floor),
    )
    typed = SYNONYMS if synonyms is None else synonyms
    source = parse_source(typed) if isinstance(typed, str) else typed
    if isinstance(labels, str):
        labels = labels.split(",")
    subject = subject_of(
        victim,
        examples,
        n=n,
        device=device,
        labels=labels,
        victim_options=victim_options,
        trust_pickle=trust_pickle,
        trust_code=trust_code,
        cache=cache,
    )
    if subject.model.hard and chosen.needs_scores:
        raise BadInput(
            f"{name} steers by the victim's scores, and {subject.model.name} gives labels only; use --method so-enum."
        )
    kinds = [*chosen.near.needs, *source.needs, *(["lm"] if models.get("lm") is not None else [])]
    parts = load_services(dict.fromkeys(kinds), models, victim=subject.model, device=device, trust_code=trust_code)
    ask = Services(parts, Random(0))
    book, lost = _book(subject, source, ask)
    sizes = [] if chosen.walk else _sizes(subject, chosen, ask)
    if chosen.width is None and not chosen.walk:
        chosen = replace(chosen, most=most)
        _feasible(name, chosen, sizes, most, budget)
    known_to(parts["masked_lm"], book.scores)
    task = SecondOrderTask(name, chosen, book, subject.model, subject.service, subject.judge, parts, seed, budget)
    config = {
        **subject.config,
        "attacks": [name],
        "method": name,
        "k": chosen.k,
        "beam": chosen.width,
        "synonyms": typed if isinstance(typed, str) else written(typed),
        "most": most,
        "blacklist": str(blacklist) if isinstance(blacklist, str | Path) else None if blacklist is None else "given",
        "floor": floor,
        "seed": seed,
        "budget": budget,
        **named_models(parts, models),
    }
    notes = [f"{len(book.scores):,} single words of the data and their synonyms were put to the victim beforehand."]
    if sizes:
        texts = _mean(sizes, chosen.k, chosen.width)
        notes.append(
            f"At most about {texts:,.0f} texts an example were expected, each asked with and without its patch."
        )
    if lost:
        notes.append(_lost(lost))
    if typed == SYNONYMS:
        notes.append(
            "Patch words are near word vectors, not always synonyms (your|our); name better ones with --synonyms."
        )
    settings = {
        "method_settings": describe(replace(chosen, most=None)),
        "synonyms_used": identity(source),
        "avoid": sorted(avoid),
    }
    return subject.job([task], parts, config, settings, {"notes": notes}, at_once or crowd(subject))


def _book(subject: Subject, source: Source, ask: Services) -> tuple[PatchBook, list[str]]:
    """The synonyms of every word of the data, what the victim says to each word alone, and at which it raises."""
    words = {
        example.text.words[position].lower() for example in subject.data for position in seen_by(subject.model, example)
    }
    partners = answered(partners_of(words, source, ask), ask)
    if not partners:
        raise BadInput(
            f"The synonyms have none for any of the {len(words):,} words of the data; "
            "name another source with --synonyms."
        )
    names = next(iter(subject.data)).names
    items: dict[Fields, str] = {(word, *("" for _ in names[1:])): word for word in words_in(partners)}
    some = list(items)[:: -(-len(items) // _SAMPLED)]
    told = answered(_asked(subject.service, some), ask, subject.service)
    key = f"{subject.model.fingerprint}/{[[round(p, _DECIMALS) for p in scores or ()] for scores in told]}"
    with _file() as file:
        known: dict[Fields, Scores] = {} if file is None else file.get(key, list(items))
        missing = [item for item in items if item not in known]
        found = answered(_asked(subject.service, missing), ask, subject.service) if missing else []
        fresh = {item: scores for item, scores in zip(missing, found, strict=True) if scores}
        if file is not None and fresh:
            with suppress(BadInput):
                file.put(key, fresh)
    known |= fresh
    scores = {word: known[item] for item, word in items.items() if item in known}
    if not scores:
        raise BadInput(f"{subject.model.name} raises at every single word, and patch words are chosen by its answers.")
    read = {word: tuple(other for other in others if other in scores) for word, others in partners.items()}
    book = PatchBook({word: others for word, others in read.items() if word in scores and others}, scores)
    return book, [word for word in items.values() if word not in scores]


def _lost(words: Sequence[str]) -> str:
    """A sentence on the words at which the victim raises."""
    named = ", ".join(words[:_NAMED]) + (" ..." if len(words) > _NAMED else "")
    return f"The victim raises at {len(words):,} more single words ({named}), which are therefore no patch words."


async def _asked(service: Service[Fields, Scores], items: Sequence[Fields]) -> list[Scores | None]:
    """The answer to each word, or None where the victim raises: that word alone is lost."""
    return await together(*(_answer(service, item) for item in items))


async def _answer(service: Service[Fields, Scores], item: Fields) -> Scores | None:
    try:
        return (await service.ask([item]))[0]
    except ServiceFailed:
        raise
    except Exception:  # whatever a victim raises at a word without its text
        return None


@contextmanager
def _file() -> Iterator[AnswerCache | None]:
    """Where answers to single words are kept; a folder that cannot be used costs time only."""
    folder = cache_folder()
    try:
        cache = None if folder is None else AnswerCache(folder / "patch-words.sqlite")
    except BadInput:
        cache = None
    try:
        yield cache
    finally:
        if cache is not None:
            cache.close()


_Sizes = list[tuple[float, int]]  # of some examples: how many texts one step leads to, and how many words may change


def _sizes(subject: Subject, chosen: SecondOrder, ask: Services) -> _Sizes:
    firsts: _Sizes = []
    for _, example in zip(range(_LOOKED_AT), subject.data, strict=False):
        positions = seen_by(subject.model, example)[1:]  # one word is the patch
        try:
            first = answered(size_of(example.text, 1, chosen.near, positions, ask), ask)
        except ServiceFailed:
            raise
        except Exception:  # that example will say so itself
            continue
        firsts.append((first, len(positions)))
    return firsts


def _feasible(name: str, chosen: SecondOrder, sizes: _Sizes, most: int, budget: int | None) -> None:
    """Refuse to enumerate what has no end."""

    def fewer(texts: float) -> str:
        smaller = next((k for k in range(chosen.k - 1, 0, -1) if _mean(sizes, k) <= texts), None)
        return "" if smaller is None else f"-k {smaller}, "

    texts = _mean(sizes, chosen.k)
    if budget is not None and 2 * texts > budget:
        raise BadInput(
            f"{name} with k={chosen.k} asks the victim about {2 * texts:,.0f} texts an example (the first "
            f"{len(sizes)} examples), and --budget is {budget:,}; use {fewer(budget / 2)}--method so-beam, or more "
            "budget."
        )
    if texts > most:
        raise BadInput(
            f"{name} with k={chosen.k} would look at about {texts:,.0f} texts an example (the first "
            f"{len(sizes)} examples); use {fewer(most)}--method so-beam, or --most {math.ceil(texts)} to do it all "
            "the same."
        )


def _mean(sizes: _Sizes, k: int, width: int | None = None) -> float:
    """About how many texts k steps lead to; with a width, those of which each step goes on from so many at most."""
    total = 0.0
    for first, places in sizes:
        whole = _size(first, k, places)
        total += whole if width is None else min(whole, first * (1 + (k - 1) * width))
    return total / max(1, len(sizes))


def _size(first: float, k: int, places: int) -> float:
    """About how many texts k steps lead to, as `size_of` has it; no more than can be written down."""
    if not first:
        return 0.0
    return math.exp(min(math.log(_ENDLESS), k * math.log(first) - math.lgamma(min(k, places) + 1)))
