"""Jobs in fresh processes."""

import os

import pytest

from bestarm.runs.workers import Workers


def test_a_process_serves_as_many_jobs_as_it_may():
    with Workers(1) as workers:
        assert len({workers.submit(os.getpid).result() for _ in range(3)}) == 1
    with Workers(1, per_process=2) as workers:
        assert len({workers.submit(os.getpid).result() for _ in range(4)}) == 2


def test_an_interrupted_caller_does_not_wait_for_jobs_that_have_not_begun():
    workers = Workers(1)
    jobs = [workers.submit(os.getpid) for _ in range(50)]
    jobs[0].result()
    workers.shutdown(cancel_futures=True)
    assert jobs[-1].cancelled()
    with pytest.raises(RuntimeError, match="after shutdown"):
        workers.submit(os.getpid)
