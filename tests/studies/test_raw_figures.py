"""The analysis of the raw answers of Morris et al. 2020 gives the figures that their authors give."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from mohs.studies.analysis import Analysis, analyse_study
from mohs.studies.confusion import Counts
from mohs.studies.design import read_design
from mohs.studies.importing import study_of

FOLDER = Path(__file__).parents[3] / "shared" / "assets" / "human" / "morris2020"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the raw answers are not here ({FOLDER})")


def analysed(place: Path, name: str, design: str) -> Analysis:
    study, _ = study_of(place, FOLDER / f"{name}.csv.gz", read_design(design))
    with study:
        return analyse_study(study, measures=False)


@pytest.mark.parametrize(
    ("name", "counts", "accuracy", "precision", "guessed_real"),
    [
        ("non_suspicious_results", Counts(814, 186, 431, 570), "69.2%", "75.4%", "62.2%"),  # Table 4
        # the notebooks beside the data: 1,034 and 1,002 of 1,760 are right
        ("tfadjusted_non_suspicion_results", Counts(618, 262, 464, 416), "58.8%", "61.4%", "61.5%"),
        ("alz_mr_examples_sampled_real_vs_fake_results", Counts(628, 252, 506, 374), "56.9%", "59.7%", "64.4%"),
    ],
)
def test_real_or_altered(
    tmp_path: Path, name: str, counts: Counts, accuracy: str, precision: str, guessed_real: str
) -> None:
    found = analysed(tmp_path / "s", name, "real-or-altered")
    one = found.whole.confusion
    assert one is not None
    assert one.counts == counts
    assert [one.accuracy.value, one.precision.value, one.guessed_real.value] == pytest.approx(
        [counts.accuracy, counts.precision, counts.guessed_real]
    )
    said = [
        f"{value.value:.1%}" for value in (one.accuracy, one.precision, one.guessed_real) if value.value is not None
    ]
    assert said == [accuracy, precision, guessed_real]
    assert found.whole.questions[0].judgements == counts.total
    assert found.whole.valid.judges_unknown


def test_meaning(tmp_path: Path) -> None:
    """145, 124, 7, 24 and 18 answers from Strongly Agree; the mean is 4.1132 where 5 is Strongly Agree.

    All were asked whether the meaning is preserved, so that the raw answers say nothing about the opposite statement.
    """
    found = analysed(tmp_path / "s", "alz_mr_examples_sampled_mturk_results", "meaning")
    (question,) = found.whole.questions
    assert {one.label: one.count for one in question.answers} == {
        "Strongly Agree": 145,
        "Agree": 124,
        "Not sure": 7,
        "Disagree": 24,
        "Strongly Disagree": 18,
    }
    mean = sum(one.value * one.count for one in question.answers) / question.judgements
    assert 6 - mean == pytest.approx(4.113207547169812)
    # the figure is over items, two of which have nine answers instead of ten
    assert question.mean is not None
    assert question.mean.value == pytest.approx(fmean(row["mean"] for row in found.rows()), abs=1e-6)
    assert question.mean.value == pytest.approx(mean, abs=0.005)
    assert question.agreeing is not None
    assert question.agreeing.found.plain.plainly.value == pytest.approx(124 / 318)
    assert question.agreeing.found.habit.value is None
