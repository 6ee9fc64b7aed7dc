"""A small dependency parser whose answers can be worked out by hand."""

from __future__ import annotations

import re
from typing import Any

from mohs.engine import by_size
from mohs.text.parses import Parse, ParsedToken
from tests.toys import bundled

_TOKEN = re.compile(r"\w+|[^\w\s]")


class ToyParser:
    """One sentence a string. Its root is the first verb, or else the first token.

    A determiner or adjective hangs on the next noun, if one follows at once. Nouns and pronouns before the root are its
    subjects (nsubj), behind it its objects (dobj). Everything else hangs on the root (punct, advmod, dep). The tags are
    those of the bundled tagger, and a lemma is the word in lower case.
    """

    name = "toy parser"
    fingerprint = "toy-parser-1"
    in_flight = 1

    def plan(self, items: list[str]) -> list[list[str]]:
        return by_size(items, len, 16)

    def launch(self, batch: list[str]) -> list[str]:
        return batch

    def collect(self, ticket: list[str]) -> list[Parse]:
        return [parse(text) for text in ticket]


def parse(text: str) -> Parse:
    spans = [match.span() for match in _TOKEN.finditer(text)]
    tagger: Any = bundled()["tagger"]
    tags = tagger.collect([(text, start, end) for start, end in spans])
    kinds = [tag.pos for tag in tags]
    root = next((n for n, kind in enumerate(kinds) if kind == "VERB"), 0)
    found = []
    for n, (start, end) in enumerate(spans):
        head, relation = root, "dep"
        nouns = [m for m in range(n + 1, len(kinds)) if kinds[m] not in ("DET", "ADJ")][:1]
        if n == root:
            relation = "ROOT"
        elif kinds[n] in ("DET", "ADJ") and nouns and kinds[nouns[0]] == "NOUN":
            head, relation = nouns[0], {"DET": "det", "ADJ": "amod"}[kinds[n]]
        elif kinds[n] in ("NOUN", "PROPN", "PRON"):
            relation = "nsubj" if n < root else "dobj"
        elif kinds[n] in ("PUNCT", "ADV"):
            relation = {"PUNCT": "punct", "ADV": "advmod"}[kinds[n]]
        word = text[start:end]
        found.append(ParsedToken(word, start, end, head, relation, kinds[n], tags[n].tag, word.lower()))
    return tuple(found)
