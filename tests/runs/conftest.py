"""Commands run as in the tests of the command line, and no skipped tests where everything is installed."""

from tests.cli.conftest import mohs, nursery
from tests.studies.conftest import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["mohs", "nursery", "pytest_make_collect_report", "pytest_runtest_makereport"]
