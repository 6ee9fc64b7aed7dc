"""Fitting the bundled judge to the people of a study."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom
from typer.testing import CliRunner

from mohs.cli.main import app
from mohs.errors import BadInput
from mohs.models.judge import load_judge
from mohs.models.refit import FILE, Refit, log_odds
from mohs.report.judged import word_values
from mohs.studies import refitting
from mohs.studies.calibrating import Fitted, calibrated, write
from mohs.studies.design import read_design
from mohs.studies.fit_cases import Cases
from mohs.studies.item import Item, Judgement, Kind
from mohs.studies.judged_words import compared, judged_words
from mohs.studies.ratings import Crossed
from mohs.studies.refitting import PRIOR, Panel, checked, fitted_curve
from mohs.studies.study import Study
from mohs.text import Text
from mohs.text.judge import bundled
from tests.audits.toys import run_of
from tests.studies.judged import Judges, runs, study_of
from tests.studies.toys import design, items

ALONE = (1.0,)  # each word is decided about alone, so a text's probability is the product


def logistic(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


def planted(n: int, shift: float, stretch: float, seed: int, most: int = 3) -> Cases:
    """Texts of one to `most` words, and verdicts from log-odds that were shifted and stretched around their mean."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, most + 1, n)
    odds = [random.normal(0.4, 1.2, size) for size in sizes]
    center = np.concatenate(odds).mean()
    said = [float(logistic(center + shift + stretch * (own - center)).prod()) for own in odds]
    valid = random.random(n) < said
    texts = [[(value, 1.0) for value in own] for own in odds]
    return Cases.of(texts, valid.tolist(), [f"s{i // 2}" for i in range(n)], ["a"] * n, ALONE)


def test_the_probability_of_a_text_by_hand() -> None:
    """z = 1 + 0.5 + 2 (x - 1): log-odds 0 and 2 become -0.5 and 3.5; the second word is held at 0.04."""
    cases = Cases.of([[(0.0, 1.0)], [(0.0, 1.0), (2.0, 0.04)]], [True, False], ["s", "t"], ["", ""], (0.0, 1.0))
    said, _ = cases.said(np.array([[0.5, math.log(2.0)]]), 1.0)
    single = 1 / (1 + math.exp(0.5))
    assert said[0].tolist() == pytest.approx([single, (0.04 + 0.04 * single) / 2])


