"""Rules that give a sentence another form: a question, an order, a phrase, a clause.

Each takes a sentence and yields new ones, the best first. The words they add or take away are function words: it is,
why, that, whether, tell me, forms of do, and pronouns that stand for nothing the sentence names.
"""

from __future__ import annotations

from collections.abc import Iterator

from mohs.space.clauses import AUXILIARIES, COMMA, SUBJECTS, Piece, Sentence, Stretch
from mohs.text.inflection import forms
from mohs.text.parses import ParsedToken

_DROPPED = frozenset("i we it he she this that".split())  # without them it is no order: They like it. -> Like it.
_NAMED_ELSEWHERE = _DROPPED | frozenset("you they these those".split())
_DUTIES = frozenset("should must can could".split())
_LEADS = frozenset("a an the his her its their our my your".split())
_REASON = frozenset("because since as".split())
_DO = {"VBZ": "does", "VBP": "do", "VBD": "did"}
_FULL = {
    ("'s", "be"): "is", ("'s", "have"): "has", ("'m", "be"): "am", ("'re", "be"): "are", ("'ve", "have"): "have",
    ("'d", "have"): "had", ("'d", "would"): "would", ("'ll", "will"): "will",
}  # fmt: skip


def whole_sentence(s: Sentence) -> Iterator[str]:
    """A charming film. -> It is a charming film. Also: Allows us to hope. -> It allows us to hope."""
    root = s.tokens[s.root]
    if s.asks or s.dependents(s.root, *SUBJECTS, *AUXILIARIES, "cop") or not s.balanced(s.whole):
        return
    if any(token.tag.startswith("W") for token in s.tokens[:1]) or s.start:
        return
    if root.tag in ("NN", "NNS", "JJ") and not s.dependents(
        s.root, "mark", "case", "appos", "acl", "conj", "parataxis"
    ):
        first = s.tokens[0]
        if first.pos in ("ADJ", "ADV", "DET", "NUM") and (root.tag != "NN" or first.text.lower() in _LEADS):
            yield s.made(["they are" if root.tag == "NNS" else "it is", s.whole])
    if root.tag == "VBZ" and s.root == 0:
        yield s.made(["it", s.whole])


def without_subject(s: Sentence) -> Iterator[str]:
    """I love this film. -> Love this film. Also: You should see it. -> See it."""
    if s.asks:
        yield from (s.made(["tell", "me", *pieces], s.said()) for pieces in _indirect(s))
    if not s.states or s.start or s.end == 0:
        return
    verbs = [n for n in s.dependents(s.root, "aux") if s.tokens[n].tag == "MD"]
    if s.pronoun == "you" and verbs == [1] and s.tokens[1].text.lower() in _DUTIES and s.tokens[s.root].tag == "VB":
        negated = s.dependents(s.root, "neg")
        if not negated:
            yield s.made([Stretch(2, s.end)])
        elif negated == [2]:
            yield s.made(["do", "not", Stretch(3, s.end)])
    like_an_order = s.pronoun == "we" and s.tokens[1].tag == "VBP" and s.tokens[1].lemma != "be"
    if s.pronoun not in _DROPPED or like_an_order:
        return
    full = _full(s.tokens[1])
    if full:
        yield s.made([full, *([Stretch(2, s.end)] if s.end > 1 else [])])
    elif s.tokens[1].text[:1].isalpha():
        yield s.made([Stretch(1, s.end)])


def listed(s: Sentence) -> Iterator[str]:
    """I love this film. -> - Love this film."""
    yield from (f"- {made}" for made in without_subject(s))


def noun_phrase(s: Sentence) -> Iterator[str]:
    """It is a charming film. -> A charming film. Also: The film is very funny. -> The very funny film."""
    root, subject = s.tokens[s.root], s.subject
    if not s.states or subject is None or s.start or s.dependents(s.root, "neg", "aux", "conj", "ccomp", "advcl"):
        return
    rest = Stretch(s.root + 1, s.end)
    if root.lemma == "be" and rest.last >= rest.first and subject.last == s.root - 1:
        first, noun = s.tokens[rest.first], s.tokens[subject.last]
        if first.tag in ("DT", "PRP$") and first.text.lower() in _LEADS and s.balanced(s.whole):
            yield s.made([rest] if s.pronoun in _NAMED_ELSEWHERE else [subject, COMMA, rest])
        elif noun.tag in ("NN", "NNS") and s.tokens[subject.first].text.lower() in _LEADS - {"a", "an"}:
            told = s.dependents(s.root, "acomp")
            if len(told) == 1 and _bare(s, told[0], "advmod") == rest and _bare(s, subject.last, "det", "amod"):
                determiner = Stretch(subject.first, subject.first)
                others: list[Piece] = [Stretch(subject.first + 1, subject.last)]
                yield s.made([determiner, rest, *others])
    common = s.tokens[subject.last].tag in ("NN", "NNS") and _bare(s, subject.last, "det", "amod", "poss", "compound")
    if root.pos == "VERB" and common and subject.last == s.root - 1 and s.balanced(s.whole):
        yield s.made([subject, "that", Stretch(s.root, s.end)])


