"""A proof that others can check: the space, the victim, and its answers level by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mohs.bounds import strict
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
DIFFERS = {
    "batches": "answers differently in batches than alone, so what it answers proves nothing",
    "unsteady": "gives two answers to the same text, so what it answers proves nothing",
}
FORMS = ("enumeration", "enumeration and bounds", "closed form")


@dataclass(frozen=True)
class Certificate:
    """States that no text of a space with at most `radius` substitutions changes a victim's label."""

    victim: str
    fingerprint: str
    example: str
    text: Fields
    label: int
    radius: int
    choices: Mapping[int, tuple[str, ...]]
    by: str  # enumeration, enumeration and bounds, or closed form
    levels: tuple[Level, ...]
    tolerance: float = TIE  # a margin up to this is too small to decide

    def to_json(self) -> dict[str, Any]:
        """The row of a certificate file."""
        return {
            "format": FORMAT,
            **{key: value for key, value in vars(self).items() if key not in ("choices", "levels")},
            "text": list(self.text),
            "choices": [[place, list(words)] for place, words in self.choices.items()],
            "levels": [level.to_json() for level in self.levels],
        }

    @classmethod
    def from_json(cls, row: Any) -> Certificate:
        """Read what to_json gave; refuse what is inconsistent, or says more or less than a certificate."""
        told = row.get("format") if isinstance(row, dict) else None
        if told is None:
            raise BadInput(f"This is not a certificate of mohs: {strict.shown(row)} has no 'format'.")
        if told != FORMAT:
            raise BadInput(f"This certificate has the format {strict.shown(told)}, but must have {FORMAT}.")
        strict.exactly(row, ["format", *(f.name for f in fields(cls))], "it")
        texts = [strict.string(text, "a text") for text in strict.several(row["text"], "'text'")]
        words = [
            (place, [strict.string(word, f"a word at position {place}") for word in strict.several(own, "'choices'")])
            for place, own in strict.by_place(row["choices"], "'choices'")
        ]
        found = cls(
            victim=strict.string(row["victim"], "its victim"),
            fingerprint=strict.string(row["fingerprint"], "its fingerprint"),
            example=strict.string(row["example"], "its example"),
            by=strict.string(row["by"], "its kind of proof"),
            label=strict.whole(row["label"], "its label"),
            radius=strict.whole(row["radius"], "its radius"),
            tolerance=strict.real(row["tolerance"], "its tolerance", TIE, 1),
            text=tuple(texts),
            choices={place: tuple(own) for place, own in words},
            levels=tuple(map(Level.from_json, strict.several(row["levels"], "'levels'"))),
        )
        reason = found._wrong()
        if reason:
            raise strict.wrong(reason)
        return found

    def _wrong(self) -> str:
        """What is inconsistent, or an empty string."""
        if not 1 <= len(self.text) <= 2:
            return f"it has {len(self.text)} texts, not one or two"
        words = self.space.text.words
        if not 1 <= self.radius <= len(self.choices):
            return f"its radius is {self.radius}, but {len(self.choices)} positions can change"
        if self.by not in FORMS:
            return f"its kind of proof is {strict.shown(self.by)}"
        if [level.r for level in self.levels] != list(range(1, self.radius + 1)):
            return f"its levels are {strict.shown([level.r for level in self.levels])}"
        for place, own in self.choices.items():
            if place >= len(words) or not own or len({words[place], *own}) <= len(own):
                return f"position {place} cannot change to {strict.shown(list(own))}"
        for level in self.levels:
            reason = self._wrong_level(level)
            if reason:
                return f"level {level.r} {reason}"
        return ""

    def _wrong_level(self, level: Level) -> str:
        closed = self.by == "closed form"
        if level.ties:
            return f"has {level.ties} texts that decide nothing"
        if level.pruned > (level.size if self.by == "enumeration and bounds" else 0):
            return f"says that a bound proved {level.pruned} of {level.size} texts"
        if len(level.digest) != (0 if closed else 32) or set(level.digest) - set("0123456789abcdef"):
            return f"has the digest {strict.shown(level.digest)}"
        changed = len(level.where)
        if changed > level.r or (changed < level.r and not closed and not (level.pruned and not changed)):
            return f"has its smallest margin at a text with {changed} substitutions"
        if any(word not in self.choices.get(place, ()) for place, word in level.where.items()):
            return f"has its smallest margin at {strict.shown(level.where)}, which is not in its space"
        return ""

    @property
    def space(self) -> Space:
        """The space of the certificate."""
        return Space(Text(*self.text), dict(self.choices))


