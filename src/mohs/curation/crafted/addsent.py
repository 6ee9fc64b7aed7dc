"""AddSent's distracting sentences (Jia and Liang 2017): they look like an answer to a question and answer another one.

A question is altered, so that it asks for something else; a fake answer of the right type is made up; both together
become a statement. Beside the question as it was, this statement is an example of QNLI: it does not answer.

Differs from the released code:
- no people mend the sentences, so a question that no rule turns into a statement is left out, as is one in which
  nothing changed (its statement would be a false answer, but an answer);
- spaCy instead of CoreNLP; near words come from the vectors that are given; a near word's tag is that of the parser;
- the rules for statements read dependencies, and the fake answers are others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from mohs.curation.crafted.advsquad import NOT_ANSWERED
from mohs.curation.crafted.altered import Words, altered
from mohs.curation.crafted.declarative import declarative
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.curation.crafted.fakes import fake_answer
from mohs.curation.crafted.sentences import said
from mohs.curation.crafted.squad import Asked, read_squad
from mohs.errors import BadInput
from mohs.studies.reading import Reader
from mohs.text.parses import Parse, ParsedToken

NEAREST = 10
_ROWS = 128
Parser = Callable[[Sequence[str]], Sequence[Parse]]
Made = tuple[Asked, str, tuple[str, ...]]


def addsent(order: Order) -> Iterator[CraftedExample]:
    """Questions of a file in SQuAD's format, each with a distracting sentence.

    Options: `parser`, `wordnet` and `vectors`, named as for `mohs attack`; `nearest`, how many near words are tried.
    """
    order.only_for("qnli")
    options = Reader(dict(order.options), "options")
    given = {kind: options.text(kind, "") for kind in ("parser", "wordnet", "vectors")}
    nearest = options.whole("nearest", 1, 1000, NEAREST)
    options.end()
    asked = tuple(one for one in read_squad(order.file) if one.answers)
    if not asked:
        raise BadInput(
            f"{order.file} has no question with an answer, of which a fake could be made; give another file."
        )
    named = tuple((kind, spec) for kind, spec in given.items() if spec)
    for one, sentence, rules in _found(asked, named, nearest):
        method = f"addsent: {', '.join(dict.fromkeys(rules))}"
        yield CraftedExample(one.id, (one.question, sentence), NOT_ANSWERED, method, order.licence)


@lru_cache(maxsize=8)  # a build asks several times
def _found(asked: tuple[Asked, ...], named: tuple[tuple[str, str], ...], nearest: int) -> tuple[Made, ...]:
    parse, words, exists = _models(dict(named), nearest)
    return tuple(distracting(asked, parse, words, exists))


def distracting(asked: Sequence[Asked], parse: Parser, words: Words, exists: Callable[[str], bool]) -> Iterator[Made]:
    """Each question that has a distracting sentence, the sentence, and the rules that altered the question.

    Of several answers the shortest is imitated. exists: whether a form of a verb is a word.
    """
    for start in range(0, len(asked), _ROWS):
        part = asked[start : start + _ROWS]
        questions = parse([one.question for one in part])
        contexts = parse([one.context for one in part])
        for one, question, context in zip(part, questions, contexts, strict=True):
            made = distraction(question, answer_in(context, one), one.question, words, exists)
            if made is not None:
                yield (one, *made)


def distraction(
    question: Parse, answer: Parse, asked: str, words: Words, exists: Callable[[str], bool]
) -> tuple[str, tuple[str, ...]] | None:
    """The sentence and the rules that altered the question; None if a step has nothing to offer."""
    other, rules = altered(question, words)
    if not rules:
        return None
    sentence = declarative(other, fake_answer(answer, asked), exists)
    if sentence is None:
        return None
    words_said = set(sentence.lower().rstrip(".").replace(",", " ").replace("'s", " 's").split())
    new = {token.text.lower() for token, old in zip(other, question, strict=True) if token.text != old.text}
    return (sentence, tuple(rules)) if new & words_said else None  # nothing else makes it answer another question


def answer_in(context: Parse, one: Asked) -> Parse:
    """The tokens of the shortest answer in the parsed paragraph; made up of its words if it cannot be found there."""
    answer = min(one.answers, key=len)
    at = one.context.find(answer)
    inside = [number for number, token in enumerate(context) if at <= token.start and token.end <= at + len(answer)]
    own = {old: new for new, old in enumerate(inside)}
    found = tuple(context[old]._replace(head=own.get(context[old].head, own[old])) for old in inside)
    if at >= 0 and said(found) == answer:
        return found
    tokens: list[ParsedToken] = []
    for number, word in enumerate(answer.split()):
        at = tokens[-1].end + 1 if tokens else 0
        tag = "CD" if word[:1].isdigit() else "NNP" if word[:1].isupper() else "NN"
        tokens.append(ParsedToken(word, at, at + len(word), number, "ROOT", "X", tag, word.lower()))
    return tuple(tokens)


def _models(given: Mapping[str, str], nearest: int) -> tuple[Parser, Words, Callable[[str], bool]]:
    from mohs.tasks.services import load_services
    from mohs.text.pocket import lexicon

    parts: dict[str, Any] = load_services(("parser", "wordnet", "vectors"), {"parser": "auto", **given})
    parser, wordnet, vectors = parts["parser"].model, parts["wordnet"], parts["vectors"]
    try:
        from nltk.stem.lancaster import LancasterStemmer
    except ImportError as error:
        raise BadInput("AddSent needs the package nltk: pip install 'mohs[wordnet]'.") from error

    @cache
    def near(word: str) -> list[str]:
        return [other for other, _ in vectors.near([word], nearest)[0]]

    @cache
    def tag(word: str) -> str:
        (found,) = parser.collect([word])
        return found[0].tag if found else ""

    def antonyms(word: str, pos: str) -> list[str]:
        found: list[str] = wordnet.antonyms(word, pos, senses=1)
        return found

    words = Words(antonyms, cache(wordnet.synonyms), near, tag, cache(LancasterStemmer().stem))
    return (lambda texts: parser.collect(list(texts))), words, frozenset(lexicon().words).__contains__
