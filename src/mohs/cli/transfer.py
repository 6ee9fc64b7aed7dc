"""`mohs transfer`."""

from __future__ import annotations

import typer

from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.runs.settings import VictimSettings
from mohs.runs.transfer import TransferSettings


def _transfer(asked: TransferSettings, settings: VictimSettings, *, json: bool, verbose: bool) -> None:
    from mohs.cli.run_progress import progress_bar
    from mohs.report.table import rate, tables_of
    from mohs.report.terminal import SafeConsole, show_tables
    from mohs.runs.containment import no_sudden_end, own_output

    with own_output(), no_sudden_end(), progress_bar(json, "asking") as progress:
        found = asked.carry_out(settings, progress)
    written = found.write(asked.place(found)) if found.pairs else None
    if json:
        say_json({"run": str(asked.run), **found.to_json(), "out": None if written is None else str(written)})
    else:
        console = SafeConsole(markup=False, emoji=False, highlight=False)
        console.print(f"{found.victim} on the texts of {asked.run}", style="bold")
        for note in found.notes:
            console.print(note, style="yellow")
        console.print(f"accuracy on the originals: {rate(found.accuracy)} of {found.accuracy.of}")
        tables, beside = tables_of([(one.attack, one.rows()) for one in found.attacks], console.width)
        below = "transfer: of successes whose original this victim reads right; same class: of transferred texts; "
        show_tables(console, tables, ("" if beside else below) + "in brackets: 95% intervals")
        say("There is no adversarial text to ask about." if written is None else f"Pairs: {written}")
    if found.errors:
        first = next((pair for pair in found.pairs if pair.error), None)
        about = "" if first is None else f"; the first success with one is example {first.example_id}: {first.error}"
        say(f"mohs: The victim could not read {found.errors} texts, which count as neither{about}", error=True)
        raise typer.Exit(3)


transfer = command([TransferSettings, VictimSettings], _transfer, help_of(TransferSettings.__doc__), ["run", "victim"])