def fragment(s: Sentence) -> Iterator[str]:
    """The film is good. -> That the film is good. Also: Why do people lie? -> Why people lie."""
    if s.asks:
        yield from (s.made(pieces, s.said()) for pieces in _indirect(s))
    elif s.states and s.balanced(s.whole):
        yield s.made(["that", Stretch(s.start, s.end)])


def why_question(s: Sentence) -> Iterator[str]:
    """The film is good. -> Why is the film good? Also: People lie. -> Why do people lie?"""
    subject = s.subject
    if not s.states or subject is None or not s.balanced(s.whole) or s.dependents(s.root, "ccomp", "parataxis"):
        return
    if any(s.dependents(n, *SUBJECTS, *AUXILIARIES) for n in s.dependents(s.root, "conj")):
        return  # the question would be about the first part only
    if any(s.tokens[s.below[n][0]].text.lower() in _REASON for n in s.dependents(s.root, "advcl") if s.below[n]):
        return  # it says why
    verbs = [n for n in s.dependents(s.root, *AUXILIARIES) if subject.last < n < s.root]
    if verbs or s.tokens[s.root].lemma == "be":
        first = verbs[0] if verbs else s.root
        token, last = s.tokens[first], first
        if first < s.end and s.tokens[first + 1].text.lower() in ("n't", "n’t"):
            last = first + 1  # it goes with the verb, as in "Why don't they?"
        verb: Piece = (_full(token) if last == first else "") or Stretch(first, last)
        behind = _parts(Stretch(last + 1, s.end)) if last < s.end else []
        if s.tokens[first].text[:1].isalpha() or isinstance(verb, str):
            yield s.made(["why", verb, *_parts(Stretch(subject.first, first - 1)), *behind], s.asked())
        return
    token = s.tokens[s.root]
    shared = s.dependents(s.root, "conj")
    if token.tag in _DO and all(s.tokens[n].tag == token.tag for n in shared):
        yield s.made(["why", _DO[token.tag], *_with_lemmas(s, subject.first, [s.root, *shared])], s.asked())


def _indirect(s: Sentence) -> Iterator[list[Piece]]:
    """A direct question as a clause: why people lie, whether they lie."""
    subject = s.subject
    verbs = [n for n in s.dependents(s.root, *AUXILIARIES) if n < s.root]
    first = verbs[0] if verbs else s.root
    if subject is None and s.tokens[s.root].lemma == "be" and not verbs:  # What is X?
        found = [s.under(n) for n in s.dependents(s.root, "nsubj") if n > s.root]
        subject = found[0] if found else None
    if subject is None or first != subject.first - 1 or not s.balanced(s.whole) or _full(s.tokens[first]):
        return
    asking: list[Piece] = _parts(Stretch(0, first - 1)) if first else ["whether"]
    if first and not s.tokens[0].tag.startswith("W"):
        return
    verb, behind = s.tokens[first], _parts(Stretch(subject.last + 1, s.end))
    if verb.lemma != "do" or first == s.root:
        yield [*asking, subject, Stretch(first, first), *behind]
    elif s.tokens[s.root].tag == "VB" and not s.dependents(s.root, "neg"):
        form = {"does": "VBZ", "did": "VBD"}.get(verb.text.lower(), "VB")
        made = forms(s.tokens[s.root].lemma, form, lambda word: True)[0]
        middle = _parts(Stretch(subject.last + 1, s.root - 1))
        yield [*asking, subject, *middle, made, *_parts(Stretch(s.root + 1, s.end))]


def _with_lemmas(s: Sentence, start: int, verbs: list[int]) -> list[Piece]:
    """The rest of a sentence from a token on, with some verbs in their base form."""
    found: list[Piece] = []
    for number in sorted(verbs):
        found += [*_parts(Stretch(start, number - 1)), s.tokens[number].lemma]
        start = number + 1
    return found + _parts(Stretch(start, s.end))


def _parts(stretch: Stretch) -> list[Piece]:
    """A stretch as a list; none if it is empty."""
    return [stretch] if stretch.first <= stretch.last else []


def _bare(s: Sentence, number: int, *allowed: str) -> Stretch | None:
    """What stands below a token, if all of it is of the allowed relations."""
    part = s.under(number)
    inside = part is not None and all(
        n == number or s.tokens[n].relation in allowed for n in range(part.first, part.last + 1)
    )
    return part if inside else None


def _full(token: ParsedToken) -> str:
    """A shortened verb written out: is for 's; empty for other words."""
    return _FULL.get((token.text.lower().replace("’", "'"), token.lemma.lower().replace("’", "'")), "")
