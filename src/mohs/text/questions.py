"""What can be asked of a language model about a text, and the form of its answers: plain values, equal when equal.

Models answer these (`mohs.models`), measures and sources ask them (`mohs.space`); neither knows the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Fields = tuple[str, ...]  # the strings of one text: one, or two for a pair
Vector = npt.NDArray[np.float32]


class Blank(NamedTuple):
    """To a masked language model: a stretch of a text is replaced by one mask; what belongs there?

    A word for a replacement, two words for a merge, an empty stretch between two words for an insertion.
    """

    fields: Fields
    field: int
    start: int
    end: int
    k: int = 50  # how many guesses, best first
    words: tuple[str, ...] = ()  # words whose log-probability is wanted too


class Pieces(NamedTuple):
    """To a masked language model: the text is read as it stands; what else could each piece of this word be?"""

    fields: Fields
    field: int
    start: int
    end: int
    k: int = 48


class Spelling(NamedTuple):
    """To a masked language model: how well do these pieces go together, read alone and unmasked?"""

    pieces: tuple[str, ...]


class Guess(NamedTuple):
    """One entry of the vocabulary: its text without markers, its logit, and whether it starts a word."""

    text: str
    logit: float
    whole: bool


class Filled(NamedTuple):
    """The answer to a Blank."""

    guesses: tuple[Guess, ...]
    total: float  # log of the sum of exp(logit) over the vocabulary: a guess has log-probability logit - total
    log_probs: tuple[float, ...] = ()  # of the words asked for; nan for one that is not a single piece


class Piece(NamedTuple):
    """Part of the answer to Pieces: one piece as it stands, and what could stand there."""

    text: str
    guesses: tuple[Guess, ...]


class Spot(NamedTuple):
    """To a tagger: the word from `start` to `end` of a string, read in that string."""

    text: str
    start: int
    end: int


class Tag(NamedTuple):
    """A tagger's answer."""

    pos: str  # universal part of speech: NOUN, VERB, ADJ, ADV, PROPN, ...
    tag: str  # Penn Treebank tag: NN, NNS, VBD, ...


class Scored(NamedTuple):
    """A causal language model's answer to a string: for each token where it is and its log-probability."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    log_probs: tuple[float, ...]


class Labelled(NamedTuple):
    """To a victim whose inside is open: the slope of the log-probability of a label, by input embedding."""

    fields: Fields
    label: int


class Slope(NamedTuple):
    """The answer to Labelled: one row a token, tokens that no text stands for left out."""

    log_prob: float
    spans: tuple[tuple[int, int, int], ...]  # field, start, end of each token
    gradient: npt.NDArray[np.float32]
    embedding: npt.NDArray[np.float32]

    def by_word(self, spans: list[tuple[int, int, int]]) -> list[list[int]]:
        """For each word (as Text.spans gives them) the rows of its tokens; none for a word beyond the window.

        A token that reaches over several words, as SentencePiece has them for U.S., is a row of each.
        """
        rows: list[list[int]] = [[] for _ in spans]
        order = sorted(range(len(spans)), key=spans.__getitem__)
        first = 0  # of the words that do not end before the token
        for row, (field, start, end) in enumerate(self.spans):
            while first < len(order) and (spans[order[first]][0], spans[order[first]][2]) <= (field, start):
                first += 1
            for word in order[first:]:
                if spans[word][:2] >= (field, end):
                    break
                if max(spans[word][1], start) < min(spans[word][2], end):
                    rows[word].append(row)
        return rows


class TokenVectors(NamedTuple):
    """A token encoder's answer: a vector of unit length for each token, and how much the token counts."""

    vectors: npt.NDArray[np.float32]  # one row a token
    weights: npt.NDArray[np.float32]  # nought for tokens that no text stands for
