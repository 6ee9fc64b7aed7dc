"""The result of an analysis: its figures, as objects, as JSON, as a page and as a file of substitutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.analyses.buckets import Buckets
from mohs.analyses.frequencies import Frequencies
from mohs.analyses.intervals import Median
from mohs.analyses.layers import LayerFigures
from mohs.analyses.substitutions import Substitution
from mohs.records.export import write_csv
from mohs.report.rates import Mean, Rate
from mohs.report.table import table_html
from mohs.report.template import written

if TYPE_CHECKING:
    from rich.console import Console

PAGE = "analyse.html"


@dataclass(frozen=True)
class AttackAnalysis:
    """The figures of one attack."""

    attack: str
    few_edits: Rate  # examples with one or two words replaced
    replaced: Mean  # share of the words that are replaced, over examples
    frequencies: Frequencies | None  # None without training data
    cosine: Buckets
    cosine_median: Median
    similarity: Buckets
    similarity_median: Median
    layers: tuple[LayerFigures, ...]
    fragments: tuple[Substitution, ...] = field(repr=False)  # one of each bucket of similarities
    substitutions: tuple[Substitution, ...] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict, without the substitutions."""
        return {
            "attack": self.attack,
            "adversarial_examples": self.few_edits.total,
            "substitutions": len(self.substitutions),
            "one_or_two_edits": self.few_edits.to_json(),
            "replacement_rate": vars(self.replaced),
            "frequencies": None if self.frequencies is None else self.frequencies.to_json(),
            "cosine": {**self.cosine.to_json(), "median": self.cosine_median.to_json()},
            "similarity": {**self.similarity.to_json(), "median": self.similarity_median.to_json()},
            "layers": [one.to_json() for one in self.layers],
            "fragments": [
                {
                    "example_id": one.example_id,
                    "similarity": one.similarity,
                    "original": one.old_fragment,
                    "adversarial": one.new_fragment,
                }
                for one in self.fragments
            ],
        }


@dataclass(frozen=True)
class WordLabels:
    """How many training examples of each label hold a word of a bias run (Zhang et al. 2021, Table 7)."""

    words: Mapping[str, Mapping[int, int]]
    labels: tuple[str, ...]

    def named(self, label: int) -> str:
        """A label's name, or its number."""
        return self.labels[label] if label < len(self.labels) else str(label)

    @property
    def numbers(self) -> list[int]:
        """All labels."""
        known = {label for counts in self.words.values() for label in counts}
        return sorted(known | set(range(len(self.labels))))


@dataclass(frozen=True)
class Analysis:
    """The figures of an analysis: a part for each attack of a run, or the words of a bias run."""

    run: Path | None
    manifest: Mapping[str, Any] = field(repr=False)
    attacks: tuple[AttackAnalysis, ...]
    words: WordLabels | None
    notes: tuple[str, ...]  # what was left out, and why
    services: Mapping[str, str]  # what was asked, by kind
    window: int

    def to_json(self) -> dict[str, Any]:
        """All figures as a JSON-ready dict."""
        words = None
        if self.words is not None:
            words = {
                word: {self.words.named(label): n for label, n in c.items()} for word, c in self.words.words.items()
            }
        return {
            "run": str(self.run) if self.run else None,
            "window": self.window,
            "services": dict(self.services),
            "notes": list(self.notes),
            "attacks": [one.to_json() for one in self.attacks],
            "examples_with_word": words,
        }

    def write(self, path: str | Path) -> Path:
        """Write every substitution as CSV, one a line. An older file stays until the new one is complete."""
        rows = (one.to_row() for part in self.attacks for one in part.substitutions)
        return write_csv(Path(path), list(Substitution.__dataclass_fields__), rows)

    def page(self, path: str | Path | None = None) -> Path:
        """Write the page. By default analyse.html in the run's folder, or in the current folder without one."""
        from mohs.analyses.page import analysis_page

        return written(analysis_page(self), Path(path) if path is not None else (self.run or Path()) / PAGE)

    def show(self, console: Console) -> None:
        """Print the figures on a terminal."""
        from mohs.analyses.show import show

        show(self, console)

    def _repr_html_(self) -> str:
        from mohs.analyses.show import lines, word_lines

        return table_html([(one.attack, lines(one)) for one in self.attacks] + word_lines(self.words))
