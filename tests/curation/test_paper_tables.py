"""The tables of Wang et al. 2021 (AdvGLUE) against their own formulas."""

from __future__ import annotations

from statistics import fmean

import pytest

from mohs.curation.leaderboard import leaderboard, reported_figures

# Table 3: attack success rates, curated rates and filter rates of eight attacks, and their printed averages.
TABLE_3 = {
    "SST-2": (
        ([89.08, 95.38, 88.08, 31.91, 39.77, 97.69, 65.37, 0.57], 63.48),
        ([8.29, 8.97, 8.85, 4.02, 4.04, 10.45, 6.88, 0.23], 6.47),
        ([90.71, 90.62, 90.04, 86.63, 89.81, 89.27, 89.47, 60.00], 85.82),
    ),
    "MNLI": (
        ([78.45, 61.50, 69.35, 68.58, 65.02, 91.23, 87.73, 2.25], 65.51),
        ([3.48, 1.55, 8.94, 3.11, 2.58, 3.41, 6.75, 0.30], 3.77),
        ([95.59, 97.55, 87.12, 95.45, 96.10, 96.27, 92.31, 86.63], 93.38),
    ),
    "RTE": (
        ([76.67, 75.67, 85.89, 73.36, 72.05, 92.39, 88.45, 6.62], 71.39),
        ([6.20, 8.14, 10.03, 6.97, 5.58, 7.05, 8.30, 2.53], 6.85),
        ([91.93, 89.21, 88.29, 90.72, 92.16, 92.31, 90.61, 61.34], 87.07),
    ),
    "QNLI": (
        ([71.88, 67.03, 82.54, 67.24, 60.53, 96.41, 67.37, 0.97], 64.25),
        ([3.92, 2.87, 5.87, 4.09, 2.69, 7.59, 3.90, 0.00], 3.87),
        ([94.63, 95.89, 92.89, 93.92, 95.78, 92.16, 94.21, 100.00], 94.93),
    ),
    "QQP": (
        ([45.86, 48.59, 57.92, 49.33, 43.66, 48.20, 44.37, 0.30], 42.28),
        ([1.52, 1.74, 5.87, 3.05, 0.76, 1.47, 1.50, 0.00], 1.99),
        ([96.73, 96.50, 89.90, 93.83, 98.28, 97.04, 96.62, 100.00], 96.11),
    ),
}
# Table 1: texts of each task by family, C1 to C11, and their printed sum.
TABLE_1 = {
    "SST-2": ([204, 197, 91, 175, 64, 211, 320, 158, 0, 0, 0], 1420),
    "QQP": ([42, 151, 17, 35, 75, 37, 0, 65, 0, 0, 0], 422),
    "QNLI": ([73, 139, 71, 98, 72, 159, 219, 80, 0, 0, 57], 968),
    "RTE": ([43, 44, 31, 27, 23, 48, 88, 0, 0, 0, 0], 304),
    "MNLI": ([69, 402, 114, 161, 128, 217, 386, 0, 194, 193, 0], 1864),
}
# Table 4: the printed average and the printed difference to GLUE.
TABLE_4 = {
    "BERT (Large)": (33.68, 52.08),
    "ELECTRA (Large)": (41.69, 51.47),
    "RoBERTa (Large)": (50.21, 41.23),
    "T5 (Large)": (56.82, 33.57),
    "ALBERT (XXLarge)": (59.22, 32.65),
    "DeBERTa (Large)": (60.86, 31.81),
    "SMART (BERT)": (30.29, 55.41),
    "SMART (RoBERTa)": (53.71, 38.91),
    "FreeLB (RoBERTa)": (50.47, 41.81),
    "InfoBERT (RoBERTa)": (46.04, 43.02),
}


@pytest.mark.parametrize("task", list(TABLE_3))
def test_averages_of_table_3_are_means_of_its_eight_attacks(task: str) -> None:
    for values, average in TABLE_3[task]:
        assert len(values) == 8
        assert fmean(values) == pytest.approx(average, abs=0.02)


@pytest.mark.parametrize("task", list(TABLE_3))
def test_filter_rates_of_table_3_follow_from_the_success_rates(task: str) -> None:
    """They seem to be averaged over surrogates, so they are near 1 - curated / success, and not equal to it."""
    (success, _), (curated, _), (filtered, _) = TABLE_3[task]
    for before, after, rate in zip(success, curated, filtered, strict=True):
        assert 100 * (1 - after / before) == pytest.approx(rate, abs=0.8)


def test_averages_and_differences_of_table_4() -> None:
    """Tasks with two numbers count with their mean: MNLI (matched, mismatched) and QQP (accuracy, F1)."""
    rows = {row.name: row for row in leaderboard([], ["advglue"]).rows}
    assert set(rows) == set(TABLE_4)
    for name, (average, difference) in TABLE_4.items():
        row = rows[name]
        assert row.average is not None
        assert row.gap is not None
        assert 100 * row.average[0] == pytest.approx(average)
        scores = {task: share[0] for task, share in row.tasks.items()}
        mnli = fmean([scores.pop("mnli"), scores.pop("mnli-mm")])
        assert set(scores) == {"sst2", "rte", "qnli", "qqp"}
        assert 100 * fmean([mnli, *scores.values()]) == pytest.approx(average, abs=0.01)
        assert 100 * row.gap[0] == pytest.approx(difference, abs=0.005)


def test_sums_of_table_1() -> None:
    for counts, size in TABLE_1.values():
        assert len(counts) == 11
        assert sum(counts) == size
    sums, size = [sum(column) for column in zip(*(counts for counts, _ in TABLE_1.values()), strict=True)], 4978
    assert sums == [431, 933, 324, 496, 362, 672, 1013, 303, 194, 193, 57]
    assert sum(sums) == size


def test_shares_of_tables_4_and_5_are_of_the_counts_of_table_1() -> None:
    """Accuracies on one task alone are whole numbers of texts, so every digit that was copied is checked."""
    wholes = {"sst2": 1420, "qnli": 968, "rte": 304, "stresstest": 194, "anli": 193, "advsquad": 57}
    for one in reported_figures("advglue")["systems"]:
        assert len(one["families"]) == 11
        assert all(0 < value < 100 for value in one["families"].values())
        for name, whole in wholes.items():
            value = (one["tasks"] | one["families"])[name]
            assert value == pytest.approx(100 * round(value * whole / 100) / whole, abs=0.0051), (one["name"], name)
