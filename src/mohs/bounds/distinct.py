"""Which combinations of substitutions give a text that no earlier combination gives.

If every substitute is one word, different combinations give different texts: the characters between two words stay, and
belong to no word. A substitute of several words, an empty one, or one with other characters in it can break this. In
"a b" with a -> "a x" and b -> "x b", both give "a x b". Whoever counts or draws texts then has to leave out repeats.

A combination is first if no other one with fewer changes gives its text, and none with as many that is smaller in the
order of positions and words. Every text has exactly one first combination, which is in Omega_r wherever the text is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mohs.space import Space
from mohs.text.text import closed_up, split_words

Whole = npt.NDArray[np.int32]
_State = tuple[int, str, bool]  # characters read, the gap before the next word, whether a word stands before it
_Moves = dict[_State, list[tuple[int, _State]]]  # to which state each number of a word leads; 0 is the original


class Distinct:
    """Tells the texts of a space apart."""

    def __init__(self, space: Space) -> None:
        self._space = space

    @cached_property
    def plain(self) -> bool:
        """Whether no two combinations can give the same text, because every substitute is another single word."""
        words = self._space.text.words
        return all(
            len({words[place], *own}) > len(own) and all(split_words(word) == ([word], ["", ""]) for word in own)
            for place, own in self._space.choices.items()
        )

    def first(self, places: Whole, picks: Whole) -> npt.NDArray[np.bool_]:
        """Whether each combination is the first of its text; rows of position and word numbers, -1 for none."""
        if self.plain:
            return np.ones(len(places), bool)
        rows = zip(places.tolist(), picks.tolist(), strict=True)
        return np.array([self._is_first(*row) for row in rows], bool)

    def _is_first(self, places: Sequence[int], picks: Sequence[int]) -> bool:
        numbers = {self._places[at]: pick + 1 for at, pick in zip(places, picks, strict=True) if at >= 0}
        words = {place: self._space.choices[place][number - 1] for place, number in numbers.items()}
        texts = self._space.text.replace_all(words).fields
        return all(
            field.is_first(text, [numbers.get(place, 0) for place in field.places])
            for field, text in zip(self._fields, texts, strict=True)
        )

    @cached_property
    def _places(self) -> list[int]:
        return list(self._space.choices)

    @cached_property
    def _fields(self) -> list[_Field]:
        found, start = [], 0
        for string in self._space.text.fields:
            words, gaps = split_words(string)
            places = range(start, start + len(words))
            own = [(word, *self._space.choices.get(at, ())) for word, at in zip(words, places, strict=True)]
            found.append(_Field(places, own, gaps))
            start += len(words)
        return found


class _Field:
    """One string of a text: its positions, the words that may stand at each, and the gaps around them."""

    def __init__(self, places: range, words: list[tuple[str, ...]], gaps: list[str]) -> None:
        self.places = places
        self._words = words
        self._gaps = gaps

    def is_first(self, text: str, numbers: Sequence[int]) -> bool:
        """Whether these numbers of words (0: the original) are the first that give the text."""
        layers, ends = self._readings(text)
        costs = [{state: 0.0 if text[state[0] :] == state[1] else math.inf for state in ends}]  # changes up to the end
        for moves in reversed(layers):
            ahead = costs[-1]
            costs.append({state: min(_cost(one, ahead) for one in found) for state, found in moves.items()})
        state = self._start
        for moves, ahead, own in zip(layers, costs[-2::-1], numbers, strict=True):
            number, state = min(moves[state], key=lambda one: (_cost(one, ahead), one[0]))
            if number != own:
                return False
        return True

    @property
    def _start(self) -> _State:
        return 0, self._gaps[0], False

    def _readings(self, text: str) -> tuple[list[_Moves], set[_State]]:
        """Every way to read the text word by word: the moves at each position, and the states after the last."""
        states, layers = {self._start}, []
        for words, after in zip(self._words, self._gaps[1:], strict=True):
            moves: _Moves = {}
            for state in states:
                found = (self._read(text, state, word, after) for word in words)
                moves[state] = [(number, new) for number, new in enumerate(found) if new is not None]
            states = {new for found in moves.values() for _, new in found}
            layers.append({state: found or [(0, _NOWHERE)] for state, found in moves.items()})
        return layers, states

    @staticmethod
    def _read(text: str, state: _State, word: str, after: str) -> _State | None:
        """The state after a word; None if the text goes on in another way. An empty word takes a space with it."""
        at, gap, begun = state
        if not word:
            gap, after = closed_up(gap, after, not begun)
        return (at + len(gap + word), after, begun or bool(word)) if text.startswith(gap + word, at) else None


def _cost(move: tuple[int, _State], ahead: dict[_State, float]) -> float:
    """The fewest changes up to the end with this move."""
    number, after = move
    return (number > 0) + ahead.get(after, math.inf)


_NOWHERE: _State = (-1, "", False)  # where a reading ends that does not fit
