"""Which of several texts that fool the victim is taken."""

from __future__ import annotations

from collections.abc import Sequence

from mohs.attacks.method import Ask
from mohs.space import SentenceSimilarity
from mohs.text import Text


async def closest(
    x: Text, current: Text, winners: Sequence[Text], similarity: SentenceSimilarity | None, ask: Ask
) -> Text:
    """The one most similar to the original, as steps from the current text; of equals the first by its string.

    Without a similarity all are equals.
    """
    if similarity is None or len(winners) == 1:
        return min(winners)
    values = await similarity.of_texts(x, current, winners, ask)
    return min(zip(winners, values, strict=True), key=lambda pair: (-pair[1], pair[0]))[0]
