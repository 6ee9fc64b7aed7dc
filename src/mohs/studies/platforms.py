"""What platforms get of a study: each item as it is shown, once a statement, and nothing of where it is from."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from random import Random

from mohs.studies.design import Question
from mohs.studies.heard import valid
from mohs.studies.item import Item, Role
from mohs.studies.study import Study

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_CHARACTERS, _WORDS = 2000, 5000  # longer texts are compared word by word, and longer ones not at all


@dataclass(frozen=True)
class Shown:
    """An item as one group of people sees it. code: stands for the item, whose key may tell what was done to it."""

    code: str
    question: Question
    statement: str
    swapped: bool
    texts: tuple[str, ...]
    marked: tuple[str, ...]  # the same as HTML, with what differs in <mark>


def code_of(study: Study, key: str) -> str:
    """What stands for an item outside of the study."""
    return study.code(f"item {key}")


def shown_items(study: Study, question: Question) -> list[Shown]:
    """All items of a question, except those that need feedback.

    The order of two texts is drawn if the design says so.
    """
    found = []
    for item in study.items():
        if item.question != question.name or item.role is Role.TRAINING:
            continue
        for number, statement in enumerate(question.statements):
            chance = Random(f"{study.seed}/shown/{item.key}/{number}")
            swapped = study.design.shuffled and len(item.texts) == 2 and chance.random() < 0.5
            texts = item.texts[::-1] if swapped else item.texts
            found.append(
                Shown(
                    code_of(study, item.key),
                    question,
                    statement.text,
                    swapped,
                    texts,
                    marked(texts, study.design.highlight),
                )
            )
    return found


def asked(study: Study) -> list[Question]:
    """The questions that have items."""
    used = {item.question for item in study.items()}
    return [question for question in study.design.questions if question.name in used]


def judges_each(study: Study, question: Question) -> int:
    """How many people must judge each row, so that the items get the judges of the design."""
    return -(-study.design.judges // len(question.statements))


def notes_on(study: Study, items: Sequence[Item]) -> list[str]:
    """What the organiser must know about judging elsewhere."""
    found = []
    for question in asked(study):
        each, times = judges_each(study, question), len(question.statements)
        rows = f"each item stands there {times} times, once a statement, so " if times > 1 else ""
        found.append(f"{question.name}: {rows}ask for {each} judges a row.")
    if any(item.role is Role.TRAINING for item in items):
        found.append("Items for training need feedback and are left out.")
    return found


def marked(texts: Sequence[str], highlight: str) -> tuple[str, ...]:
    """Texts as HTML with everything escaped; what differs between two of them is marked."""
    if highlight == "none" or len(texts) != 2:
        return tuple(map(escaped, texts))
    by_words = highlight == "words" or max(map(len, texts)) > _CHARACTERS
    first, second = (re.findall(r"\s+|\S+", text) if by_words else list(text) for text in texts)
    if max(len(first), len(second)) > _WORDS:
        return tuple(map(escaped, texts))
    parts: tuple[list[str], list[str]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for own, some in zip(parts, ("".join(first[a:b]), "".join(second[c:d])), strict=True):
            if some:
                own.append(escaped(some) if kind == "equal" else f"<mark>{escaped(some)}</mark>")
    return "".join(parts[0]), "".join(parts[1])


def escaped(text: str) -> str:
    """A text as HTML on one line, also for a cell of a table.

    What a platform would take for one of its placeholders, a spreadsheet for a formula, or Mechanical Turk for too
    long a character (above U+FFFF) is a numeric reference.
    """
    found = html.escape(printable(text)).replace("$", "&#36;").replace("\r\n", "\n").replace("\r", "\n")
    found = found.replace("\n", "<br>").replace("\t", "&#9;")
    found = re.sub("[\U00010000-\U0010ffff]", lambda match: f"&#{ord(match[0])};", found)
    return f"&#{ord(found[0])};{found[1:]}" if found[:1] in ("=", "+", "-", "@") else found


def printable(text: str) -> str:
    """A text without what XML and forms cannot hold."""
    return _CONTROL.sub("\ufffd", valid(text))
