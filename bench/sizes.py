"""The largest problem that every strategy starts on: made and asked once, its kernels compiled."""

import json
import os
import resource
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.inputs import InputError

#: Numbers of arms that are tried, in this order.
ARMS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
#: What a start may take: seconds of processor time, and bytes of memory.
MOST_SECONDS, MOST_BYTES = 1.0, 10**9


class Start(NamedTuple):
    """How a start ended."""

    seconds: float  # of processor time
    peak: float  # MB that it added to those of the process
    why_not: str = ""  # what stopped it, if anything


class Starts(NamedTuple):
    """A strategy by number of arms."""

    paper: str
    strategy: str  # the name of its class
    at: str  # the other sizes
    make: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]  # its arguments, by number of arms
    named: dict[str, Any]  # the others

    def start(self, n_arms: int) -> None:
        """Make the strategy and ask for the first pull."""
        self.make(*self.arguments(n_arms), **self.named).ask()


def measured(paper: str) -> list[tuple[str, int, Start, str]]:
    """Of each strategy the largest number of arms that it starts on, how, and why not on more."""
    return [
        (f"{starts.paper}: {starts.strategy}: {starts.at}", *largest(starts))
        for starts in STARTS[paper](import_module(f"bestarm.{paper}"))
    ]


def largest(starts: Starts) -> tuple[int, Start, str]:
    """The largest number of arms that a strategy starts on, how, and why not on more."""
    starts.start(4)  # loads kernels
    most, how = 0, Start(0.0, 0.0)
    for n_arms in ARMS:
        start = in_a_fork(starts, n_arms)
        if start.why_not:
            return most, how, f"{n_arms:,}: {start.why_not}"
        most, how = n_arms, start
    return most, how, ""


def in_a_fork(starts: Starts, n_arms: int) -> Start:
    """`limited` in a forked process, which has the compiled kernels of this one."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        with os.fdopen(writer, "w") as out:
            json.dump(limited(starts, n_arms), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        answer = told.read()
    os.waitpid(child, 0)
    return Start(*json.loads(answer)) if answer else Start(np.inf, np.inf, took_longer())


def limited(starts: Starts, n_arms: int) -> Start:
    """Start with limits on this process's memory and processor time."""
    with Path("/proc/self/statm").open() as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (2 * int(MOST_SECONDS), 4 * int(MOST_SECONDS)))
    before, why_not = resource.getrusage(resource.RUSAGE_SELF), ""
    try:
        starts.start(n_arms)
    except MemoryError:
        why_not = f"more than {MOST_BYTES / 1e9:g} GB"
    except InputError as error:
        why_not = f"refused ({error})"
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if seconds > MOST_SECONDS and not why_not:
        why_not = took_longer()
    return Start(seconds, (after.ru_maxrss - before.ru_maxrss) / 1024, why_not)


def took_longer() -> str:
    return f"more than {MOST_SECONDS:g} s"


def of_baics(module: Any) -> Iterator[Starts]:
    for name in module.__all__:
        make = getattr(module, name)
        yield Starts("baics", name, "L = 3", make, lambda k: (k, [0.5, 0.3, 0.2]), {})


def of_linear(module: Any) -> Iterator[Starts]:
    more = {"LinGapE": {"norm": 1.0}, "XYOracle": {"theta": [1.0, 0.0, 0.0, 0.0, 0.0]}}
    for name in module.__all__:
        named = more.get(name, {})
        yield Starts("linear", name, "d = 5", getattr(module, name), vectors, named)


def vectors(n_arms: int) -> tuple[np.ndarray]:
    """(n_arms, 5) unit vectors drawn uniformly."""
    arms = np.random.default_rng(n_arms).normal(size=(n_arms, 5))
    return (arms / np.linalg.norm(arms, axis=1, keepdims=True),)


def of_delayed(module: Any) -> Iterator[Starts]:
    for name in module.__all__:
        named = {"sigma": 1.0} | ({} if name == "Full" else {"sigma_p": 1.0})
        yield Starts("delayed", name, "b = 1", getattr(module, name), lambda n: (n,), named)


def of_cbmai(module: Any) -> Iterator[Starts]:
    for name in module.__all__:
        make = getattr(module, name)
        yield Starts("cbmai", name, "L = 1", make, lambda k: (k, [0.5], 100 * k), {})


def of_lagex(module: Any) -> Iterator[Starts]:
    for name in module.__all__:
        first = costs if name in ("CTnS", "CGE") else int
        make = getattr(module, name)
        yield Starts("lagex", name, "d = 1", make, lambda k, first=first: (first(k), [0.5]), {})


def costs(n_arms: int) -> list[list[float]]:
    """(1, n_arms) mean costs."""
    return [np.linspace(0.0, 1.0, n_arms).tolist()]


def of_bai(module: Any) -> Iterator[Starts]:
    for name in module.__all__:
        named = {"top": 1} if name == "TopK" else {}
        yield Starts("bai", name, "Bernoulli", getattr(module, name), lambda k: (k,), named)


STARTS = {
    "baics": of_baics,
    "linear": of_linear,
    "delayed": of_delayed,
    "cbmai": of_cbmai,
    "lagex": of_lagex,
    "bai": of_bai,
}
