"""Questions and answers as sentences: "Where was he born?" and "Zurich" as "He was born in Zurich."

AddSent's third step (Jia and Liang 2017). Differs from the released code: its rules read constituents, these read
dependencies; and a question for which no rule gives a sentence is left out, as no people are at hand to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mohs.curation.crafted.answered import TIMES, Asking, linked, with_answer
from mohs.curation.crafted.sentences import Piece, said, sentence
from mohs.text.inflection import forms
from mohs.text.parses import Parse, ParsedToken, children, roots, subtree

_ASKING = ("WP", "WDT", "WRB", "WP$")
_INSIDE = ("det", "poss", "amod", "nummod", "quantmod", "nmod", "compound")
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
_DO = {"did": "VBD", "does": "VBZ", "do": "VBP"}
_HAVE_OR_BE = frozenset("is are was were has have had 's".split())
_PREPOSITIONS = {"where": "in", "when": "in", "why": "because of", "how": "by"}


def declarative(question: Parse, answer: str, exists: Callable[[str], bool]) -> str | None:
    """The sentence that gives an answer to a question, or None. exists: whether a form of a verb is a word."""
    tokens = tuple(_without_end(question))
    if len(roots(tokens)) != 1 or any(token.head >= len(tokens) or token.text == "?" for token in tokens):
        return None
    asking = _asking(tokens)
    if asking is None:
        return None
    front, rest = list(tokens[: asking.first]), list(tokens[asking.after :])
    answered = with_answer(tokens, asking, answer)
    if not rest or (front and front[-1].text != ","):  # the sentence is there already: "This is an example of what?"
        return sentence(said([*front, *([asking.preposition] if asking.preposition else []), answered, *rest]))
    asks_subject = tokens[asking.head].relation in _SUBJECTS and not asking.preposition
    if asks_subject and not _is_turned(tokens, asking):
        return sentence(said([*front, answered, *rest]))
    body = _uninverted(tokens, asking, answered, exists)
    return None if body is None else sentence(said([*front, *body]))


def _is_turned(tokens: Parse, asking: Asking) -> bool:
    """Whether a verb stands before its subject, though the parser takes what is asked for the subject."""
    return tokens[asking.after].text.lower() in _DO or _is_stranded(tokens, len(tokens) - 1)


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
    phrase = head > at or (after < len(tokens) and tokens[after].text.lower() == "of")  # which of the teams
    while phrase and after < len(tokens) and after in inside:
        after += 1
    before = tokens[at - 1] if at else None
    preposition = before.text.lower() if before is not None and before.tag in ("IN", "TO") else ""
    return Asking(at - bool(preposition), after, head, tokens[at].text.lower(), preposition)


def _is_inside(tokens: Parse, number: int) -> bool:
    """Whether a token belongs to the phrase of its head: which team, how many people, how long."""
    token, head = tokens[number], tokens[tokens[number].head]
    how = token.text.lower() == "how" and token.relation == "advmod"
    return token.relation in _INSIDE or (how and head.tag[:2] in ("JJ", "RB"))


def _uninverted(tokens: Parse, asking: Asking, answered: str, exists: Callable[[str], bool]) -> list[Piece] | None:
    """Subject, verb and the rest in the order of a statement, with the answer in its place."""
    turned = asking.after  # the verb before its subject
    auxiliary, root = tokens[turned], roots(tokens)[0]
    does = auxiliary.text.lower() in _DO
    if not (does or auxiliary.text.lower() in _HAVE_OR_BE or auxiliary.tag == "MD"):
        return None
    subject = _subject(tokens, turned, root)
    if subject is None or (does and (root <= subject or tokens[root].tag in ("VBG", "VBN", "VBZ", "NNS"))):
        return None
    participle = _participle(tokens, turned, subject) if root == turned else None
    if participle is not None:
        if asking.preposition or asking.word in _PREPOSITIONS or _is_stranded(tokens, len(tokens) - 1):
            subject = participle - 1
        elif tokens[participle].tag == "VBG":  # what is he doing; but: what is the name given to it
            return None
    rest: list[tuple[int, Piece]] = [(number, tokens[number]) for number in range(subject + 1, len(tokens))]
    verb: list[Piece] = [auxiliary]
    if does:
        new = _inflected(tokens[root].text, _DO[auxiliary.text.lower()], exists)
        rest = [(number, tokens[root]._replace(text=new) if number == root else piece) for number, piece in rest]
        verb = []
    if root == turned and not asking.preposition:
        return _with_be(tokens, asking, answered, subject)
    return _with_verb(tokens, asking, answered, [*tokens[turned + 1 : subject + 1], *verb], rest)


def _subject(tokens: Parse, turned: int, root: int) -> int | None:
    """The last token of the subject, if it stands right behind the verb that was put before it."""
    kinds = (*_SUBJECTS, "attr") if root == turned else _SUBJECTS  # "What city is Rome in": the parser may confuse them
    for number, token in enumerate(tokens):
        if number > turned and token.relation in kinds and token.head in (root, turned):
            inside = subtree(tokens, number)
            return inside[-1] if inside == list(range(turned + 1, inside[-1] + 1)) else None
    return None


def _participle(tokens: Parse, turned: int, subject: int) -> int | None:
    """A participle that the parser hangs on the subject: "played" in "Where was the final played"."""
    found = [number for number in range(turned + 2, subject + 1) if tokens[number].tag in ("VBN", "VBG")]
    return next((number for number in found if tokens[number].relation == "acl"), None)


def _with_be(tokens: Parse, asking: Asking, answered: str, subject: int) -> list[Piece] | None:
    """Questions whose only verb is to be: what is X, where is X, how old is X, what country is X in."""
    turned, alone = asking.after, asking.after - asking.first == 1
    verb, last = tokens[turned], len(tokens) - 1
    if _is_stranded(tokens, last):
        subject = min(subject, last - 1)
        return [*tokens[turned + 1 : subject + 1], verb, *tokens[subject + 1 : last + 1], answered]
    before, rest = tokens[turned + 1 : subject + 1], tokens[subject + 1 :]
    if alone and asking.word in ("where", "when", "why"):
        end = linked(_PREPOSITIONS[asking.word], answered)
        behind = bool(rest) and rest[0].relation == "acl"
        return [*before, verb, *rest, end] if behind else [*before, verb, end, *rest]
    return None if alone and asking.word == "how" else [*before, verb, answered, *rest]


def _with_verb(
    tokens: Parse, asking: Asking, answered: str, start: Sequence[Piece], rest: Sequence[tuple[int, Piece]]
) -> list[Piece] | None:
    """The answer behind the verb or preposition on which it hangs, or at the end of the sentence."""
    pieces = [piece for _, piece in rest]
    token, turned, root = tokens[asking.head], asking.after, roots(tokens)[0]
    alone = turned - asking.first == 1
    stranded = [place for place, (number, _) in enumerate(rest) if _is_stranded(tokens, number)]
    if asking.preposition:
        return [*start, *pieces, linked(asking.preposition, answered)]
    if alone and asking.word in _PREPOSITIONS:
        at_end = stranded and stranded[-1] == len(rest) - 1  # where does it come from
        return [*start, *pieces, answered if at_end else linked(_PREPOSITIONS[asking.word], answered)]
    if token.text.lower() in TIMES:
        return [*start, *pieces, linked("in", answered)]
    if asking.word == "how" and token.text.lower() == "long":
        return [*start, *pieces, linked("for", answered)]
    if asking.word == "how" and token.tag[:2] in ("JJ", "RB") and token.text.lower() not in ("much", "many"):
        return None
    hanging = root if token.head == turned else token.head  # "What are they called" may hang on "are"
    heads = [place for place, (number, _) in enumerate(rest) if number == hanging]
    if not stranded and (not heads or tokens[hanging].relation == "prep"):
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
