"""Where everything is installed a skipped test says nothing: with MOHS_NO_SKIP=1 it fails, with its reason."""

from __future__ import annotations

import os
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

_ALLOWED = ("shared/", "small English model")  # in a reason: data that a clone does not have, nor a package index


def heeded(report: Report) -> Report:
    """A report, as a failure if the test was skipped and must not be."""
    if os.environ.get("MOHS_NO_SKIP") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(part in reason for part in _ALLOWED):
        report.outcome = "failed"
        report.longrepr = f"{reason} (MOHS_NO_SKIP=1 lets no test here be skipped)"
    return report
