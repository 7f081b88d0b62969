"""Jobs in fresh processes."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any


class Workers(Executor):
    """Run jobs in spawned processes, in the order in which they are submitted.

    Every process is a pool of one, driven by a thread of its own. So it can be replaced reliably:
    `max_tasks_per_child` of a larger pool can wait for ever
    (https://github.com/python/cpython/issues/115634). After an error jobs that are running go on
    to their end; those that have not begun have the same error.

    Args:
        processes: how many run at a time.
        per_process: jobs after which a process is replaced, for solvers that leak memory; None: it
            is not.

    Example:
        >>> with Workers(1) as workers:
        ...     workers.submit(int, "7").result()
        7
    """

    def __init__(self, processes: int, per_process: int | None = None):
        self._per_process = per_process
        self._threads = ThreadPoolExecutor(processes)
        self._mine = threading.local()
        self._pools: set[ProcessPoolExecutor] = set()
        self._error: BaseException | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        return self._threads.submit(self._do, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for pool in list(self._pools):
            pool.shutdown(wait, cancel_futures=cancel_futures)

    def _do(self, work: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        if self._error is not None:
            raise self._error
        try:
            return self._process().submit(work, *args, **kwargs).result()
        except BaseException as error:
            self._error = error
            raise

    def _process(self) -> ProcessPoolExecutor:
        """This thread's process, a new one after `per_process` jobs."""
        mine = self._mine
        if not hasattr(mine, "pool") or mine.jobs == self._per_process:
            if hasattr(mine, "pool"):
                mine.pool.shutdown()
                self._pools.remove(mine.pool)
            mine.pool, mine.jobs = ProcessPoolExecutor(1, multiprocessing.get_context("spawn")), 0
            self._pools.add(mine.pool)
        mine.jobs += 1
        return mine.pool
