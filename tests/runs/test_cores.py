"""Ctrl-C at any time ends the runs of a comparison."""

import os
import signal
import threading

import numpy as np
import pytest

from bestarm.runs import cores


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
        list(cores._on_threads(work, chunks, 2, lambda _: None))
    assert chunks.taken == 400


def test_no_interrupt_comes_while_processes_are_given_work(chunks):
    with pytest.raises(KeyboardInterrupt):
        list(cores._in_processes("mine", work, chunks, 2, lambda _: None))
    assert chunks.taken == 400


def test_runs_that_end_meanwhile_are_interrupted_all_the_same():
    def ends(chunk, tick):
        os.kill(os.getpid(), signal.SIGINT)
        return work(chunk)

    with pytest.raises(KeyboardInterrupt):
        list(cores._on_threads(ends, [range(1)], 1, lambda _: None))


def test_other_threads_leave_signals_alone():
    found = []

    def run():
        found.extend(cores._on_threads(work, [range(2), range(2, 3)], 2, lambda _: None))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [part["replication"].tolist() for part in found] == [[0, 1], [2]]


def test_the_first_run_of_a_python_class_foretells_the_others():
    """Its number of pulls, their rate, and how long all runs will take; compiled steps if there
    are any in the paper."""
    said = cores._foretold("mine", 300, 2, True, 3.4, 68_000)
    assert said.startswith(
        "mine: about 8 min for 300 runs (the first: 68,000 pulls; 20,000 per second); compiled"
    )
    assert "bestarm.Compiled" in said
    assert "Compiled" not in cores._foretold("mine", 300, 2, False, 3.4, 68_000)
    assert "about 34 s for 10 runs" in cores._foretold("mine", 10, 1, True, 3.4, 68_000)
    assert cores._foretold("mine", 10, 2, True, 3.4, 68_000) == ""


@pytest.mark.parametrize(
    ("durations", "said"),
    [
        ([4.0, 1.0], [(4.0, 1)]),  # the first run is long
        ([2.0, 0.1, 0.1], []),  # loaded code in most of it, and all ended soon
        ([2.0, 0.5, 0.7, 9.0], [(0.3, 3)]),  # 20 runs, 5 at a time, in 1.2 s
    ],
)
def test_how_long_runs_take_is_said_once_it_is_known(monkeypatch, durations, said):
    now, began, heard = [0.0], [], []
    monkeypatch.setattr(cores.time, "monotonic", lambda: now[0])

    def parts():
        for place, duration in enumerate(durations):
            began.append(place)
            now[0] += duration
            yield {"tau": np.full(10 if place else 1, 7)}

    def foretold(seconds, tau):
        assert tau == 7
        return f"{seconds:.3g}"

    found = cores._timed(parts(), 5, foretold, lambda words: heard.append((words, len(began))))
    assert len([*found]) == len(durations)
    assert heard == [(f"{seconds:.3g}", parts) for seconds, parts in said]
