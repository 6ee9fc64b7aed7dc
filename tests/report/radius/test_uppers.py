"""What attacks found in radius runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def test_two_attacks_on_the_same_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert re.search(rf"^{a} against {b} +1 +1 +0$", said, re.M)
    page = parsed(run_of(*records), tmp_path).text
    assert f"{a} against {b}" in page
    with run_of(*(bounded(n, 0, 1, attacks={a: 1, b: 2}) for n in range(2))) as run:
        print_run(run, run.view(), as_json=False, verbose=False)
    assert "against" not in capsys.readouterr().out, "of two attacks #Win says it all"
