"""Bounds for CNNs over words, against every text of the set put to the victim."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from mohs.bounds import cnn_bound
from mohs.bounds.cnn_bound import bound_of
from mohs.bounds.word_numbers import word_numbers_of
from mohs.models.architectures import ARCHITECTURES, Classifier, Shape
from mohs.models.bag import pocket_victim
from mohs.models.neural import NeuralVictim
from mohs.models.vocabulary import Vocabulary
from mohs.space import Space
from mohs.space.opening import Opening
from mohs.text import Text

KNOWN = ("a", "b", "c", "d", "e", "f", "g", "don't")
WORDS = (*KNOWN, "B", "unseen", "Ünseen")
GAPS = (" ", ", ", "/", " - ", "--", "  ")
SLACK = 1e-3  # of logits of about ten


def victim_of(seed: int, classes: int = 2, most: int = 12, name: str = "cnn", hidden: int = 4) -> NeuralVictim:
    vocabulary = Vocabulary(KNOWN, most, ARCHITECTURES[name].least)
    shape = Shape(name, len(vocabulary), dim=hidden, hidden=hidden, classes=classes, dropout=0.5, max_words=most)
    torch.manual_seed(seed)
    model = Classifier(shape)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return NeuralVictim(name, shape, vocabulary, model, tuple("xyz"[:classes]), device="cpu")


def margins(victim: NeuralVictim, texts: list[Text], label: int) -> list[float]:
    """The label's lead in logits over the next, as the victim has it."""
    found: dict[Any, float] = {}
    for batch in victim.plan(sorted({text.fields for text in texts})):
        rows, logits = victim.launch(batch)
        table = logits[:rows].double().numpy()
        lead = table[:, label] - np.delete(table, label, 1).max(1)
        found.update(zip(batch, lead.tolist(), strict=True))
    return [found[text.fields] for text in texts]


def members(space: Space, places: list[int], picks: list[int], more: int) -> list[Text]:
    """Every text of a set."""
    order = list(space.choices)
    held = [order[place] for place in places if place >= 0]
    chosen = [pick for place, pick in zip(places, picks, strict=True) if place >= 0]
    each = [
        (space.text.words[position], *space.choices[position]) if pick < 0 else (space.choices[position][pick],)
        for position, pick in zip(held, chosen, strict=True)
    ]
    rest = [position for position in order if position not in held]
    ways = [further for count in range(min(more, len(rest)) + 1) for further in combinations(rest, count)]
    return [
        space.text.replace_all(dict(zip((*held, *further), words, strict=True)))
        for further in ways
        for words in product(*each, *(space.choices[position] for position in further))
    ]


def drawn_space(data: st.DataObject) -> Space:
    words = data.draw(st.lists(st.sampled_from(WORDS), max_size=14))
    gaps = [data.draw(st.sampled_from(GAPS)) for _ in words]
    cut = data.draw(st.integers(0, len(words)))
    pairs = list(zip(words, gaps, strict=True))
    fields = ["".join(word + gap for word, gap in part) for part in (pairs[:cut], pairs[cut:])]
    text = Text(*fields) if data.draw(st.booleans()) else Text("".join(fields))
    positions = data.draw(st.lists(st.integers(0, max(0, len(text) - 1)), max_size=5, unique=True)) if words else []
    choices = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
    return Space(text, {position: tuple(data.draw(choices)) for position in sorted(positions)})


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 9), classes=st.integers(2, 3), most=st.sampled_from([5, 7, 12]), data=st.data())
def test_no_text_of_a_set_is_below_the_bound(seed: int, classes: int, most: int, data: st.DataObject) -> None:
    victim, space = victim_of(seed, classes, most), drawn_space(data)
    label = data.draw(st.integers(0, classes - 1))
    bound = bound_of(victim, space, label)
    assert bound is not None
    more, m = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3))
    sets = []
    for _ in range(data.draw(st.integers(1, 4))):
        places = data.draw(st.permutations(range(-1, len(space.choices))))[:m]
        places = (list(places) + [-1] * m)[:m]
        sizes = [len(list(space.choices.values())[place]) if place >= 0 else 0 for place in places]
        sets.append((places, [data.draw(st.integers(-1, size - 1)) for size in sizes]))
    table = np.array(sets, np.int64).reshape(len(sets), 2, m)
    found = bound.lower(table[:, 0], table[:, 1], more)
    assert found.shape == (len(sets),)
    for (places, picks), lower in zip(sets, found.tolist(), strict=True):
        true = min(margins(victim, members(space, places, picks, more), label))
        assert lower <= true
        known = all(place < 0 or pick >= 0 for place, pick in zip(places, picks, strict=True))
        if known and not more:
            assert lower == pytest.approx(true, abs=SLACK)


