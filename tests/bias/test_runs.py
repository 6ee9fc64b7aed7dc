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
from tests.bias.toys import details
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
    ((pair),) = details(first)["pairs"]
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
    with pytest.raises(BadInput, match=r"k=2 asks the victim about [\d,]+ texts per example, but --budget is 50"):
        start(rows=[("he likes good happy people", 1)], masked_lm=Wordlike(), k=2, budget=50)
    strange = Wordlike()
    strange.entries = type("Entries", (), {"texts": ("bonjour", "monde")})()  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match=r"has none of the patch words \(he, she"):
        start(masked_lm=strange)
    with pytest.raises(BadInput, match="Unknown pairs 'genders'"):
        start("genders")


def test_pairs_that_fit_nowhere_and_headers_are_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("word1,word2\nhe,she\nking,queen\n")
    facts = start(file).manifest["facts"]
    assert facts["unused_pairs"] == ["word1|word2", "king|queen"]
    assert facts["notes"][:2] == [
        "The first pair of mine, word1|word2, looks like a header but is used as a pair; if it is a header, remove it "
        "from the file.",
        "2 of 3 pairs fit no example: word1|word2, king|queen.",
    ]
    file.write_text("he,she\n")
    facts = start(file).manifest["facts"]
    assert facts["unused_pairs"] == []
    assert len(facts["notes"]) == 1
    (note,) = start(k=0).manifest["facts"]["notes"]
    assert note.startswith("110 of 111 pairs fit no example: ")
    assert note.endswith(" and 105 more.")


def test_questions_to_the_masked_model_are_counted_and_add_up(tmp_path: Path) -> None:
    class Counted(Fills):
        asked = 0

        def answer(self, item: Any) -> Any:
            Counted.asked += 1
            return super().answer(item)

    with start(masked_lm=Counted(FILLS.answers), out=tmp_path / "run") as run:
        effort = run.effort()
        assert effort["masked_lm_asked"] == Counted.asked - 1 > 2  # the first shows that it works
    before = Counted.asked
    with start(masked_lm=Counted(FILLS.answers), out=tmp_path / "run") as run:
        assert run.effort() == effort  # the run was finished; what planning asked again is not part of it
    assert before < Counted.asked < 2 * before
    assert "masked_lm_asked" not in start(k=0, masked_lm=None).effort()


def test_a_budget_that_is_too_small_names_the_k_that_it_allows() -> None:
    rows = [("he likes good happy people", 1)]
    for budget, said in ((50, "use -k 0, a smaller"), (1000, "use -k 1, a smaller"), (1, "use a smaller")):
        with pytest.raises(BadInput, match=said):
            start(rows=rows, masked_lm=Wordlike(), k=2, budget=budget)
    start(rows=rows, masked_lm=Wordlike(), k=1, budget=1000)


def test_a_blacklist_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^The blacklist none.txt cannot be read \(No such file or directory\); name a"):
        start(blacklist="none.txt")
    (tmp_path / "latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    with pytest.raises(BadInput, match=r"^The blacklist .*latin.txt is not UTF-8 \(byte 3\); convert it to UTF-8.$"):
        start(blacklist=tmp_path / "latin.txt")


def test_a_label_of_classes_without_names() -> None:
    with pytest.raises(BadInput, match="has the classes 0 to 1 without names; give names with --labels"):
        start(victim=lambda texts: [[0.4, 0.6] for _ in texts], label="joy", k=0)
