"""Presets that meant something else in earlier versions: their runs are not resumed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mohs.attacks.textfooler import THRESHOLDS
from mohs.errors import BadInput

_LIKE_TEXTATTACK = "follows TextAttack, and words without a vector pass"
REPLACED: Mapping[str, str] = {  # what each is now
    **{
        f"textfooler:{name}": "follows TextAttack, and compares windows of 15 words with the original, not whole texts"
        for name in THRESHOLDS
    },
    "textfooler:cv50": "follows TextAttack",
    "pwws:cos50": _LIKE_TEXTATTACK,
    "bert-attack:cos50": _LIKE_TEXTATTACK,
}


def refuse_replaced(folder: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse a folder with a run of such a preset, and say what replaced it.

    before, now: the settings of each attack, by its name, in the folder and as asked for.
    """
    for name, settings in before.items():
        preset = name.partition("+")[0]
        if preset in REPLACED and now.get(name, settings) != settings:
            raise BadInput(
                f"{folder} holds a run of {preset} as it was in an earlier version; now it {REPLACED[preset]}, so "
                "choose another --out (`mohs report` still shows the old run)."
            )