@dataclass(frozen=True)
class Checked:
    """The result of checking a certificate."""

    sound: bool
    asked: int  # number of texts
    whole: bool  # whether all texts were checked, not a sample
    same: bool | None  # whether every answer agreed to six decimals; None if other texts were asked
    why: str  # one sentence


def read_certificates(path: Path) -> list[Certificate]:
    """The certificates in a file: one (.json), or one per line (.jsonl)."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    try:
        rows = [strict.loads(line) for line in text.split("\n") if line.strip()] if path.suffix == ".jsonl" else None
        found = [strict.loads(text)] if rows is None else rows
    except ValueError as error:
        raise BadInput(f"{path} cannot be read as certificates ({error}); use the file as mohs wrote it.") from error
    if not found:
        raise BadInput(f"{path} has no certificates in it.")
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
    """Ask the victim again about every text, or about `sample` texts drawn at random from each level.

    ask: makes the Points that put a space's texts to the victim. bounds: skip texts that a bound proves, if a bound was
    used before. seed: of the sample; by default a new sample each time.
    """
    if model.fingerprint != certificate.fingerprint:
        return Checked(False, 0, False, None, f"{model.name} is not the model of this certificate.")
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
        bound = bound_of(model, certificate.space, certificate.label)  # without one, every text is asked
    same: bool | None = True
    settled, random, positions = 0, Random(seed), range(len(points.places))
    for level in certificate.levels:
        walk = Walk(points, certificate.label)
        unsettled = Open(bound, points, positions, level.r) if bound is not None and level.pruned else None
        blocks: Iterable[Block | None] = texts_at(positions, level.r) if unsettled is None else unsettled
        before = points.asked
        all_of_it = sample is None or 2 * sample > level.size  # drawing distinct texts would take too long
        for chunk in chunks(points.sizes, blocks) if all_of_it else _drawn(points, level, sample or 0, random):
            if chunk is not None and (await walk(chunk) or walk.ties):
                return _broken(points.space.text.replace_all(walk.where), walk.margin, points.asked)
        await walk.repeat()
        if points.differs:
            return Checked(False, points.asked, False, None, f"{model.name} {DIFFERS[points.differs]}.")
        spared = 0 if unsettled is None else unsettled.settled
        if sample is None and points.asked - before + spared != level.size:
            raise AssertionError("a level was not checked completely")
        settled += spared
        if sample is not None or (level.pruned and unsettled is None):  # other texts were asked
            same = None
        elif same:
            again = walk.level(level.r, level.size, unsettled)
            same = replace(again, where=level.where) == level  # another text may have the same smallest margin
    what = f"The label holds in a sample of {points.asked:,} texts."
    if sample is None:
        besides = f", and a bound proves {settled:,} more" if settled else ""
        what = f"The label holds in all {points.asked:,} texts{besides}."
    return Checked(True, points.asked, sample is None, same, what)


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


async def _closed(certificate: Certificate, model: Victim, judge: Answers[Fields, Scores]) -> Checked:
    worst = worst_of(model, certificate.space, certificate.label)
    if worst is None:
        return Checked(
            False, 0, False, None, "This victim does not add up word scores, so the closed form is no proof."
        )
    text = certificate.space.text.replace_all(worst.edits(certificate.radius))
    margin = margin_of((await judge.ask([text.fields]))[0], certificate.label)
    if margin <= TIE:
        return _broken(text, margin, 1)
    what = f"The worst text at radius {certificate.radius} has a margin of {margin:.6f}."
    return Checked(True, 1, True, None, what)


def _broken(text: Text, margin: float, asked: int) -> Checked:
    return Checked(False, asked, False, None, f"The label does not hold: {str(text)!r} has a margin of {margin:.6f}.")
