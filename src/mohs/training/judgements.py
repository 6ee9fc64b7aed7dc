"""People's judgements of substitutions: a word in its context, another word, and how many would accept it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mohs.errors import BadInput
from mohs.text.questions import Substitution
from mohs.text.rows import file_rows
from mohs.text.text import Text
from mohs.training import swords

_COLUMNS = "context, start and end (or word), substitute, accepted"
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


class Judgement(NamedTuple):
    """A substitution, and the share of people who would accept it."""

    context: str
    start: int
    end: int
    substitute: str
    share: float

    @property
    def target(self) -> tuple[str, int, int]:
        """The word that is replaced, which several judgements may be about."""
        return self.context, self.start, self.end

    @property
    def accepted(self) -> bool:
        """Whether half of the people or more would accept it."""
        return self.share >= 0.5

    @property
    def question(self) -> Substitution:
        """The question that a judge answers."""
        return Substitution(self.context, self.start, self.end, self.substitute)


def read_judgements(source: str | Path | Iterable[Judgement], encoding: str = "utf-8") -> list[Judgement]:
    """The judgements in a file of SWORDS, or in a .jsonl, .csv, .tsv or .parquet file with one in each row."""
    if not isinstance(source, (str, Path)):
        found = list(source)
        return _checked(found, "The data")
    path = Path(source).expanduser()
    if not _is_file(path):
        raise BadInput(f"There is no file {path}; give a file of SWORDS, or rows with {_COLUMNS}.")
    if swords.is_swords(path):
        targets, rows = swords.read(path)
        found = [
            Judgement(target.context, target.start, target.end, row.word, row.score)
            for row in rows
            for target in [targets[row.target]]
        ]
        return _checked(found, str(path))
    found = []
    for number, row in enumerate(file_rows(path, encoding), 1):
        try:
            found.append(_judgement(row))
        except (ValueError, TypeError, LookupError) as error:
            fault = f"it has no {error.args[0]}" if isinstance(error, LookupError) else " ".join(str(error).split())
            raise BadInput(f"{path}, row {number}: {fault[:200]}; a row has {_COLUMNS}.") from error
    return _checked(found, str(path))


def split(judgements: Sequence[Judgement], share: float, seed: int) -> tuple[list[Judgement], list[Judgement]]:
    """Set aside a share of the targets with all that was said about them. Both parts keep their order."""
    targets = sorted({judgement.target for judgement in judgements})
    if len(targets) < 2:
        raise BadInput("The data is about one word in one context, so none can be set aside for dev; give more.")
    size = min(max(1, round(share * len(targets))), len(targets) - 1)
    aside = set(Random(f"{seed}/dev/targets").sample(targets, size))
    return (
        [judgement for judgement in judgements if judgement.target not in aside],
        [judgement for judgement in judgements if judgement.target in aside],
    )


def digest(judgements: Iterable[Judgement]) -> str:
    """A hash of the content."""
    found = hashlib.sha256()
    for judgement in judgements:
        found.update(repr(tuple(judgement)).encode())
    return found.hexdigest()[:16]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # for example a name that is too long
        return False


def _judgement(row: Any) -> Judgement:
    context, substitute = str(row["context"]), str(row["substitute"]).strip()
    if not substitute:
        raise ValueError("its substitute is empty")
    start, end = _span(row, context)
    return Judgement(context, start, end, substitute, _share(row["accepted"]))


def _span(row: Any, context: str) -> tuple[int, int]:
    """Where the word stands: by its start and end, or by the word itself if the context has it once."""
    if row.get("start") not in (None, ""):
        start = _whole(row["start"], "start")
        word = row.get("word") or ""
        end = start + len(word) if row.get("end") in (None, "") and word else _whole(row["end"], "end")
        if not 0 <= start < end <= len(context) or not context[start:end].strip():
            raise ValueError(f"there is no word from {start} to {end} of its context")
        if word and context[start:end] != word:
            raise ValueError(f"its context has {context[start:end]!r} there, not {word!r}")
        return start, end
    word = str(row["word"])
    text = Text(context)
    places = [(first, last) for (_, first, last), one in zip(text.spans(), text.words, strict=True) if one == word]
    if len(places) != 1:
        raise ValueError(f"the word {word!r} stands {len(places)} times in its context, so start and end are needed")
    return places[0]


def _whole(value: Any, name: str) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise ValueError(f"its {name} is {value!r}, not a whole number") from None
    return number


def _share(value: Any) -> float:
    try:
        share = _WORDS.get(str(value).strip().lower())
        share = float(value) if share is None else share
    except (TypeError, ValueError):
        share = math.nan
    if not 0 <= share <= 1:
        raise ValueError(f"accepted is {value!r}, not a share from 0 to 1")
    return share


def _checked(found: list[Judgement], source: str) -> list[Judgement]:
    """Both kinds must be there, or nothing can be learned."""
    if not found:
        raise BadInput(f"{source} has no judgements; a row has {_COLUMNS}.")
    if len({judgement.accepted for judgement in found}) == 1:
        kind = "every" if found[0].accepted else "no"
        raise BadInput(f"{source} has people accept {kind} substitute; give judgements of both kinds.")
    return found
