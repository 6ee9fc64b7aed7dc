"""Dependency trees as numbers."""

from __future__ import annotations

from mohs.models.tree_rows import Lexicon, forest_of, relations_of
from tests.models.tree_toys import parsed
from tests.text.test_parses import tokens


def test_relations_have_a_side_and_a_number() -> None:
    assert relations_of(tokens(2, 2, 2, 2, 3)) == ["dep<0", "dep<1", "ROOT", "dep>0", "dep>0"]
    assert relations_of(tokens(*[7] * 8)) == ["dep<0", "dep<1", "dep<2", "dep<3", "dep<4", "dep<5", "dep<5", "ROOT"]
    assert relations_of(()) == []


def test_a_lexicon_of_frequent_words() -> None:
    learned = parsed("The film bored me.", "the film bored us.", "The film ended.")
    lexicon = Lexicon.of(learned, 2)
    assert lexicon.words == (".", "film", "the", "bored")  # most frequent first, then by name
    assert lexicon.relations == ("ROOT", "det<0", "nsubj<0", "punct>0")  # dobj>0 was seen twice only
    row = lexicon.row(learned[0])
    assert row.words == (3, 2, 4, 0, 1)
    assert row.relations == (2, 3, 1, 0, 4)
    assert row.heads == (1, 2, 2, 2, 2)
    assert row.depths == (2, 1, 0, 1, 1)
    assert len(row) == 5
    assert lexicon.digest != Lexicon(lexicon.words, lexicon.relations[:-1]).digest


def test_a_forest_stands_level_by_level() -> None:
    lexicon = Lexicon(tuple("abcdefgh"), ())
    one, other = tokens(1, 1, 1, 2), tokens(0, 0)
    named = [
        tuple(token._replace(text=letter) for token, letter in zip(parse, letters, strict=True))
        for parse, letters in ((one, "abcd"), (other, "ef"))
    ]
    forest = forest_of([lexicon.row(parse) for parse in named])
    assert [" abcdefgh"[number] for number in forest.words.tolist()] == list("beacfd")
    assert forest.levels == (0, 2, 5, 6)
    assert forest.parents.tolist() == [0, 0, 0, 0, 1, 1]  # d hangs on c, the second of the level above
    assert [" abcdefgh"[forest.words[place]] for place in forest.places.tolist()] == list("abcdef")
