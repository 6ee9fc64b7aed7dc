"""Reject settings that would silently switch off a source or a constraint."""

from __future__ import annotations

from mohs.errors import BadInput


def at_least(bound: float, /, **settings: float | None) -> None:
    """Reject numbers below a bound, and nan; None passes."""
    for name, value in settings.items():
        if value is not None and not value >= bound:
            raise BadInput(f"{name}={value} does not fit; it must be at least {bound}.")


def at_most(bound: float, /, **settings: float | None) -> None:
    """Reject numbers above a bound, and nan; None passes."""
    for name, value in settings.items():
        if value is not None and not value <= bound:
            raise BadInput(f"{name}={value} does not fit; it must be at most {bound}.")
