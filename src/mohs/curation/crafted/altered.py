"""Questions that ask for something else: AddSent's first step (Jia and Liang 2017, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mohs.curation.crafted.sentences import like_case
from mohs.text.parses import Parse, ParsedToken

# Words whose neighbours would be odd, and what is said instead.
SPECIAL = {
    "States": "Kingdom", "US": "UK", "U.S.": "U.K.", "UK": "US", "U.K.": "U.S.", "largest": "smallest",
    "smallest": "largest", "highest": "lowest", "lowest": "highest", "longest": "shortest", "shortest": "longest",
    "May": "April", "north": "south", "south": "north", "east": "west", "west": "east",
}  # fmt: skip
# Words that stay: they carry the question's form, or half of a name.
STAY = frozenset(
    """
    many such few much more most other same general type kind sort part form term terms use place way name old young
    united one likely different example number year century day time people person war color colour record
    square republic doctor
    """.split()
)
DEFAULTS = {  # by type of entity; what is said if no neighbour fits
    "PERSON": "Holloway",
    "GPE": "Lisbon",
    "LOC": "Lisbon",
    "FAC": "Lisbon",
    "ORG": "Contoso",
    "NORP": "Martian",
}
_OTHER = "Meridian"
_CLASSES = {"NN": "n", "JJ": "a", "JJR": "a", "JJS": "a"}
_NAMES = ("NNP", "NNPS")
_ADJECTIVES = ("NORP", "LANGUAGE")
_CONTENT = ("NN", "JJ", "RB", "VB")
_QUANTITIES = ("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "")


@dataclass(frozen=True)
class Words:
    """What is known about single words."""

    antonyms: Callable[[str, str], Sequence[str]]  # of a word's first sense, in WordNet's part of speech
    synonyms: Callable[[str], Sequence[str]]
    near: Callable[[str], Sequence[str]]  # other words with like vectors, nearest first
    tag: Callable[[str], str]  # the Penn Treebank tag of a word by itself
    stem: Callable[[str], str]


def altered(question: Parse, words: Words) -> tuple[Parse, list[str]]:
    """The question with every word changed that has a sure alteration, and the rules that were used.

    In this order: a table of pairs, an antonym of the first sense (nouns and adjectives), near words (numbers; names,
    if possible of the same tag; nouns and adjectives of a named entity), a name for the type of entity.
    """
    used = {token.text.lower() for token in question}
    found: list[ParsedToken] = []
    rules: list[str] = []
    for token in question:
        rule, new = _change(token, words, used)
        found.append(token._replace(text=new) if new else token)
        if new:
            rules.append(rule)
            used.add(new.lower())
    return tuple(found), rules


def _change(token: ParsedToken, words: Words, used: set[str]) -> tuple[str, str]:
    """A rule and the new word; an empty word if it stays."""
    if token.text.lower() in STAY or token.tag in ("WP", "WDT", "WRB", "WP$"):
        return "", ""
    for rule, offered in _offers(token, words):
        for word in offered:
            if word and word.lower() not in used and " " not in word:
                return rule, like_case(word, token.text)
    return "", ""


def _offers(token: ParsedToken, words: Words) -> list[tuple[str, Sequence[str]]]:
    special = SPECIAL.get(token.text)
    if special:
        return [("special", [special])]
    lower = token.text.lower()
    named = token.entity not in _QUANTITIES
    found: list[tuple[str, Sequence[str]]] = []
    if token.tag in _CLASSES:
        found.append(("antonym", words.antonyms(lower, _CLASSES[token.tag])))
    if token.tag == "CD":
        near = [word for word in _distinct(lower, words) if word[:1].isdigit() == lower[:1].isdigit()]
        found.append(("number", [*near, _shifted(lower)]))
    elif token.tag in _NAMES:
        near = _distinct(lower, words)
        people = token.entity in _ADJECTIVES  # French is no name, though taggers say so
        tag = "JJ" if people and token.tag == "NNP" else token.tag
        same = [word for word in near if words.tag(like_case(word, token.text)) == tag]
        found += [("name", same)] if people else [("name", same), ("name", near)]
    elif named and token.tag in ("NN", "NNS", "JJ", "JJR", "JJS"):
        near = _distinct(lower, words)
        found.append(("entity", [word for word in near if words.tag(like_case(word, token.text)) == token.tag]))
    if named and token.tag[:2] in _CONTENT:
        name = DEFAULTS.get(token.entity, _OTHER)
        found.append(("type", [f"{name}s" if token.tag in ("NNS", "NNPS") else name]))
    return found


def _distinct(word: str, words: Words) -> list[str]:
    """Near words that are neither another form of the same word nor mean the same (the Netherlands and Holland)."""
    own, same = words.stem(word.replace(".", "")), {other.lower() for other in words.synonyms(word)}
    found = []
    for other in words.near(word):
        stem = words.stem(other.replace(".", ""))
        if not (own.startswith(stem) or stem.startswith(own)) and other.lower() not in same:
            found.append(other)
    return found


def _shifted(number: str) -> str:
    """Another number, for vectors that have none in digits; a day stays one of its month. Empty for other words."""
    if not (number.isascii() and number.isdigit()):
        return ""
    value = int(number)
    return str(value + 12 if value >= 1000 else value - 3 if value > 20 else value + 3)