@cache
def one_filter(seed: int, width: int, sign: int) -> NeuralVictim:
    """A victim that looks at one feature."""
    model = victim_of(seed, hidden=1)
    with torch.no_grad():
        model.model.out.weight.zero_()
        model.model.out.weight[0, width] = sign
    return NeuralVictim("one", *victim_parts(model), model.labels, device="cpu")


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 9), width=st.integers(0, 2), sign=st.sampled_from([-1, 1]), data=st.data())
def test_nor_where_one_filter_decides(seed: int, width: int, sign: int, data: st.DataObject) -> None:
    """With many filters every bound has room to spare, which hides mistakes."""
    victim = one_filter(seed, width, sign)
    text = Text(" ".join(data.draw(st.lists(st.sampled_from(KNOWN), min_size=5, max_size=12))))
    positions = data.draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=5, unique=True))
    space = Space(text, {position: tuple(data.draw(st.permutations(KNOWN))[:2]) for position in sorted(positions)})
    bound = bound_of(victim, space, 0)
    assert bound is not None
    places = data.draw(st.lists(st.integers(0, len(positions) - 1), max_size=3, unique=True))
    picks = [-1] * len(places)
    for more in range(3):
        lower = bound.lower(np.array([places], np.int64), np.array([picks], np.int64), more)[0]
        assert lower <= min(margins(victim, members(space, places, picks, more), 0))


def near_victim() -> NeuralVictim:
    """One to whom b is nearly a, d nearly c and f nearly e."""
    victim = victim_of(4)
    with torch.no_grad():
        rows = victim.model.embedding.weight[3:9]
        rows[1::2] = rows[::2] + 0.01 * rows[1::2]
    return NeuralVictim("near", *victim_parts(victim), victim.labels, device="cpu")


def victim_parts(victim: NeuralVictim) -> tuple[Shape, Vocabulary, Classifier]:
    words = victim.vocabulary
    hidden = victim.model.embedding.embedding_dim
    shape = Shape("cnn", len(words), dim=hidden, hidden=hidden, classes=2, dropout=0.5, max_words=words.most)
    return shape, words, victim.model


def test_words_that_hardly_differ_need_not_be_asked() -> None:
    victim = near_victim()
    space = Space(Text("a c e g a c e a c"), {0: ("b",), 1: ("d",), 2: ("f",), 4: ("b",), 5: ("d",), 6: ("f",)})
    margin = margins(victim, [space.text], 0)[0]
    label = 0 if margin > 0 else 1
    bound = bound_of(victim, space, label)
    assert bound is not None
    pairs = np.array(list(combinations(range(len(space.choices)), 2)))
    texts = [text for places in pairs.tolist() for text in members(space, places, [-1, -1], 0)]
    least = min(margins(victim, texts, label))
    found = bound.lower(pairs, np.full_like(pairs, -1))
    assert abs(margin) / 2 < found.min() <= least
    nothing = np.zeros((1, 0), np.int64)
    assert 0 < bound.lower(nothing, nothing, 2)[0] <= found.min()


def test_known_words_are_told_from_any() -> None:
    """Features are bounded one by one where losses do not settle it, and that gets better with each word known."""
    victim, better = victim_of(0), 0
    space = Space(Text("a b c d e f g"), {1: ("c", "d"), 2: ("e",), 5: ("a", "b")})
    bound = bound_of(victim, space, 0)
    assert bound is not None
    for picks in product((0, 1), (0,), (0, 1)):
        chain = [[-1, -1, -1], [picks[0], -1, -1], [picks[0], picks[1], -1], list(picks)]
        found = bound.lower(np.array([[0, 1, 2]] * 4), np.array(chain)).tolist()
        assert max(found) <= found[3] + 1e-5
        better += found[0] < found[3] - 0.01
    assert better > 0


