"""A proof that somebody else can check: the space, the victim, and what it answered level by level."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mohs.bounds.additive import worst_of
from mohs.bounds.cnn_bound import bound_of
from mohs.bounds.points import TIE, Block, Chunk, Points, chunks, texts_at
from mohs.bounds.prover import Level, Walk, margin_of
from mohs.bounds.pruning import Open
from mohs.engine import Answers
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores, Victim
from mohs.space import Space, omega
from mohs.space.omega import Edits
from mohs.text import Text

FORMAT = "mohs-certificate-2"
FORMS = ("enumeration", "enumeration and bounds", "closed form")


@dataclass(frozen=True)
class Certificate:
    """That no text with at most `radius` substitutions of a space changes a victim's label."""

    victim: str
    fingerprint: str
    example: str
    text: Fields
    label: int
    radius: int
    choices: Mapping[int, tuple[str, ...]]
    by: str  # enumeration, enumeration and bounds, or closed form
    levels: tuple[Level, ...]
    tolerance: float = TIE  # a margin that decides nothing

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {
            "format": FORMAT,
            **{key: value for key, value in vars(self).items() if key not in ("choices", "levels")},
            "choices": [[place, list(words)] for place, words in self.choices.items()],
            "levels": [level.to_json() for level in self.levels],
        }

    @classmethod
    def from_json(cls, row: Any) -> Certificate:
        """What to_json gave; whatever does not hang together is refused."""
        try:
            if row["format"] != FORMAT:
                raise BadInput(f"This certificate has the format {row['format']!r}, and {FORMAT} is expected.")
            found = cls(
                **{key: row[key] for key in ("victim", "fingerprint", "example", "label", "radius", "by", "tolerance")},
                text=tuple(row["text"]),
                choices={int(place): tuple(words) for place, words in row["choices"]},
                levels=tuple(map(Level.from_json, row["levels"])),
            )
            wrong = found._wrong()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"This is no certificate of ours ({type(error).__name__}: {error}).") from error
        if wrong:
            raise BadInput(f"This is no certificate of ours: {wrong}.")
        return found

    def _wrong(self) -> str:
        """What does not hang together, or nothing."""
        words = self.space.text.words
        if type(self.radius) is not int or not 1 <= self.radius <= len(self.choices):
            return f"its radius is {self.radius!r}, and {len(self.choices)} positions can change"
        if type(self.label) is not int or self.label < 0:
            return f"its label is {self.label!r}"
        if self.by not in FORMS:
            return f"it is by {self.by!r}"
        if type(self.tolerance) is not float or self.tolerance < TIE:
            return f"its tolerance is {self.tolerance!r}"
        if [level.r for level in self.levels] != list(range(1, self.radius + 1)):
            return f"its levels are {[level.r for level in self.levels]}"
        if not all(0 <= level.pruned <= level.size for level in self.levels):
            return "more texts are excluded than there are"
        for place, own in self.choices.items():
            strings = all(isinstance(word, str) for word in own)
            if not strings or not 0 <= place < len(words) or not own or len({words[place], *own}) <= len(own):
                return f"position {place} cannot change to {list(own)}"
        return ""

    @property
    def space(self) -> Space:
        """The space it is about."""
        return Space(Text(*self.text), dict(self.choices))


@dataclass(frozen=True)
class Checked:
    """What came out of checking a certificate."""

    sound: bool
    asked: int  # texts
    whole: bool  # all of them, not a sample
    same: bool | None  # whether every answer was the same to six decimals; None if other texts were asked
    why: str  # one sentence


