"""The defences to be judged: each is a family of victims, one for each key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache
from typing import Any

from mohs.defences.mean import Mean
from mohs.defences.patterns import around, draws
from mohs.defences.versions import Versions
from mohs.defences.written import defended
from mohs.errors import BadInput
from mohs.models.victim import Fields, Victim
from mohs.models.wrapper import Wrapper
from mohs.tasks.described import describe
from mohs.tasks.services import fingerprint, load_books
from mohs.text.addresses import without_credentials

_PLACE = "(the victim)"  # stands for the run's victim; no name of a victim starts with a bracket


@dataclass(frozen=True)
class Candidate:
    """A defence under judgement."""

    name: str
    draws: bool  # whether it has randomness, and so several keys
    made: Callable[[int], Victim] = field(repr=False)  # the defended victim with a key
    written: Callable[[int], Any] = field(repr=False)  # the same, by its name if it has one, for a run of its own

    def keys(self, count: int) -> range:
        """The first so many keys; one if nothing is drawn."""
        return range(count if self.draws else 1)

    def average(self, count: int) -> Victim:
        """The mean of the answers with the first so many keys: what an attack searches that knows of the randomness."""
        return Mean(*(self.made(key) for key in range(count)))

    def written_average(self, count: int) -> Any:
        """The same, by its name if it has one."""
        names = [self.written(key) for key in range(count)]
        return f"mean({', '.join(names)})" if all(isinstance(name, str) for name in names) else self.average(count)


def candidate_of(given: Any, victim: Victim, name: str | None, load: Callable[[str], Victim]) -> Candidate:
    """A defence around a victim, from how it is written or from an object.

    name: how the run's victim is written; None if it was given as an object. load: loads another victim by its name.
    """
    if isinstance(given, str):
        return _written(given, victim, name, load)
    if isinstance(given, Versions):
        return _kept(given.name, given.draws, given.with_key)
    if is_dataclass(given) and callable(getattr(given, "versions", None)) and callable(getattr(given, "combined", 0)):
        defence, hashes = _with_books(given)
        called = f"{type(given).__name__}({victim.name}, {describe(given, defaults=False).partition('(')[2]}"

        def made(key: int) -> Victim:
            return Versions(victim, defence, called, key, hashes)

        return _kept(describe(given, defaults=False), bool(getattr(given, "draws", True)), made)
    if callable(getattr(given, "collect", None)):
        return _kept(str(given.name), False, lambda key: given)
    raise BadInput(
        f"{given!r} is no defence; give a name such as 'ensemble(n=8)', a defence of mohs.defences, or a victim."
    )


def _kept(name: str, drawn: bool, made: Callable[[int], Victim]) -> Candidate:
    once = cache(made)
    return Candidate(name, drawn, once, once)


def _written(pattern: str, victim: Victim, name: str | None, load: Callable[[str], Victim]) -> Candidate:
    known = cache(load)
    books = cache(lambda kinds, given: load_books(kinds, dict(given)))

    def loaded(written: str) -> Victim:
        return victim if written == _PLACE else known(written)

    @cache
    def made(key: int) -> Victim:
        return defended(
            around(pattern, _PLACE, key), loaded, lambda kinds, given: books(tuple(kinds), tuple(given.items()))
        )

    def written(key: int) -> Any:
        return made(key) if name is None else around(pattern, name, key)

    return Candidate(str(without_credentials(pattern.strip())), draws(pattern), made, written)


def _with_books(defence: Any) -> tuple[Any, str]:
    """A defence with the bundled word books if it has none, and their names and hashes."""
    needs: tuple[str, ...] = tuple(defence.needs)
    books: Mapping[str, Any] = getattr(defence, "books", {})
    if missing := [kind for kind in needs if kind not in books]:
        books = {**books, **load_books(missing, {})}
        defence = replace(defence, books=books)
    return defence, " ".join(fingerprint(books[kind]) for kind in needs)


def layers(victim: Any) -> Iterator[Victim]:
    """A defended victim and what it asks, at every depth."""
    yield victim
    for one in victim.victims if isinstance(victim, Mean) else [victim.victim] if isinstance(victim, Wrapper) else []:
        yield from layers(one)


def asks(victim: Any, fields: Fields) -> int:
    """How many texts the innermost victims are asked for one answer; a version that comes twice is asked once."""
    if isinstance(victim, Mean):
        return sum(asks(one, fields) for one in victim.victims)
    if isinstance(victim, Versions):
        return sum(asks(victim.victim, version) for version in dict.fromkeys(victim.versions(fields)))
    return asks(victim.victim, fields) if isinstance(victim, Wrapper) else 1
