"""Ctrl-C at any time ends the runs of a comparison."""

import os
import signal
import threading

import numpy as np
import pytest

from bestarm.pipeline import own_runs


class Interrupting(list):
    """Chunks, before the third of which Ctrl-C is pressed."""

    def __init__(self, chunks):
        super().__init__(chunks)
        self.taken = 0

    def __iter__(self):
        for chunk in super().__iter__():
            self.taken += 1
            if self.taken == 3:
                os.kill(os.getpid(), signal.SIGINT)
            yield chunk


def work(chunk, tick=lambda: None):
    tick()
    return {"replication": np.asarray(chunk)}


@pytest.fixture
def chunks():
    return Interrupting([range(i, i + 1) for i in range(400)])


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A shell's background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_no_interrupt_comes_while_threads_are_given_work(chunks):
    """It could come while the pool holds a lock that its threads wait for."""
    with pytest.raises(KeyboardInterrupt):
        list(own_runs._on_threads(work, chunks, 2, lambda _: None))
    assert chunks.taken == 400


def test_no_interrupt_comes_while_processes_are_given_work(chunks):
    with pytest.raises(KeyboardInterrupt):
        list(own_runs._in_processes("mine", work, chunks, 2, lambda _: None))
    assert chunks.taken == 400


def test_runs_that_end_meanwhile_are_interrupted_all_the_same():
    def ends(chunk, tick):
        os.kill(os.getpid(), signal.SIGINT)
        return work(chunk)

    with pytest.raises(KeyboardInterrupt):
        list(own_runs._on_threads(ends, [range(1)], 1, lambda _: None))


def test_other_threads_leave_signals_alone():
    found = []

    def run():
        found.extend(own_runs._on_threads(work, [range(2), range(2, 3)], 2, lambda _: None))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [part["replication"].tolist() for part in found] == [[0, 1], [2]]
