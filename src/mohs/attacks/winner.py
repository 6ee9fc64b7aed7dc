"""Which of several texts that fool the victim is taken."""

from __future__ import annotations

from collections.abc import Mapping

from mohs.attacks.method import Ask
from mohs.space import SentenceSimilarity
from mohs.text import Text


async def pick_winner(
    x: Text,
    current: Text | None,
    winners: Mapping[Text, float],
    similarity: SentenceSimilarity | None,
    ask: Ask,
    *,
    weigh_one: bool = False,
) -> Text:
    """The one most similar to the original, as steps from the current text if there is one, of winners with scores.

    Of equals the strongest is taken, as in TextAttack, then the first by its string. Without a similarity all are
    equals. With `weigh_one` the similarity of a winner without rivals is asked for too, though it decides nothing.
    """
    texts = list(winners)
    values = [0.0] * len(texts)
    if similarity is not None and (weigh_one or len(texts) > 1):
        values = await similarity.of_texts(x, current, texts, ask)
    return min(zip(texts, values, strict=True), key=lambda pair: (-pair[1], -winners[pair[0]], pair[0]))[0]
