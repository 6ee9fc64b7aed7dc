"""Each command has its view, and all views have the same parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mohs.records import Outcome, Record
from mohs.report.attack.view import AttackView
from mohs.report.bias.view import AgainstView, BiasView
from mohs.report.radius.view import RadiusView
from mohs.report.second_order.view import SecondOrderView
from mohs.runs.run import Run
from tests.report.bias.made import records as measurements
from tests.report.made import biased, kept, searched
from tests.report.radius.made import mixed as bounds
from tests.report.radius.made import run_of as radius_run
from tests.report.second_order.made import mixed as searches
from tests.report.second_order.made import run_of as second_order_run


def attack_run() -> Run:
    return kept("attack", [searched(0, Outcome.FAILED, attack="a")], attacks=["a"])


def runs() -> dict[type, Run]:
    return {
        AttackView: attack_run(),
        SecondOrderView: second_order_run(*searches()),
        BiasView: biased(measurements()),
        RadiusView: radius_run(*bounds()),
    }


def test_the_command_decides() -> None:
    for kind, run in runs().items():
        with run:
            assert type(run.view()) is kind
            assert run._repr_html_() == run.view().html()
    with biased(measurements()) as run, biased(measurements()) as before:
        assert type(run.view(against=before)) is AgainstView


def test_to_make_one_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Run] = []
    records = Run.records

    def noted(run: Run) -> Iterator[Record]:
        read.append(run)
        return records(run)

    monkeypatch.setattr(Run, "records", noted)
    for run in runs().values():
        with run:
            view = run.view()
            assert view.title
            assert not read
            assert isinstance(view.notes, list)
            once = len(read)
            assert once
            assert view.errors >= 0
            assert view.figures()
            assert len(read) == once  # figures are found once
            read.clear()


def test_a_notebook_has_two_bias_runs_one_below_the_other() -> None:
    with biased(measurements(0.02), victim="new") as run, biased(measurements(), victim="old") as before:
        shown = AgainstView(run, before).html()
        assert shown.index("old (before)") < shown.index("new (after)")
        for one in (*before.biases(), *run.biases()):
            assert f"{one.old}|{one.new}, k={one.k}" in shown
            assert f"{one.bias:+.4f} [" in shown
