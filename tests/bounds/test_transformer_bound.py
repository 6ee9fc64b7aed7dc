"""Bounds of the verifiable transformer, against every text of a space put to the network."""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from mohs.bounds.networks import network_bound
from mohs.bounds.step_errors import of_margins, of_words
from mohs.bounds.transformer_bound import TransformerBound, transformer_bound
from mohs.bounds.transformer_boxes import Words, boxes_of
from mohs.bounds.transformer_margins import best_margins, interval_margins, least_margins, margins_over
from mohs.bounds.transformer_planes import linear_bound
from mohs.bounds.word_budget import least
from mohs.bounds.word_numbers import WordNumbers
from mohs.models.architectures import Classifier, Shape
from mohs.models.verifiable_transformer import Centring
from mohs.space import Space
from mohs.text import Text
from tests.bounds.test_cnn_bound import drawn_space, margins
from tests.bounds.test_networks import texts_within, verifiable

BUDGETS = (0, 1, 2, None)
KNOWN = 12


def network(seed: int, *, layers: int = 2, classes: int = 2, scale: float = 1.0) -> Classifier:
    """A small network. With a scale of 8 its blocks weigh as much as its words, and attention is far from even."""
    torch.manual_seed(seed)
    shape = Shape("transformer", KNOWN, 4, 8, classes, 0.3, 9, layers=layers, heads=2, verifiable=True)
    model = Classifier(shape).eval()
    with torch.no_grad():
        for block in model.reader.blocks:
            for parameter in block.parameters():
                parameter.mul_(scale if parameter.ndim > 1 else 1)
        for norm in (one for one in model.modules() if isinstance(one, Centring)):
            norm.bias.normal_(std=0.1)
            norm.weight.uniform_(0.5, 1.2)
    return model


def drawn_text(data: st.DataObject) -> WordNumbers:
    """Up to four words, of which some may be replaced by up to three others."""
    word = st.integers(1, KNOWN - 1)
    row = data.draw(st.lists(word, min_size=1, max_size=4))
    spots = data.draw(st.lists(st.integers(0, len(row) - 1), unique=True, max_size=4))
    words = [data.draw(st.lists(word, min_size=1, max_size=3)) for _ in spots]
    return WordNumbers(np.array(row), np.array(spots, np.int64), tuple(map(np.array, words)))


def every(text: WordNumbers) -> tuple[list[list[int]], list[int]]:
    """All texts, and how many words of each were changed."""
    texts, changed = [], []
    for picks in itertools.product(*([-1, *range(len(words))] for words in text.words)):
        row = text.row.tolist()
        for spot, words, pick in zip(text.spots, text.words, picks, strict=True):
            row[spot] = int(words[pick]) if pick >= 0 else row[spot]
        texts.append(row)
        changed.append(sum(pick >= 0 for pick in picks))
    return texts, changed


def true_margins(model: Classifier, rows: list[list[int]], label: int) -> Tensor:
    with torch.inference_mode():
        logits = model(torch.tensor(rows)).double()
    others = [other for other in range(logits.shape[1]) if other != label]
    found: Tensor = (logits[:, [label]] - logits[:, others]).amin(1)
    return found


