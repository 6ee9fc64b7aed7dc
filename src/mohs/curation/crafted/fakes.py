"""Fake answers: something of the same type as the right answer, and never right. AddSent's second step.

Differs from the released code: the fake names and words are others, and there is a rule for months in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mohs.curation.crafted.sentences import said
from mohs.text.parses import Parse, ParsedToken

NAMES = (  # by types of entity, if the whole answer is one
    (("PERSON",), "Martin Keller"),
    (("GPE", "LOC", "FAC"), "Zurich"),
    (("ORG",), "Northwind Industries"),
    (("NORP", "EVENT", "PRODUCT", "WORK_OF_ART", "LAW", "LANGUAGE"), "Saturn"),
)
ABBREVIATION = "QXR"
BY_QUESTION = (("who ", "Martin Keller"), ("when ", "1962"), ("where ", "Zurich"), ("how many ", "37"))
BY_FIRST_TAG = {"VB": "swim", "VBD": "swam", "VBG": "swimming", "VBP": "swim", "VBZ": "swims"}
BY_LAST_TAG = {
    "NN": "lantern", "NNP": "Harbour Square", "NNS": "lanterns", "NNPS": "Northern Gardens", "JJ": "purple",
    "JJR": "slower", "JJS": "slowest", "RB": "slowly", "VBG": "swimming",
}  # fmt: skip
OTHERWISE = "comets"
_WITH_ARTICLE = ("NN", "NNP", "NNS", "NNPS")
_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_SCALES = {"thousand": "million", "million": "thousand", "billion": "thousand", "trillion": "thousand"}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NUMBERS_IN_WORDS = frozenset(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred dozen half third
    """.split()
)


def fake_answer(answer: Parse, question: str) -> str:
    """A fake for an answer: a date, a number, a name or a word of its kind."""
    fake = _date(answer) or _number(answer) or _name(answer, question) or _word(answer)
    return fake if fake.lower() != said(answer).lower() else OTHERWISE


def _date(answer: Parse) -> str:
    """Years 25 earlier, days 11 and months 6 away; empty if the answer is no date, or nothing in it changes."""
    if not answer or any(token.entity != "DATE" for token in answer):
        return ""
    found = said([token._replace(text=_date_part(token.text)) for token in answer])
    return found if found != said(answer) else ""


def _date_part(word: str) -> str:
    if word.isdigit():
        value = int(word)
        return str(value - 25 if value > 50 else value - 11 if value > 15 else value + 11)
    month = word.capitalize()
    return _MONTHS[(_MONTHS.index(month) + 6) % 12] if month in _MONTHS else word


def _number(answer: Parse) -> str:
    """With other numbers; empty if there is none."""
    found = [token._replace(text=other_number(token)) for token in answer]
    return said(found) if any(one.text != token.text for one, token in zip(found, answer, strict=True)) else ""


def other_number(token: ParsedToken) -> str:
    """Another number instead of a token's: 75 less from 1000 to 2500, as years are; otherwise another first digit."""
    lower = token.text.lower()
    if lower in _SCALES:
        return _SCALES[lower]
    if token.tag == "CD" and lower in _NUMBERS_IN_WORDS:
        return "fifteen" if lower != "fifteen" else "forty"
    match = _NUMBER.search(token.text)
    if match is None:
        return token.text
    digits = match[0]
    if digits.isdigit() and 1000 < int(digits) < 2500:
        new = str(int(digits) - 75)
    else:
        new = str(max((int(digits[0]) + 5) % 10, 1)) + digits[1:]
    return token.text[: match.start()] + new + token.text[match.end() :]


def _name(answer: Parse, question: str) -> str:
    for kinds, name in NAMES:
        if answer and all(token.entity in kinds for token in answer):
            return name
    string = said(answer)
    if string.isupper() and len(string) > 1:
        return ABBREVIATION
    return next((name for start, name in BY_QUESTION if question.lower().startswith(start)), "")


def _word(answer: Parse) -> str:
    if not answer:
        return OTHERWISE
    first, last = answer[0].tag, answer[-1].tag
    if first in BY_FIRST_TAG:
        return BY_FIRST_TAG[first]
    word = BY_LAST_TAG.get(last, OTHERWISE)
    article = _article(answer)
    return f"{article} {word}" if article and last in _WITH_ARTICLE else word


def _article(answer: Sequence[ParsedToken]) -> str:
    first = answer[0].text.lower()
    return "the" if first == "the" else "a" if first in ("a", "an") else ""
