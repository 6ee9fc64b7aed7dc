"""Rules that move a part of a sentence to its front or its end, or change the order of its clauses.

Each takes a sentence and yields new ones, the best first. Nothing is added but commas and, where it says so, a word.
"""

from __future__ import annotations

from collections.abc import Iterator

from mohs.space.clauses import COMMA, Piece, Sentence, Stretch

# Prepositions that mostly tell when, where or how, so that their phrase is free to move.
_FREE = frozenset(
    """about above across after against along amid among around at before behind below beneath beside besides between
    beyond by despite down during except for from in inside near on onto outside over past since through throughout
    toward towards under unlike until upon via with within without""".split()
)
# Verbs that say little without the phrase behind them, as be does: In Africa, they live.
_INCOMPLETE = frozenset("belong come consist depend fall go lie live locate refer rely reside result".split())
_LONGEST = 20  # tokens of a main clause over which a part is moved back
_NEVER_FIRST = frozenset("of to than as like".split())
_ADVERBS = frozenset(
    """again already eventually however instead later maybe meanwhile nevertheless nonetheless now often once otherwise
    perhaps sometimes soon still then therefore thus today tomorrow tonight ultimately usually yesterday""".split()
)
# They end in -ly, but turn verb and subject round at the front, or say how much and not how.
_NOT_FIRST = frozenset("only hardly barely scarcely rarely nearly simply merely mostly partly really fully".split())
_TIMES = frozenset(
    """century day decade evening hour minute moment month morning night season second time week weekend winter summer
    spring autumn year monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow""".split()
)
_BOUND = frozenset("that than so whether like".split())  # clauses with these words belong where they stand
_CONTRAST = frozenset("although though while whereas".split())
_REASON = frozenset("because since as".split())


def fronted_phrase(s: Sentence) -> Iterator[str]:
    """He left in 1990. -> In 1990, he left."""
    found = [n for n in _behind(s, "prep") if s.tokens[n].text.lower() not in _NEVER_FIRST]
    for number in sorted(found, key=lambda n: (s.tokens[n].text.lower() not in _FREE, -n)):
        yield from _fronted(s, s.under(number), COMMA)


def fronted_adverb(s: Sentence) -> Iterator[str]:
    """He left quickly. -> Quickly he left."""
    for number in _behind(s, "advmod", "npadvmod"):
        token = s.tokens[number]
        word, time = token.text.lower(), token.lemma.lower() in _TIMES
        adverb = word in _ADVERBS or (word.endswith("ly") and word not in _NOT_FIRST)
        if time if token.relation == "npadvmod" else adverb and token.pos == "ADV":
            yield from _fronted(s, s.under(number))


def fronted_clause(s: Sentence) -> Iterator[str]:
    """We stay at home if it rains. -> If it rains, we stay at home."""
    for number in reversed(_behind(s, "advcl")):
        if _opened_by(s, number):
            yield from _fronted(s, s.under(number), COMMA)


def moved_back(s: Sentence) -> Iterator[str]:
    """In 1990, he left. -> He left in 1990."""
    subject, ends = s.subject, _ends_plainly(s)
    if subject is None or s.asks or not s.finite(s.root) or not ends or s.tokens[s.start].tag.startswith("W"):
        return
    for number in s.dependents(s.root, "prep", "advcl", "advmod", "npadvmod"):
        part = s.under(number)
        if part is None or part.first != s.start or part.last >= subject.first:
            continue
        between = range(part.last + 1, subject.first)
        if all(s.tokens[n].text == COMMA for n in between) and s.end - subject.first < _LONGEST:
            opening: list[Piece] = [Stretch(0, s.start - 1)] if s.start else []
            yield s.made([*opening, Stretch(subject.first, s.end), part])


def swapped_clauses(s: Sentence) -> Iterator[str]:
    """It rains, and we stay. -> We stay, and it rains. Also: We stay because it rains. -> It rains, so we stay.

    Although and because become but and so.
    """
    for number in s.dependents(s.root, "conj"):
        yield from _both_ways(s, number)
    if not s.states:
        return
    for number in reversed(_behind(s, "advcl")):
        word, part = _opened_by(s, number), s.under(number)
        joint = "but" if word in _CONTRAST else "so" if word in _REASON else ""
        if joint and part is not None and part.last == s.end and s.finite(number):
            inner = Stretch(part.first + 1, part.last)
            yield s.made([inner, COMMA, joint, *_from_start(s, s.without(part))])


def _behind(s: Sentence, *relations: str) -> list[int]:
    """The parts of a statement that stand behind its verb or beside it, and belong to all of it."""
    subject = s.subject
    if subject is None or not s.states or not _ends_plainly(s):
        return []
    return [number for number in s.dependents(s.root, *relations) if number > subject.last]


def _ends_plainly(s: Sentence) -> bool:
    """Whether there is one clause: what is moved over another (He came and left) would belong to both."""
    return not s.dependents(s.root, "conj", "ccomp", "parataxis") and not s.dependents(s.root, "neg")


def _fronted(s: Sentence, part: Stretch | None, *after: Piece) -> Iterator[str]:
    subject = s.subject
    if part is None or subject is None or part.first <= subject.last:
        return
    rest = s.without(part, Stretch(s.start, s.end))
    last = rest[-1]
    if isinstance(last, Stretch) and last.last <= s.root and s.tokens[s.root].lemma in _INCOMPLETE | {"be"}:
        return
    opening: list[Piece] = [Stretch(0, s.start - 1)] if s.start else []
    yield s.made([*opening, part, *after, *rest])


def _opened_by(s: Sentence, number: int) -> str:
    """The conjunction at the start of a clause, in small letters; empty if the clause has none, or may not move."""
    part = s.under(number)
    if part is None or not any(s.tokens[n].relation in ("mark", "advmod") for n in s.below[number] if n == part.first):
        return ""
    token = s.tokens[part.first]
    word = token.text.lower()
    return word if token.tag in ("IN", "WRB") and word not in _BOUND and s.finite(number) else ""


def _both_ways(s: Sentence, number: int) -> Iterator[str]:
    """Two main clauses with and, but or or between them, the other way round."""
    between = [n for n in s.dependents(s.root, "cc") if n < number]
    second = s.under(number)
    if second is None or not between or second.last != s.end or s.dependents(number, "cc", "conj"):
        return
    cc = between[-1]
    own = [n for n in s.below[number] if s.tokens[n].relation in ("nsubj", "nsubjpass", "expl") and n < number]
    if not own or s.subject is None or not s.finite(number) or not s.finite(s.root) or s.asks:
        return
    last = cc - 1
    while last > 0 and s.tokens[last].text == COMMA:
        last -= 1
    first = Stretch(s.start, last)
    if any(token.text in (":", "--") for token in s.tokens[: first.last]):
        return  # what stands before the colon is about both
    if s.tokens[cc].text.lower() in ("and", "but", "or") and second.first == cc + 1 and s.balanced(first):
        yield s.made([second, COMMA, s.tokens[cc].text, first])


def _from_start(s: Sentence, pieces: list[Piece]) -> list[Piece]:
    """Pieces without a conjunction at the start of the sentence."""
    first = pieces[0]
    if s.start and isinstance(first, Stretch) and first.first == 0:
        return [*([Stretch(s.start, first.last)] if first.last >= s.start else []), *pieces[1:]]
    return pieces