def by_intervals(bound: TransformerBound) -> float:
    """The bound of intervals alone, with every word free."""
    reader, out = bound.model.reader, bound.model.out
    with torch.no_grad():
        words, inside = reader.words(bound.choices), torch.ones(bound.choices.shape[:2], dtype=torch.bool)
        trace = boxes_of(bound.model, Words(words, inside, of_words(reader, bound.choices)))
        over = margins_over(torch.tensor([bound.label]), out.out_features).double()
        errors = of_margins(out, trace.hidden.high.relu(), over)
        return float((interval_margins(bound.model, trace, over) - errors).min())


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 99),
    layers=st.integers(0, 3),
    classes=st.integers(2, 3),
    scale=st.sampled_from([1.0, 8.0, 40.0]),
    data=st.data(),
)
def test_no_text_of_a_space_is_below_the_bound(
    seed: int, layers: int, classes: int, scale: float, data: st.DataObject
) -> None:
    model = network(seed, layers=layers, classes=classes, scale=scale)
    text, label = drawn_text(data), data.draw(st.integers(0, classes - 1))
    bound = transformer_bound(model, text, label)
    rows, changed = every(text)
    found = true_margins(model, rows, label)
    intervals = by_intervals(bound)
    for budget in BUDGETS:
        within = [budget is None or count <= budget for count in changed]
        lower = bound.lower(budget)
        assert lower <= float(found[torch.tensor(within)].min())
        assert lower >= intervals
        if len(set(map(tuple, rows))) == 1:
            assert lower == pytest.approx(float(found.min()), abs=1e-4 * scale**2)  # what rounding may take


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 999),
    layers=st.integers(1, 3),
    scale=st.sampled_from([1.0, 8.0, 25.0, 40.0]),
    steep=st.booleans(),
    share=st.sampled_from([0.01, 0.3, 1.0]),
)
def test_each_bound_alone_is_one_of_the_formula(
    seed: int, layers: int, scale: float, steep: bool, share: float
) -> None:
    """In 64 bits and without errors: neither bound hides a mistake of the other, and none can hide in rounding."""
    model = network(seed, layers=layers, classes=3, scale=scale).double()
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        read = model.reader.words(model.embedding(torch.randint(1, KNOWN, (1, 3, 3), generator=chance)))
        choices = read[:, :, :1] + share * (read - read[:, :, :1])
        trace = boxes_of(model, Words(choices, torch.ones(1, 3, dtype=torch.bool)))
        over = margins_over(torch.tensor([seed % 3]), 3).double()
        picks = torch.tensor(list(itertools.product(range(3), repeat=3)))
        streams = choices[0, torch.arange(3), picks]  # every text of the space
        for block in model.reader.blocks:
            streams = block(streams, None)
        found = model.decide(model.reader.hidden(streams.mean(1)).relu()) @ over[0].T
        room = 1e-9 * (1 + found.abs().max())
        assert (interval_margins(model, trace, over)[0] <= found.amin(0) + room).all()
        bound = linear_bound(model, trace, over, torch.zeros(1, 2, dtype=torch.double), steep=steep)
        for budget in (0, 1, 2, 3):
            within = (picks > 0).sum(1) <= budget
            lower = bound.constant + least(bound.slopes, choices, budget)
            assert (lower[0] <= found[within].amin(0) + room).all()
        if share == 0.01 and scale == 1.0:  # close to a point the linear bound is close to the network
            assert (bound.constant + least(bound.slopes, choices, 0) - found[0]).abs().max() < 0.01


def test_the_bound_says_something() -> None:
    """A sound bound could be minus infinity; these are close, and changed words make the difference."""
    gaps: list[float] = []
    chance = np.random.default_rng(0)
    for seed in range(12):
        model = network(seed, layers=3)
        row = chance.integers(1, KNOWN, 4)
        text = WordNumbers(row, np.array([1, 2]), (chance.integers(1, KNOWN, 2), chance.integers(1, KNOWN, 2)))
        bound = transformer_bound(model, text, 0)
        rows, _ = every(text)
        found = true_margins(model, rows, 0)
        spread = float(found.max() - found.min())
        gaps.append((float(found.min()) - bound.lower(None)) / spread)
        assert bound.lower(0) >= bound.lower(1) >= bound.lower(2) == bound.lower(None)
    assert np.median(gaps) < 0.25


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10_000), places=st.integers(1, 5), choices=st.integers(1, 4), budget=st.integers(0, 6))
def test_the_budget_equals_dynamic_programming_and_every_text(
    seed: int, places: int, choices: int, budget: int
) -> None:
    chance = torch.Generator().manual_seed(seed)
    slopes = torch.randn(2, 3, places, 4, generator=chance, dtype=torch.double)
    words = torch.randn(2, places, choices, 4, generator=chance, dtype=torch.double)
    found = least(slopes, words, budget)
    values = torch.einsum("rmpn,rpcn->rmpc", slopes, words)
    for row, margin in itertools.product(range(2), range(3)):
        each = values[row, margin].tolist()
        assert float(found[row, margin]) == pytest.approx(by_dynamic_programming(each, budget))
        texts = itertools.product(range(choices), repeat=places)
        allowed = (picks for picks in texts if sum(map(bool, picks)) <= budget)
        assert float(found[row, margin]) == pytest.approx(
            min(sum(own[pick] for own, pick in zip(each, picks, strict=True)) for picks in allowed)
        )
    assert torch.allclose(least(slopes, words, None), values.amin(3).sum(2))


