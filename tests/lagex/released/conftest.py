"""Shared by the tests of the released programs."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from bestarm.common.arithmetic import same_bits


@pytest.fixture(scope="module")
def apart():
    """A process that computes as the one that recorded the runs, whatever the processor."""
    with same_bits(), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool
