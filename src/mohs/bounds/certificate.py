"""A proof that others can check: the space, the victim, and its answers level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mohs.bounds import strict
from mohs.bounds.points import TIE
from mohs.bounds.prover import Level
from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.space import Space, omega
from mohs.text import Text

FORMAT = "mohs-certificate-3"
BEFORE = "mohs-certificate-2"  # does not say how its space was built
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
    built: Mapping[str, Any] | None = None  # how its space was built, see `statement`; `space` in JSON

    def to_json(self) -> dict[str, Any]:
        """The row of a certificate file."""
        apart = ("choices", "levels", "built")
        return {
            "format": BEFORE if self.built is None else FORMAT,
            **{key: value for key, value in vars(self).items() if key not in apart},
            "text": list(self.text),
            "choices": [[place, list(words)] for place, words in self.choices.items()],
            "levels": [level.to_json() for level in self.levels],
            **({} if self.built is None else {"space": {**self.built, "size": omega.size(self.choices, self.radius)}}),
        }

    @classmethod
    def from_json(cls, row: Any) -> Certificate:
        """Read what to_json gave; refuse what is inconsistent, or says more or less than a certificate."""
        told = row.get("format") if isinstance(row, dict) else None
        if told is None:
            raise BadInput(f"This is not a certificate of mohs: {strict.shown(row)} has no 'format'.")
        if told not in (FORMAT, BEFORE):
            raise BadInput(f"This certificate has the format {strict.shown(told)}, but must have {FORMAT}.")
        names = [f.name for f in fields(cls) if f.name != "built"]
        strict.exactly(row, ["format", *names, *(["space"] if told == FORMAT else [])], "it")
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
            built=statement_from_json(row["space"]) if told == FORMAT else None,
        )
        size = row["space"]["size"] if told == FORMAT else omega.size(found.choices, found.radius)
        reason = found._wrong()
        if not reason and size != omega.size(found.choices, found.radius):
            reason = f"its space has {omega.size(found.choices, found.radius):,} texts, not {strict.shown(size)}"
        if reason:
            raise strict.wrong(reason)
        return found

    def _wrong(self) -> str:
        """What is inconsistent, or an empty string."""
        if not 1 <= len(self.text) <= 2:
            return f"it has {len(self.text)} texts, not one or two"
        text = self.space.text
        words = text.words
        if self.built is not None:
            fields_ = self.built["fields"]
            if any(number >= len(self.text) for number in fields_):
                return f"the texts {fields_} may change, but it has {len(self.text)}"
            if any(place < len(words) and text.field_of(place) not in fields_ for place in self.choices):
                return f"positions change outside the texts {fields_}"
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


def statement(
    source: str,
    constraints: Iterable[str],
    stopwords: tuple[str, str],
    change_placeholders: bool,
    resources: Mapping[str, tuple[str | None, str]],
) -> dict[str, Any]:
    """How the spaces of a run are built, for its certificates; each adds the `fields` that may change.

    source, constraints: as written on the command line. stopwords: the name of the list, and its digest. resources:
    the name that was given for each kind (None: the default), and the fingerprint.
    """
    return {
        "source": source,
        "constraints": list(constraints),
        "stopwords": list(stopwords),
        "change_placeholders": change_placeholders,
        "resources": {kind: list(told) for kind, told in sorted(resources.items())},
    }


def statement_from_json(row: Any) -> dict[str, Any]:
    """Read what a certificate says about its space."""
    names = ("source", "constraints", "stopwords", "change_placeholders", "resources", "fields", "size")
    strict.exactly(row, names, "'space'")
    strict.string(row["source"], "the source")
    strict.whole(row["size"], "the size of the space", 2)
    for constraint in strict.several(row["constraints"], "'constraints'"):
        strict.string(constraint, "a constraint")
    if len(strict.several(row["stopwords"], "'stopwords'")) != 2:
        raise strict.wrong(f"'stopwords' is {strict.shown(row['stopwords'])}, but must be a name and a digest")
    for part in row["stopwords"]:
        strict.string(part, "a part of 'stopwords'")
    if type(row["change_placeholders"]) is not bool:
        raise strict.wrong(f"'change_placeholders' is {strict.shown(row['change_placeholders'])}, not true or false")
    for number in strict.several(row["fields"], "'fields'"):
        strict.whole(number, "a number in 'fields'")
    if len(set(row["fields"])) != len(row["fields"]):
        raise strict.wrong(f"'fields' has a number twice: {strict.shown(row['fields'])}")
    if not isinstance(row["resources"], dict):
        raise strict.wrong(f"'resources' is {strict.shown(row['resources'])}, but must be a JSON object")
    for kind, told in row["resources"].items():
        if len(strict.several(told, f"the resource {kind!a}")) != 2:
            raise strict.wrong(f"the resource {kind!a} is {strict.shown(told)}, but must be a name and a fingerprint")
        for part in told if told[0] is not None else told[1:]:
            strict.string(part, f"a part of the resource {kind!a}")
    return {name: row[name] for name in names if name != "size"}


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
