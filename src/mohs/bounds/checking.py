"""Checks a certificate: asks the victim again, and recomputes every number in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from mohs.bounds.additive import agrees, some_texts, worst_of
from mohs.bounds.certificate import Certificate
from mohs.bounds.cnn_bound import bound_of
from mohs.bounds.points import Block, Chunk, Points, chunks, texts_at
from mohs.bounds.prover import Level, Walk, margin_of
from mohs.bounds.pruning import Open
from mohs.engine import Answers
from mohs.models.victim import Fields, Scores, Victim, traits_of
from mohs.space import Space, omega
from mohs.space.omega import Edits
from mohs.text import Text

DIFFERS = {
    "batches": "answers differently in batches than alone, so what it answers proves nothing",
    "unsteady": "gives two answers to the same text, so what it answers proves nothing",
}
_COARSE = 0.1  # margins of a victim of low precision are off by less
_ROUNDED = 1e-6  # so are the margins in a certificate
_UNSTATED = "it does not say how its space was built, so nobody can tell whether words were left out."


@dataclass(frozen=True)
class Checked:
    """The result of checking a certificate."""

    sound: bool
    asked: int  # number of texts
    whole: bool  # whether all texts were checked, not a sample
    same: bool | None  # whether every answer agreed to six decimals; None if other texts were asked
    why: str  # one sentence
    notes: tuple[str, ...] = ()  # sentences about what is not wrong but should be known
    unstated: bool = False  # not sound only because it does not say how its space was built: words may be left out


async def check(
    certificate: Certificate,
    model: Victim,
    ask: Callable[[Space], Points],
    judge: Answers[Fields, Scores],
    sample: int | None,
    bounds: bool = True,
    seed: int | None = None,
    accept_old: bool = False,
) -> Checked:
    """Ask the victim again about every text, or about `sample` texts drawn at random from each level.

    ask: makes the Points that put a space's texts to the victim. bounds: skip texts that a bound proves, if a bound was
    used before. seed: of the sample; by default a new sample each time. accept_old: let certificates pass that do not
    say how their space was built.
    """
    if model.fingerprint != certificate.fingerprint:
        return _no(f"{model.name} is not the model of this certificate.")
    points = ask(certificate.space)
    if certificate.tolerance != points.tolerance:
        return _no(
            f"It counts margins above {certificate.tolerance:g}, but those of {model.name} mean something only above "
            f"{points.tolerance:g}."
        )
    place, words = next(iter(certificate.choices.items()))
    (first,) = await judge.ask([certificate.space.text.replace_all({place: words[0]}).fields])
    if certificate.label >= len(first):
        return _no(f"{model.name} has no class {certificate.label}.", 1)
    if certificate.by == "closed form":
        found = await _closed(certificate, model, judge, points.tolerance)
    else:
        found = await _levels(certificate, model, points, judge, sample, bounds, seed)
    if found.sound:  # the original last: a victim that remembers it must not answer the others alike
        (original,) = await judge.ask([certificate.text])
        if (margin := margin_of(original, certificate.label)) <= points.tolerance:
            found = _broken(certificate.space.text, margin, found.asked + 1)
    if found.sound and certificate.built is None and not accept_old:
        found = replace(found, sound=False, unstated=True, why=f"{found.why} But it is of an old format: {_UNSTATED}")
    return replace(found, notes=tuple(_notes(certificate, model)))


def _notes(certificate: Certificate, model: Victim) -> Iterator[str]:
    if certificate.victim != model.name:
        yield f"The certificate calls the victim {certificate.victim!r}, but it is {model.name!r}."
    if certificate.built is None:
        yield f"The certificate is of an old format: {_UNSTATED}"


async def _levels(
    certificate: Certificate,
    model: Victim,
    points: Points,
    judge: Answers[Fields, Scores],
    sample: int | None,
    bounds: bool,
    seed: int | None,
) -> Checked:
    """Check a proof by enumeration, level by level."""
    sizes = omega.levels(certificate.choices, certificate.radius)[1:]
    if [level.size for level in certificate.levels] != sizes:
        told = [level.size for level in certificate.levels]
        return _no(f"Its levels have {told} texts, not {sizes}.")
    bound = None
    if bounds and sample is None and any(level.pruned for level in certificate.levels):
        bound = bound_of(model, certificate.space, certificate.label)
        if not agrees(model, some_texts(model, certificate.space, Random(str(certificate.text))), points.tolerance):
            bound = None  # it is a bound of the model inside, which answers otherwise
        if bound is None:
            return _no(f"It says that a bound proved texts, but there is none for {model.name}; use --no-bounds.")
    same: bool | None = True
    whole = True
    settled, random, positions = 0, Random(seed), list(range(len(points.places)))
    random.shuffle(positions)
    off = _ROUNDED + (points.tolerance if traits_of(model).verdict in (None, model) else _COARSE)
    for level in certificate.levels:
        walk = Walk(points, certificate.label)
        unsettled = Open(bound, points, positions, level.r) if bound is not None and level.pruned else None
        blocks: Iterable[Block | None] = texts_at(positions, level.r) if unsettled is None else unsettled
        before = points.asked
        all_of_it = sample is None or 2 * sample > level.size  # drawing distinct texts would take too long
        whole = whole and all_of_it
        for chunk in chunks(points.sizes, blocks) if all_of_it else _drawn(points, level, sample or 0, random):
            if chunk is not None and (await walk(chunk) or walk.ties):
                return _broken(points.space.text.replace_all(walk.where), walk.margin, points.asked)
        await walk.repeat()
        if points.differs:
            return _no(f"{model.name} {DIFFERS[points.differs]}.", points.asked)
        spared = 0 if unsettled is None else unsettled.settled
        if all_of_it and points.asked - before + spared != level.size:
            raise AssertionError("a level was not checked completely")
        settled += spared
        again = walk.level(level.r, level.size, unsettled)
        others = not all_of_it or (level.pruned and unsettled is None)  # other texts were asked
        if again.margin < level.margin - off or (not others and again.margin > level.margin + off):
            return _no(f"Its level {level.r} has the smallest margin {again.margin}, not {level.margin}.", points.asked)
        if level.where:
            (scores,) = await judge.ask([points.space.text.replace_all(level.where).fields])
            there = margin_of(scores, certificate.label)
            if abs(there - level.margin) > off:
                return _no(f"{level.where} has a margin of {there:.6f}, not {level.margin}.", points.asked)
        if others:
            same = None
        elif same:
            same = replace(again, where=level.where) == level  # another text may have the same smallest margin
    what = f"The label holds in a sample of {points.asked:,} texts."
    if whole:
        besides = f", and a bound proves {settled:,} more" if settled else ""
        what = f"The label holds in all {points.asked:,} texts{besides}."
    return Checked(True, points.asked, whole, same, what)


def _drawn(points: Points, level: Level, sample: int, random: Random) -> Iterator[Chunk | None]:
    """A number of distinct texts of a level, drawn uniformly."""
    sampler = points.space.sampler(level.r)
    numbers = {place: number for number, place in enumerate(points.places)}
    found: dict[tuple[tuple[int, str], ...], Edits] = {}
    while len(found) < sample:
        edits = sampler.at_level(level.r, random)
        found.setdefault(tuple(edits.items()), edits)
    drawn = list(found.values())
    places = np.array([[numbers[place] for place in edits] for edits in drawn], np.int32)
    picks = [[points.space.choices[place].index(word) for place, word in edits.items()] for edits in drawn]
    yield Chunk(places, np.array(picks, np.int32), ())


async def _closed(certificate: Certificate, model: Victim, judge: Answers[Fields, Scores], tolerance: float) -> Checked:
    """Check a proof by closed form: find the worst text of every level again, and ask about it."""
    worst, space = worst_of(model, certificate.space, certificate.label), certificate.space
    if worst is None:
        return _no("This victim does not add up word scores, so the closed form is no proof.")
    texts = [space.text.replace_all(worst.edits(level.r)) for level in certificate.levels]
    answers = await judge.ask([text.fields for text in texts])
    others = some_texts(model, space, Random(str(space.text)))
    if not agrees(model, [certificate.text, *others, *(text.fields for text in texts)], tolerance):
        return _no("This victim does not answer as its word scores add up, so the closed form is no proof.", len(texts))
    old = certificate.built is None  # then the number of texts asked stands for the size
    sizes = omega.levels(certificate.choices, certificate.radius)[1:]
    for level, size, text, scores in zip(certificate.levels, sizes, texts, answers, strict=True):
        margin = margin_of(scores, certificate.label)
        if margin <= tolerance:
            return _broken(text, margin, len(texts))
        if level.size != (1 if old else size):
            return _no(f"Its level {level.r} has {1 if old else size:,} texts, not {level.size:,}.", len(texts))
        if level.where != worst.edits(level.r):
            return _no(f"The worst substitutions are {worst.edits(level.r)}, not {level.where}.", len(texts))
        nothing_hurts = old and not worst.steps and level.margin == 1  # what was written then
        if abs(level.margin - margin) > tolerance + _ROUNDED and not nothing_hurts:
            return _no(f"Its level {level.r} has the smallest margin {margin:.6f}, not {level.margin}.", len(texts))
    what = f"The worst text at radius {certificate.radius} has a margin of {margin:.6f}."
    return Checked(True, len(texts), True, None, what)


def _no(why: str, asked: int = 0) -> Checked:
    return Checked(False, asked, False, None, why)


def _broken(text: Text, margin: float, asked: int) -> Checked:
    return _no(f"The label does not hold: {str(text)!r} has a margin of {margin:.6f}.", asked)
