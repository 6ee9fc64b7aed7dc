"""Dependency parsers: `auto`, `spacy`, `spacy:NAME_OR_PATH` or `parses:FILE`.

No parser is bundled. `auto` is spaCy's small English model.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from mohs.engine import AtOnce
from mohs.errors import BadInput
from mohs.models.spacy_models import SMALL_ENGLISH, fingerprint_of, keep_only, open_spacy
from mohs.models.written_parses import WrittenParser
from mohs.text.parses import Parse, ParsedToken

_GIVE_HEADS = frozenset({"parser"})
_GIVE_MORE = frozenset({"tagger", "morphologizer", "attribute_ruler", "lemmatizer", "ner"})
_FEED = frozenset({"tok2vec", "transformer", "curated_transformer"})


class SpacyParser(AtOnce):
    """The parser of a spaCy pipeline, installed (`en_core_web_sm`) or in a folder.

    A question is a string; the answer is a `Parse` of all its sentences, with spaCy's own relations and tags (its AUX
    stays AUX). White space tokens are left out. spaCy's scores vary in the last bits with the batch, so an exact tie
    could in principle fall either way.
    """

    rows = 256

    def __init__(self, model: str = SMALL_ENGLISH) -> None:
        nlp = open_spacy(model, "parser")
        if not _GIVE_HEADS.intersection(keep_only(nlp, _GIVE_HEADS | _GIVE_MORE | _FEED)):
            raise BadInput(f"The spaCy model {model!r} has no parser; use one with a parser, such as {SMALL_ENGLISH}.")
        self.nlp = nlp
        self.name = f"spacy:{model}"
        self.fingerprint = f"{fingerprint_of(nlp)}-parses"

    def plan(self, items: list[str]) -> list[list[str]]:
        """Sorted, so that batches do not depend on the order of arrival."""
        return super().plan(sorted(items))

    def collect(self, ticket: list[str]) -> list[Parse]:
        """Parse each string."""
        with getattr(self.nlp, "memory_zone", nullcontext)():  # without it spaCy keeps every new word forever
            return [_parse(doc) for doc in self.nlp.pipe(ticket)]


def _parse(doc: Any) -> Parse:
    """The tokens of a spaCy document, without white space; what hangs on white space hangs on its head instead."""
    kept = {token.i: number for number, token in enumerate(token for token in doc if not token.is_space)}
    found = []
    for token in doc:
        if token.i in kept:
            head = token.head
            while head.is_space and head.head.i != head.i:
                head = head.head
            number = kept.get(head.i, kept[token.i])  # white space that is a root leaves its dependents as roots
            relation = "ROOT" if number == kept[token.i] else token.dep_ or "dep"
            found.append(
                ParsedToken(
                    token.text,
                    token.idx,
                    token.idx + len(token.text),
                    number,
                    relation,
                    token.pos_ or "X",
                    token.tag_,
                    token.lemma_ or token.lower_,
                    token.ent_type_,
                )
            )
    return tuple(found)


def load_parser(spec: str = "auto") -> SpacyParser | WrittenParser:
    """Load the parser named on the command line."""
    if spec in ("auto", "spacy"):
        return SpacyParser()
    if spec.startswith("spacy:") and spec != "spacy:":
        return SpacyParser(spec[6:])
    if spec.startswith("parses:") and spec != "parses:":
        return WrittenParser(spec[7:])
    raise BadInput(f"Unknown parser {spec!r}; use auto, spacy, spacy:NAME_OR_PATH or parses:FILE.")
