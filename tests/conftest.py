"""Shared by all tests: one Hypothesis profile, and where the project is."""

from pathlib import Path

import pytest
from hypothesis import settings

# Fixed examples, so that a red test is red again; no deadline, because a first call compiles.
settings.register_profile("bestarm", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("bestarm")


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]
