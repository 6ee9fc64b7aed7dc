"""certified <= robust <= clean: where it could fail, and how that is told."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

import mohs
from mohs.attacks.goal import Untargeted
from mohs.certifying import task as tasks
from mohs.certifying.finding import BudgetFinding, CertifyFinding, VotesFinding
from mohs.certifying.fixed import fixed_bound
from mohs.certifying.robust import nearest
from mohs.certifying.smoothed import Smoothed
from mohs.certifying.task import Fooling, nested
from mohs.defences import RanMask, Versions
from mohs.models.architectures import ARCHITECTURES, Classifier, Shape
from mohs.models.neural import NeuralVictim
from mohs.models.vocabulary import Vocabulary
from mohs.space import Space
from mohs.text import Text
from tests.toys import WordCount, now, table

VICTIM = WordCount({"good": 2.0, "fine": 0.5, "poor": -3.0, "movie": -0.5})
SPACE = Space(Text("a good film"), {1: ("fine", "poor"), 2: ("movie",)})


def asking() -> Any:
    """An `ask` whose victim is the word count."""

    class One:
        random = Random(0)

        async def victim(self, texts: list[Text]) -> list[Any]:
            return [VICTIM.scores(text.fields) for text in texts]

    return One()


def test_the_nearest_texts_of_all() -> None:
    goal = Untargeted(1)
    (one,) = now(nearest(SPACE, None, goal, asking()))
    assert one.fields in {("a poor film",), ("a poor movie",)}
    worst = now(nearest(SPACE, None, goal, asking(), 3))
    assert [text.fields[0] for text in worst] == ["a poor movie", "a poor film", "a fine movie"]
    single = now(nearest(SPACE, 1, goal, asking(), 9))
    assert [text.fields[0] for text in single] == ["a poor film", "a fine film", "a good movie"]
    assert now(nearest(Space(Text("a"), {}), None, goal, asking())) == []


def test_what_is_certified_for_more_words_is_certified_for_fewer() -> None:
    loose = {1: -0.2, 2: 0.1, None: -1.0}
    assert nested((1, 2, None), loose.__getitem__) == {1: 0.1, 2: 0.1, None: -1.0}
    assert list(nested((1, 2, None), None).items()) == [(1, None), (2, None), (None, None)]


def found(budget: int | None, certified: bool, fooled: bool) -> BudgetFinding:
    return BudgetFinding(budget, 0.1 if certified else -0.1, certified, fooled)


@pytest.mark.parametrize(
    ("budgets", "wrong"),
    [
        ([found(1, True, False), found(2, False, True)], False),
        ([found(1, True, False), found(2, True, True)], True),
        ([found(1, False, False), found(2, True, False)], True),  # more words cannot be the harder case
        ([found(1, False, True), found(None, False, False)], True),
        ([], False),
    ],
)
def test_contradictions(budgets: list[BudgetFinding], wrong: bool) -> None:
    assert CertifyFinding("rigged", 1.0, tuple(budgets)).contradiction is wrong


def votes(label: int, high: float) -> VotesFinding:
    return VotesFinding(100, label, 0, 0.3, high)


def test_a_vote_that_may_be_lost_by_chance_refutes_no_certificate() -> None:
    near = Fooling(Text("x"), "greedy", 1, (0.5, 0.5), votes(48, 0.62))
    clear = Fooling(Text("x"), "greedy", 1, (0.5, 0.5), votes(20, 0.34))
    assert near.counts(1, certified=False)
    assert not near.counts(1, certified=True)
    assert clear.counts(1, certified=True)
    assert Fooling(Text("x"), "greedy", 1, (0.5, 0.5)).counts(1, certified=True)  # no draws, no chance
    assert not clear.counts(0, certified=False)


def test_an_undecided_vote_is_counted_and_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word is shown in 55% of the versions, so that few draws may go either way with another word there."""
    victim = Versions(WordCount({"good": 8, "poor": -8}), RanMask(rate=0.5, n=8), "ranmask(word count)")
    monkeypatch.setattr(Smoothed, "loss", lambda self, space, budget, share: 0.0 if budget == 1 else 1.0)
    text = "a good film in the old town hall of it"  # 10 words, 5 are shown: half of the versions
    source = table(good="poor", film="movie")
    undecided = contradicting = 0
    for seed in range(12):
        options: dict[str, Any] = {"source": source, "budget": "1,2", "draws": 60, "alpha": 0.2, "seed": seed}
        with mohs.certify(victim, [(text, 1)], **options) as run:
            (record,) = run.records()
            if record.outcome != "measured" or not record.finding.budgets[0].certified:
                continue
            one, two = record.finding.budgets
            undecided += one.undecided
            contradicting += one.contradiction
            assert not (one.undecided and one.fooled)
            if one.undecided:
                assert one.votes.high >= 0.5 > one.votes.label / one.votes.draws
                assert two.fooled  # nothing is certified there, so most votes decide
                assert run.view().alarm == ""
                rows = {name: value for name, value, _ in run.view().tables()[0][1]}
                assert rows["undecided, 1 word"] == "1"
            if one.contradiction:
                assert one.votes.high < 0.5
    assert undecided + contradicting


@pytest.mark.parametrize("seed", range(4))
def test_a_trained_shape_of_cnn_is_certified_by_its_bound(seed: int) -> None:
    """A bound that is above 0 holds for every text; whole runs agree with enumeration."""
    words = ("a", "good", "bad", "film", "movie", "fine", "plot", "slow")
    vocabulary = Vocabulary(words, 12, ARCHITECTURES["cnn"].least)
    shape = Shape("cnn", len(vocabulary), dim=4, hidden=4, classes=2, dropout=0.5, max_words=12)
    torch.manual_seed(seed)
    victim = NeuralVictim("cnn", shape, vocabulary, Classifier(shape), ("n", "p"), device="cpu")
    source = table(good="bad fine", film="movie", plot="film", slow="good bad")
    rows = [(text, label) for text in ("a good film", "a slow plot and a good film", "slow movie") for label in (0, 1)]
    with mohs.certify(victim, rows, source=source, budget="1,2,all", stopwords=(), attacks="greedy") as run:
        assert run.view().alarm == ""
        for record in run.records():
            for one in record.finding.budgets:
                assert record.finding.method == "cnn bound"
                assert one.every or one.fooled
                assert not (one.certified and one.fooled)


def test_a_cnn_has_a_bound_that_certifies() -> None:
    vocabulary = Vocabulary(("a", "b"), 12, ARCHITECTURES["cnn"].least)
    shape = Shape("cnn", len(vocabulary), dim=4, hidden=4, classes=2, dropout=0.5, max_words=12)
    torch.manual_seed(0)
    victim = NeuralVictim("cnn", shape, vocabulary, Classifier(shape), ("n", "p"), device="cpu")
    text = Text("a a b a")
    bound = [fixed_bound(victim, Space(text, {0: ("b",)}), label, Random(0)) for label in (0, 1)]
    lowers = [[lower(budget) for budget in (1, None)] for _, lower in filter(None, bound)]
    assert sum(one > 0 for lower in lowers for one in lower) >= 1
    assert tasks.certifies(max(map(max, lowers)))
