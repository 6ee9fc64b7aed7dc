"""The examples of a training."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.text import Example
from mohs.text.dataset import Dataset
from mohs.training.parts import read_parts, split

PAIRS = [("good film", 1), ("bad film", 0), ("fine film", 1), ("dull film", 0)]


def examples(labels: list[int]) -> list[Example]:
    return [Example.of(f"text {number}", label, id=str(number)) for number, label in enumerate(labels)]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.floats(0.01, 0.99), st.integers(0, 5))
def test_split(labels: list[int], share: float, seed: int) -> None:
    data = examples(labels)
    counts = Counter(labels)
    if max(counts.values()) == 1:
        with pytest.raises(BadInput, match="so none can be set aside for dev"):
            split(data, share, seed)
        return
    kept, aside = split(data, share, seed)
    assert sorted(kept + aside, key=lambda e: int(e.id)) == data
    assert kept == sorted(kept, key=lambda e: int(e.id))
    for label, count in counts.items():
        held = sum(example.label == label for example in aside)
        assert held == 0 if count == 1 else 1 <= held <= count - 1
        assert abs(held - share * count) <= 1
    assert split(data, share, seed) == (kept, aside)


def test_split_is_drawn() -> None:
    data = examples([0, 1] * 50)
    assert split(data, 0.2, 0)[1] != split(data, 0.2, 1)[1]
    assert [e.id for e in split(data, 0.2, 0)[1]] != [e.id for e in data[:20]]


def test_dev_put_aside() -> None:
    parts = read_parts("pocket:train", None, "pocket", (), 0.25, 3)
    assert (len(parts.train), len(parts.dev), len(parts.test)) == (648, 216, 208)
    assert {sum(e.label for e in parts.dev), len(parts.dev)} == {108, 216}
    assert parts.labels == ("negative", "positive")
    assert parts.facts["train"] == {
        "source": "pocket:train",
        "examples": 864,
        "hash": Dataset("pocket:train").survey()[2],
        "learned_from": 648,
    }
    assert parts.facts["dev"]["source"] == "drawn from these with seed 3"
    assert parts.facts["test"]["examples"] == 208


def test_dev_given(tmp_path: Path) -> None:
    rows = [json.dumps({"words": text, "class": label}) for text, label in PAIRS]
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    reader = Dataset(str(tmp_path / "train.jsonl"), fields=("words",), label_field="class", n=2)
    parts = read_parts(reader, str(tmp_path / "dev.jsonl"), None, ("no", "yes"), None, 0)
    assert (len(parts.train), len(parts.dev)) == (2, 4)  # read in the same way, but whole
    assert parts.labels == ("no", "yes")
    assert read_parts(PAIRS, PAIRS, None, (), None, 0).labels == ("0", "1")
    named = read_parts([("good", "yes"), ("bad", "no")] * 3, None, None, ("no", "yes"), 0.5, 0)
    assert [example.label for example in named.train + named.dev].count(1) == 3


def test_what_does_not_fit() -> None:
    def refused(sentence: str, *arguments: object) -> None:
        with pytest.raises(BadInput) as caught:
            read_parts(*arguments)  # type: ignore[arg-type]
        assert str(caught.value) == sentence

    refused(
        "the examples given has only one class (label 1 in all 2 examples); give examples of at least two.",
        [("a", 1), ("b", 1)],
        None,
        None,
        (),
        None,
        0,
    )
    refused(
        "the examples given has label 4 but no label 1; number the classes from 0 without gaps, or name all of "
        "them with --labels.",
        [("a", 0), ("b", 4)],
        None,
        None,
        (),
        None,
        0,
    )
    refused(
        "the examples given has a label 2, but --labels names 2 classes.",
        [("a", 0), ("b", 2)],
        PAIRS,
        None,
        ("x", "y"),
        None,
        0,
    )
    refused(
        "The dev example '1' has label 2, but the training data has 2 classes (0 to 1).",
        PAIRS,
        [("a", 0), ("b", 2)],
        None,
        (),
        None,
        0,
    )
    refused("the examples given has no examples; give at least one row.", PAIRS, [], None, (), None, 0)
    refused(
        "--dev names the dev data and --dev-share sets training data aside for it; give only one.",
        PAIRS,
        PAIRS,
        None,
        (),
        0.1,
        0,
    )
    for share in (0.0, 1.0, float("nan")):
        refused(f"--dev-share is {share}; it must be above 0 and below 1.", PAIRS, None, None, (), share, 0)
    refused(
        "The test data has the fields premise, hypothesis, but the training data has text; give both the same number "
        "of texts.",
        PAIRS,
        PAIRS,
        [Example.of(("a", "b"), 0)],
        (),
        None,
        0,
    )


def test_lengths_hold_for_every_part(tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        rows = [{"text": "word " * (1 + i % 4), "label": i % 2} for i in range(24)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    reader = Dataset(str(tmp_path / "train.jsonl"), most_words=2)
    parts = read_parts(reader, str(tmp_path / "dev.jsonl"), str(tmp_path / "test.jsonl"), (), None, 0)
    assert [{len(one.text) for one in part} for part in (parts.train, parts.dev, parts.test)] == [{1, 2}] * 3
    assert len(parts.train) == 12


@given(st.lists(st.integers(0, 3), min_size=4, max_size=30), st.integers(0, 5), st.booleans())
def test_copies_go_with_their_originals(copies: list[int], seed: int, nested: bool) -> None:
    """No dev example is a copy, and no copy of a dev example is learnt."""
    data, made_from = [], {}
    for number, count in enumerate(copies):
        name = f"r{number}"
        data.append(Example.of("text", number % 2, id=name))
        for copy in range(count):
            data.append(Example.of("text", number % 2, id=f"{name}+{copy}"))
            made_from[data[-1].id] = name
            name = data[-1].id if nested else name
    kept, aside = split(data, 0.3, seed, made_from)
    held = {example.id for example in aside}
    assert held
    assert not any("+" in name for name in held)
    assert not any(example.id.partition("+")[0] in held for example in kept)
    assert {e.id for e in kept} | held == {e.id for e in data if e.id.partition("+")[0] not in held or e.id in held}
    plain = [example for example in data if "+" not in example.id]
    assert held == {example.id for example in split(plain, 0.3, seed)[1]}  # as without copies


def test_an_augmented_file_is_split_by_originals(tmp_path: Path) -> None:
    file = tmp_path / "more.jsonl"
    rows = [{"id": f"r{n}", "text": "a", "label": n % 2, "origin": "original", "from": f"r{n}"} for n in range(20)]
    rows += [{**row, "id": f"{row['id']}+1", "origin": "x", "from": row["id"]} for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    parts = read_parts(str(file), None, None, (), 0.2, 0)
    assert (len(parts.dev), len(parts.train)) == (4, 32)
    other = [{**row, "from": "NYC"} for row in rows]  # columns of another meaning
    file.write_text("".join(json.dumps(row) + "\n" for row in other), "utf-8")
    parts = read_parts(str(file), None, None, (), 0.2, 0)
    assert (len(parts.dev), len(parts.train)) == (8, 32)
