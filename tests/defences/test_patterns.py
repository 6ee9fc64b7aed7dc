"""Defences written without a victim."""

from __future__ import annotations

import pytest

from mohs.defences import Mean, Versions, defended
from mohs.defences.patterns import around, draws
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.victim import Victim
from mohs.tasks.services import load_books


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("ensemble", "ensemble(V, key=7)"),
        (" ensemble ( n=4 , rate=0.2 ) ", "ensemble(V, n=4, rate=0.2, key=7)"),
        ("encoding(k=4)", "encoding(V, k=4)"),
        ("masking(ensemble(n=4), rate=0.1)", "masking(ensemble(V, n=4, key=7), rate=0.1, key=7)"),
        ("masking(encoding)", "masking(encoding(V), key=7)"),
        ("mean(hf:B)", "mean(V, hf:B)"),
        ("mean(ensemble, masking(hf:B))", "mean(ensemble(V, key=7), masking(hf:B, key=7))"),
        ("mean(hf:A, hf:B)", "mean(hf:A, hf:B)"),
        ("safer(hf:A, words=wordnet)", "safer(hf:A, words=wordnet, key=7)"),
    ],
)
def test_around(pattern: str, written: str) -> None:
    assert around(pattern, "V", 7) == written
    assert draws(pattern) == ("key=" in written)


def test_the_victim_keeps_its_own_key() -> None:
    assert around("encoding", "ensemble(V, key=3)", 7) == "encoding(ensemble(V, key=3))"
    assert around("masking", "ensemble(V)", 7) == "masking(ensemble(V), key=7)"


@pytest.mark.parametrize(
    "pattern", ["V", "hf:A", "", "shield()", "ensemble(n=3", "ensemble(key=3)", "masking(safer(key=1))"]
)
def test_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(BadInput):
        around(pattern, "V", 0)


def test_keys_reach_every_level() -> None:
    def load(name: str) -> Victim:
        return pocket_victim()

    one, other = (defended(around("masking(masking(n=2), n=2)", "V", key), load, load_books) for key in (1, 2))
    assert isinstance(one, Versions)
    assert isinstance(other, Versions)
    inner = [one.victim, other.victim]
    assert all(isinstance(each, Versions) for each in inner)
    assert len({inner[0].fingerprint, inner[1].fingerprint, one.fingerprint, other.fingerprint}) == 4
    assert one.with_key(1).fingerprint == one.fingerprint
    assert isinstance(defended(around("mean(masking)", "V", 1), load, load_books), Mean)
