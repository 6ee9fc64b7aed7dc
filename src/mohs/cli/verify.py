"""`mohs verify`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer

from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import BadInput
from mohs.runs.settings import VictimSettings
from mohs.runs.verify import Verify
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.bounds import Certificate


def _verify(asked: Verify, settings: VictimSettings, *, json: bool, verbose: bool) -> None:
    from mohs.runs.containment import no_sudden_end, own_output

    with own_output(), no_sudden_end():
        found = asked.run(settings)
    broken = [certificate for certificate, checked in found if not checked.sound and not checked.unstated]
    unstated = sum(checked.unstated for _, checked in found)
    about, victim = (
        ", ".join(sorted({certificate.victim for certificate in broken})),
        without_credentials(settings.victim),
    )
    if len(broken) == len(found) and not any(checked.asked for _, checked in found) and about != victim:
        raise BadInput(f"{asked.certificates} is about {about}, but the victim is {victim}; set it with --victim.")
    if json:
        rows = [{"example": c.example, "radius": c.radius, "by": c.by, **vars(checked)} for c, checked in found]
        say_json(rows)
    else:
        for certificate, checked in found:
            if verbose or not checked.sound:
                say(f"{certificate.example}: radius {certificate.radius}: {checked.why}")
        if all(checked.whole for _, checked in found if checked.sound or checked.unstated):
            say(f"{sum(checked.sound for _, checked in found)} of {len(found)} certificates hold.")
        else:
            texts = sum(checked.asked for _, checked in found)
            say(f"A sample of {texts:,} texts breaks {len(broken)} of {len(found)} certificates; it proves none.")
        other = sum(checked.sound and checked.same is False for _, checked in found)
        if other:
            say(f"{other} of those that hold contain other numbers than were computed here.")
        _say_about_spaces([certificate for certificate, _ in found])
        for note, count in Counter(note for _, checked in found for note in checked.notes).items():
            say(f"{note} ({count} of {len(found)})")
        if unstated:
            say(f"Nothing is wrong with {unstated} of these otherwise; --accept-old lets them pass.")
    if broken or unstated:
        raise typer.Exit(1 if broken else 3)


def _say_about_spaces(certificates: list[Certificate]) -> None:
    """How the spaces were built, and how many words a position has: a space of few words is easily withstood."""
    spaces: dict[str, list[int]] = {}
    for certificate in certificates:
        if certificate.built is not None:
            own = [certificate.built["source"], *certificate.built["constraints"]]
            spaces.setdefault(", ".join(own), []).extend(map(len, certificate.choices.values()))
    for source, words in spaces.items():
        say(f"Words by {source}: {sum(words) / len(words):.1f} a position in {len(words):,} positions.")


verify = command([Verify, VictimSettings], _verify, help_of(Verify.__doc__), first=["certificates", "victim"])
