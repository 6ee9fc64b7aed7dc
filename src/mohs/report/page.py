"""The browsable page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mohs.runs import Run


def write_page(run: Run, path: Path) -> Path:
    """Write one self-contained HTML file."""
    raise NotImplementedError
