"""What platforms get of a study: each item as it is shown, once a statement, and nothing of where it is from."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mohs.studies.design import Design, Question
from mohs.studies.heard import valid
from mohs.studies.item import Item, Role
from mohs.studies.marking import Piece, pieces
from mohs.studies.study import Study

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


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


def noun_of(design: Design) -> str:
    """What one of two texts is called on a page."""
    return {"words": "word", "fragments": "fragment"}.get(design.items, "text")


def names_of(design: Design, texts: int) -> list[str]:
    """What the texts of an item are called on a page."""
    noun = noun_of(design)
    return [f"First {noun}", f"Second {noun}"] if texts == 2 else ["Text"]


def examples_of(study: Study) -> list[tuple[str, list[str]]]:
    """The unchanged texts of each class that the instructions show."""
    found = study.source.get("examples") or []
    return [(str(one["label"]), list(one["texts"])) for one in found if one["texts"]]


def marked(texts: Sequence[str], highlight: str) -> tuple[str, ...]:
    """Texts as HTML with everything escaped; what differs between two of them is marked, as on the pages."""
    return tuple("".join(map(_as_html, parts)) for parts in pieces(tuple(texts), highlight))


def _as_html(piece: Piece) -> str:
    shown = escaped(piece.code or piece.text)
    return f"<mark>{shown}</mark>" if piece.marked else shown


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a design's text, which are separated by empty lines, each on one line."""
    return [" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]


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
