from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mohs.text import pocket
from mohs.text.nearest import Floats
from mohs.text.vectors import Vectors, read_vectors

SMALL = Vectors(
    "small",
    ("good", "fine", "bad", "odd", "ok", "nil"),
    np.array([[2, 0], [0.6, 0.8], [-1, 0], [0, 3], [0.8, 0.6], [0, 0]], np.float32),
)

# A few values, so that rows repeat, point the same way or are zero; and very large and very small ones.
tables = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.sampled_from([0, 1, -1, 2, 0.5, 1e-30, 1e18]).map(np.float32),
)


def of(table: Floats) -> Vectors:
    return Vectors("toy", tuple(f"w{row}" for row in range(len(table))), table)


def cosine(unit: Floats, one: int, other: int) -> float:
    total = sum(float(a) * float(b) for a, b in zip(unit[one], unit[other], strict=True))
    return float(np.float32(min(1.0, max(-1.0, total))))


def distance(table: Floats, one: int, other: int) -> float:
    total = sum((float(a) - float(b)) ** 2 for a, b in zip(table[one], table[other], strict=True))
    return float(np.float32(total))


def test_neighbours_with_their_cosines() -> None:
    (near,) = SMALL.near(["good"], 9)
    assert [word for word, _ in near] == ["ok", "fine", "odd", "bad"]
    assert [value for _, value in near] == pytest.approx([0.8, 0.6, 0, -1])
    assert SMALL.near(["good"], 2) == [near[:2]]
    assert SMALL.near(["good"], 9, 0.5) == [near[:2]]
    assert SMALL.near(["good"], 9, 0.99) == [[]]
    assert SMALL.near(["good"], 0) == [[]]
    assert SMALL.near(["good", "none", "good", "Good"], 1) == [near[:1], [], near[:1], []]
    assert SMALL.near([], 5) == []


def test_a_zero_vector_has_a_distance_but_no_cosine() -> None:
    assert SMALL.near(["nil"], 9) == [[]]
    assert np.isnan(SMALL.cosines("nil", ["good", "nil"])).all()
    (near,) = SMALL.near_by_distance(["nil"], 3)
    assert near == [("fine", 1.0), ("bad", 1.0), ("ok", 1.0)]  # as far: in the order of the file
    assert "nil" not in {word for lists in SMALL.near(SMALL.words, 9) for word, _ in lists}


def test_neighbours_with_their_distances_of_rows_as_given() -> None:
    (near,) = SMALL.near_by_distance(["good"], 9)
    assert [word for word, _ in near] == ["ok", "fine", "nil", "bad", "odd"]
    assert [value for _, value in near] == pytest.approx([1.8, 2.6, 4, 9, 13])
    assert SMALL.near_by_distance(["good"], 9, 2.7) == [near[:2]]
    assert SMALL.near_by_distance(["good"], 9, 4.0) == [near[:3]]
    assert SMALL.near_by_distance(["good"], 1) == [near[:1]]


def test_of_unit_rows_the_squared_distance_follows_from_the_cosine() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 6))
    vectors = of((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))
    (by_cosine,), (by_distance,) = vectors.near(["w0"], 39), vectors.near_by_distance(["w0"], 39)
    assert [word for word, _ in by_cosine] == [word for word, _ in by_distance]
    assert [value for _, value in by_distance] == pytest.approx([2 - 2 * value for _, value in by_cosine], abs=1e-6)


@given(tables, st.integers(0, 33))
def test_near_is_a_sort_of_all_cosines(table: Floats, k: int) -> None:
    vectors = of(table)
    directed = [row for row in range(len(table)) if table[row].any()]
    for row, near in enumerate(vectors.near(vectors.words, k)):
        others = [other for other in directed if other != row] if row in directed else []
        values = {other: cosine(vectors.unit, row, other) for other in others}
        expected = sorted(others, key=lambda other: (-values[other], other))[:k]
        assert near == [(f"w{other}", values[other]) for other in expected]


@given(tables, st.integers(0, 33))
def test_near_by_distance_is_a_sort_of_all_distances(table: Floats, k: int) -> None:
    vectors = of(table)
    for row, near in enumerate(vectors.near_by_distance(vectors.words, k)):
        values = {other: distance(table, row, other) for other in range(len(table)) if other != row}
        expected = sorted(values, key=lambda other: (values[other], other))[:k]
        assert near == [(f"w{other}", values[other]) for other in expected]


@pytest.mark.parametrize(("scale", "offset"), [(1, 0), (1, 1e3), (1e-15, 0), (1e15, 0), (1e15, 1e20)])
def test_the_nearest_by_distance_out_of_many_rows_of_all_lengths(scale: float, offset: float) -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3000, 20)) * rng.uniform(0.2, 5, size=(3000, 1)) * scale
    vectors = of((rows + offset).astype(np.float32))  # far from the origin float32 scores say nothing, or overflow
    words = [f"w{row}" for row in (0, 17, 2999)]
    for word, near in zip(words, vectors.near_by_distance(words, 60), strict=True):
        distances = vectors.distances(word, vectors.words)
        order = np.lexsort((np.arange(3000), distances))
        assert [other for other, _ in near] == [f"w{row}" for row in order if f"w{row}" != word][:60]
        differences = vectors.table.astype(np.float64) - vectors.table[vectors.index[word]]
        assert distances.tolist() == (differences**2).sum(axis=1).astype(np.float32).tolist()


