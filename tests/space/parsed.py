"""Parses written out by hand: one token a word, `text/tag/relation/head`, with spaCy's relations.

A head is the number of a token, from 1; a root has 0. A token glued to the one before it starts with an underscore. The
lemma follows the relation where it is not the word in small letters: `left/VBD/ROOT=leave/0`.
"""

from __future__ import annotations

from mohs.models.tagger import universal
from mohs.text.parses import Parse, ParsedToken

_AUXILIARIES = {"be", "do", "have", "can", "will", "should", "must", "would"}


def parsed(written: str) -> tuple[str, Parse]:
    """The string and its parse."""
    string, tokens = "", []
    for number, token in enumerate(written.split()):
        text, tag, relation, head = token.rsplit("/", 3)
        glued = text.startswith("_")
        text = text[1:] if glued else text
        string += "" if glued or not number else " "
        relation, _, lemma = relation.partition("=")
        lemma = lemma or text.lower()
        start = len(string)
        string += text
        top = int(head) - 1 if head != "0" else number
        tokens.append(ParsedToken(text, start, len(string), top, relation, _pos(tag, lemma), tag, lemma))
    return string, tuple(tokens)


def _pos(tag: str, lemma: str) -> str:
    """The universal part of speech; forms of be and do are auxiliaries, as in spaCy."""
    if tag in ("WRB",):
        return "SCONJ"
    return "AUX" if lemma in _AUXILIARIES and tag[:1] in "VM" else universal(tag)
