"""Which edits exist for an example: sources of candidates, constraints, and the space they make."""

from mohs.space.constraints import Constraint, PosShared, SentenceSimilarity, Services
from mohs.space.sources import Neighbours, Source
from mohs.space.space import Space, build_space

__all__ = [
    "Constraint",
    "Neighbours",
    "PosShared",
    "SentenceSimilarity",
    "Services",
    "Source",
    "Space",
    "build_space",
]