def test_small_portions_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(Text("a b c d e f g"), {1: ("c", "d"), 2: ("e",), 5: ("a", "b")})
    bound = bound_of(victim_of(0, 3), space, 1)
    assert bound is not None
    places = np.array([[0, 1], [1, 2], [0, 2], [-1, 0]])
    picks = np.array([[-1, -1], [0, -1], [1, 1], [-1, -1]])
    whole = bound.lower(places, picks)
    monkeypatch.setattr(cnn_bound, "_NUMBERS_PER_TABLE", 1)
    assert bound.lower(places, picks).tolist() == pytest.approx(whole.tolist(), abs=1e-6)
    assert bound.lower(places[:0], picks[:0]).shape == (0,)


ODD = (
    "",
    "a",
    "B",
    "b c",
    "a-",
    "-b",
    "'s",
    "don't",
    "\u0301",
    "a\u0301",
    "a\u200d",
    "\u200db",
    "\U0001f44d",
    "a.b",
    "İ",
)
BETWEEN = (" ", "-", "--", "'", "/", "\u200d", "\u0301 ", ". ", "\U0001f44d", "@", "\u00a0", "\n")


@settings(max_examples=400, deadline=None)
@given(
    words=st.lists(st.tuples(st.sampled_from(ODD), st.sampled_from(BETWEEN)), max_size=9),
    cut=st.integers(0, 9),
    most=st.integers(3, 8),
    data=st.data(),
)
def test_what_is_read_word_by_word(words: list[tuple[str, str]], cut: int, most: int, data: st.DataObject) -> None:
    pieces = [word + gap for word, gap in words]
    fields = ["".join(pieces[:cut]), "".join(pieces[cut:])]
    text = Text(*fields) if data.draw(st.booleans()) else Text("".join(fields))
    tried = {i: data.draw(st.lists(st.sampled_from(ODD), max_size=2)) for i in range(len(text))}
    space = Space(text, {i: tuple(each) for i, each in tried.items() if each})
    vocabulary = Vocabulary(KNOWN, most, 5)
    read = word_numbers_of(vocabulary, space)
    if read is None:
        return
    edits = {i: data.draw(st.integers(-1, len(each) - 1)) for i, each in space.choices.items()}
    row = list(vocabulary.row(text.fields))
    for spot, numbers, pick in zip(read.spots, read.words, edits.values(), strict=True):
        if spot >= 0 and pick >= 0:
            row[spot] = numbers[pick]
    changed = text.replace_all({i: space.choices[i][pick] for i, pick in edits.items() if pick >= 0})
    assert tuple(row) == vocabulary.row(changed.fields)


def test_where_there_is_no_such_bound() -> None:
    text = Text("a good film, b c")
    plain = Space(text, {1: ("b",), 2: ("Unseen",)})
    assert bound_of(victim_of(0), plain, 0) is not None
    for name in ARCHITECTURES:
        assert (bound_of(victim_of(0, name=name), plain, 0) is None) == (name != "cnn")
    assert bound_of(pocket_victim(), plain, 0) is None
    for word in ("very good", "", "!"):
        assert bound_of(victim_of(0), Space(text, {1: ("b", word)}), 0) is None
        assert bound_of(victim_of(0, most=5), Space(Text("a b c d e f g"), {4: (word,), 5: ("a",)}), 0) is None
    assert bound_of(victim_of(0), Space(text.replace(1, "a b"), {2: ("b",)}), 0) is None
    living = Space(text, {}, living=(Opening(None, (), (), text), (1,)))  # type: ignore[arg-type]
    assert bound_of(victim_of(0), living, 0) is None
    coarse = victim_of(0)
    coarse.model.bfloat16()
    assert bound_of(coarse, plain, 0) is None
