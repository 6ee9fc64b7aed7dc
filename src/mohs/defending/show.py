"""Prints the figures of defences on a terminal: for each attack a table, the undefended victim first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from mohs.defending.figures import ATTACKED, READ, SCORED, Judged
from mohs.defending.spread import Spread
from mohs.report.rates import Mean
from mohs.report.table import marks, mean, rate, tables_of
from mohs.report.terminal import printable, show_tables

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.defending.result import Against, Defended

Row = tuple[str, str, str]

QUERIES = "of the defended model; mean over examples attacked"
FORWARDS = "texts that the model inside reads; mean over originals"
COST = "forwards per example attacked, as a multiple of the undefended"


def ways(found: Defended) -> tuple[str, ...]:
    """What the figures of each way mean, in one sentence each, for the ways that were gone."""
    averaging = f", and of one that searches against the mean of {found.average} draws" if found.average else ""
    told = [
        "(1) The defended model reads the adversarial texts that were found against the undefended one; nobody "
        "attacked the defence, so this flatters it.",
    ]
    if found.adaptive_keys:
        told.append(
            "(2) The same attack, with the same options and seed, runs against the defended model as its black box, "
            "with one key for the whole run, so it may also exploit the luck of that key."
        )
    if found.adaptive_keys and found.draws:
        told.append(
            f"(3) A success counts only if it fools most of {found.draws} fresh draws of the defence, the original "
            f"being judged in the same way: of the attack of (2), which knows one draw alone{averaging}."
        )
    return tuple(told)


def marked(found: Defended, errors: int = 0) -> str:
    """What the signs in the table mean."""
    spread = f"±: standard deviation over {found.keys} keys"
    if found.adaptive_keys > 1:
        spread += f", for (2) and (3) over {found.adaptive_keys}"
    return f"{spread}; {marks(errors)}; intervals are over examples"


def spread(found: Spread) -> str:
    """Shares of several keys as `45.2% ±1.1 [35.0, 55.8]`, of one as `45.2% (38/84) [35.0, 55.8]`."""
    if len(found.rates) == 1:
        return rate(found.rates[0])
    if found.value is None or found.interval is None:
        return "-"
    low, high = (100 * end for end in found.interval)
    deviation = "" if found.deviation is None else f" ±{100 * found.deviation:.1f}"
    return f"{found.value:.1%}{deviation} [{low:.1f}, {high:.1f}]"


def change(value: Mean) -> str:
    """A difference of shares in points, with its sign."""
    if value.value is None:
        return "-"
    said = f"{100 * value.value:+.1f}"
    if value.low is None or value.high is None:
        return f"{said} [-]"
    return f"{said} [{100 * value.low:+.1f}, {100 * value.high:+.1f}]"


def caption(part: Against) -> str:
    """The title of a table."""
    return f"{part.attack} on {part.victim} ({part.run})"


def columns(part: Against) -> list[tuple[str, list[Row]]]:
    """The undefended victim and each defence, with their figures as rows."""
    return [("undefended", _undefended(part)), *((one.defence, _rows(part, one)) for one in part.defences)]


def _undefended(part: Against) -> list[Row]:
    found = part.undefended
    rows = [("clean accuracy", rate(found.accuracy_before), f"of {SCORED}")]
    rows += [
        ("(1) success left", rate(found.success), f"of the run's {ATTACKED}"),
        ("(2) adaptive success", rate(found.success), f"of {ATTACKED}, each in its own run"),
    ]
    if found.accuracy_under_attack is not None:
        rows.append(("(2) accuracy under attack", rate(found.accuracy_under_attack), f"of {SCORED}"))
    return [
        *rows,
        ("queries", mean(found.queries), QUERIES),
        ("forwards per query", "1.0", FORWARDS),
        ("cost", "1.0", COST),
    ]


def _rows(part: Against, one: Judged) -> list[Row]:
    rows = [
        ("clean accuracy", spread(one.clean), f"of {SCORED}"),
        ("clean, change", change(one.clean_change), "points against the undefended, paired by example"),
        ("(1) reverted", spread(one.reverted), f"of the {one.reverted.of}"),
        ("(1) success left", spread(one.left), f"of the run's {ATTACKED}"),
    ]
    if one.rejected is not None:
        rows.append(("(1) rejected", spread(one.rejected), f"of the {one.rejected.of}"))
    if one.adaptive is not None:
        found = one.adaptive
        rows += [
            ("(2) adaptive success", spread(found.success), f"of {ATTACKED}, each in its own run"),
            ("(2) accuracy under attack", spread(found.under), f"of {SCORED}"),
            ("(2) under attack, change", change(found.change), "points against the undefended, paired by example"),
            ("(3) over fresh draws", "-" if found.fresh is None else spread(found.fresh), f"of {READ}"),
            ("(3) averaging attack", "-" if found.averaging is None else rate(found.averaging), f"of {READ}"),
            ("queries", mean(found.queries), QUERIES),
        ]
    rows.append(("forwards per query", _number(one.forwards), FORWARDS))
    rows.append(("cost", _number(part.cost(one)), COST))
    return rows


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def show(found: Defended, console: Console) -> None:
    """Print all tables, what they mean, and the notes."""
    for part in found.parts:
        console.print(Text(printable(caption(part)), style="bold"))
        console.print()
        tables, beside = tables_of(columns(part), console.width)
        below = marked(found, found.errors) + ("" if beside else _denominators(part))
        show_tables(console, tables, below)
        console.print()
    for way in ways(found):
        console.print(Text(way))
    for note in found.notes:
        console.print(Text(printable(note), style="yellow"))


def _denominators(part: Against) -> str:
    """The denominators below a table without room for them."""
    told: dict[str, list[str]] = {}
    for _, rows in columns(part):
        for name, _, of in rows:
            if of.startswith("of ") or of in (FORWARDS, COST):
                names = told.setdefault(of, [])
                names.extend([name] if name not in names else [])
    return "".join(f"; {', '.join(names)}: {of}" for of, names in told.items())
