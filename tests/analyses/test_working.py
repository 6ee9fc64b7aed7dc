"""A whole analysis: its figures, its page, its file, and the words of a bias run."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import mohs
from mohs.analyses.buckets import buckets_of
from mohs.analyses.page import analysis_page
from mohs.analyses.show import bucket_columns
from mohs.errors import BadInput
from mohs.models.hf import HfVictim
from tests.analyses.toys import attack_run, given, success
from tests.audits.toys import record
from tests.models.conftest import small_model, tiny_tokenizer
from tests.report.made import EVIL, Parsed, biased, measured, needs_nothing_else

TRAIN = [
    mohs.Example(f"t{number}", mohs.Text(text), label)
    for number, (text, label) in enumerate(
        [("good good film", 1), ("a fine film", 1), ("bad bad bad film", 0), ("a Good day", 0), ("movie", 0)]
    )
]
RECORDS = [
    success(0, "a bad film is bad", {1: "good", 2: "movie", 4: "fine"}),  # label 0
    success(1, "a good film", {1: "bad"}),  # label 1
    success(2, "one long dull story of a bad day", {6: "very good"}),
    record(3, "a film"),
]


def hf(seed: int = 0) -> HfVictim:
    tokenizer = tiny_tokenizer("wordpiece")
    return HfVictim(small_model("bert", tokenizer, classes=2, seed=seed), tokenizer, device="cpu")


def analysed(records: list[Any] | None = None, **more: Any) -> mohs.analyses.Analysis:
    asked = {**given(), "train": TRAIN, **more}
    return mohs.analyse(attack_run(RECORDS if records is None else records), **asked)


def printed(analysis: mohs.analyses.Analysis, width: int = 80) -> str:
    console = Console(width=width, record=True, file=Path("/dev/null").open("w"), markup=False)  # noqa: SIM115
    analysis.show(console)
    console.file.close()
    return console.export_text()


def test_the_figures_by_hand() -> None:
    found = analysed()
    (one,) = found.attacks
    assert (one.few_edits.hits, one.few_edits.total) == (2, 3)
    assert one.replaced.value == pytest.approx((3 / 5 + 1 / 3 + 1 / 8) / 3)
    frequencies = one.frequencies
    assert frequencies is not None
    # bad good, film movie, bad fine, good bad; the last replacement is two words
    assert frequencies.several == 1
    assert frequencies.old_median.value == 3  # 3, 3, 3, 3
    assert frequencies.new_median.value == 2  # 3, 1, 1, 3
    # of 6 words of class 1 and 8 of class 0: film is more frequent in class 1, and e0 is of class 0
    assert (frequencies.old_wrong.hits, frequencies.old_wrong.total) == (1, 4)
    assert (frequencies.new_wrong.hits, frequencies.new_wrong.total) == (3, 4)
    assert frequencies.new_unseen.hits == 0
    assert one.cosine_median.value == pytest.approx(0.3)  # of 0, 0, 0.6 and 0.8
    assert one.cosine.unknown == 1
    assert not one.layers
    assert any("Layers were not compared" in note for note in found.notes)


def test_without_training_data_words_are_not_counted() -> None:
    found = analysed(train=None)
    assert found.attacks[0].frequencies is None
    assert "in training" not in printed(found)
    assert any("name it with --train" in note for note in found.notes)


def test_layers_of_two_victims_on_the_same_texts() -> None:
    found = analysed(victim=hf(), other_victim=hf(1), pairs=2)
    first, other = found.attacks[0].layers
    assert first.pairs == other.pairs == 2
    assert [curve.words for curve in first.curves] == [curve.words for curve in other.curves]
    assert first.curves[0].quartiles != other.curves[0].quartiles
    assert any("is not the victim of the run" in note for note in found.notes) is False  # the run names no fingerprint
    json.dumps(found.to_json(), allow_nan=False)
    said = printed(found, 120)
    assert "layer 0 is the input embedding" in said
    assert max(map(len, said.splitlines())) <= 120


def test_another_victim_than_the_runs_is_named() -> None:
    run = attack_run(RECORDS, identity={"victim_fingerprint": "other", "examples": 4})
    found = mohs.analyse(run, victim=hf(), pairs=1, **given())
    assert any("is not the victim of the run" in note for note in found.notes)


def test_victims_that_have_no_layers_and_mistakes() -> None:
    assert any("is no Hugging Face model" in note for note in analysed(victim="pocket").notes)
    with pytest.raises(BadInput, match="--other-victim is compared with --victim"):
        analysed(other_victim="pocket")
    with pytest.raises(BadInput, match="--other-victim is --victim again"):
        analysed(victim="pocket", other_victim="pocket")
    run = attack_run(RECORDS)
    run.manifest["facts"]["classes"] = 2
    with pytest.raises(BadInput, match="label 3 in row 1, but the run has 2 classes"):
        mohs.analyse(run, train=[mohs.Example("a", mohs.Text("b"), 3)])
    with pytest.raises(BadInput, match="`mohs analyse` reads runs of `mohs attack`"):
        mohs.analyse(Path(__file__).parents[1] / "before" / "radius")


def test_the_page_the_file_and_the_notebook(tmp_path: Path) -> None:
    records = [success(0, f"a bad {EVIL} film", {2: "=good"}, attack=EVIL, example_id=EVIL), *RECORDS]
    run = attack_run(records, tmp_path / "run", labels=[EVIL, "b"])
    run.close()
    found = mohs.analyse(tmp_path / "run", train=TRAIN, victim=hf(), pairs=2, **given())
    assert found.page() == tmp_path / "run" / "analyse.html"
    page = Parsed((tmp_path / "run" / "analyse.html").read_text("utf-8"))
    assert needs_nothing_else(page)
    assert EVIL in page.text
    for said in ("Layers", "Word cosine", "Fragments by similarity", "Words of another class", "quartiles"):
        assert said in page.text, said
    with found.write(tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(one.substitutions) for one in found.attacks)
    assert rows[-1]["new"] == "'=good" or rows[0]["new"] == "'=good"  # no formula for a spreadsheet
    assert "<script>" not in found._repr_html_()


def test_buckets_of_several_attacks_stand_in_one_order() -> None:
    columns = bucket_columns([buckets_of([-0.2, -0.18]), buckets_of([0.0, 1.0]), buckets_of([])])
    names = [name for name, _, _ in columns[0]]
    assert names[0] == "-0.20 to -0.15"
    assert names[-1] == "1.00"
    assert len(names) == 25
    assert [value for _, value, _ in columns[1]].count("50.0% (1)") == 2
    assert {value for _, value, _ in columns[2]} == {"-"}
    assert all([name for name, _, _ in column] == names for column in columns)


def bias_run(**more: Any) -> mohs.Run:
    return biased([measured(0, ("he", "she"), [[0.1]]), measured(1, ("King", "queen"), [[0.2]])], **more)


def test_words_of_a_bias_run_by_label() -> None:
    train = [
        mohs.Example("1", mohs.Text("He said that he left."), 1),  # an example counts once
        mohs.Example("2", mohs.Text("She left. The king stayed"), 0),
        mohs.Example("3", mohs.Text("HE stayed"), 0),
    ]
    found = mohs.analyse(bias_run(), train=train, victim="pocket")
    assert found.words is not None
    assert found.words.words == {"he": {0: 1, 1: 1}, "she": {0: 1}, "king": {0: 1}, "queen": {}}
    assert found.to_json()["examples_with_word"]["he"] == {"bad": 1, "good": 1}
    assert any("They have 3 rows." in note for note in found.notes)
    assert any("--victim and --other-victim were not asked" in note for note in found.notes)
    said = printed(found)
    assert "king" in said
    page = Parsed(analysis_page(found))
    assert "Words by label" in page.text
    assert needs_nothing_else(page)


def test_words_that_look_like_buckets_have_a_page() -> None:
    run = biased([measured(0, ("1990s", "0x"), [[0.1]])])
    assert "1990s" in analysis_page(mohs.analyse(run, train=TRAIN))


def test_mistakes_about_bias_runs() -> None:
    with pytest.raises(BadInput, match="name the training data with --train"):
        mohs.analyse(bias_run())
    with pytest.raises(BadInput, match="The training data has no rows"):
        mohs.analyse(bias_run(), train=[])
    run = bias_run()
    run.manifest["facts"]["classes"] = 2
    with pytest.raises(BadInput, match="label 2 in row 1, but the run has 2 classes"):
        mohs.analyse(run, train=[mohs.Example("a", mohs.Text("he"), 2)])
