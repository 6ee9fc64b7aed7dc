"""How alike original and attack words are: by word vectors, and by an encoder in a window of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mohs.analyses.buckets import number_of
from mohs.analyses.substitutions import Substitution
from mohs.engine import Service
from mohs.space import SentenceSimilarity
from mohs.text.vectors import Vectors

_AT_ONCE = 256  # fragments between two reports of progress
_COSINE = SentenceSimilarity(angular=False)


def fill_in_cosines(substitutions: Sequence[Substitution], vectors: Vectors) -> None:
    """Write the cosine of the two words' vectors into each substitution; none if one of them has no vector."""
    for one in substitutions:
        value = float(vectors.cosines(one.old.lower(), [one.new.lower()])[0])
        one.cosine = None if np.isnan(value) else round(value, 6)


def fragments_of(substitutions: Sequence[Substitution]) -> list[tuple[str]]:
    """The texts to encode, each once."""
    return list(dict.fromkeys((part,) for one in substitutions for part in (one.old_fragment, one.new_fragment)))


def fill_in_similarities(
    substitutions: Sequence[Substitution], encoder: Service[Any, Any], tell: Callable[[int], None]
) -> None:
    """Write the cosine of the two fragments' vectors into each substitution. `tell` hears of fragments encoded."""
    texts = fragments_of(substitutions)
    vectors: dict[tuple[str], Any] = {}
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        vectors.update(zip(some, encoder.again(some), strict=True))
        tell(len(some))
    for one in substitutions:
        old, new = vectors[one.old_fragment,], vectors[one.new_fragment,]
        if old is not None and new is not None and np.any(old) and np.any(new):
            one.similarity = 1.0 if one.old_fragment == one.new_fragment else _COSINE.of_vectors(old, new)


def by_similarity(substitutions: Sequence[Substitution]) -> list[Substitution]:
    """One substitution of each bucket of similarities, the lowest first (Table A.4): the first that the run has."""
    found: dict[int, Substitution] = {}
    for one in substitutions:
        if one.similarity is not None:
            found.setdefault(number_of(one.similarity), one)
    return [found[number] for number in sorted(found)]
