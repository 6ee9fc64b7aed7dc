"""Questions and answers as sentences: "Where was he born?" and "Zurich" as "He was born in Zurich."

AddSent's third step (Jia and Liang 2017). Differs from the released code: its rules read constituents, these read
dependencies; and a question for which no rule gives a sentence is left out, as no people are at hand to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mohs.curation.crafted.sentences import Piece, said, sentence
from mohs.text.inflection import forms
from mohs.text.parses import Parse, ParsedToken, children, roots, subtree

_ASKING = ("WP", "WDT", "WRB", "WP$")
_INSIDE = ("det", "poss", "amod", "nummod", "quantmod", "nmod", "compound")
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
_DO = {"did": "VBD", "does": "VBZ", "do": "VBP"}
_HAVE_OR_BE = frozenset("is are was were has have had 's".split())
_KINDS = frozenset("type types kind kinds sort sorts".split())
_TIMES = frozenset("year month day decade century date season".split())
_PREPOSITIONS = {"where": "in", "when": "in", "why": "because of", "how": "by"}


class Asking(NamedTuple):
    """The part of a question that asks, from token `first` up to, not including, token `after`."""

    first: int
    after: int
    head: int  # the token on which the rest hangs
    word: str  # what, who, how ...
    preposition: str  # in front of it: in what year


def declarative(question: Parse, answer: str, exists: Callable[[str], bool]) -> str | None:
    """The sentence that gives an answer to a question, or None. exists: whether a form of a verb is a word."""
    tokens = tuple(_without_end(question))
    if len(roots(tokens)) != 1 or any(token.head >= len(tokens) or token.text == "?" for token in tokens):
        return None
    asking = _asking(tokens)
    if asking is None:
        return None
    front, rest = list(tokens[: asking.first]), list(tokens[asking.after :])
    answered = _answered(tokens, asking, answer)
    if not rest or (front and front[-1].text != ","):  # the sentence is there already: "This is an example of what?"
        return sentence(said([*front, *([asking.preposition] if asking.preposition else []), answered, *rest]))
    if tokens[asking.head].relation in _SUBJECTS and not asking.preposition:
        if rest[0].text.lower() in _DO:  # "Which team did they beat", misread
            return None
        return sentence(said([*front, answered, *rest]))
    body = _uninverted(tokens, asking, answered, exists)
    return None if body is None else sentence(said([*front, *body]))


def _without_end(question: Parse) -> Sequence[ParsedToken]:
    end = len(question)
    while end and question[end - 1].tag in (".", ":", ",", "''"):
        end -= 1
    return question[:end]


def _asking(tokens: Parse) -> Asking | None:
    """The asking phrase: from the word that asks to the end of what hangs on its head: what sort of places."""
    at = next((number for number, token in enumerate(tokens) if token.tag in _ASKING), None)
    if at is None:
        return None
    head = at
    while tokens[head].head > head and _is_inside(tokens, head):
        head = tokens[head].head
    if tokens[head].head == head:
        return None
    inside, after = set(subtree(tokens, head)), at + 1
    while head > at and after < len(tokens) and after in inside:
        after += 1
    before = tokens[at - 1] if at else None
    preposition = before.text.lower() if before is not None and before.tag in ("IN", "TO") else ""
    return Asking(at - bool(preposition), after, head, tokens[at].text.lower(), preposition)


def _is_inside(tokens: Parse, number: int) -> bool:
    """Whether a token belongs to the phrase of its head: which team, how many people, how long."""
    token, head = tokens[number], tokens[tokens[number].head]
    return token.relation in _INSIDE or (token.relation == "advmod" and head.tag[:2] in ("JJ", "RB"))


def _answered(tokens: Parse, asking: Asking, answer: str) -> str:
    """The asking phrase with the answer: what team, the team of A; how many men, A men; what sort of tree, A tree."""
    at = asking.first + bool(asking.preposition)
    more = list(tokens[at + 1 : asking.after])
    names = [token.text.lower() for token in more]
    if not more or (len(names) == 1 and names[0] in ("much", "many", "long", *_TIMES)):
        return answer
    if asking.word == "how":
        return said([answer, *(more[1:] if names[0] in ("much", "many") else more)])
    if asking.word == "whose":
        return said([f"{answer}'s", *more])
    if names[0] in _KINDS and len(names) > 2 and names[1] == "of":
        return said([answer, *more[2:]])
    return said(["the", *more, "of", answer])


def _uninverted(tokens: Parse, asking: Asking, answered: str, exists: Callable[[str], bool]) -> list[Piece] | None:
    """Subject, verb and the rest in the order of a statement, with the answer in its place."""
    turned = asking.after  # the verb before its subject
    auxiliary, root = tokens[turned], roots(tokens)[0]
    does = auxiliary.text.lower() in _DO
    if not (does or auxiliary.text.lower() in _HAVE_OR_BE or auxiliary.tag == "MD"):
        return None
    subject = _subject(tokens, turned, root)
    if subject is None or (does and root <= subject):
        return None
    rest: list[tuple[int, Piece]] = [(number, tokens[number]) for number in range(subject + 1, len(tokens))]
    verb: list[Piece] = [auxiliary]
    if does:
        new = _inflected(tokens[root].text, _DO[auxiliary.text.lower()], exists)
        rest = [(number, tokens[root]._replace(text=new) if number == root else piece) for number, piece in rest]
        verb = []
    start: list[Piece] = [*tokens[turned + 1 : subject + 1], *verb]
    alone = asking.after - asking.first == 1
    if root == turned and not asking.preposition:
        return _with_be(
            asking, answered, alone, tokens[turned + 1 : subject + 1], auxiliary, [piece for _, piece in rest]
        )
    return _with_verb(tokens, asking, answered, alone, start, rest)


def _subject(tokens: Parse, turned: int, root: int) -> int | None:
    """The last token of the subject, if it stands right behind the verb that was put before it."""
    for number, token in enumerate(tokens):
        if number > turned and token.relation in _SUBJECTS and token.head in (root, turned):
            inside = subtree(tokens, number)
            return inside[-1] if inside == list(range(turned + 1, inside[-1] + 1)) else None
    return None


def _with_be(
    asking: Asking, answered: str, alone: bool, subject: Sequence[Piece], verb: Piece, rest: Sequence[Piece]
) -> list[Piece] | None:
    """Questions whose only verb is to be: what is X, where is X, how old is X."""
    if alone and asking.word in ("where", "when", "why"):
        return [*subject, verb, _PREPOSITIONS[asking.word], answered, *rest]
    if asking.word == "how":
        return None if alone else [*subject, verb, answered, *rest]
    return [answered, verb, *subject, *rest]


def _with_verb(
    tokens: Parse, asking: Asking, answered: str, alone: bool, start: Sequence[Piece], rest: Sequence[tuple[int, Piece]]
) -> list[Piece] | None:
    """The answer behind the verb or preposition on which it hangs, or at the end of the sentence."""
    pieces = [piece for _, piece in rest]
    token = tokens[asking.head]
    if asking.preposition:
        return [*start, *pieces, asking.preposition, answered]
    if alone and asking.word in _PREPOSITIONS:
        return [*start, *pieces, _PREPOSITIONS[asking.word], answered]
    if token.text.lower() in _TIMES:
        return [*start, *pieces, "in", answered]
    if asking.word == "how" and token.text.lower() == "long":
        return [*start, *pieces, "for", answered]
    if asking.word == "how" and token.tag[:2] in ("JJ", "RB") and token.text.lower() not in ("much", "many"):
        return None
    stranded = [place for place, (number, _) in enumerate(rest) if _is_stranded(tokens, number)]
    heads = [place for place, (number, _) in enumerate(rest) if number == token.head]
    if not stranded and (not heads or tokens[token.head].relation == "prep"):
        return None
    place = (stranded or heads)[0]
    while place + 1 < len(rest) and tokens[rest[place + 1][0]].relation == "prt":
        place += 1
    return [*start, *pieces[: place + 1], answered, *pieces[place + 1 :]]


def _is_stranded(tokens: Parse, number: int) -> bool:
    """Whether a token is a preposition without its noun, as in "what did he look for"."""
    right = [child for child in children(tokens)[number] if child > number]
    return tokens[number].tag in ("IN", "TO") and tokens[number].relation == "prep" and not right


def _inflected(base: str, tag: str, exists: Callable[[str], bool]) -> str:
    """A verb in the tense of did, does or do."""
    if tag == "VBP":
        return base
    return next(iter(forms(base.lower(), tag, exists) or forms(base.lower(), tag, lambda _: True)), base)
