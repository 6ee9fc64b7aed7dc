"""The funnel of a build on a terminal: what every stage took in, kept and dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mohs.curation.funnel import Step, funnel
from mohs.curation.stage import STAGES, StageFolder
from mohs.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console


def steps_of(out: Path) -> list[Step]:
    """The stages that are finished so far, by task and method; also of a build that is not at its end."""
    stages = StageFolder(out / "stages")
    if not stages.exists(STAGES[0]):
        raise BadInput(f"{out} holds no finished stage of a benchmark; make one with `mohs benchmark build`.")
    return funnel(stages)


def show(console: Console, steps: list[Step]) -> None:
    """Print the funnel as a table for each task."""
    from rich.table import Table
    from rich.text import Text

    for task in dict.fromkeys(step.task for step in steps):
        console.print(Text(task, style="bold"))
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in ("attack", "stage", "in", "out", "dropped"):
            table.add_column(head, justify="right" if head in ("in", "out") else "left")
        last = ""
        for step in steps:
            if step.task == task:
                why = "; ".join(f"{count:,} {reason}" for reason, count in step.reasons.items())
                name = "" if step.method == last else step.method
                last = step.method
                table.add_row(Text(name), step.stage, f"{step.given:,}", f"{step.kept:,}", Text(why, "dim"))
        console.print(table)
