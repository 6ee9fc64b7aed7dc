"""`mohs train-pocket`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose
from mohs.cli.saying import say, say_json


def train_pocket(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the model.")] = Path("pocket-victim"),
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Train the bundled classifier again, from the bundled reviews and word vectors. Takes seconds; deterministic.

    \b
    Examples:
      mohs train-pocket --out my-pocket
      mohs attack --victim mohs:my-pocket --data pocket
    """
    from mohs.models.bag import accuracy, pocket_victim, train_bag
    from mohs.text.dataset import Dataset

    victim = train_bag(Dataset("pocket:train"))
    right, total = accuracy(victim, Dataset("pocket:test"))
    card = {
        "data": "pocket:train",
        "data_hash": Dataset("pocket:train").survey()[2],
        "test_accuracy": {"right": right, "of": total},
        "command": "mohs train-pocket",
    }
    victim.save(out, card)
    shipped = pocket_victim().fingerprint
    same = victim.fingerprint == shipped
    if json:
        say_json({"out": str(out), "fingerprint": victim.fingerprint, "shipped": shipped, **card})
        return
    say(f"{out}: {right} of {total} test reviews right ({right / total:.1%}), fingerprint {victim.fingerprint}")
    if verbose:
        say(f"This is {'the same model as' if same else 'not the same model as'} the bundled one ({shipped}).")
