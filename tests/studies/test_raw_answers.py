"""Raw answers of Morris et al. 2020 as they came from Mechanical Turk, without a word about their columns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mohs.studies.design import read_design
from mohs.studies.importing import Imported, study_of
from mohs.studies.item import Role
from mohs.studies.study import Study

FOLDER = Path(__file__).parents[3] / "shared" / "assets" / "human" / "morris2020"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs ../shared/assets/human/morris2020")


def taken(place: Path, name: str, design: str) -> tuple[Study, Imported]:
    return study_of(place, FOLDER / f"{name}.csv.gz", read_design(design))


@pytest.mark.parametrize(
    ("name", "items", "real", "altered", "notes"),
    [  # of real and altered texts: taken for real, taken for altered
        ("non_suspicious_results", 200, (814, 186), (431, 570), 1),
        ("tfadjusted_non_suspicion_results", 176, (618, 262), (464, 416), 2),
        ("alz_mr_examples_sampled_real_vs_fake_results", 176, (628, 252), (506, 374), 2),
    ],
)
def test_real_or_altered(
    tmp_path: Path, name: str, items: int, real: tuple[int, int], altered: tuple[int, int], notes: int
) -> None:
    """The first is the confusion table of the paper; the others are counted by hand in the files."""
    study, found = taken(tmp_path / "s", name, "real-or-altered")
    with study:
        told = {item.key: item for item in study.items()}
        counts = Counter((told[one.item].facts["truth"], one.value) for one in study.judgements())
        assert [counts["real", 1], counts["real", 2]] == list(real)
        assert [counts["altered", 1], counts["altered", 2]] == list(altered)
        assert found.new == found.rows == sum(real) + sum(altered)
        assert len(told) == items
        assert not [one for one in study.annotators() if one.named]
        assert "The file does not say who judged, so judge effects cannot be estimated." in found.notes
        assert len(found.notes) == notes, "where the file says fake, that it is taken for altered"


def test_meaning(tmp_path: Path) -> None:
    study, found = taken(tmp_path / "s", "alz_mr_examples_sampled_mturk_results", "meaning")
    with study:
        main = [item for item in study.items() if item.role is Role.MAIN]
        assert (len(main), found.new, found.rows) == (32, 318, 318)
        counts = Counter(one.value for one in study.judgements())
        assert counts == {1: 145, 2: 124, 3: 7, 4: 24, 5: 18}
        assert {one.statement for one in study.judgements()} == {0}, "the title of the task asks whether it preserves"
        assert {item.facts["dataset"] for item in main} == {"mr"}


@pytest.mark.parametrize(
    ("name", "rows"), [("100_sampled_per_run", 400), ("mnli_tf_attack_results", 966), ("snli_tf_attack_results", 953)]
)
def test_pairs_without_answers_are_items_to_judge(tmp_path: Path, name: str, rows: int) -> None:
    study, found = taken(tmp_path / "s", name, "meaning")
    with study:
        assert (found.rows, found.new, found.form) == (rows, 0, "a table of items")
        assert study.progress().items == rows
