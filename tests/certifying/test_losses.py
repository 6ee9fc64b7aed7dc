"""The losses against enumeration: random classifiers as lookup tables, and the exact shares of all versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.certifying.losses import overlap, ranmask_loss, safer_loss

Words = tuple[str, ...]


def lookup(seed: int, bias: float) -> Callable[[Words], bool]:
    """A classifier that answers each text at random, but always alike."""
    return lambda words: Random(f"{seed}/{words}").random() < bias


def safer_share(f: Callable[[Words], bool], x: Words, sets: Mapping[str, Sequence[str]]) -> Fraction:
    versions = list(product(*(sets[word] for word in x)))
    return Fraction(sum(map(f, versions)), len(versions))


def masked_share(f: Callable[[Words], bool], x: Words, kept: int) -> Fraction:
    shown = list(combinations(range(len(x)), kept))
    return Fraction(sum(f(tuple(w if i in own else "_" for i, w in enumerate(x))) for own in shown), len(shown))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([0.6, 0.9, 0.98]))
def test_no_text_falls_by_more_than_the_loss_of_safer(seed: int, bias: float) -> None:
    random = Random(seed)
    vocabulary = "abcdef"
    sets: dict[str, Sequence[str]] = {
        word: [word, *random.sample([w for w in vocabulary if w != word], random.randint(0, 4))] for word in vocabulary
    }
    x = tuple(random.choices(vocabulary, k=random.randint(1, 3)))
    f = lookup(seed, bias)
    clean = safer_share(f, x, sets)
    overlaps = [min(overlap(sets[word], sets[other]) for other in sets[word]) for word in x]
    for changed in product(*(sets[word] for word in x)):
        d = sum(a != b for a, b in zip(x, changed, strict=True))
        share = safer_share(f, changed, sets)
        for budget in (*range(d, len(x) + 1), None):
            assert share >= float(clean) - safer_loss(overlaps, budget) - 1e-12


def test_the_published_overlap_fails_where_sets_differ_in_size() -> None:
    sets = {"a": ["a", "b"], "b": ["b", "a", *"cdefgh"]}
    clean = safer_share(lambda words: words[0] in "ab", ("a",), sets)
    after = safer_share(lambda words: words[0] in "ab", ("b",), sets)
    assert (clean, after) == (Fraction(1), Fraction(1, 4))
    assert overlap(sets["a"], sets["b"], published=True) == 1  # nothing could happen, it says
    assert float(clean) - safer_loss([1.0], 1) > after
    assert float(clean) - safer_loss([overlap(sets["a"], sets["b"])], 1) <= after


def test_equal_sizes_give_the_published_overlap() -> None:
    assert overlap("abcd", "cdef") == overlap("abcd", "cdef", published=True) == 0.5


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([0.6, 0.9, 0.98]))
def test_no_text_falls_by_more_than_the_loss_of_ranmask(seed: int, bias: float) -> None:
    random = Random(seed)
    h = random.randint(2, 5)
    x = tuple(random.choices("abc", k=h))
    kept = random.randint(1, h)
    f = lookup(seed, bias)
    clean = masked_share(f, x, kept)
    for changed in product("abc", repeat=h):
        d = sum(a != b for a, b in zip(x, changed, strict=True))
        assert masked_share(f, changed, kept) >= float(clean) - ranmask_loss(h, kept, d) - 1e-12


def test_the_published_beta_fails_on_a_text() -> None:
    """A classifier that reads the label off blank texts alone: among versions that show a word, none has it here."""

    def f(words: Words) -> bool:
        return set(words) <= {"_", "a", "c"}

    clean, after = masked_share(f, ("a", "b", "c"), 1), masked_share(f, ("b", "b", "c"), 1)
    assert (clean, after) == (Fraction(2, 3), Fraction(1, 3))
    assert float(clean) - ranmask_loss(3, 1, 1, beta=float(clean)) > after
    assert float(clean) - ranmask_loss(3, 1, 1) == pytest.approx(float(after))


def test_losses_by_hand() -> None:
    assert safer_loss([], None) == 0
    assert safer_loss([0.5, 1.0, 0.8], 1) == 0.5
    assert safer_loss([0.5, 1.0, 0.8], 2) == pytest.approx(0.6)
    assert safer_loss([0.5, 1.0, 0.8], None) == pytest.approx(0.6)
    assert ranmask_loss(10, 1, 1) == pytest.approx(0.1)
    assert ranmask_loss(10, 5, 2) == pytest.approx(1 - 56 / 252)
    assert ranmask_loss(3, 2, 7) == 1