def test_near_agrees_with_cosines_to_the_last_bit_whatever_is_asked_together() -> None:
    vectors = of(np.random.default_rng(1).normal(size=(2500, 33)).astype(np.float32))
    words = [f"w{row}" for row in (0, 17, 1200, 2499)]
    alone = [of(vectors.table).near([word], 7)[0] for word in words]
    assert vectors.near(words, 7) == alone
    for word, near in zip(words, alone, strict=True):
        cosines = vectors.cosines(word, vectors.words)
        assert [value for _, value in near] == [float(cosines[vectors.index[other]]) for other, _ in near]
        order = np.lexsort((np.arange(2500), -cosines))
        assert [other for other, _ in near] == [f"w{row}" for row in order if f"w{row}" != word][:7]
        assert vectors.cosines(near[0][0], [word])[0] == near[0][1]


def test_unknown_words_are_nan() -> None:
    found = SMALL.cosines("good", ["ok", "none", "bad", "good"])
    assert found == pytest.approx([0.8, math.nan, -1, 1], nan_ok=True)
    assert found.dtype == np.float32
    assert np.isnan(SMALL.cosines("none", ["ok", "none"])).all()
    assert SMALL.cosines("good", []).shape == (0,)
    assert SMALL.distances("good", ["ok", "none", "nil"]) == pytest.approx([1.8, math.nan, 4], nan_ok=True)
    assert np.isnan(SMALL.distances("none", ["ok"])).all()


def test_rows_at_unit_length_leave_the_table_alone() -> None:
    assert np.linalg.norm(SMALL.unit, axis=1) == pytest.approx([1, 1, 1, 1, 1, 0])
    assert SMALL.table[0].tolist() == [2, 0]
    assert SMALL.index["odd"] == 3


def test_the_fingerprint_is_of_the_content() -> None:
    same = Vectors("another name", SMALL.words, SMALL.table.copy(), ("a note",))
    assert same.fingerprint == SMALL.fingerprint
    changed = SMALL.table.copy()
    changed[3, 1] = 3.0000002
    others = [
        Vectors("small", SMALL.words, changed),
        Vectors("small", (*SMALL.words[:-1], "nul"), SMALL.table),
        Vectors("small", SMALL.words, SMALL.table[:, ::-1].copy()),
        Vectors("small", SMALL.words[:4], SMALL.table.reshape(4, 3)),
    ]
    assert len({SMALL.fingerprint, *(other.fingerprint for other in others)}) == 5


def test_neighbours_are_kept_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Vectors("small", SMALL.words, SMALL.table, cache=tmp_path)
    found, far = first.near(["good", "bad"], 3), first.near_by_distance(["good"], 3)
    assert {file.name for file in (tmp_path / "neighbours").iterdir()} == {
        f"{SMALL.fingerprint}-cosine-64.sqlite",
        f"{SMALL.fingerprint}-distance-64.sqlite",
    }
    again = Vectors("renamed", SMALL.words, SMALL.table, cache=tmp_path)
    monkeypatch.setattr("mohs.text.nearest.Nearest._some", None)  # no search any more
    assert again.near(["good", "bad"], 3) == found
    assert again.near(["bad"], 1, 0.5) == [[pair for pair in found[1][:1] if pair[1] >= 0.5]]
    assert again.near_by_distance(["good"], 3) == far
    with pytest.raises(TypeError):
        again.near(["odd"], 3)


def test_pocket_is_the_bundled_lexicon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path))
    vectors, lexicon = read_vectors("pocket"), pocket.lexicon()
    assert vectors.name == lexicon.name
    assert vectors.words == lexicon.words
    # The lexicon stores cosines in steps of 1/255, and only from 0.5 on.
    for word in ("film", "good", "terrible"):
        stored, (near,) = lexicon.near(word, 50, 0.5), vectors.near([word], 50, 0.5)
        assert [other for other, _ in near] == [other for other, _ in stored]
        assert [value for _, value in near] == pytest.approx([value for _, value in stored], abs=1 / 255)
    assert list(tmp_path.iterdir()) == []


def test_vectors_that_were_read_say_what_was_left_out_and_where_neighbours_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "toy.txt"
    file.write_text("good 1 0\nbad 0 1\ngood 5 5\nnil 0 0\nbad 7 7\n")
    vectors = read_vectors(str(file))
    assert vectors.name == "toy.txt"
    assert vectors.words == ("good", "bad", "nil")
    assert vectors.table.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert vectors.cache == tmp_path / "cache"
    assert [note.removeprefix(f"{file}: ") for note in vectors.notes] == [
        "2 repeated words were dropped; their first vectors are used.",
        "1 words have zero vectors, so they have no neighbours by cosine.",
    ]
    file.write_text("good 1 0\nbad 0 1\n")
    assert read_vectors(str(file)).notes == ()
