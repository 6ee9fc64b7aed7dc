"""Misspellings made when they are looked at, against all of them made at once."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.attacks.bugs import drawn
from mohs.space import AddLetter, Constraint, DropLetter, Source, Space, SwapLetters, Union, build_space, spellings
from mohs.space.spellings import Spellings
from mohs.text import Text
from tests.toys import now, services


@dataclass(frozen=True)
class Made:
    """A source that hides that it looks at the word alone."""

    source: Source
    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Any, ask: Any) -> Any:
        return await self.source(text, positions, ask)


@dataclass(frozen=True)
class Length:
    """How many letters a replacement has."""

    name: ClassVar[str] = "length"
    needs: ClassVar[tuple[str, ...]] = ()
    stepwise: ClassVar[bool] = False

    def of_words(self, old: str, new: Any, ask: Any) -> list[float]:
        return [float(len(word)) for word in new]


SOURCES: list[Source] = [
    SwapLetters(),
    AddLetter(letters="aX"),
    Union((SwapLetters(), DropLetter(), AddLetter(letters="ab"))),
    Union((DropLetter(inner=True), DropLetter())),  # what both offer is the first's
]


def space_of(text: str, source: Source, longest: float = 99.0) -> Space:
    constraints: Any = (Constraint(Length(), at_most=longest),)  # type: ignore[arg-type]
    x, stopwords = Text(text), frozenset({"on", "of", "a", "ab", "ba"})
    return now(build_space(x, source, constraints, stopwords, range(len(x.words)), services()))


@given(
    st.lists(st.sampled_from(["no", "fo", "film", "aa", "a", "b", "On", "ofs", "b\u00e9b\u00e9"]), max_size=8),
    st.sampled_from(SOURCES),
    st.sampled_from([1.0, 3.0, 9.0]),
    st.sampled_from([1, 5, 4096]),
)
def test_a_space_is_the_same_whether_its_words_are_made_at_once_or_when_looked_at(
    words: list[str], source: Source, longest: float, kept: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spellings, "MOST_WORDS_KEPT", kept)
        lazy, eager = space_of(" ".join(words), source, longest), space_of(" ".join(words), Made(source), longest)
        assert isinstance(lazy.offers, Spellings)
        assert isinstance(eager.offers, dict)
        for _ in range(2):
            assert dict(lazy.choices) == dict(eager.choices)
            assert {p: list(o.items()) for p, o in lazy.offers.items()} == {
                p: list(o.items()) for p, o in eager.offers.items()
            }
        assert lazy.positions == eager.positions
        assert len(lazy.choices) == len(lazy.offers) == len(eager.offers)
        assert lazy.size() == eager.size()
        for position in eager.positions:
            bugs = (("swap", "insert"), ("delete",))
            assert drawn(lazy, position, bugs, Random(1)) == drawn(eager, position, bugs, Random(1))


@pytest.mark.parametrize("kept", [1, 4096])
def test_what_is_entered_stays(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(spellings, "MOST_WORDS_KEPT", kept)
    space = space_of("film night", SwapLetters())
    space.admit(0, "Paris", "entity")
    space.admit(7, "else", "entity")
    assert space.choices[1]
    assert space.choices[0] == ("iflm", "flim", "fiml")
    assert space.offers[0] == {"iflm": "swap", "flim": "swap", "fiml": "swap", "Paris": "entity"}
    assert list(space.offers) == [0, 1, 7]
    assert len(space.offers) == 3
    assert space.text.replace(0, "Paris") in space
    assert space.edits(space.text.replace(0, "flim"))[0].source == "swap"
    with pytest.raises(TypeError, match="offers cannot be deleted"):
        del space.offers[0]


def test_few_words_are_kept_and_few_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = SwapLetters.spell

    def spell(self: SwapLetters, word: str) -> dict[str, str]:
        asked.append(word)
        return real(self, word)

    monkeypatch.setattr(SwapLetters, "spell", spell)
    monkeypatch.setattr(spellings, "MOST_WORDS_KEPT", 6)
    space = space_of("film cast crew", Union((SwapLetters(), AddLetter(letters="z"))))
    assert asked == ["film", "cast", "crew"]  # one source is enough to see that there is a choice
    for position in (0, 0, 1, 0):
        assert space.choices[position]
    assert asked[3:] == ["film", "cast", "film"]  # eight words each, so only the last is there
