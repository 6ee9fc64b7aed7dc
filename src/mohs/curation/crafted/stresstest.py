"""StressTest's numerical reasoning (Naik et al. 2018): hypotheses about a number in a sentence, labelled by arithmetic.

A sentence with a number gives three pairs:
- entailment: the number's first digit is changed, to 1 up to 8, with "less than" or "more than" before it;
- contradiction: another number, or "less than" or "more than" before the same number;
- neutral: the first pair the other way round.

A number is read as exact ("5 eggs" is neither 4 nor 6), as StressTest reads it.

Differs from the released code:
- only numbers that count something are changed: a whole number of 2 or more before a plural or "%", or behind a sign of
  money. The released code takes any first number, with pairs such as "line less than 6" and "more than 2 nd Rd";
- a sentence with a question, a negation, a condition, a demand, or a word such as "than", "at least", "every" or
  "within" is left out, as the number's direction may turn there ("did not wear 2 shirts", "must pay 5 dollars") or it
  is no exact number; so is one with brackets, which may say the number again;
- a number of one digit does not become 1, whose noun would have to be singular;
- sentences come from any file. The released ones are word problems (AQuA-RAT) with a named entity, which does
  not matter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from mohs.curation.crafted.columns import numbered_rows, text_of
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.curation.crafted.sentences import sentences_of
from mohs.studies.reading import Reader

_COLUMNS = ("premise", "sentence1", "text", "sentence")
_NUMBER = re.compile(
    r"(?P<before>(?:\A|(?:[A-Za-z]+ )?[A-Za-z]+) ?)(?P<money>[$£€] ?)?(?P<number>[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)"
    r"(?P<after> ?%| [a-z]+(?![\w'’-])|(?![\w:/^*+-]|[.,]\d))"
)
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
# Words that turn a number's direction, or make it no exact number.
_TURNING = frozenset(
    """
    not no never none nobody nothing neither nor without cannot few little hardly if unless whether when before until
    than least most minimum maximum about approximately around roughly nearly almost up over under below above within
    exactly only just between or every each per any all both some one estimated approx possibly perhaps maybe
    can could may might must shall should would cannot likely budget goal target
    """.split()
)
_WANTING = re.compile(  # what is wanted or forbidden has no truth: must pay 5 dollars, wants 5 dollars
    r"\b(?:need|requir|want|ask|demand|order|plan|expect|hope|limit|allow|prevent|refus|fail|avoid|doubt|predict|offer|"
    r"attempt|propos|promis|threaten|intend|aim)(?:s|d|e|es|ed|ing)?\b|"
    r"\b(?:seek(?:s|ing)?|sought|bans?|banned|barr(?:ed|ing)|den(?:y|ies|ied|ying)|tr(?:y|ies|ied|ying)|let|"
    r"(?:ha[sd]|have|having) to)\b",
    re.IGNORECASE,
)
_MAY = re.compile(r"(?<=\w )May\b|\AMay(?= \d)")  # the month
_DETERMINERS = frozenset("the these those this that a an his her its their our my your s".split())
_NOT_BEFORE = frozenset(
    """
    first last next past top best other another additional to from and of as like same final number line page day part
    section chapter figure table article step phase group class room grade version level type round
    """.split()
)
_NOT_PLURAL = frozenset("is was has does as its us this thus plus minus times less perhaps always".split())
_PLURAL = frozenset("people children men women feet percent police cattle sheep mice teeth".split())
_YEARS = range(1000, 2101)


@dataclass(frozen=True)
class Counted:
    """A sentence and a number in it that counts something."""

    before: str
    money: str
    number: str  # as it is written
    after: str

    def with_number(self, number: str, quantifier: str = "") -> str:
        """The sentence with this number, perhaps behind "less than" or "more than"."""
        said = f"{quantifier} " if quantifier else ""
        return f"{self.before}{said if self.before else said.capitalize()}{self.money}{number}{self.after}"


def stresstest(order: Order) -> Iterator[CraftedExample]:
    """Three pairs for each different sentence of the file that has a number to reason about."""
    order.only_for("nli")
    Reader(dict(order.options), "options").end()
    seen: set[str] = set()
    for count, (file, number, row) in enumerate(numbered_rows(order.file), 1):
        text = text_of(row, order.fields or _COLUMNS, f"{file}, row {number}")
        for place, sentence in enumerate(sentences_of(text), 1):
            found = counted(sentence)
            if found is None or sentence in seen:
                continue
            seen.add(sentence)
            random = Random(f"{order.seed}/{sentence}")
            for label, pair in pairs(found, random).items():
                method = f"stresstest: numerical: {label}"
                yield CraftedExample(f"{count}.{place}.{label}", pair, label, method, order.licence)


def pairs(found: Counted, random: Random) -> dict[str, tuple[str, str]]:
    """Premise and hypothesis for each label."""
    sentence, number = found.with_number(found.number), found.number
    entailed = found.with_number(*_bound(number, random))
    if random.random() < 0.5:
        contradicted = found.with_number(_other(number, random))
    else:
        contradicted = found.with_number(number, random.choice(("more than", "less than")))
    return {
        "entailment": (sentence, entailed),
        "contradiction": (sentence, contradicted),
        "neutral": (entailed, sentence),
    }


def counted(sentence: str) -> Counted | None:
    """The first number of a sentence that counts something; None without one, or if its direction is unsure."""
    words = _WORD.findall(_MAY.sub("", sentence).lower())
    if any(sign in sentence for sign in "?()[]") or sentence.count('"') % 2 or _WANTING.search(sentence):
        return None
    if any(word in _TURNING or word.endswith(("n't", "n’t")) for word in words):
        return None
    for match in _NUMBER.finditer(sentence):
        start = match.start("money") if match["money"] else match.start("number")
        before, value = match["before"].split(), int(match["number"].replace(",", ""))
        last = before[-1] if before else ""
        if value < 2 or last != last.lower() or last in _NOT_BEFORE or _DETERMINERS & {one.lower() for one in before}:
            continue
        after = match["after"].strip()
        if after in ("to", "or", "and"):  # a range
            continue
        plural = after == "%" or after in _PLURAL or (after.endswith("s") and after not in _NOT_PLURAL)
        if match["money"] or (plural and (value not in _YEARS or "," in match["number"])):
            return Counted(sentence[:start], match["money"] or "", match["number"], sentence[match.end("number") :])
    return None


def _bound(number: str, random: Random) -> tuple[str, str]:
    """Another number, and on which side of it the number lies."""
    other = _other(number, random)
    return other, "less than" if other[0] > number[0] else "more than"


def _other(number: str, random: Random) -> str:
    """The number with another first digit, 1 to 8; alone, 2 to 8."""
    digits = "12345678" if len(number) > 1 else "2345678"
    return random.choice([digit for digit in digits if digit != number[0]]) + number[1:]
