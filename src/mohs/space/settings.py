"""Refusing settings that would switch a source or a constraint off without a word."""

from __future__ import annotations

from mohs.errors import BadInput


def at_least(bound: float, /, **settings: float | None) -> None:
    """Refuse numbers below a bound, and those that are none; None is no number and passes."""
    for name, value in settings.items():
        if value is not None and not value >= bound:
            raise BadInput(f"{name}={value} does not fit; it must be at least {bound}.")


def at_most(bound: float, /, **settings: float | None) -> None:
    """Refuse numbers above a bound."""
    for name, value in settings.items():
        if value is not None and not value <= bound:
            raise BadInput(f"{name}={value} does not fit; it must be at most {bound}.")
