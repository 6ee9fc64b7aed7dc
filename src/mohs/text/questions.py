"""Queries to a model about a text, and the types of the answers. All are plain values, compared by content.

Measures and sources (`mohs.space`) send them, models (`mohs.models`) answer them. Neither imports the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Fields = tuple[str, ...]  # the strings of one text: one, or two for a pair
Vector = npt.NDArray[np.float32]


class Blank(NamedTuple):
    """Asks a masked language model to fill in one mask, which replaces the span from `start` to `end`.

    Mask a word to replace it, two words to merge them, or an empty span between two words to insert one.
    """

    fields: Fields
    field: int
    start: int
    end: int
    k: int = 50  # number of guesses, best first
    words: tuple[str, ...] = ()  # also return the log-probabilities of these words


class Pieces(NamedTuple):
    """Asks a masked language model, which reads the unmasked text, for alternatives to each piece of a word."""

    fields: Fields
    field: int
    start: int
    end: int
    k: int = 48


class Spelling(NamedTuple):
    """Asks a masked language model how well these pieces fit together, read alone and unmasked."""

    pieces: tuple[str, ...]


class Guess(NamedTuple):
    """One vocabulary entry: its text without markers, its logit, and whether it starts a word."""

    text: str
    logit: float
    whole: bool


class Filled(NamedTuple):
    """The answer to a Blank."""

    guesses: tuple[Guess, ...]
    total: float  # log of the sum of exp(logit) over the vocabulary: a guess has log-probability logit - total
    log_probs: tuple[float, ...] = ()  # of the requested words; nan for a word of several pieces


class Piece(NamedTuple):
    """Part of the answer to Pieces: one piece of the word, and the alternatives to it."""

    text: str
    guesses: tuple[Guess, ...]


class Spot(NamedTuple):
    """Asks a tagger about the word from `start` to `end` of a string, read in context."""

    text: str
    start: int
    end: int


class Tag(NamedTuple):
    """A tagger's answer."""

    pos: str  # universal part of speech: NOUN, VERB, ADJ, ADV, PROPN, ...
    tag: str  # Penn Treebank tag: NN, NNS, VBD, ...


class Substitution(NamedTuple):
    """Asks a judge whether people would accept `word` instead of the word from `start` to `end` of a string."""

    text: str  # the word with what stands around it; a judge reads as much of that as it was trained on
    start: int
    end: int
    word: str


class Rephrasing(NamedTuple):
    """Asks a paraphraser for a text in other words; the answer is its texts, best first."""

    text: str  # as the model reads it, with any prefix that says what is wanted
    k: int = 1  # how many texts; fewer come if some are alike, empty or not finished
    beams: int = 3
    most: int = 60  # tokens of an answer
    sampled: bool = False  # draw the tokens (from a seed made of the question) rather than search by beams


class Scored(NamedTuple):
    """A causal language model's answer to a string: the position and the log-probability of each token."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    log_probs: tuple[float, ...]


class Labelled(NamedTuple):
    """Asks a white-box victim for the gradient of a label's log-probability with respect to the input embeddings."""

    fields: Fields
    label: int


class Slope(NamedTuple):
    """The answer to Labelled: one row per token, without special tokens."""

    log_prob: float
    spans: tuple[tuple[int, int, int], ...]  # field, start, end of each token
    gradient: npt.NDArray[np.float32]
    embedding: npt.NDArray[np.float32]

    def by_word(self, spans: list[tuple[int, int, int]]) -> list[list[int]]:
        """For each word (given as in Text.spans) the rows of its tokens; none for a word beyond the window.

        A token that spans several words, as SentencePiece has for U.S., is a row of each.
        """
        rows: list[list[int]] = [[] for _ in spans]
        order = sorted(range(len(spans)), key=spans.__getitem__)
        first = 0  # the first word that does not end before the token
        for row, (field, start, end) in enumerate(self.spans):
            while first < len(order) and (spans[order[first]][0], spans[order[first]][2]) <= (field, start):
                first += 1
            for word in order[first:]:
                if spans[word][:2] >= (field, end):
                    break
                if max(spans[word][1], start) < min(spans[word][2], end):
                    rows[word].append(row)
        return rows


class SentenceVector(NamedTuple):
    """Asks a white-box victim for the vector of a text that its last layers read.

    The text stands second: (text, True) would equal a Labelled, and so share its answer.
    """

    normal: bool  # also return the direction to the nearest decision boundary
    fields: Fields


class Sentence(NamedTuple):
    """The answer to SentenceVector."""

    vector: Vector
    normal: Vector | None  # of unit length


class TokenVectors(NamedTuple):
    """A token encoder's answer: a unit vector and a weight for each token."""

    vectors: npt.NDArray[np.float32]  # one row per token
    weights: npt.NDArray[np.float32]  # zero for special tokens
