"""AdvFever's rules that keep a claim's label (Thorne and Vlachos 2019): a claim of a known form in other words.

Each rule matches a whole sentence, without its final period, and gives a sentence that is true whenever the claim is,
and false whenever it is false. The rules of that work that negate a claim (its simple and complex negations) turn the
label round, so they are no rewrites and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from mohs.space.checklist import known_name, known_place
from mohs.space.services import Services
from mohs.text import Text
from mohs.text.parses import Parse

_BE = r"(?P<x>.+) {be} (?P<a>an?) (?P<y>.+)"
_PLACE = "There exists a place, {y}, that is "
_TIME_AT = "{y} is the approximate time at which the person {x} "


class Rule(NamedTuple):
    """One rule: its name and its sentence. A rule about an event has one sentence for a place and one for a time."""

    name: str
    sentence: str = ""
    place: str = ""
    time: str = ""


class Family(NamedTuple):
    """Claims of one form, with the parts x and y, and what may be said instead."""

    pattern: re.Pattern[str]
    rules: tuple[Rule, ...]


def _family(pattern: str, *rules: tuple[str, ...]) -> Family:
    return Family(re.compile(pattern), tuple(Rule(*rule) for rule in rules))


FAMILIES: tuple[Family, ...] = (
    _family(
        _BE.format(be="is"),
        ("there.exists.a.called", "There exists {a} {y} called {x}"),
        ("there.is.a.called", "There is {a} {y} called {x}"),
        ("there.exists.a.that.goes.by.name.of", "There exists {a} {y} that goes by the name of {x}"),
        ("there.exists.a.called.prn", "There exists {a} {y}, {it_is} called {x}"),
        ("there.exists.a.that.goes.by.name.of.prn", "There exists {a} {y}, {it_goes} by the name of {x}"),
        ("there.is.a.called.prn", "There is {a} {y}, {it_is} called {x}"),
    ),
    _family(
        _BE.format(be="was"),
        ("there.existed.a.called", "There existed {a} {y} called {x}"),
        ("there.was.a.called", "There was {a} {y} called {x}"),
        ("there.existed.a.that.went.by.name.of", "There existed {a} {y} that went by the name of {x}"),
        ("there.existed.a.called.prn", "There existed {a} {y}, {it_was} called {x}"),
        ("there.existed.a.that.went.by.name.of.prn", "There existed {a} {y}, {it_went} by the name of {x}"),
        ("there.was.a.called.prn", "There was {a} {y}, {it_was} called {x}"),
    ),
    _family(
        r"(?P<x>.+) (?:was|is) directed by (?P<y>.+)",
        ("directedby1", "There is a movie called {x} which is directed by {y}"),
        ("directedby2", "There is a director, {y}, who was involved in the production of {x}"),
        ("directedby3", "There is a person involved in the movie industry, {y}, who was the director of {x}"),
        ("directedby4", "{y} is the director of {x}"),
        ("directedby5", "{y} was the director of {x}"),
    ),
    _family(
        r"(?P<x>.+) (?:starred|stars) in (?P<y>.+)",
        ("starredin1", "There is a person, {x}, that starred in {y}"),
        ("starredin2", "There is a person, {x}, that took a leading acting role in {y}"),
    ),
    _family(
        r"(?P<x>.+) an American (?P<y>.+)",
        ("american", "{x} {new_a} {y} that originated from the United States"),
    ),
    _family(
        r"(?P<x>.+) (?:was|is) born (?:in|on) (?P<y>.+)",
        ("birth1", "", _PLACE + "the birthplace of the person {x}", _TIME_AT + "was born"),
        ("birth2", "", _PLACE + "where the person {x} started living", _TIME_AT + "started living"),
    ),
    _family(
        r"(?P<x>.+) died (?:in|on) (?P<y>.+)",
        ("death1", "", _PLACE + "the place where the person {x} became deceased", _TIME_AT + "became deceased"),
        ("death2", "", _PLACE + "the place where the person {x} died", _TIME_AT + "died"),
        (
            "death3",
            "",
            _PLACE + "the place where the person {x} took their final breath",
            _TIME_AT + "took their final breath",
        ),
    ),
)

_PRONOUNS = frozenset("he her here it she that there these they this those we what which who you i one".split())
_VERBS = frozenset("am are be been did does had has have is was were will would".split())
_PERSONS = frozenset(
    """activist actor actress artist athlete author boxer businessman businesswoman chief comedian composer
    cricketer dancer director drummer economist engineer expert filmmaker footballer golfer guitarist historian
    inventor journalist king lawyer leader man mathematician model musician novelist painter person philosopher
    photographer physicist pianist playwright poet politician president priest producer queen rapper scientist
    screenwriter singer skater soldier songwriter swimmer teacher woman wrestler writer""".split()
)
_TITLES = frozenset("dr dr. king lady lord miss mr mr. mrs mrs. ms ms. pope prince princess queen sir st. st".split())
_TIME = re.compile(
    r"\b(?:\d{3,4}s?|\d{1,2}(?:st|nd|rd|th)|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|decade)\b",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?P<claim>.*?)(?P<end>\s*\.?)\s*", re.DOTALL)
_NEXT_SENTENCE = re.compile(r"(?<![A-Z])(?<!\b[A-Z][a-z])(?<!\bMrs)(?<!\bInc)[.!?]\s")


PERSON, PLACE, TIME = ({"PERSON"}, {"GPE", "LOC"}, {"TIME", "DATE", "ORDINAL", "CARDINAL"})  # types of entities


@dataclass(frozen=True)
class Fever:
    """What AdvFever's entailment-preserving rules make of a field of one sentence.

    It knows claims with "is a", "was a", "directed by", "starred in", "an American", "born in" and "died in".

    Differs from the released code:
    - only the final period is dropped, not every period (B. R. Ambedkar keeps his);
    - whether a phrase names a person, a place or a time is decided by small lists, capital letters and dates. The
      released code asks an entity recogniser about the whole claim, mostly for a label that it never gives, so that
      persons are called "it" there;
    - "an American singer" becomes "a singer that ..."; the released code loses the article;
    - a subject that is a pronoun or has a verb in it is left alone, as in "it is a film" or "X is owned by Y and it is
      a company". There the released rules give sentences such as "There exists a film called it";
    - the sentence starts with a small letter and ends as the original did, if that one does (SST-2, for example).
    """

    entities: bool = False  # ask a parser with a recogniser what is a person, a place or a time

    @property
    def needs(self) -> tuple[str, ...]:
        """A parser with `entities`."""
        return ("parser",) if self.entities else ()

    keeps_label_of: ClassVar[frozenset[str]] = frozenset({"sentiment", "nli", "qnli", "paraphrase"})

    async def rewrite(self, text: Text, number: int, ask: Services) -> dict[str, str]:
        """The claim in other words, in the order of the rules."""
        string = text.fields[number]
        if not self.entities:
            return said_otherwise(string)
        (parse,) = await ask.parser([string])
        return said_otherwise(string, parse)


def said_otherwise(string: str, parse: Parse | None = None) -> dict[str, str]:
    """Every new sentence for a claim, with the name of its rule. Entities are those of the parse, if there is one."""
    found: dict[str, str] = {}
    parts = _ENDING.fullmatch(string)
    assert parts is not None, "every string has an ending, if an empty one"
    claim, end = parts["claim"].lstrip(), parts["end"] or "."
    if not claim or claim[-1] in "?!" or _NEXT_SENTENCE.search(claim + " "):
        return found
    offset = len(string) - len(string.lstrip())
    for rule, made in _sentences(claim, parse, offset):
        sentence = (made[:1].lower() if claim[:1].islower() else made[:1].upper()) + made[1:] + end
        if sentence != string:
            found.setdefault(sentence, rule)
    return found


def _sentences(claim: str, parse: Parse | None, offset: int) -> Iterator[tuple[str, str]]:
    for pattern, rules in FAMILIES:
        match = pattern.fullmatch(claim)
        if match is None or not _can_move(match["x"], rules):
            continue
        if parse is None:
            they, kind = is_person(match["x"], match["y"]), _kind(match["y"])
        else:
            start, end = (place + offset for place in match.span("x"))
            they = bool(_entities(parse, start, end) & PERSON)
            start, end = (place + offset for place in match.span("y"))
            kind = _kind_of(_entities(parse, start, end))
        words = _words(match, they)
        for rule in rules:
            template = rule.sentence or {"place": rule.place, "time": rule.time}.get(kind)
            if template:
                yield rule.name, template.format(**words)


def _words(match: re.Match[str], they: bool) -> dict[str, str]:
    """What the templates may name. `they` is for a person."""
    return {
        "a": "",
        **match.groupdict(),
        "new_a": "an" if match["y"][:1].lower() in "aeiou" else "a",
        "it_is": "they are" if they else "it is",
        "it_was": "they were" if they else "it was",
        "it_goes": "they go" if they else "it goes",
        "it_went": "they went" if they else "it went",
    }


def _can_move(subject: str, rules: tuple[Rule, ...]) -> bool:
    """Whether a subject can stand elsewhere: it is no pronoun, and no clause. The rule for "American" moves none."""
    words = subject.lower().split()
    return rules[0].name == "american" or not (words[0] in _PRONOUNS or "," in subject or _VERBS & set(words))


def is_person(subject: str, what: str) -> bool:
    """Whether "subject is a what" is about a person: by a first name or title, or by what the person is."""
    first = subject.split()[0]
    head = re.split(r"\b(?:from|in|of|that|who|whose|which|for|with|by|on|at)\b|,", what)[0].lower().split()
    return known_name(first) or first.lower() in _TITLES or bool(head and head[-1] in _PERSONS)


def _entities(parse: Parse, start: int, end: int) -> set[str]:
    """The types of the entities in a part of a string."""
    return {token.entity for token in parse if start <= token.start and token.end <= end}


def _kind_of(found: set[str]) -> str:
    """Whether entities are those of a place or of a time; empty for both, or neither."""
    return "" if bool(found & PLACE) == bool(found & TIME) else "place" if found & PLACE else "time"


def _kind(phrase: str) -> str:
    """Whether a phrase names a place or a time; empty if it names both, or nothing known."""
    if _TIME.search(phrase):
        return "" if re.search(r"\b(?:in|at)\b", phrase) else "time"
    bare = re.sub(r"^(?:the|a|an) ", "", phrase)
    return "place" if bare[:1].isupper() or known_place(bare.split(",")[0]) else ""
