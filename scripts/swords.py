"""SWORDS as rows, for the scripts beside this one; see mohs.training.swords."""

from mohs.training.swords import Row, Target, inflected, read

__all__ = ["Row", "Target", "inflected", "read"]
