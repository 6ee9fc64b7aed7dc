"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# No deadlines: a slow machine is not a defect. The same examples on every run; explore with --hypothesis-profile=wide.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("wide", deadline=None, max_examples=1000)
settings.load_profile("same")
