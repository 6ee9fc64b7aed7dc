"""Settings for all tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Models of this size lose more to waiting threads than they gain; read when numpy and torch are first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadlines: a slow machine is not a defect. The same examples on every run; explore with --hypothesis-profile=wide.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("wide", deadline=None, max_examples=1000)
settings.load_profile("same")


@pytest.fixture(autouse=True, scope="session")
def _own_folders() -> Iterator[None]:
    """Caches and assets of the tests' own, also for the processes they start."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MOHS_CACHE": f"{folder}/cache", "MOHS_ASSETS": f"{folder}/assets"}
        yield


@pytest.fixture(autouse=True, scope="session")
def _same_batches() -> Iterator[None]:
    """No batch size of a test depends on a clock: models that many tests share would at last try out sizes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mohs.models.batch_size.TOKENS_BEFORE_TRYING", 1 << 60)
        yield
