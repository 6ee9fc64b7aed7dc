"""Settings for the tests of benchmarks."""

from __future__ import annotations

from tests.studies.conftest import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]
