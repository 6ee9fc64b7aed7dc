"""A judgement as a file has it, before anyone knows whether it fits the study."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mohs.errors import BadInput
from mohs.records.export import harmless
from mohs.studies.design import Question
from mohs.studies.item import Kind, Role

_LONGEST = 80  # characters of an annotator's name
_LATEST = 4e9  # seconds since 1970: what is later is not a time
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadRow(ValueError):
    """What is wrong with a row, as the end of a sentence."""


@dataclass(frozen=True)
class Heard:
    """One row. Texts stand in the original order unless `swapped` says otherwise or they are found the other way."""

    answer: str  # words or a number
    value: str = ""  # a number beside the words
    item: str = ""  # its key or the code that a platform was given
    texts: tuple[str, ...] = ()
    question: str = ""
    annotator: str = ""
    private: str = ""  # the annotator is a person's id elsewhere, and becomes a code that begins with this
    statement: str = ""
    hint: str = ""  # words that may tell which statement was shown
    swapped: bool | None = None
    seconds: float | None = None
    at: float | None = None
    batch: int = 0
    kind: Kind = Kind.IMPORTED
    named: bool = True
    aside: bool = False
    own: bool = False  # from a study of mohs, so that words and numbers must agree
    left_out: str = ""  # why the row does not count
    group: str = ""
    role: Role = Role.MAIN
    truth: str = ""
    expected: tuple[int, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def cell(value: Any) -> str:
    """A value of a row as text; empty for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else str(value)


def folded(text: str) -> str:
    """A text without what files lose: kinds of white space, capitals, and halves of characters."""
    return " ".join(valid(text).split()).casefold()


def valid(text: str) -> str:
    """The text with U+FFFD in the place of what no file or database can hold: lone surrogates and NUL."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def guarded(value: Any) -> Any:
    """A cell of a CSV file of ours, with an apostrophe in front of what a spreadsheet would run as a formula.

    Text that begins with apostrophes before such a sign gets one more, so that `unguarded` gives back every text.
    """
    return f"'{value}" if isinstance(value, str) and harmless(value.lstrip("'")) != value.lstrip("'") else value


def unguarded(text: str) -> str:
    """The text of a cell that `guarded` made."""
    bare = text.lstrip("'")
    return text[1:] if text.startswith("'") and harmless(bare) != bare else text


def shown(value: object) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def flag_of(text: str, what: str) -> bool:
    """True or false, as files write it."""
    known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if (found := known.get(text.strip().casefold())) is None:
        raise BadRow(f"{what} is {shown(text)}; write true or false")
    return found


def seconds_of(text: str) -> float | None:
    """Seconds, if there are any."""
    if not text.strip():
        return None
    found = _float(text)
    if found is None or not 0 <= found <= _LATEST:
        raise BadRow(f"the seconds are {shown(text)}; write a number, or nothing")
    return found


def moment_of(text: str) -> float | None:
    """Seconds since 1970 of an ISO time (UTC if it does not say) or a number, if there is one."""
    if not text.strip():
        return None
    found = _float(text)
    if found is None:
        try:
            time = datetime.fromisoformat(text.strip())
            found = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            found = math.inf
    if not 0 <= found <= _LATEST:
        raise BadRow(f"the time is {shown(text)}; write it as 2025-01-31T12:00:00+00:00, or nothing")
    return found


def whole_of(text: str, what: str) -> int:
    """A small whole number, 0 if there is none."""
    found = _float(text) if text.strip() else 0.0
    if found is None or not found.is_integer() or not 0 <= found <= 1e9:
        raise BadRow(f"{what} is {shown(text)}; write a whole number")
    return int(found)


def name_of(text: str, what: str, longest: int = _LONGEST, *, bare: bool = True) -> str:
    """A name that can be stored and shown. bare: without white space around it, and printable."""
    found = text.strip() if bare else text
    if len(found) > longest or valid(found) != found or (bare and not found.isprintable()):
        raise BadRow(f"{what} is {shown(text)}; use at most {longest} printable characters")
    return found


def answer_of(question: Question, heard: Heard) -> tuple[int, str]:
    """The value of an answer, and how it was found: by `label` or by `number`, or that both `differ`."""
    words = heard.answer if heard.answer.strip() else heard.value
    if not words.strip():
        raise BadRow("there is no answer")
    found, number = _labelled(question, words), _float(words)
    if found is None:
        if number is None:
            raise BadRow(f"the answer {shown(words)} is none of {', '.join(a.label for a in question.answers)}")
        if number not in question.values:  # the numbers may be of another scale, and then all would be misread
            raise BadInput(
                f"The answer {words.strip()[:20]} is none of {scale(question)}; give the words of the answers, or "
                "these numbers."
            )
        return int(number), "number"
    beside = _float(heard.value) if heard.answer.strip() else None
    if beside is None and number is not None and number in question.values and number != found:
        raise BadRow(f"the answer {shown(words)} is the label of one answer and the number of another; give `value`")
    if beside is None or beside == found:
        return found, "label"
    if heard.own:
        raise BadRow(f"the answer {shown(words)} has the value {heard.value[:20]} in the file, and here it is {found}")
    return found, "differ"


def scale(question: Question) -> str:
    """The answers with their numbers."""
    return ", ".join(f"{answer.value} ({answer.label})" for answer in question.answers)


def _labelled(question: Question, words: str) -> int | None:
    same = [answer.value for answer in question.answers if answer.label == words.strip()]
    close = [answer.value for answer in question.answers if folded(answer.label) == folded(words)]
    return same[0] if same else close[0] if len(close) == 1 else None


def statement_of(question: Question, heard: Heard) -> int:
    """The number of the statement that was shown."""
    said = folded(heard.statement)
    if said:
        for number, statement in enumerate(question.statements):
            if said in (folded(statement.text), "negated" if statement.negated else "plain"):
                return number
        raise BadRow(f"the statement {shown(heard.statement)} is none of the question {question.name}")
    if len(question.statements) == 1:
        return 0
    own = [set(_stems(statement.text)) for statement in question.statements]
    common = set.intersection(*own)
    for line in heard.hint.splitlines():
        found = [number for number, stems in enumerate(own) if (stems - common) & set(_stems(line))]
        if len(found) == 1:
            return found[0]
    raise BadInput(
        f"The question {question.name} has {len(own)} statements with opposite answers, and the file does not say "
        "which one was shown; name the column with their words, or with plain and negated, as in --column "
        "statement=NAME."
    )


def _stems(text: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"\w+", text.casefold())]


def _float(text: str) -> float | None:
    try:
        found = float(text) if len(text) < 40 else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) else None
