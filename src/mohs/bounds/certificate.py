"""A proof that somebody else can check: the space, the victim, and what it answered level by level."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mohs.bounds.additive import worst_of
from mohs.bounds.points import Block, Chunk, Points, chunks, texts_at
from mohs.bounds.prover import TIE, Level, Walk, margin_of
from mohs.bounds.pruning import Open
from mohs.bounds.windows import bound_of
from mohs.engine import Answers
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores, Victim
from mohs.space import Space, omega
from mohs.text import Text

FORMAT = "mohs-certificate-1"


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

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {
            "format": FORMAT,
            **{key: value for key, value in vars(self).items() if key not in ("choices", "levels")},
            "tolerance": TIE,
            "choices": [[place, list(words)] for place, words in self.choices.items()],
            "levels": [level.to_json() for level in self.levels],
        }

    @classmethod
    def from_json(cls, row: Any) -> Certificate:
        """What to_json gave."""
        try:
            if row["format"] != FORMAT:
                raise BadInput(f"This certificate has the format {row['format']!r}, and {FORMAT} is expected.")
            return cls(
                **{key: row[key] for key in ("victim", "fingerprint", "example", "label", "radius", "by")},
                text=tuple(row["text"]),
                choices={int(place): tuple(words) for place, words in row["choices"]},
                levels=tuple(map(Level.from_json, row["levels"])),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"This is no certificate of ours ({type(error).__name__}: {error}).") from error

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
        rows = [json.loads(line) for line in text.splitlines() if line.strip()] if path.suffix == ".jsonl" else None
        found = [json.loads(text)] if rows is None else rows
    except ValueError as error:
        raise BadInput(f"{path} is not JSON ({error}).") from error
    if not found:
        raise BadInput(f"{path} holds no certificate.")
    return [Certificate.from_json(row) for row in found]


async def check(
    certificate: Certificate,
    model: Victim,
    ask: Callable[[Space], Points],
    judge: Answers[Fields, Scores],
    sample: int | None,
    bounds: bool = True,
) -> Checked:
    """Ask the victim again: everything, or so many texts drawn at random from each level.

    ask: makes what puts the texts of a space to it. bounds: leave out what a bound settles, if it did before.
    """
    if model.fingerprint != certificate.fingerprint:
        return Checked(False, 0, False, None, f"{model.name} is another model than the certificate is about.")
    if certificate.by == "closed form":
        return await _closed(certificate, model, judge)
    sizes = omega.levels(certificate.choices, certificate.radius)[1:]
    levels = certificate.levels[: certificate.radius]
    if [level.size for level in levels] != sizes:
        return Checked(False, 0, False, None, f"Its levels have {[level.size for level in levels]} texts, not {sizes}.")
    points = ask(certificate.space)
    same: bool | None = True
    bound = None
    if bounds and sample is None and any(level.pruned for level in levels):
        bound = bound_of(model, certificate.space, certificate.label)  # if there is none, everything is asked
    random = Random(certificate.fingerprint)
    for level in levels:
        walk = Walk(points, certificate.label, judge)
        positions = range(len(points.places))
        blocks: Iterable[Block | None] = texts_at(positions, level.r)
        if bound is not None and level.pruned:
            blocks = Open(bound, points.sizes, positions, level.r)
        for chunk in chunks(points.sizes, blocks) if sample is None else _drawn(points, level, sample, random):
            if chunk is not None and (await walk(chunk) or walk.ties):
                return _broken(points.space.text.replace_all(walk.where), walk.margin, points.asked)
        alike = sample is None and bool(bound is not None or not level.pruned)  # the same texts were asked
        same = None if same is None or not alike else same and walk.digest == level.digest
    what = f"It stays in {points.asked:,} texts drawn."
    if sample is None:
        spared = f", and a bound says so of {sum(sizes) - points.asked:,} more" if sum(sizes) > points.asked else ""
        what = f"The label stays in all {points.asked:,} texts{spared}."
    return Checked(True, points.asked, sample is None, same, what)


def _drawn(points: Points, level: Level, sample: int, random: Random) -> Iterator[Chunk | None]:
    """So many texts of a level, each drawn from all of it."""
    sampler = points.space.sampler(level.r)
    numbers = {place: number for number, place in enumerate(points.places)}
    drawn = [sampler.at_level(level.r, random) for _ in range(min(sample, level.size))]
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
    what = f"The worst text with {certificate.radius} substitutions has a margin of {margin:.6f}."
    return Checked(True, 1, True, None, what)


def _broken(text: Text, margin: float, asked: int) -> Checked:
    return Checked(False, asked, False, None, f"It does not hold: {str(text)!r} has a margin of {margin:.6f}.")
