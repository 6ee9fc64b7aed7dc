"""Ids that occur twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.text import distinct
from mohs.text.distinct import Ids


def noted(ids: list[str]) -> Ids:
    found = Ids()
    for one in ids:
        found.add(one)
    return found


def first_again(ids: list[str]) -> str | None:
    return next((one for place, one in enumerate(ids) if one in ids[:place]), None)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=2), max_size=20))
def test_it_finds_the_first_id_that_occurs_twice(ids: list[str]) -> None:
    assert noted(ids).repeated(ids) == first_again(ids)


@given(st.lists(st.sampled_from("abcdef"), max_size=8))
def test_different_ids_with_one_hash_are_no_fault(ids: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(distinct, "_key", lambda one: ord(one) % 2)
        assert noted(ids).repeated(ids) == first_again(ids)


def test_without_a_hash_that_occurs_twice_nothing_is_read_again() -> None:
    again = iter(["a", "b"])
    assert noted(["a", "b"]).repeated(again) is None
    assert next(again) == "a"


def test_an_id_takes_nine_bytes() -> None:
    keys = noted(list(map(str, range(100_000))))._keys
    assert keys.itemsize == 8
    assert keys.__sizeof__() < 9 * len(keys) + 100
