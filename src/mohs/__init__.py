"""mohs: a hardness scale for text classifiers."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mohs.attacks import RandomWords, TextFooler
    from mohs.records import Outcome, Record
    from mohs.run import Run
    from mohs.runs import attack, radius, second_order_attack, token_bias, verify
    from mohs.text import Example, Text
    from mohs.text.dataset import Dataset

_PLACES = {
    "Dataset": "mohs.text.dataset",
    "Example": "mohs.text",
    "Outcome": "mohs.records",
    "RandomWords": "mohs.attacks",
    "Record": "mohs.records",
    "Run": "mohs.run",
    "Text": "mohs.text",
    "TextFooler": "mohs.attacks",
    "attack": "mohs.runs",
    "radius": "mohs.runs",
    "second_order_attack": "mohs.runs",
    "token_bias": "mohs.runs",
    "verify": "mohs.runs",
}

__all__ = [
    "Dataset",
    "Example",
    "Outcome",
    "RandomWords",
    "Record",
    "Run",
    "Text",
    "TextFooler",
    "attack",
    "radius",
    "second_order_attack",
    "token_bias",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import mohs` and `mohs --help` answer at once."""
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'mohs' has no attribute {name!r}")
