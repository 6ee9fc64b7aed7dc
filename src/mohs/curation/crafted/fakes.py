"""Fake answers: something of the same type as the right answer, and never right. AddSent's second step.

Differs from the released code: the fake names and words are others, and there is a rule for months in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mohs.curation.crafted.sentences import said
from mohs.text.parses import Parse, ParsedToken, roots

NAMES = (  # by types of entity, if the whole answer is one
    (("PERSON",), "Martin Keller"),
    (("GPE", "LOC", "FAC"), "Zurich"),
    (("ORG",), "Northwind Industries"),
    (("NORP", "EVENT", "PRODUCT", "WORK_OF_ART", "LAW", "LANGUAGE"), "Saturn"),
)
ABBREVIATION = "QXR"
BY_QUESTION = (("who ", "Martin Keller"), ("when ", "1962"), ("where ", "Zurich"), ("how many ", "37"))
BY_FIRST_TAG = {"VB": "swim", "VBD": "swam", "VBG": "swimming", "VBP": "swim", "VBZ": "swims"}
BY_TAG = {
    "NN": "granite", "NNP": "Harbour Square", "NNS": "lanterns", "NNPS": "Northern Gardens", "JJ": "purple",
    "JJR": "slower", "JJS": "slowest", "RB": "slowly", "VBG": "swimming",
}  # fmt: skip
COUNTED = "lantern"  # a noun behind an article
OTHERWISE = "comets"
_LOWERED = ("DT", "IN", "RB", "CD", "JJ")  # About 40, which stood first in its sentence
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
    return _changed(answer, [_date_part(token.text) for token in answer])


def _date_part(word: str) -> str:
    if word.isdigit():
        value = int(word)
        return str(value - 25 if value > 50 else value - 11 if value > 15 else value + 11)
    month = word.capitalize()
    return _MONTHS[(_MONTHS.index(month) + 6) % 12] if month in _MONTHS else word


def _number(answer: Parse) -> str:
    """With other numbers; empty if there is none."""
    return _changed(answer, [other_number(token) for token in answer])


def _changed(answer: Parse, texts: Sequence[str]) -> str:
    """The answer with these words for its own; empty if they are the same."""
    if all(token.text == text for token, text in zip(answer, texts, strict=True)):
        return ""
    found = [token._replace(text=text) for token, text in zip(answer, texts, strict=True)]
    if found[0].tag in _LOWERED and found[0].text.istitle():
        found[0] = found[0]._replace(text=found[0].text.lower())
    return said(found)


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
    """By the part of speech of the answer's head, or of its last word if it has several heads."""
    if not answer:
        return OTHERWISE
    if answer[0].tag in BY_FIRST_TAG:
        return BY_FIRST_TAG[answer[0].tag]
    heads = roots(answer)
    tag = answer[heads[0] if len(heads) == 1 else -1].tag
    article = _article(answer)
    word = COUNTED if tag == "NN" and article else BY_TAG.get(tag, OTHERWISE)
    return f"{article} {word}" if article and tag in ("NN", "NNS", "NNPS") else word


def _article(answer: Sequence[ParsedToken]) -> str:
    first = answer[0].text.lower()
    return "the" if first == "the" else "a" if first in ("a", "an") else ""
