"""Texts, examples, datasets, word lists and word vectors: values only."""

from mohs.text.example import Example
from mohs.text.text import Edit, Text

__all__ = ["Edit", "Example", "Text"]