def test_the_derivatives_are_those_of_differences() -> None:
    cases = planted(40, 0.3, 1.2, seed=1)
    params = np.array([[0.2, -0.3]])
    by = cases.said(params, cases.center)[1][0]
    for number in range(2):
        step = np.zeros((1, 2))
        step[0, number] = 1e-6
        up, down = (cases.said(params + sign * step, cases.center)[0][0] for sign in (1, -1))
        assert by[:, number] == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_the_fit_is_the_highest_point_that_another_search_finds() -> None:
    cases = planted(200, -0.8, 1.5, seed=2)

    def worse(params: Any) -> float:
        said = cases.said(np.array([params]), cases.center)[0][0]
        prior = params[0] ** 2 / (2 * PRIOR[0] ** 2) + params[1] ** 2 / (2 * PRIOR[1] ** 2)
        return float(prior - np.log(np.where(cases.valid, said, 1 - said)).sum())

    found = minimize(worse, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    curve = fitted_curve(cases)
    assert [curve.shift, math.log(curve.stretch)] == pytest.approx(found.x.tolist(), abs=1e-4)


@pytest.mark.parametrize(("shift", "stretch"), [(1.0, 1.0), (-0.7, 0.6), (0.5, 1.5)])
def test_a_planted_shift_and_stretch_come_back(shift: float, stretch: float) -> None:
    curve = fitted_curve(planted(800, shift, stretch, seed=3))
    assert curve.shift == pytest.approx(shift, abs=0.35)
    assert curve.stretch == pytest.approx(stretch, rel=0.25)


def test_the_intervals_hold_the_planted_numbers_about_as_often_as_they_say() -> None:
    """In 20 studies; at 95% fewer than `least` happen less than once in 1,000 times."""
    least = int(binom.ppf(0.001, 20, 0.95))
    held = np.zeros(2)
    for seed in range(20):
        curve = fitted_curve(planted(100, 0.4, 0.8, seed, most=2), seed=seed)
        held += [
            curve.shift_ends[0] <= 0.4 <= curve.shift_ends[1],
            curve.stretch_ends[0] <= 0.8 <= curve.stretch_ends[1],
        ]
    assert held.min() >= least


def test_few_verdicts_move_the_judge_little() -> None:
    few, many = (fitted_curve(planted(n, 1.5, 1.0, seed=5)) for n in (10, 500))
    assert abs(few.shift) < abs(many.shift)


def test_the_check_gains_where_the_judge_is_off_and_not_where_it_is_right() -> None:
    off, right = checked(planted(600, 1.5, 1.0, seed=6)), checked(planted(600, 0.0, 1.0, seed=7))
    assert off.helps
    assert off.gain_ends is not None
    assert off.gain_ends[1] < 0
    assert off.loss[1] - off.loss[0] == pytest.approx(off.gain)
    assert right.gain > -0.005


def test_no_source_is_in_two_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case is judged by a curve fitted to none of its source's cases."""
    cases, seen = planted(60, 0.5, 1.0, seed=8), []
    real = refitting._fitted

    def noted(given: Cases, *rest: Any) -> Any:
        seen.append(set(given.sources))
        return real(given, *rest)

    monkeypatch.setattr(refitting, "_fitted", noted)
    checked(cases)
    assert len(seen) == 5
    left = [set(cases.sources) - one for one in seen]
    assert sum(map(len, left)) == len(set().union(*left)) == len(set(cases.sources))


def test_judges_who_are_strict_on_all_items_widen_the_interval() -> None:
    """Two judges decide about half of the texts each; one finds nothing valid. Verdicts alone do not show that."""
    cases = planted(200, 0.0, 1.0, seed=9, most=1)
    rows = Crossed.of(map(str, range(200)), ["a" if i % 2 else "b" for i in range(200)])
    verdict = np.array([0.5 if i % 2 else -0.5 for i in range(200)])
    alone, together = fitted_curve(cases), fitted_curve(cases, Panel(rows, verdict))
    assert together.covariance[0][0] > 2 * alone.covariance[0][0]
    assert together.shift == alone.shift


def test_the_calibration_moves_as_the_covariance_says() -> None:
    """z' = z + da + db (z - c - a): its spread at z is that of offset + slope * z."""
    curve = fitted_curve(planted(300, 0.5, 1.2, seed=10), spread=0.2)
    kept = curve.calibration(ALONE)
    (a, b), (_, d) = curve.covariance
    for z in (-2.0, 0.0, 1.5):
        far = z - curve.center - curve.shift
        direct = a + 2 * far * b + far * far * d
        stored = kept.offset**2 + 2 * z * kept.correlation * kept.offset * kept.slope + z * z * kept.slope**2
        assert stored == pytest.approx(direct, abs=2e-3)
    assert kept.spread == 0.2


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of fragments in which people accept far more than the judge expects."""
    place = tmp_path_factory.mktemp("calibrating") / "study"
    study_of(place, "fragments", run=runs(120), judges=Judges(habit=0.35)).close()
    return place


@pytest.fixture(scope="module")
def fitted(studied: Path) -> Fitted:
    with Study.open(studied) as study:
        return calibrated(study)


def test_a_mild_public_moves_the_judge_up(fitted: Fitted) -> None:
    assert fitted.curve.shift > 0.5
    assert fitted.check.helps
    assert fitted.check.said[0] < fitted.check.said[1]
    assert fitted.judges == 14
    assert fitted.judgements == 5 * fitted.check.items
    assert fitted.left_out.notes == []


def test_what_is_said(fitted: Fitted) -> None:
    assert f"{fitted.valid} of {fitted.check.items} items" in fitted.sentence
    assert "(mean of meaning >= 5)" in fitted.sentence
    assert "Log-odds are shifted by +" in fitted.moved
    json.dumps(fitted.to_json(), allow_nan=False)


def test_the_folder_is_a_judge_with_its_own_fingerprint(fitted: Fitted, tmp_path: Path) -> None:
    place = write(fitted, tmp_path / "judge")
    assert [path.name for path in place.iterdir()] == [FILE]
    judge = load_judge(f"refit:{place}")
    assert judge.fingerprint != bundled().fingerprint
    assert judge.calibration == fitted.refit.calibration
    pair = Text("the film was good"), Text("the movie was good")
    [before], [after] = word_values([pair], bundled()), word_values([pair], judge)
    assert before is not None
    assert after is not None
    assert after == pytest.approx(fitted.curve.probability(before).tolist(), abs=0.01)
    path = place / FILE
    path.write_text(path.read_text().replace('"valid": ', '"valid":  '))
    assert load_judge(f"refit:{place}").fingerprint != judge.fingerprint
    texts = path.read_text()
    assert "film" not in texts
    assert "imported" not in texts


def test_an_older_fit_is_replaced_and_nothing_else(fitted: Fitted, tmp_path: Path) -> None:
    place = write(fitted, tmp_path / "judge")
    first = (place / FILE).read_bytes()
    assert (write(fitted, place) / FILE).read_bytes() == first
    other = tmp_path / "other"
    other.mkdir()
    (other / FILE).write_text('{"format": "mohs-judge-1"}')
    with pytest.raises(BadInput, match="holds something else than a fitted judge; name a new folder with --out"):
        write(fitted, other)
    assert (other / FILE).read_text() == '{"format": "mohs-judge-1"}'


def test_the_command_and_the_report(studied: Path, tmp_path: Path) -> None:
    judge = tmp_path / "judge"
    ended = CliRunner().invoke(app, ["study", "calibrate", str(studied), "--out", str(judge)])
    assert ended.exit_code == 0, ended.output
    assert f"Use it with --judge refit:{judge}" in " ".join(ended.output.split())
    run_of(list(runs(30).records()), folder=tmp_path / "run", labels=["bad", "good"]).close()
    shares = []
    for name in ("pocket", f"refit:{judge}"):
        told = CliRunner().invoke(app, ["report", str(tmp_path / "run"), "--judge", name, "--json", "--no-page"])
        assert told.exit_code == 0, told.output
        fair = json.loads(told.output)["summary"][0]["fair"]
        shares.append(fair["value"])
    assert fair["judge"] == f"refit:{judge}"
    assert shares[1] > 1.2 * shares[0]


def test_people_who_agree_with_the_judge_need_no_fit(tmp_path: Path) -> None:
    """The verdicts are drawn from the judge's own probabilities, so a fit can only follow chance."""
    study = study_of(tmp_path / "study", "fragments", run=runs(120), judges=Judges(count=5))
    study.close()
    study = Study.open(tmp_path / "study")
    main = [item for item in study.items() if item.group]
    words = judged_words(main, study.design, bundled())
    random = np.random.default_rng(4)
    place = tmp_path / "again"
    with Study.create(place, study.design, study.items(), **study.source) as again:
        rows = []
        for item, own in zip(main, words, strict=True):
            assert own is not None
            ((odds, cap),) = own
            value = 7 if random.random() < min(cap, logistic(odds)) else 1
            rows += [Judgement(item.key, f"p{n}", value) for n in range(5)]
        again.add(rows, Kind.IMPORTED)
    study.close()
    ended = CliRunner().invoke(app, ["study", "calibrate", str(place)])
    assert ended.exit_code == 1
    assert "keep the bundled judge" in ended.output
    assert not (place / "judge").exists()
    ended = CliRunner().invoke(app, ["study", "calibrate", str(place), "--anyway", "--json"])
    assert ended.exit_code == 0
    assert json.loads(ended.stdout)["helps"] is False
    assert (place / "judge" / FILE).is_file()


def test_models_and_those_set_aside_do_not_count(tmp_path: Path) -> None:
    with study_of(tmp_path / "study", "fragments", run=runs(60), judges=Judges(count=5), n=40) as study:
        before = calibrated(study).to_json()
        main = [item for item in study.items() if item.group]
        study.add([Judgement(item.key, "model", 1) for item in main], Kind.MODEL)
        study.add([Judgement(item.key, "bot", 1) for item in main], Kind.SIMULATED)
        study.add([Judgement(item.key, "careless", 1) for item in main], Kind.IMPORTED)
        study.set_aside("careless")
        assert calibrated(study).to_json() == before


def test_what_cannot_be_fitted(tmp_path: Path) -> None:
    with (
        study_of(tmp_path / "few", "fragments", run=runs(8)) as study,
        pytest.raises(BadInput, match=r"has \d+ items of \d+ texts that people decided .* needs 20 of 5"),
    ):
        calibrated(study)
    with (
        Study.create(tmp_path / "free", design(valid=None), items(3)) as study,
        pytest.raises(BadInput, match="The design toy says nowhere when an item is valid"),
    ):
        calibrated(study)


def test_words_before_the_rule_for_reversals() -> None:
    """A reversal keeps its own log-odds and gets the ceiling; a word in another case is no change."""
    pairs = [
        ("the film was good", "the movie was good"),
        ("the film was good", "the film was bad"),
        ("the film was good", "The film was GOOD"),
        ("the film was good", "the film was gxxd"),
        ("the film was good", "the film"),
    ]
    found = judged_words([Item(str(n), "same", pair) for n, pair in enumerate(pairs)], design(), bundled())
    one, reversal, case, unknown, shorter = found
    assert one is not None
    assert reversal is not None
    [[value]] = word_values([(Text(pairs[0][0]), Text(pairs[0][1]))], bundled())  # type: ignore[misc]
    assert one[0] == pytest.approx((float(log_odds(value)), 1.0))
    assert reversal[0][1] == bundled().ceiling
    assert case == []
    assert unknown is shorter is None


def test_a_single_change_is_read_in_its_text() -> None:
    facts = {"original": ["a good film"], "final": ["a fine movie"], "position": 2, "new": "movie"}
    item = Item("k", "meaning", ("film", "movie"), facts=facts)
    assert compared(item, read_design("words")) == (Text("a good film"), Text("a good movie"))
    assert compared(item, read_design("meaning")) == (Text("a good film"), Text("a fine movie"))
    broken = Item("k", "meaning", ("film", "movie"), facts={"original": ["a good film"], "position": 9, "new": "x"})
    assert compared(broken, read_design("words")) == (Text("film"), Text("movie"))


def test_the_stored_curve_is_read_back(fitted: Fitted) -> None:
    again = Refit.of(json.loads(json.dumps(fitted.refit.parts())))
    assert again == fitted.refit
    said = np.linspace(0.01, 0.99, 50)
    assert again.probability(said) == pytest.approx(fitted.curve.probability(said), abs=2e-3)
