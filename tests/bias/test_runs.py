"""Bias runs, from the arguments to the records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.bias import Pairs, pair_biases
from mohs.errors import BadInput
from mohs.records import Outcome
from tests.attacks.fills import Fills
from tests.toys import WordCount, Wordlike

FILLS = Fills({"he is _": "fun:0.5 dull:0.4 she:0.3", "_ is good": "she", "he _ good": "was"})
VICTIM = WordCount({"good": 2, "he": 0.5, "she": -0.5, "fun": 1})
ROWS = [("He is good", 1), ("a good play", 1), ("he likes him and he likes her", 0)]


def start(pairs: Any = "gender", rows: Any = ROWS, victim: Any = VICTIM, **options: Any) -> mohs.Run:
    return mohs.token_bias(victim, rows, pairs, **{"masked_lm": FILLS, "k": 1, **options})


def test_records() -> None:
    run = start(rows=[("he is good", 1), *ROWS[1:]])
    first, *others = run.records()
    assert [record.outcome for record in others] == [Outcome.SKIPPED] * 2
    assert first.outcome is Outcome.MEASURED
    ((pair),) = first.details["pairs"]
    assert (pair["old"], pair["new"], pair["position"]) == ("he", "she", 0)
    texts = [["he is good"], ["he is fun", "he is dull", "he was good"]]  # he stays, and she is never brought in
    for level, some in zip(pair["levels"], texts, strict=True):
        gaps = [VICTIM.scores((t.replace("he", "she"),))[1] - VICTIM.scores((t,))[1] for t in some]
        assert level["n"] == len(some)
        assert level["sum"] == pytest.approx(sum(gaps), abs=1e-8)
        assert level["exact"]
    assert run.manifest["command"] == "bias"
    assert run.manifest["config"]["label"] == 1
    (at_0, at_1) = pair_biases(run.records())
    assert (at_0.k, at_1.k, at_1.neighbours) == (0, 1, 3)
    (filtered,) = {row.sentences for row in pair_biases(run.records(), epsilon=0.999)}
    assert filtered == 1
    assert not pair_biases(run.records(), epsilon=0.0001)
    assert run.biases() == pair_biases(run.records())
    assert not run.biases(filtered=True)
    assert "he|she, k=1" in run._repr_html_()
    with pytest.raises(BadInput, match=r"a run of `mohs bias`; its figures are run.biases\(\)"):
        run.summary()


def test_a_run_is_gone_on_with_and_shared(tmp_path: Path) -> None:
    with start(out=tmp_path / "run") as run:
        records = list(run.records())
    with start(out=tmp_path / "run") as run:
        assert list(run.records()) == records
    with pytest.raises(BadInput, match="k"):
        start(out=tmp_path / "run", k=0)
    one = mohs.token_bias("pocket", "pocket", "gender", k=0, n=60)
    two = mohs.token_bias("pocket", "pocket", "gender", k=0, n=60, workers=2)
    assert list(one.records()) == list(two.records())


def test_labels_by_name_and_number() -> None:
    assert start(label="negative").manifest["config"]["label"] == 0
    assert start(label=0).manifest["config"]["label"] == 0
    with pytest.raises(BadInput, match="no label 'joy': word count has the classes negative, positive"):
        start(label="joy")
    with pytest.raises(BadInput, match="no label 2"):
        start(label=2)


def test_a_masked_model_that_raises_at_a_text_costs_that_example() -> None:
    class Picky(Fills):
        def answer(self, item: Any) -> Any:
            if "play" in item.fields[0]:
                raise ValueError("no plays")
            return super().answer(item)

    rows = [("he is a play", 1), ("he is good", 1)]
    records = start(rows=rows, masked_lm=Picky(FILLS.answers)).records()
    assert [record.outcome for record in records] == [Outcome.ERROR, Outcome.MEASURED]


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="None of the 1 pairs of toy fits any of the 3 examples"):
        start(Pairs("toy", (("king", "queen"),), frozenset({"king", "queen"})))
    with pytest.raises(BadInput, match="masked language model, and none is given"):
        start(masked_lm=None)
    assert start(masked_lm=None, k=0).manifest["config"]["k"] == 0
    with pytest.raises(BadInput, match="epsilon is 0"):
        start(epsilon=0)
    with pytest.raises(BadInput, match=r"k=2 asks the victim about [\d,]+ texts for an example, and --budget is 50"):
        start(rows=[("he likes good happy people", 1)], masked_lm=Wordlike(), k=2, budget=50)
    strange = Wordlike()
    strange.entries = type("Entries", (), {"texts": ("bonjour", "monde")})()  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match=r"has none of the patch words \(he, she"):
        start(masked_lm=strange)
    with pytest.raises(BadInput, match="no pairs 'genders'"):
        start("genders")
