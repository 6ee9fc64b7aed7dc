"""Chooses among several texts that fool the victim."""

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
    """The winner most similar to the original. winners: texts with their scores.

    If there is a current text, similarity is judged as a step from it. Among equals the strongest is taken, as in
    TextAttack, then the first by its string. Without a similarity all are equal. With `weigh_one`, the similarity of a
    single winner is computed too, although it decides nothing.
    """
    texts = list(winners)
    values = [0.0] * len(texts)
    if similarity is not None and (weigh_one or len(texts) > 1):
        values = await similarity.of_texts(x, current, texts, ask)
    return min(zip(texts, values, strict=True), key=lambda pair: (-pair[1], -winners[pair[0]], pair[0]))[0]
