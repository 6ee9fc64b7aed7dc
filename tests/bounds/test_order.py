"""The prover goes by the L1 norms of gradients, against autograd and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import mohs
from mohs.bounds import Prover
from mohs.bounds.order import by_sensitivity, sensitivities
from mohs.errors import BadInput
from mohs.models.neural import NeuralVictim
from mohs.text import Text
from mohs.text.questions import Labelled, Slope
from tests.bounds.test_cnn_bound import victim_of
from tests.toys import CountSlopes, Table, WordCount, now, services

TEXT = Text("b, a e (d) c - g f a")
PLACES = (0, 2, 3, 5, 7)


def asked(victim: Any) -> Any:
    slopes = victim.gradients()
    return services(gradients=lambda item: slopes.collect(slopes.launch([item]))[0])


def chance(victim: NeuralVictim, vectors: torch.Tensor, label: int) -> torch.Tensor:
    """F_y of a row of word vectors, in 64 bits."""
    return victim.model.double().read(vectors[None]).softmax(1)[0, label]


@pytest.mark.parametrize("name", ["cnn", "bilstm", "transformer"])
@pytest.mark.parametrize("label", [0, 1, 2])
def test_sensitivities_are_l1_norms_of_the_gradient_of_the_labels_probability(name: str, label: int) -> None:
    victim = victim_of(3, classes=3, name=name, hidden=8)
    found = now(sensitivities(TEXT, PLACES, label, asked(victim)))
    with torch.no_grad():
        vectors = victim.model.double().embedding(victim.table([victim.vocabulary.row(TEXT.fields)])[0])
    moving = vectors.clone().requires_grad_()
    here = chance(victim, moving, label)
    (gradient,) = torch.autograd.grad(here, moving)
    norms = gradient.abs().sum(1)
    with torch.no_grad():  # and without autograd
        for place in PLACES:
            steps = []
            for column in range(vectors.shape[1]):
                shift = torch.zeros_like(vectors)
                shift[place, column] = 1e-6
                steps.append(float(chance(victim, vectors + shift, label) - chance(victim, vectors - shift, label)))
            assert np.abs(steps).sum() / 2e-6 == pytest.approx(float(norms[place]), rel=1e-4, abs=1e-9)
    # The factor F_y is the same for all positions, and left out.
    assert found == pytest.approx([float(norms[place] / here.detach()) for place in PLACES], rel=1e-3, abs=1e-6)
    assert by_sensitivity(found) == sorted(range(len(PLACES)), key=lambda i: -float(norms[PLACES[i]]))


class Given(CountSlopes):
    """Gradients told by hand: for each word one row per token."""

    told: dict[str, list[list[float]]]

    def slope(self, item: Labelled) -> Slope:
        text = Text(*item.fields)
        spans, rows = [], []
        for word, (field, start, _) in zip(text.words, text.spans(), strict=True):
            for number, row in enumerate(self.told.get(word, [[0.0, 0.0]])):
                spans.append((field, start + number, start + number + 1))
                rows.append(row)
        table = np.array(rows, np.float32)
        return Slope(-0.1, tuple(spans), table, table)


class Steep(WordCount):
    """A victim with these gradients."""

    told: dict[str, list[list[float]]]

    def gradients(self) -> CountSlopes:
        found = Given(self)
        found.told = self.told
        return found


# L1: 2.2, 2, 1.5 and, two tokens together, 4. L2 of the mean: 1.1, 2, 1.5, 0.
ROWS = {"the": [[1.1, 1.1]], "good": [[2.0, 0.0]], "old": [[0.0, -1.5]], "film": [[1.0, -1.0], [-1.0, 1.0]]}


def test_the_norm_is_l1_and_adds_up_over_tokens() -> None:
    victim = Steep({})
    victim.told = ROWS
    ask = services(gradients=lambda item: victim.gradients().slope(item))
    found = now(sensitivities(Text("the good old film"), (0, 1, 2, 3), 1, ask))
    assert found == pytest.approx([2.2, 2.0, 1.5, 4.0])
    assert by_sensitivity(found) == [3, 0, 1, 2]
    assert by_sensitivity([1.0, 1.0, 2.0]) == [2, 0, 1], "equal ones as they stand"


def orders_of(monkeypatch: pytest.MonkeyPatch, victim: Any, **options: Any) -> list[Any]:
    orders: list[Any] = []
    prove = Prover.__call__

    def spied(self: Prover, *given: Any) -> Any:
        orders.append(given[-1])
        return prove(self, *given)

    monkeypatch.setattr(Prover, "__call__", spied)
    source = Table((("the", ("a",)), ("good", ("fine",)), ("old", ("aged",)), ("film", ("dull",))))
    given: dict[str, Any] = {"source": source, "stopwords": "none", **options}
    mohs.radius(victim, [("the good old film", 1)], **given).close()
    monkeypatch.undo()
    return orders


def test_gradients_give_the_order_wherever_the_victim_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    victim = Steep({"good": 3.0, "fine": 2.0, "dull": -1.0})
    victim.told = ROWS
    assert orders_of(monkeypatch, victim) == [[3, 0, 1, 2]]
    assert orders_of(monkeypatch, victim, gradients=False) == [[]]
    assert orders_of(monkeypatch, victim, gradients=False, attacks=["pdp:gradients"]) == [[]]

    def predict(texts: list[str]) -> list[list[float]]:
        return [[0.1, 0.9] for _ in texts]

    assert orders_of(monkeypatch, predict) == [[]], "a function has none"
    for max_r in (0, 1):
        run = mohs.radius(victim, [("the good", 1)], source=Table((("good", ("fine",)),)), max_r=max_r)
        assert ("gradients_asked" in run.effort()) == bool(max_r)
        run.close()


def test_a_victim_whose_gradients_do_not_work_is_proven_in_the_order_of_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Closed(WordCount):
        def gradients(self) -> CountSlopes:
            raise BadInput("It gives no gradients.")

    assert orders_of(monkeypatch, Closed({"good": 3.0})) == [[]]


def test_a_run_by_gradients_is_another_run(tmp_path: Any) -> None:
    """Folders of version 0.1.0, which knew no such option, are resumed without it: see tests/before."""
    given: dict[str, Any] = {"source": Table((("good", ("bad",)),)), "out": tmp_path / "run"}
    mohs.radius(WordCount({"good": 3.0}), [("good film", 1)], gradients=False, **given).close()
    with pytest.raises(BadInput, match="gradients"):
        mohs.radius(WordCount({"good": 3.0}), [("good film", 1)], **given)
