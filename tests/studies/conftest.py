"""Settings for the tests of studies."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.studies.skips import heeded
from tests.studies.toys import make

__all__ = ["make"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return heeded((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return heeded((yield))
