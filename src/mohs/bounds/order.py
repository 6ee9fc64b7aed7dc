"""The order in which the prover tries positions (Yang et al. 2022): the most sensitive first."""

from __future__ import annotations

from mohs.space import Services
from mohs.text import Text
from mohs.text.questions import Labelled

_DIGITS = 5  # significant; further ones depend on the other texts of a batch


async def sensitivities(x: Text, places: tuple[int, ...], label: int, ask: Services) -> list[float]:
    """For each position the L1 norm of dF_y/dw_p, the gradient of the label's probability by the word's vector.

    If a word has several tokens, its vector is all of theirs, so their norms add up. The victim gives the gradient of
    log F_y, which is that of F_y divided by F_y. That factor is the same at all positions and does not change their
    order, so it is left out. A word beyond the victim's window has 0.
    """
    (slope,) = await ask.gradients([Labelled(x.fields, label)])
    rows = slope.by_word(x.spans())
    return [float(f"{abs(slope.gradient[rows[place]]).sum(dtype='f8'):.{_DIGITS}g}") for place in places]


def by_sensitivity(found: list[float]) -> list[int]:
    """The numbers of the positions, the most sensitive first; equal ones as they stand."""
    return sorted(range(len(found)), key=lambda number: (-found[number], number))
