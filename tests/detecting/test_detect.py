"""`mohs detect`: detectors on the texts of finished attacks."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.defences import Fgws, rejecting
from mohs.detecting.page import path_of
from mohs.detecting.roc import Curve
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.wrapper import Wrapper
from mohs.records import Outcome
from mohs.text import Example
from tests.toys import bundled

TRAIN = "pocket:train"


def attacked(out: Path | None = None, victim: Any = "pocket", n: int = 40, **more: Any) -> mohs.Run:
    return mohs.attack(victim, "pocket", "textfooler", n=n, out=out, no_judge=True, **bundled(), **more)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[mohs.Run]]:
    folder = tmp_path_factory.mktemp("runs")
    with attacked(folder / "near") as near, attacked(folder / "far", goal="below:0.2") as far:
        yield [near, far]


@pytest.fixture(scope="module")
def found(runs: list[mohs.Run]) -> mohs.detecting.Detection:
    return mohs.detect(runs, ["fgws", "fgws(delta=50, k=3)"], train=TRAIN)


def test_originals_are_all_texts_and_adversarial_ones_the_successes(
    runs: list[mohs.Run], found: mohs.detecting.Detection
) -> None:
    for run, one in zip(runs, found.attacks, strict=True):
        records = list(run.records())
        assert one.originals == len(records) == 40
        assert one.adversarial == sum(record.outcome is Outcome.SUCCESS for record in records)
        for part in one.detectors:
            assert (part.area.originals, part.area.adversarial) == (40, one.adversarial)
            assert (part.alarms.total, part.detected.total) == (40, one.adversarial)
            assert sum(area.adversarial for area in part.by_margin.values()) == one.adversarial
    assert [one.name for one in found.attacks] == ["textfooler:paper untargeted", "textfooler:paper below:0.2"]


def test_figures_are_those_of_the_wrapper(runs: list[mohs.Run], found: mohs.detecting.Detection) -> None:
    guard = rejecting(pocket_victim(), Fgws(books={"vectors": bundled()["vectors"]}), TRAIN)
    records = list(runs[0].records())
    high = [record.perturbed or () for record in records if record.outcome is Outcome.SUCCESS]
    low = [record.original for record in records]
    above, below = guard.judged(high)[1], guard.judged(low)[1]
    pairs = (above[:, None] > below).mean() + (above[:, None] == below).mean() / 2
    part = found.attacks[0].detectors[0]
    assert part.area.value == pytest.approx(pairs)
    assert part.detected.hits == (above > guard.fit.threshold).sum()
    assert part.alarms.hits == (below > guard.fit.threshold).sum()


def test_a_goal_below_a_probability_makes_texts_far_from_the_boundary(found: mohs.detecting.Detection) -> None:
    near, far = (
        [one.margin for one in found.texts if one.detector == "fgws" and one.text == "adversarial" and name in one.run]
        for name in ("near", "far")
    )
    assert min(far) >= 0.6 - 1e-9  # the true label has at most 0.2
    assert np.median(near) < 0.6


def test_json_page_file_and_notebook(found: mohs.detecting.Detection, tmp_path: Path) -> None:
    told = json.loads(json.dumps(found.to_json()))
    assert told["attacks"][0]["detectors"][0]["auc"]["adversarial"] == found.attacks[0].adversarial
    page = found.page(tmp_path / "page.html").read_text("utf-8")
    assert page.count('<path class="line') == 4
    assert "second scenario of Yoo" in page
    assert "fgws(delta=50, k=3): AUC" in found._repr_html_()
    with found.write(tmp_path / "texts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(2 * (one.originals + one.adversarial) for one in found.attacks)
    assert {row["text"] for row in rows} == {"original", "adversarial"}


def test_the_same_again(runs: list[mohs.Run], found: mohs.detecting.Detection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohs.defences.detector.kept", lambda identity: None)
    again = mohs.detect([str(run.folder) for run in runs], ["fgws", "fgws(delta=50, k=3)"], train=TRAIN)
    assert again.to_json() == found.to_json()
    assert again.texts == found.texts


def test_successes_that_fool_nobody_are_left_out() -> None:
    with attacked(goal="below:0.9", n=12) as run:
        found = mohs.detect(run, "fgws", train=TRAIN)
        successes = [record for record in run.records() if record.outcome is Outcome.SUCCESS]
    right = sum(record.scores_after[record.label] > 0.5 for record in successes)
    assert right >= 1
    assert found.attacks[0].adversarial == len(successes) - right
    assert any(f"{right} of {len(successes)} successes do not change the prediction" in note for note in found.notes)


def test_originals_that_the_detectors_learn_from_are_told(runs: list[mohs.Run]) -> None:
    found = mohs.detect(runs[0], "fgws", train="pocket", held=[("Another text.", 1)] * 9)
    originals = len({record.original for record in runs[0].records()})
    (note,) = (note for note in found.notes if "originals also stand" in note)
    assert note.startswith(f"{originals} of the {originals} originals also stand in the data of --train")


def test_ids_are_no_formulas_for_a_spreadsheet(tmp_path: Path) -> None:
    data = [Example.of("a good and funny film", 1, id="=1+1"), Example.of("a bad and dull film", 0, id="@x")]
    with mohs.attack("pocket", data, "textfooler", no_judge=True, **bundled()) as run:
        written = mohs.detect(run, "fgws", train=TRAIN).write(tmp_path / "texts.csv")
    with written.open(encoding="utf-8") as file:
        assert {row["example_id"] for row in csv.DictReader(file)} == {"'=1+1", "'@x"}


def test_a_curve_as_a_path() -> None:
    assert path_of(Curve((0.0, 0.0, 1.0), (0.0, 1.0, 1.0))) == "M40.0 300.0L40.0 12.0L388.0 12.0"


def test_bad_input(runs: list[mohs.Run], tmp_path: Path) -> None:
    run = runs[0]
    with pytest.raises(BadInput, match="no detector; name one with --detector: rde, fgws"):
        mohs.detect(run, [], train=TRAIN)
    with pytest.raises(BadInput, match="name the victim's with --train"):
        mohs.detect(run, "fgws", train=None)
    with pytest.raises(BadInput, match="no run to read"):
        mohs.detect([], "fgws", train=TRAIN)
    for spec, message in {
        "knn": "Unknown detector 'knn'; use rde or fgws",
        "fgws(": "Unknown detector",
        "fgws(pocket)": "names a victim",
        "fgws(rate=0.2)": "sets rate, which is an option of its own here: --rate",
        "fgws(train=x)": "--train",
        "fgws(size=2)": "has no setting 'size'",
        "rde": "shows no features",
    }.items():
        with pytest.raises(BadInput, match=message):
            mohs.detect(run, spec, train=TRAIN)
    with pytest.raises(BadInput, match="rate=2 is the share of false alarms"):
        mohs.detect(run, "fgws", train=TRAIN, rate=2)
    other = mohs.token_bias("pocket", [("He said it was a good film.", 1)], masked_lm=None, k=0)
    with other, pytest.raises(BadInput, match="is a run of `mohs bias`; `mohs detect` reads runs of `mohs attack`"):
        mohs.detect(other, "fgws", train=TRAIN)


def test_runs_that_do_not_fit(runs: list[mohs.Run]) -> None:
    guard = rejecting(pocket_victim(), Fgws(books={"vectors": bundled()["vectors"]}), TRAIN)
    with attacked(victim=guard, n=3) as run, pytest.raises(BadInput, match="attacked a victim that rejects texts"):
        mohs.detect(run, "fgws", train=TRAIN)
    other = Wrapper(pocket_victim(), name="other", fingerprint="other")
    with attacked(victim=other, n=3) as run:
        with pytest.raises(BadInput, match="attacked pocket and a run attacked other, which is another victim"):
            mohs.detect([runs[0], run], "fgws", train=TRAIN)
        with pytest.raises(BadInput, match="The run's victim 'other' cannot be loaded by its name; give it with --vic"):
            mohs.detect(run, "fgws", train=TRAIN)
        found = mohs.detect(run, "fgws", train=TRAIN, victim="pocket")
    assert "pocket is not the victim of the runs; texts that do not fool it are left out." in found.notes
    run = mohs.attack("pocket", "pocket", "input-reduction", n=3, no_judge=True)
    with run, pytest.raises(BadInput, match="no adversarial text"):
        mohs.detect(run, "fgws", train=TRAIN)