def read_certificates(path: Path) -> list[Certificate]:
    """From a file of one certificate (.json) or of one a line (.jsonl)."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    try:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()] if path.suffix == ".jsonl" else None
        found = [json.loads(text)] if rows is None else rows
    except ValueError as error:
        raise BadInput(f"{path} is not JSON ({error}).") from error
    if not found:
        raise BadInput(f"{path} holds no certificate.")
    certificates = []
    for number, row in enumerate(found, 1):
        try:
            certificates.append(Certificate.from_json(row))
        except BadInput as error:
            raise BadInput(f"{path}, certificate {number}: {error}") from error
    return certificates


async def check(
    certificate: Certificate,
    model: Victim,
    ask: Callable[[Space], Points],
    judge: Answers[Fields, Scores],
    sample: int | None,
    bounds: bool = True,
    seed: int | None = None,
) -> Checked:
    """Ask the victim again: everything, or so many texts drawn at random from each level.

    ask: makes what puts the texts of a space to it. bounds: leave out what a bound settles, if it did before.
    seed: of the draws; by default others each time.
    """
    if model.fingerprint != certificate.fingerprint:
        return Checked(False, 0, False, None, f"{model.name} is another model than the certificate is about.")
    (original,) = await judge.ask([certificate.text])
    if certificate.label >= len(original):
        return Checked(False, 1, False, None, f"{model.name} has no class {certificate.label}.")
    points = ask(certificate.space)
    if margin_of(original, certificate.label) <= points.tolerance:
        return _broken(certificate.space.text, margin_of(original, certificate.label), 1)
    if certificate.by == "closed form":
        return await _closed(certificate, model, judge)
    sizes = omega.levels(certificate.choices, certificate.radius)[1:]
    if [level.size for level in certificate.levels] != sizes:
        told = [level.size for level in certificate.levels]
        return Checked(False, 0, False, None, f"Its levels have {told} texts, not {sizes}.")
    bound = None
    if bounds and sample is None and any(level.pruned for level in certificate.levels):
        bound = bound_of(model, certificate.space, certificate.label)  # if there is none, everything is asked
    same: bool | None = True
    settled, random, positions = 0, Random(seed), range(len(points.places))
    for level in certificate.levels:
        walk = Walk(points, certificate.label)
        unsettled = Open(bound, points, positions, level.r) if bound is not None and level.pruned else None
        blocks: Iterable[Block | None] = texts_at(positions, level.r) if unsettled is None else unsettled
        before = points.asked
        all_of_it = sample is None or 2 * sample > level.size  # drawing different ones would take ever longer
        for chunk in chunks(points.sizes, blocks) if all_of_it else _drawn(points, level, sample or 0, random):
            if chunk is not None and (await walk(chunk) or walk.ties):
                return _broken(points.space.text.replace_all(walk.where), walk.margin, points.asked)
        spared = 0 if unsettled is None else unsettled.settled
        if sample is None and points.asked - before + spared != level.size:
            raise AssertionError("a level was not looked at whole")
        settled += spared
        if sample is not None or (level.pruned and unsettled is None):  # other texts were asked
            same = None
        elif same:
            again = walk.level(level.r, level.size, unsettled)
            same = replace(again, where=level.where) == level  # of equal margins another may come first
    what = f"It stays in {points.asked:,} texts drawn."
    if sample is None:
        besides = f", and a bound says so of {settled:,} more" if settled else ""
        what = f"The label stays in all {points.asked:,} texts{besides}."
    return Checked(True, points.asked, sample is None, same, what)


def _drawn(points: Points, level: Level, sample: int, random: Random) -> Iterator[Chunk | None]:
    """So many different texts of a level, each drawn from all of it."""
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


async def _closed(certificate: Certificate, model: Victim, judge: Answers[Fields, Scores]) -> Checked:
    worst = worst_of(model, certificate.space, certificate.label)
    if worst is None:
        return Checked(False, 0, False, None, "The words of this victim do not add up, so the form proves nothing.")
    text = certificate.space.text.replace_all(worst.edits(certificate.radius))
    margin = margin_of((await judge.ask([text.fields]))[0], certificate.label)
    if margin <= TIE:
        return _broken(text, margin, 1)
    what = f"The worst text at radius {certificate.radius} has a margin of {margin:.6f}."
    return Checked(True, 1, True, None, what)


def _broken(text: Text, margin: float, asked: int) -> Checked:
    return Checked(False, asked, False, None, f"It does not hold: {str(text)!r} has a margin of {margin:.6f}.")
