"""Which of several texts that fool the victim is taken."""

from __future__ import annotations

from collections.abc import Mapping

from mohs.attacks.method import Ask
from mohs.space import SentenceSimilarity
from mohs.text import Text


async def closest(
    x: Text, current: Text, winners: Mapping[Text, float], similarity: SentenceSimilarity | None, ask: Ask
) -> Text:
    """The one most similar to the original, as steps from the current text, of winners with their scores.

    Of equals the strongest is taken, as in TextAttack, then the first by its string. Without a similarity all are
    equals.
    """
    texts = list(winners)
    values = [0.0] * len(texts)
    if similarity is not None and len(texts) > 1:
        values = await similarity.of_texts(x, current, texts, ask)
    return min(zip(texts, values, strict=True), key=lambda pair: (-pair[1], -winners[pair[0]], pair[0]))[0]
