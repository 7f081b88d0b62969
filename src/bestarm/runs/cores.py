"""Runs on several cores: compiled strategies on threads, Python classes in processes."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

from bestarm.common.user_strategies import Compiled
from bestarm.core.inputs import InputError
from bestarm.runs.play import Columns, joined
from bestarm.runs.tasks import Task, run

#: Replications handed out at a time, at most.
CHUNK = 20
#: Seconds that are not worth a word.
PATIENCE = 20.0
#: Seconds up to which most of a first run may be the loading of code.
LOADING = 3.0
#: For lines that names of the user are in, and that are not to be broken.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
Work = Callable[[range], Columns]
#: What a process runs chunks of; set once, in processes only.
_work: Work | None = None


def simulate(
    tasks: Sequence[Task], replications: range, cores: int | None, quiet: bool = False
) -> list[tuple[Task, Columns]]:
    """The runs of some tasks. They depend neither on the number of cores nor on each other.

    Args:
        tasks: what to simulate.
        replications: which runs of each task.
        cores: all if None.
        quiet: no progress bar, which there is on a terminal only, and no word about how long runs
            of a Python class will take.

    Raises:
        InputError: a user's strategy fails, naming it and the run.
    """
    cores, reps = cores or os.cpu_count() or 1, len(replications)
    columns = (
        *("{task.description}", BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn()),
    )
    hidden = quiet or not sys.stderr.isatty()
    results = []
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as progress:
        for task in tasks:
            bar = progress.add_task(f"{task.cell.label} ({task.cell.reading})", total=reps)

            def advance(runs: int = 1, bar=bar) -> None:
                progress.advance(bar, runs)

            parts = _parts(task, replications, cores, advance)
            if _is_slow(task) and not quiet:
                has_compiled = task.paper.user_strategies.rounds is not None
                forecast = partial(_foretold, task.cell.strategy, reps, cores, has_compiled)
                say = partial(progress.console.print, **PLAIN)
                parts = _timed(parts, min(cores, reps), forecast, say)
            results.append((task, joined(parts)))
    return results


class Rate(ProgressColumn):
    """Runs per second."""

    def render(self, task: Bar) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.3g} runs/s" if speed else "")


def _is_slow(task: Task) -> bool:
    """Whether the runs of a task are Python's."""
    return task.user_strategy is not None and not isinstance(task.user_strategy.make, Compiled)


def _timed(
    parts: Iterator[Columns],
    at_a_time: int,
    foretold: Callable[[float, int], str],
    say: Callable[[str], None],
) -> Iterator[Columns]:
    """Parts, of which the first is one run: once it is known how long a run takes, that is said.

    It is known from the first run if that took long; else from those of the next second.
    """
    began = time.monotonic()
    first = next(parts)
    yield first
    seconds = alone = time.monotonic() - began
    runs, is_timed = 0, alone >= LOADING
    while not is_timed and (part := next(parts, None)):
        runs += len(part["tau"])
        elapsed = time.monotonic() - began - alone
        seconds, is_timed = elapsed * at_a_time / runs, elapsed >= 1.0
        yield part
    if is_timed and (words := foretold(seconds, int(first["tau"][0]))):
        say(words)
    yield from parts


def _foretold(
    name: str, reps: int, cores: int, has_compiled: bool, seconds: float, tau: int
) -> str:
    """About how long the runs of a Python class will take; nothing if that is not long.

    Args:
        name: of the strategy.
        reps, cores: how many runs, and how many at a time.
        has_compiled: whether the paper takes compiled steps.
        seconds: that a run takes.
        tau: pulls of the first run.

    Example:
        >>> _foretold("mine", 300, 2, True, 3.4, 68_000).partition(";")[0]
        'mine: about 9 min for 300 runs (the first: 68,000 pulls; 20,000 per second)'
    """
    whole = seconds * reps / min(cores, reps)
    if whole < PATIENCE:
        return ""
    long = f"{whole / 60:,.0f} min" if whole >= 90 else f"{whole:.0f} s"
    rate = f"the first: {tau:,} pulls; {tau / seconds:,.0f} per second"
    faster = "; compiled steps are faster: bestarm.Compiled, docs/adding-a-strategy.md"
    return f"{name}: about {long} for {reps:,} runs ({rate}){faster * has_compiled}"


def _parts(
    task: Task, replications: range, cores: int, advance: Callable[[int], None]
) -> Iterator[Columns]:
    """The runs of a task, chunk by chunk, in order."""
    if not _is_slow(task):
        if task.user_strategy is not None:
            run(task, range(1))  # compiles before there are threads
        work = partial(run, task)
        return _on_threads(work, _chunks(replications, CHUNK), cores, advance)
    # The first run alone, which tells how long the others will take.
    size = max(1, min(CHUNK, len(replications) // (4 * cores)))
    chunks = [replications[:1], *_chunks(replications[1:], size)]
    if cores == 1 or len(chunks) == 1 or sys.platform != "linux":
        return (run(task, chunk, partial(advance, 1)) for chunk in chunks)
    return _in_processes(task.cell.strategy, partial(run, task), chunks, cores, advance)


def _chunks(replications: range, size: int) -> list[range]:
    return [replications[a : a + size] for a in range(0, len(replications), size)]


def _on_threads(
    work: Callable[[range, Callable[[], None]], Columns],
    chunks: list[range],
    cores: int,
    advance: Callable[[int], None],
) -> Iterator[Columns]:
    """Compiled loops release the interpreter's lock."""
    with _heard() as interrupted:

        def tick() -> None:
            if interrupted.is_set():
                raise KeyboardInterrupt
            advance(1)

        with ThreadPoolExecutor(cores) as pool:
            try:
                jobs = [pool.submit(work, chunk, tick) for chunk in chunks]
                parts = [job.result() for job in jobs]
            except BaseException:
                interrupted.set()
                pool.shutdown(cancel_futures=True)
                raise
    yield from parts


@contextmanager
def _heard() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets. KeyboardInterrupt is raised when the context ends, not before.

    If it were raised while a pool holds one of its locks, the lock would never be released: the
    pool's threads would wait for the lock, and the pool for its threads. Work may read the event
    and end early. Nothing changes in threads other than the main one, or if Ctrl-C already has a
    handler of its own.
    """
    interrupted = threading.Event()
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupted
        return
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupted.is_set():
        raise KeyboardInterrupt


def _in_processes(
    name: str, work: Work, chunks: list[range], cores: int, advance: Callable[[int], None]
) -> Iterator[Columns]:
    """Python holds the lock, so runs are in processes.

    They are forks: they have whatever class there is, of a notebook or a script, as it is.

    Raises:
        InputError: this process may have none.
    """
    if multiprocessing.current_process().daemon:
        raise InputError(
            f"cores: must be 1 in a worker of multiprocessing, which may start no processes for "
            f"{name}; give cores=1"
        )
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(min(cores, len(chunks)), fork, _take, (work,))
    with _ended(pool):
        with _heard():
            jobs = [pool.submit(_do, chunk) for chunk in chunks]
        for chunk, job in zip(chunks, jobs, strict=True):
            try:
                part = job.result()
            except BrokenProcessPool:
                raise InputError(f"{name}: run {chunk[0]} or later: ended its process") from None
            advance(len(chunk))
            yield part


@contextmanager
def _ended(pool: ProcessPoolExecutor) -> Iterator[None]:
    """End the processes of a pool, at once if there is an error."""
    others = set(multiprocessing.active_children())
    try:
        yield
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _take(work: Work) -> None:
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its processes


def _do(chunk: range) -> Columns:
    assert _work is not None
    return _work(chunk)
