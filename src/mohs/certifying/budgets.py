"""Budgets: how many words may change."""

from __future__ import annotations

from typing import Any

from mohs.errors import BadInput

ALL = "all"


def budgets_of(told: Any) -> tuple[int | None, ...]:
    """The budgets of an option, smallest first; None stands for any number of words."""
    parts = told.split(",") if isinstance(told, str) else [told] if isinstance(told, int) else list(told)
    found: list[int | None] = []
    for part in parts:
        said = str(part).strip()
        if part is None or said == ALL:
            found.append(None)
        elif said.isascii() and said.isdigit() and int(said) >= 1:
            found.append(int(said))
        else:
            raise BadInput(
                f"--budget {said or 'of nothing'} is no number of words; give numbers from 1 on, or all: 1,2,all."
            )
    if not found:
        raise BadInput("--budget names no number of words; give one, such as 1, or all.")
    if len(set(found)) < len(found):
        raise BadInput("--budget names a number twice; give it once.")
    return tuple(sorted(found, key=lambda budget: (budget is None, budget or 0)))


def written(budget: int | None) -> str:
    """A budget as the option writes it."""
    return ALL if budget is None else str(budget)
