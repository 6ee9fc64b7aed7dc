"""One sentence of a parsed string, and how to put its parts together in another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mohs.text.parses import Parse, ParsedToken, children

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
AUXILIARIES = frozenset({"aux", "auxpass"})
_FINAL = frozenset(".!?…") | {"..", "..."}
_QUOTES = frozenset("\"“”''``«»()[]")


class Stretch(NamedTuple):
    """Neighbouring tokens of a sentence, from the first to the last of them."""

    first: int
    last: int


Piece = Stretch | str  # tokens of the sentence as they stand there, or a word that a template adds
COMMA = ","


@dataclass(frozen=True)
class Sentence:
    """A sentence: its tokens, numbered from zero, and the string they are part of."""

    string: str
    tokens: Parse
    root: int

    @cached_property
    def below(self) -> list[list[int]]:
        """The dependents of each token."""
        return children(self.tokens)

    @cached_property
    def end(self) -> int:
        """The number of the last token before the final punctuation."""
        last = len(self.tokens) - 1
        while last >= 0 and self.tokens[last].text in _FINAL:
            last -= 1
        return last

    @property
    def closing(self) -> str:
        """The final punctuation with the space before it, as it stands there."""
        return self.string[self.tokens[self.end].end : self.tokens[-1].end]

    @property
    def asks(self) -> bool:
        """Whether it ends in a question mark."""
        return "?" in self.closing

    @property
    def whole(self) -> Stretch:
        """Everything but the final punctuation."""
        return Stretch(0, self.end)

    @cached_property
    def start(self) -> int:
        """The first token behind a conjunction at the start (And, But)."""
        first = self.tokens[0]
        return 1 if first.relation == "cc" and first.head == self.root and len(self.tokens) > 1 else 0

    @cached_property
    def subject(self) -> Stretch | None:
        """The subject of the main clause, if it stands before the verb and in one piece."""
        found = [n for n in self.below[self.root] if self.tokens[n].relation in SUBJECTS and n < self.root]
        return self.under(found[-1]) if found else None

    @property
    def pronoun(self) -> str:
        """The subject in small letters if it is a single pronoun; else empty."""
        if self.subject is None or self.subject.first != self.subject.last:
            return ""
        token = self.tokens[self.subject.first]
        return token.text.lower() if token.pos in ("PRON", "DET") else ""

    @property
    def states(self) -> bool:
        """Whether it is a statement with its subject in front, at most behind a conjunction."""
        subject = self.subject
        plain = subject is not None and subject.first == self.start and not self.asks
        return plain and self.finite(self.root) and not self.tokens[self.start].tag.startswith("W")

    def finite(self, number: int) -> bool:
        """Whether a verb has a tense, by itself or by an auxiliary."""
        own = [number, *(n for n in self.below[number] if self.tokens[n].relation in AUXILIARIES)]
        return any(self.tokens[n].tag in ("VBD", "VBP", "VBZ", "MD") for n in own)

    def under(self, number: int) -> Stretch | None:
        """A token and all below it, without commas around them; None unless they are neighbours."""
        found, waiting = [], [number]
        while waiting:
            found.append(waiting.pop())
            waiting += self.below[found[-1]]
        found.sort()
        while len(found) > 1 and self.tokens[found[0]].text == COMMA:
            found.pop(0)
        while len(found) > 1 and (self.tokens[found[-1]].text == COMMA or found[-1] > self.end):
            found.pop()
        if found[-1] - found[0] + 1 != len(found):
            return None
        stretch = Stretch(found[0], found[-1])
        return stretch if self.balanced(stretch) else None

    def balanced(self, stretch: Stretch) -> bool:
        """Whether a stretch holds no quotation mark or bracket: moving only one of two would break the sentence."""
        return not any(token.text in _QUOTES for token in self.tokens[stretch.first : stretch.last + 1])

    def dependents(self, number: int, *relations: str) -> list[int]:
        """The dependents of a token with one of these relations."""
        return [n for n in self.below[number] if self.tokens[n].relation in relations]

    def without(self, gone: Stretch, whole: Stretch | None = None) -> list[Piece]:
        """A stretch, by default everything, without another one and the commas beside that."""
        first, last = whole or self.whole
        before, after = gone.first - 1, gone.last + 1
        while before >= first and self.tokens[before].text == COMMA:
            before -= 1
        while after <= last and self.tokens[after].text == COMMA:
            after += 1
        found: list[Piece] = []
        if before >= first:
            found.append(Stretch(first, before))
        if after <= last:
            found.append(Stretch(after, last))
        return found

    def made(self, pieces: Sequence[Piece], closing: str | None = None) -> str:
        """A sentence of pieces, spelled as this one is: its capitals, its commas, its end."""
        spaced = any(token.text == COMMA and self._gap(n) for n, token in enumerate(self.tokens)) or (
            bool(self.closing.strip()) and self.closing[:1].isspace()
        )
        found = ""
        for piece in pieces:
            if piece == COMMA:
                found += " ," if spaced else COMMA
            else:
                shown = piece if isinstance(piece, str) else self._shown(piece, at_start=not found)
                found += f"{' ' if found and not self._sticks(piece) else ''}{shown}"
        if not self.tokens[0].text[:1].islower():
            found = found[:1].upper() + found[1:]
        return found + (self.closing if closing is None else closing)

    def asked(self) -> str:
        """The final punctuation with a question mark, spaced as the end of this sentence is."""
        return (" " if self.closing[:1].isspace() else "") + "?"

    def said(self) -> str:
        """The final punctuation with a period, spaced as the end of this sentence is."""
        return (" " if self.closing[:1].isspace() else "") + "."

    def _shown(self, stretch: Stretch, *, at_start: bool) -> str:
        first, last = self.tokens[stretch.first], self.tokens[stretch.last]
        shown = self.string[first.start : last.end]
        if stretch.first == 0 and not at_start and _loses_its_capital(first):
            return shown[:1].lower() + shown[1:]
        return shown

    def _sticks(self, piece: Piece) -> bool:
        """Whether a piece starts with a mark that has no space before it."""
        if isinstance(piece, str):
            return False
        return not self._gap(piece.first) and not self.tokens[piece.first].text[:1].isalnum() and piece.first > 0

    def _gap(self, number: int) -> bool:
        """Whether there is space before a token."""
        return number > 0 and self.tokens[number - 1].end < self.tokens[number].start


def _loses_its_capital(token: ParsedToken) -> bool:
    """Whether a first word is written small elsewhere: no name, not I, no abbreviation."""
    named = token.pos == "PROPN" or (token.entity and token.pos in ("NOUN", "ADJ", "VERB", "X"))
    return token.text != "I" and not named and token.text[1:] == token.text[1:].lower()


def sentences(string: str, parse: Sequence[ParsedToken]) -> Iterator[tuple[int, int, Sentence]]:
    """The sentences of a parsed string, each with its start and end there. One that is not in one piece is left out."""
    top = []
    for number in range(len(parse)):
        at = number
        for _ in parse:  # at most as many steps as there are tokens, in case heads go round in a circle
            if parse[at].head == at:
                break
            at = parse[at].head
        top.append(at)
    for root in dict.fromkeys(top):
        own = [number for number, its in enumerate(top) if its == root]
        if own[-1] - own[0] + 1 != len(own) or parse[root].head != root:
            continue
        tokens = tuple(parse[n]._replace(head=parse[n].head - own[0]) for n in own)
        found = Sentence(string, tokens, root - own[0])
        if found.end >= 0:
            yield tokens[0].start, tokens[-1].end, found
