"""What is asked of a tree auto-encoder against a victim, and what it answers: plain values."""

from __future__ import annotations

from typing import NamedTuple

from mohs.text.parses import Parse
from mohs.text.questions import Fields


class Steps(NamedTuple):
    """The settings of the optimisation, after Carlini and Wagner 2017."""

    leaf: bool = False  # perturb the words' vectors instead of the roots'
    steps: int = 100
    rate: float = 0.1  # Adam's
    const: float = 1e4  # weight of the victim's margin against the distance
    confidence: float = 0.0  # how far below zero the margin is pressed
    clip: float = 0.5  # the largest norm of a gradient
    temperature: float = 0.1  # of the softmax over words


class TreeQuestion(NamedTuple):
    """Asks for rewrites of one field of a text that fool the victim."""

    fields: Fields
    number: int  # of the field
    parse: Parse  # of the field
    fixed: tuple[bool, ...]  # for each token of the parse: whether it must stay
    label: int  # the true one
    target: int | None  # the wanted one, or None for any other
    steps: Steps


class Decoded(NamedTuple):
    """One string that the decoder gave on the way."""

    string: str  # of the field
    step: int  # the first at which it came up
    margin: float  # of the label, or of the others over the target; below zero if the victim is fooled
    distance: float  # squared, of its words' vectors from those of the original, by the victim's own vectors
