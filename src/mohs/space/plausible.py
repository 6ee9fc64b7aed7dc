"""Whether a changed word leaves a text as plausible to a masked language model, as Zhang et al. 2021's code checks.

Differs from that code: a word of several tokens does not count (there it counts with the probability of the unknown
token), and the masked language model is the run's (there DistilBERT).
"""

from __future__ import annotations

import math

from mohs.space.services import Services
from mohs.text import Text
from mohs.text.questions import Blank

LONGEST_CHECKED = 20  # words; the released code checks plausibility up to this length
RELEASED_DROP = 1.5


async def word_by_word(text: Text, ask: Services) -> list[float]:
    """The log-probability of each word at its own masked position; nan for a word of several tokens."""
    blanks = [Blank(text.fields, *span, 1, (word,)) for span, word in zip(text.spans(), text.words, strict=True)]
    return [filled.log_probs[0] for filled in await ask.fill(blanks)]


def keeps(before: list[float], after: list[float], drop: float) -> bool:
    """Whether the mean log-probability of a word falls by at most `drop`; words of several tokens do not count."""
    both = [(a, b) for a, b in zip(before, after, strict=True) if not math.isnan(a + b)]
    return bool(both) and sum(b - a for a, b in both) / len(both) >= -drop
