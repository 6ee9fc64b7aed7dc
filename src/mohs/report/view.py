"""What every kind of run has to show, and which kind shows what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.run import Run


class View(Protocol):
    """What a kind of run has to show. To make one is free: it reads the records when it is first asked for figures."""

    @property
    def title(self) -> str:
        """What stands above the table."""
        ...

    @property
    def notes(self) -> list[str]:
        """What a reader must know before believing the figures."""
        ...

    @property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        ...

    def figures(self) -> dict[str, Any]:
        """For machines."""
        ...

    def show(self, console: Console, diffs: int) -> None:
        """For people on a terminal: tables, and a few examples."""
        ...

    def page(self) -> str:
        """The whole HTML page."""
        ...

    def html(self) -> str:
        """The table for a notebook."""
        ...


def view_of(run: Run, against: Run | None = None, epsilon: float | None = None) -> View:
    """What a run has to show, as its command wants it, or two bias runs side by side.

    epsilon: for bias runs, another than the one they were begun with.
    """
    if against is not None:
        from mohs.report.bias.view import AgainstView

        return AgainstView(run, against, epsilon)
    return _VIEWS.get(run.command, _attack)(run, epsilon)


def _attack(run: Run, epsilon: float | None) -> View:
    from mohs.report.attack.view import AttackView

    return AttackView(run)


def _second_order(run: Run, epsilon: float | None) -> View:
    from mohs.report.second_order.view import SecondOrderView

    return SecondOrderView(run)


def _bias(run: Run, epsilon: float | None) -> View:
    from mohs.report.bias.view import BiasView

    return BiasView(run, epsilon)


def _radius(run: Run, epsilon: float | None) -> View:
    from mohs.report.radius.view import RadiusView

    return RadiusView(run)


_VIEWS: dict[str, Callable[[Run, float | None], View]] = {
    "attack": _attack,
    "second-order": _second_order,
    "bias": _bias,
    "radius": _radius,
}
