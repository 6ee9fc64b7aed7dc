"""Prints what `mohs detect` found on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from mohs.detecting.roc import Area
from mohs.report.table import rate as share
from mohs.report.table import tables_of
from mohs.report.terminal import printable, show_tables

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.detecting.result import AttackDetection, Detection

Row = tuple[str, str, str]

MARKS = "in brackets: 95% intervals over examples, [-] with fewer than six texts of a kind"


def show(found: Detection, console: Console) -> None:
    """Print all tables, then the notes."""
    console.print(Text(printable(f"Detectors around {found.victim}"), style="bold"))
    console.print()
    columns = [(one.name, lines(one, found.rate)) for one in found.attacks]
    show_tables(console, tables_of(columns, console.width)[0], MARKS)
    for note in (*scenario(found.rate), *found.notes):
        console.print(Text(printable(note), style="yellow" if note in found.notes else "dim"))


def scenario(rate: float) -> tuple[str, ...]:
    """What is counted, in sentences."""
    return (
        "Originals are all texts of the run, read right or wrong, and adversarial texts its successes (the second "
        "scenario of Yoo et al. 2022).",
        "AUC is the chance that an adversarial text is more suspicious than an original.",
        f"The true positive rate and F1 are those of the threshold that rejects at most {rate:.0%} of these originals; "
        "F1 is for equally many texts of both kinds.",
        "Detected and false alarms are with the threshold set on held-out data.",
        "The attacks did not know the detectors; an attack on the detector itself is the harder test "
        '(mohs attack --victim "rde(V, train=FILE)").',
    )


def lines(one: AttackDetection, rate: float) -> list[Row]:
    """The figures of an attack as rows."""
    rows = [
        ("originals", f"{one.originals:,}", "read right or wrong"),
        ("adversarial texts", f"{one.adversarial:,}", "successes"),
    ]
    for found in one.detectors:
        name = found.detector
        rows += [
            (f"{name}: AUC", area(found.area), "adversarial texts against originals"),
            (f"{name}: true positive rate", _percent(found.found_at_rate), f"at {rate:.0%} false alarms or fewer"),
            (f"{name}: F1", _percent(found.f1_at_rate), "there, for as many originals as adversarial texts"),
            (f"{name}: detected", share(found.detected), f"of {found.detected.of}; its own threshold"),
            (f"{name}: false alarms", share(found.alarms), f"of {found.alarms.of}; its own threshold"),
        ]
        for bounds, part in found.by_margin.items():
            said = f"{part.adversarial} of {one.adversarial}: " if part.adversarial else ""
            rows.append((f"{name}: AUC, margin {bounds}", said + area(part), "adversarial texts by their margin"))
    return rows


def area(found: Area) -> str:
    """An area as `.912 [.880, .940]`."""
    if found.value is None:
        return "-"
    inner = "-" if found.low is None or found.high is None else f"{found.low:.3f}, {found.high:.3f}"
    return f"{found.value:.3f} [{inner}]"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
