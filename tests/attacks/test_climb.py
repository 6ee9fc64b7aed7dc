"""Trying replacements one at a time."""

from __future__ import annotations

from mohs.attacks.climb import single_moves, still_open
from mohs.space import Space
from mohs.text import Text


def test_moves_begin_with_the_last_choice_of_each_position() -> None:
    space = Space(Text("a b c"), {0: ("x", "y", "z"), 2: ("u", "v")})
    assert single_moves(space) == [{0: "z"}, {2: "v"}, {0: "y"}, {2: "u"}, {0: "x"}]
    assert single_moves(Space(Text("a"), {})) == []


def test_a_move_is_open_while_none_of_its_words_has_changed() -> None:
    x = Text("a b c")
    assert still_open(x, x.replace(1, "z"), {0: "x", 2: "y"})
    assert not still_open(x, x.replace(2, "z"), {0: "x", 2: "y"})
