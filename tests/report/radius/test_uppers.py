"""What attacks found in radius runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mohs.report.radius.uppers import duel_cells
from mohs.report.terminal import print_run
from tests.report.radius.made import bounded, mixed, parsed, run_of, summary_of


def test_wins_ties_and_lone_successes() -> None:
    a, b = summary_of(*mixed()).attacks
    assert (a.success.hits, a.success.total, a.success.of) == (2, 7, "examples the model got right")
    assert a.edits.value == 2
    assert a.share.value == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert (a.wins, a.ties, a.alone) == (1, 1, 0)
    assert (b.success.hits, b.wins, b.ties, b.alone) == (3, 0, 1, 1)
    assert b.counts == {3: 2, 4: 1}
    three = summary_of(
        bounded(0, 0, 2, attacks={"a": 2, "b": 3, "c": 3}), bounded(1, 0, 2, attacks={"a": 5, "b": 2, "c": 2})
    )
    assert [(u.wins, u.ties, u.alone) for u in three.attacks] == [(1, 0, 0), (0, 1, 0), (0, 1, 0)]
    (only,) = summary_of(bounded(0, 0, 1, attacks={"a": 1})).attacks
    assert only.alone == 0, "with one attack there is nobody to be better than"


def test_upper_bounds_that_only_the_prover_found() -> None:
    records = [
        bounded(0, 1, 2, attacks={"a": 2}),
        bounded(1, 1, 2, attacks={"a": 3}),
        bounded(2, 0, 1, attacks={"a": None}),
        bounded(3, 2, None, attacks={"a": None}),
    ]
    assert summary_of(*records).prover_only == 2


def test_two_attacks_on_the_same_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    a, b, c = "pdp:released", "pdp:released-unreverted", "textfooler:paper"
    records = [
        bounded(0, 0, 1, attacks={a: 1, b: 2, c: 2}),
        bounded(1, 0, 1, attacks={a: 2, b: 2, c: None}),
        bounded(2, 0, 1, attacks={a: 3, b: None, c: 1}),
    ]
    duels = summary_of(*records).duels
    assert [(d.attack, d.other, d.fewer, d.equal, d.more) for d in duels] == [
        (a, b, 1, 1, 0), (a, c, 1, 0, 1), (b, c, 0, 1, 0)
    ]  # fmt: skip
    with run_of(*records) as run:
        print_run(run, run.view(), as_json=False, verbose=False)
    said = capsys.readouterr().out
    assert re.search(rf"^{a} against {b} +1 +1 +0 +- +-$", said, re.M)
    page = parsed(run_of(*records), tmp_path).text
    assert f"{a} against {b}" in page
    with run_of(*(bounded(n, 0, 1, attacks={a: 1}) for n in range(2))) as run:
        print_run(run, run.view(), as_json=False, verbose=False)
    assert "against" not in capsys.readouterr().out


def test_a_duel_has_paired_tests() -> None:
    """Twelve examples: the first succeeds alone on six, the second on none; of the other six it needs fewer on four."""
    rows: list[dict[str, int | None]] = [{"a": 1, "b": None} for _ in range(6)]
    rows += [{"a": mine, "b": 2} for mine in (1, 1, 1, 1, 2, 3)]
    found = summary_of(*(bounded(n, 0, 1, attacks=attacks) for n, attacks in enumerate(rows)))
    (duel,) = found.duels
    assert (duel.success.first, duel.success.second, duel.success.total) == (6, 0, 12)
    assert duel.success.p == duel.success.holm == 2 / 2**6
    assert duel.success.difference == 0.5
    assert duel.success.interval is not None
    assert 0.1 < duel.success.interval[0] < 0.5 < duel.success.interval[1] < 0.8
    assert (duel.edits.first, duel.edits.second, duel.edits.total) == (4, 1, 6)
    assert duel.edits.p == 12 / 32
    (row,) = found.to_json()["duels"]
    assert row["success"]["interval"] == duel.success.interval
    few = summary_of(*(bounded(n, 0, 1, attacks=attacks) for n, attacks in enumerate(rows[:5]))).duels[0]
    assert few.success.interval is None
    assert few.to_json()["success"]["p"] is None
    assert dict(duel_cells(few))["Holm"] == "-"


def test_holm_runs_over_all_duels() -> None:
    rows = [{"a": 1, "b": None, "c": None}] * 7
    found = summary_of(*(bounded(n, 0, 1, attacks=attacks) for n, attacks in enumerate(rows))).duels
    assert [(duel.other, duel.success.p, duel.success.holm) for duel in found] == [
        ("b", 2 / 2**7, 6 / 2**7), ("c", 2 / 2**7, 6 / 2**7), ("c", 1, 1)
    ]  # fmt: skip
