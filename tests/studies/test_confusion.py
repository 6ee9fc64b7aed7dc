"""Real or altered: the published table, small tables by hand, and brute force."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mohs.report.rates import Rate
from mohs.studies.confusion import Confusion, Counts, Guess, confusion, recognised, unsuspicious

# Table 4 of Morris et al. 2020, whose rows are guesses: guessed real 814 and 431, guessed altered 186 and 570
PUBLISHED = Counts(real_real=814, real_altered=186, altered_real=431, altered_altered=570)


def guesses_of(counts: Counts, texts: int = 100) -> list[Guess]:
    """As many guesses, spread over texts; each guess by somebody else."""
    cells = [
        (False, False, counts.real_real),
        (False, True, counts.real_altered),
        (True, False, counts.altered_real),
        (True, True, counts.altered_altered),
    ]
    return [
        Guess(f"{altered}-{n % texts}", f"{altered}-{guessed}-{n}", altered, guessed)
        for altered, guessed, count in cells
        for n in range(count)
    ]


def test_the_published_figures() -> None:
    found = confusion(guesses_of(PUBLISHED), named=False)
    assert found.counts == PUBLISHED
    assert found.counts.total == 2001
    figures = [found.accuracy.value, found.precision.value, found.guessed_real.value]
    assert [round(100 * (value or 0), 1) for value in figures] == [69.2, 75.4, 62.2]
    assert figures == pytest.approx(
        [found.counts.accuracy, found.counts.precision, found.counts.guessed_real], abs=1e-12
    )
    assert found.recall.value == pytest.approx(570 / 1001)


def test_with_the_rows_of_the_paper_as_the_truth_the_figures_do_not_come_out() -> None:
    wrong = Counts(real_real=814, real_altered=431, altered_real=186, altered_altered=570)
    assert wrong.precision == pytest.approx(570 / 1001)  # not 75.4%
    assert wrong.guessed_real == pytest.approx(1000 / 2001)  # not 62.2%


def test_a_small_table_by_hand() -> None:
    found = confusion(
        [
            Guess("a", "x", False, False),
            Guess("a", "y", False, True),
            Guess("b", "x", True, True),
            Guess("b", "y", True, True),
            Guess("c", "x", True, False),
        ]
    )
    assert found.counts == Counts(1, 1, 1, 2)
    assert found.accuracy.value == pytest.approx(3 / 5)
    assert found.precision.value == pytest.approx(2 / 3)
    assert found.recall.value == pytest.approx(2 / 3)
    assert found.guessed_real.value == pytest.approx(2 / 5)
    assert json.loads(json.dumps(found.to_json()))["counts"]["is altered"] == {"guessed real": 1, "guessed altered": 2}


def test_one_guess_a_text_gives_wilsons_interval() -> None:
    counts = Counts(30, 10, 15, 45)
    found = confusion(
        [Guess(f"t{n}", f"j{n}", one.altered, one.guessed_altered) for n, one in enumerate(guesses_of(counts))]
    )
    assert found.accuracy.interval == pytest.approx(Rate(75, 100, "").interval, abs=2e-3)


def test_guesses_about_the_same_texts_are_alike_so_the_interval_is_wider() -> None:
    """Ten guesses of each of 40 texts, all right or all wrong, tell no more than 40 guesses."""
    alike = [Guess(f"t{n}", f"j{j}-{n}", True, n % 2 == 0) for n in range(40) for j in range(10)]
    found = confusion(alike)
    assert found.recall.interval == pytest.approx(Rate(20, 40, "").interval, abs=0.01)


def test_the_interval_holds_as_often_as_it_says() -> None:
    """500 studies of 60 texts by 8 of 15 judges: texts are more or less easy to recognise, judges suspicious."""
    random = np.random.default_rng(4)

    def study(texts: int, judges: int, panel: int) -> Confusion:
        altered = np.arange(texts) % 2 == 0
        ease, suspicion = random.normal(0.5, 1, texts), random.normal(0, 0.5, judges)
        rows = []
        for text in range(texts):
            for judge in random.choice(judges, panel, replace=False):
                sign = 1 if altered[text] else -1
                says = bool(sign * ease[text] + suspicion[judge] + random.normal() > 0)
                rows.append(Guess(f"t{text}", f"j{judge}", bool(altered[text]), says))
        return confusion(rows)

    ease, bias, noise = (random.normal(mean, sd, 400_000) for mean, sd in ((0.5, 1), (0, 0.5), (0, 1)))
    truth = float(((ease + bias + noise > 0).mean() + (-ease + bias + noise <= 0).mean()) / 2)
    held = [low <= truth <= high for _ in range(500) for low, high in [study(60, 15, 8).accuracy.interval or (2, 2)]]
    assert 0.92 <= np.mean(held) <= 0.99  # three standard errors of a share of 500 around 95%, and a little above


def test_recognised_texts() -> None:
    rows = [Guess("a", f"j{n}", True, n < 3) for n in range(4)] + [Guess("b", "j0", False, True)]
    assert recognised(rows) == {"a": 0.75}
    assert unsuspicious(rows, 0.8).value == 1.0
    assert unsuspicious(rows, 0.75).value == 0.0  # R must be smaller than epsilon


def test_no_guesses() -> None:
    found = confusion([])
    assert found.counts.total == 0
    assert found.counts.accuracy is None
    assert found.accuracy.value is None
    assert found.precision.interval is None
