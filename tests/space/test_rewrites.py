"""Rewrites of whole fields in a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import mohs
from mohs.errors import BadInput
from mohs.space import (
    Constraint,
    Rewriter,
    Services,
    ShareChanged,
    Source,
    Space,
    Union,
    WordCosine,
    build_space,
    parse_source,
    word_source,
)
from mohs.space.rewrites import is_rewriter, only_rewrites, parts_of, rewriters
from mohs.space.sources import words_of
from mohs.text import Edit, Text
from mohs.text.placeholders import without_placeholders
from mohs.text.vectors import read_vectors
from tests.toys import now, services, table


@dataclass(frozen=True)
class Said:
    """Rewrites written out by hand: the same for every field."""

    strings: tuple[str, ...]

    needs: ClassVar[tuple[str, ...]] = ()
    keeps_label_of: ClassVar[frozenset[str]] = frozenset({"nli"})

    async def rewrite(self, text: Text, number: int, ask: Services) -> dict[str, str]:
        return {string: f"rule {place}" for place, string in enumerate(self.strings)}


WORDS = table(good="fine nice")


def space_of(
    *fields: str,
    source: Source | Rewriter,
    constraints: Sequence[Constraint] = (),
    stopwords: frozenset[str] = frozenset(),
    positions: Sequence[int] | None = None,
    ask: Services | None = None,
    living: bool = False,
) -> Space:
    x = Text(*fields)
    free = range(len(x)) if positions is None else positions
    return now(build_space(x, source, constraints, stopwords, free, ask or services(), living=living))


def test_a_rewrite_is_in_the_space_and_says_its_rule() -> None:
    space = space_of("a good film.", source=Said(("a film that is good.", "it is good.")))
    assert space.positions == ()
    assert space.touched == {0, 1, 2}
    assert space.rewrites is not None
    assert dict(space.rewrites) == {(0, "a film that is good."): "rule 0", (0, "it is good."): "rule 1"}
    first, second = space.rewrites.in_order()
    assert first == Text("a film that is good.")
    assert first in space
    assert second in space
    assert space.edits(second) == (
        Edit(0, "a", "it is", "rewrite: rule 1"),
        Edit(2, "film", "", "rewrite: rule 1"),
    )
    assert Text("a film that is bad.") not in space
    assert space.text in space
    assert space.edits(space.text) == ()


def test_edits_of_words_give_the_text_again() -> None:
    for string in ("it is good.", "a film that is good.", "a good old film.", "", "good."):
        space = space_of("a good film.", source=Said((string,)))
        new = {edit.position: edit.new for edit in space.edits(Text(string))}
        again = space.text.replace_all(new).fields == (string,)
        assert again == (string != "")  # the full stop is no word


def test_words_and_rewrites_in_one_space_are_not_mixed() -> None:
    space = space_of("a good film", source=Union((WORDS, Said(("a good movie",)))))
    assert space.choices == {1: ("fine", "nice")}
    assert Text("a fine film") in space
    assert Text("a good movie") in space
    assert Text("a fine movie") not in space
    assert space.touched == {0, 1, 2}
    assert space.edits(Text("a fine film")) == (Edit(1, "good", "fine", "table"),)
    assert space.edits(Text("a good movie")) == (Edit(2, "film", "movie", "rewrite: rule 0"),)


def test_without_a_rewriter_nothing_is_different() -> None:
    space = space_of("a good film", source=WORDS)
    assert space.rewrites is None
    assert space.touched == {1}
    assert Text("a good movie") not in space


def test_one_field_at_a_time_and_only_fields_that_may_change() -> None:
    pair = space_of("one good film", "two", source=Said(("three",)), positions=[0, 1, 2])
    assert pair.rewrites is not None
    assert pair.rewrites.in_order() == [Text("three", "two")]
    both = space_of("one", "two", source=Said(("three",)))
    assert Text("three", "two") in both
    assert Text("one", "three") in both
    assert Text("three", "three") not in both
    assert Text("three") not in both  # another number of fields
    assert both.edits(Text("one", "three")) == (Edit(1, "two", "three", "rewrite: rule 0"),)


def test_what_changes_nothing_is_no_rewrite() -> None:
    space = space_of("a good film", source=Said(("a good film",)))
    assert not space.rewrites
    assert space.touched == frozenset()


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("a very good film by Acme", True),
        ("Acme made a good film", False),  # it has moved
        ("a good film", False),
        ("a good film by acme", False),  # another spelling
        ("a good film by Acme Corp", True),  # beside it
    ],
)
def test_words_to_keep_stay(said: str, offered: bool) -> None:
    space = space_of("a good film by Acme", source=Said((said,)), stopwords=frozenset({"acme"}))
    assert (Text(said) in space) == offered


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("@USER a fine film, see http://a.org/b and true.", True),
        ("@USER a fine film, see http://a.org/c.", False),
        ("USER a fine film, see http://a.org/b.", False),
        ("Oh @USER a good film, see http://a.org/b.", True),
        ("@USER @you a good film, see http://a.org/b.", True),
        ("a good film, see http://a.org/b.", False),
    ],
)
def test_placeholders_stay_as_they_are_written(said: str, offered: bool) -> None:
    x = Text("@USER a good film, see http://a.org/b.")
    free = without_placeholders(x, range(len(x)))
    assert (Text(said) in space_of(*x.fields, source=Said((said,)), positions=free)) == offered
    assert Text(said) in space_of(*x.fields, source=Said((said,)))  # where they may change


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("a fine film with great actors", True),
        ("a good film with bad actors", False),
        ("a good film with great actors and more", False),  # nobody reads it
        ("a good film oh with great actors", True),  # beside a word that is read
    ],
)
def test_words_beyond_the_window_are_left_alone(said: str, offered: bool) -> None:
    space = space_of("a good film with great actors", source=Said((said,)), positions=[0, 1, 2])
    assert (Text(said) in space) == offered


def test_a_field_without_a_word_that_may_change_is_left_alone() -> None:
    assert not space_of("...", source=Said(("good",))).rewrites
    assert not space_of("good", source=Said(("fine",)), stopwords=frozenset({"good"})).rewrites


def test_constraints_on_words_hold_for_rewrites_too() -> None:
    near, ask = Constraint(WordCosine(), at_least=0.5), services(vectors=read_vectors("pocket"))
    said = Said(("a decent film", "a purple film", "a film"))
    space = space_of("a good film", source=said, constraints=(near,), ask=ask)
    assert space.rewrites is not None
    candidates = space.rewrites.in_order()
    kept = now(space.allowed(space.text, candidates, ask))
    values = now(WordCosine().of_texts(space.text, None, candidates, ask))
    assert [value >= 0.5 for value in values] == [True, False, False]
    assert kept == candidates[:1]


def test_constraints_on_texts_hold_for_rewrites() -> None:
    half = Constraint(ShareChanged(), at_most=0.5)
    space = space_of("a good film", source=Said(("a great film", "it was great")), constraints=(half,))
    assert space.rewrites is not None
    assert now(space.allowed(space.text, space.rewrites.in_order(), services())) == [Text("a great film")]


@pytest.mark.parametrize("living", [False, True])
def test_a_search_may_add_rewrites(living: bool) -> None:
    space = space_of("a good film by Acme", source=Said(()), stopwords=frozenset({"acme"}), living=living)
    assert Text("it is by Acme") not in space
    assert space.admit_rewrite(0, "it is by Acme", "search") == Text("it is by Acme")
    assert Text("it is by Acme") in space
    assert space.admit_rewrite(0, "it is by them", "search") is None
    assert Text("it is by them") not in space
    assert {edit.source for edit in space.edits(Text("it is by Acme"))} == {"rewrite: search"}


def test_parts_of_a_source() -> None:
    said = Said(("x",))
    mixed = Union((WORDS, Union((said, WORDS))))
    assert parts_of(mixed) == (WORDS, said, WORDS)
    assert rewriters(mixed) == (said,)
    assert words_of(mixed) == Union((WORDS, WORDS))
    assert words_of(WORDS) is WORDS
    assert words_of(said) == Union(())
    assert [only_rewrites(source) for source in (said, Union((said,)), mixed, WORDS)] == [True, True, False, False]
    assert is_rewriter(said)
    assert not is_rewriter(WORDS)


@pytest.mark.parametrize(
    ("spec", "named"), [("tautology", "tautology"), ("neighbours:k=4+links:each=2", "links"), (Said(("x",)), "Said")]
)
def test_verbs_that_need_words_refuse_rewriters(spec: Any, named: str) -> None:
    sentence = f"{named} rewrites whole texts, which only attacks can use; give a source that replaces single words."
    with pytest.raises(BadInput) as raised:
        word_source(spec)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("verb", ["radius", "certify", "second_order_attack"])
def test_they_do_so_before_anything_is_loaded(verb: str) -> None:
    option = {"synonyms" if verb == "second_order_attack" else "source": "tautology"}
    with pytest.raises(BadInput, match="tautology rewrites whole texts"):
        getattr(mohs, verb)("nowhere", "nowhere.jsonl", **option)


def test_a_source_of_words_is_parsed_as_before() -> None:
    assert word_source("neighbours:k=4") == parse_source("neighbours:k=4")
    assert word_source(WORDS) is WORDS


OWN = """
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Shout:
    marks: int = 1
    needs: ClassVar[tuple[str, ...]] = ()
    keeps_label_of: ClassVar[frozenset[str]] = frozenset({"sentiment"})

    async def rewrite(self, text, number, ask):
        return {text.fields[number].upper() + "!" * self.marks: "shouted"}


@dataclass(frozen=True)
class Silent:
    needs: ClassVar[tuple[str, ...]] = ()

    async def rewrite(self, text, number, ask):
        return {}
"""


def test_a_rewriter_of_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, "utf-8")
    source = parse_source(f"{file}:Shout:marks=2+neighbours")
    assert isinstance(source, Union)
    space = space_of("a good film", source=source.sources[0])
    assert Text("A GOOD FILM!!") in space
    with pytest.raises(BadInput, match=r"own\.py:Silent is not a source: it lacks keeps_label_of"):
        parse_source(f"{file}:Silent")