def by_dynamic_programming(values: list[list[float]], budget: int) -> float:
    """Xu et al. 2020, Section 3.3; the own word comes first."""
    table = [0.0, *[float("inf")] * budget]
    for own, *others in values:
        worst = min(others, default=own)
        table = [
            min(table[count] + own, table[count - 1] + worst if count else float("inf")) for count in range(budget + 1)
        ]
    return min(table)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_padding_and_other_rows_have_no_effect(share: float) -> None:
    model = network(3, layers=2, classes=3, scale=8.0)
    chance = torch.Generator().manual_seed(5)
    lengths = torch.tensor([2, 6, 4])
    table = torch.randint(1, KNOWN, (3, 6, 3), generator=chance)
    labels = torch.tensor([0, 2, 1])

    def both(model: Any, table: Tensor, lengths: Tensor | None, labels: Tensor) -> Tensor:
        mixed = least_margins(model, table, lengths, labels, budget=2, share=share)
        return torch.cat([mixed, best_margins(model, table, lengths, labels, budget=1)])

    with torch.no_grad():
        together = both(model, table, lengths, labels)
        for row, length in enumerate(lengths.tolist()):
            alone = both(model, table[row : row + 1, :length], None, labels[row : row + 1])
            assert torch.allclose(together[[row, row + 3]], alone, rtol=1e-4, atol=1e-4)


def test_the_training_bound_is_that_of_the_certificate() -> None:
    model = network(7, layers=2, scale=4.0)
    text = WordNumbers(np.array([1, 2, 3, 4, 5]), np.array([0, 2]), (np.array([6, 7]), np.array([8, 9])))
    bound = transformer_bound(model, text, 1)
    table = torch.tensor([[[1, 6, 7], [2, 2, 2], [3, 8, 9], [4, 4, 4], [5, 5, 5]]])
    label = torch.tensor([1])
    with torch.no_grad():
        intervals = float(least_margins(model, table, None, label, budget=1))
        best = float(best_margins(model, table, None, label, budget=2))
    assert intervals == pytest.approx(by_intervals(bound), abs=1e-3)
    assert best <= bound.lower(2) + 1e-3  # which has another line below a ReLU too
    assert best >= intervals


def test_the_least_margin_at_no_share_is_the_margin_itself() -> None:
    model = network(1, layers=3, classes=3, scale=8.0)
    table = torch.randint(1, KNOWN, (2, 5, 3), generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([2, 0])
    with torch.no_grad():
        logits = model(table[:, :, 0])
        found = least_margins(model, table, None, labels, budget=3, share=0.0)
    expected = torch.stack([logits[0, 2] - logits[0, :2], logits[1, 0] - logits[1, 1:]])
    assert torch.allclose(found, expected, atol=1e-4)


def test_wide_rows_of_attention_stay_finite() -> None:
    """Where exponentials would overflow in 32-bit numbers, bounds and their gradients are finite."""
    model = network(0, layers=2, scale=300.0)
    table = torch.randint(1, KNOWN, (2, 6, 4), generator=torch.Generator().manual_seed(1))
    found = least_margins(model, table, None, torch.tensor([0, 1]), budget=2, share=0.9)
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert found.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_a_bound_that_overflows_proves_nothing() -> None:
    text = WordNumbers(np.array([1, 2]), np.array([0]), (np.array([3]),))
    bound = transformer_bound(network(0, layers=2), text, 0)
    with torch.no_grad():
        for parameter in bound.model.reader.blocks.parameters():
            parameter.mul_(1e250)
    assert bound.lower(1) == bound.lower(None) == float("-inf")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9), classes=st.integers(2, 3), data=st.data())
def test_spaces_of_texts(seed: int, classes: int, data: st.DataObject) -> None:
    """The way `mohs certify` takes: a victim and a space of texts."""
    victim, space = verifiable("transformer", seed, classes), drawn_space(data)
    label = data.draw(st.integers(0, classes - 1))
    bound = network_bound(victim, space, label)
    assert bound is not None
    assert bound.method == "lirpa"
    for budget in BUDGETS:
        assert bound.lower(budget) <= min(margins(victim, texts_within(space, budget), label))


def test_a_space_that_is_not_read_word_by_word_has_no_bound() -> None:
    victim = verifiable("transformer")
    space = Space(Text("good film"), {1: ("bad film",)})
    assert network_bound(victim, space, 0) is None
