"""Records of where runs stopped, so that runs with a stricter stopping rule continue from there.

Where sampling does not look at the stopping rule, a run with one rule is the beginning of the run
with any stricter one, to the last bit. So a cell whose rule is looser is simulated first.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

#: Runs that are kept per owner: more than a shard simulates between a looser rule and a stricter
#: one that goes on from it.
MOST = 512


class Stopped(Protocol):
    """A run when it stopped or reached its cap."""

    @property
    def n(self) -> int:
        """Its pulls."""
        ...


S = TypeVar("S", bound=Stopped)


class Stops(Generic[S]):
    """A thread-safe record of stops. `owner` is an object that all of these runs use; their record
    lasts as long as it does, and `key` names the run.

    Example:
        >>> from types import SimpleNamespace
        >>> class Owner: ...
        >>> stops, owner = Stops(), Owner()
        >>> stops.keep(owner, "run 3", SimpleNamespace(n=70, delta=0.1))
        >>> stops.last_before(owner, "run 3", lambda stop: stop.delta >= 0.05).n
        70
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found = WeakKeyDictionary[Any, dict[Hashable, list[S]]]()

    def last_before(self, owner: Any, key: Hashable, looser: Callable[[S], bool]) -> S | None:
        """The latest stop of a run under a rule that is `looser`; None if there is none."""
        with self._lock:
            stops = list(self._found.get(owner, {}).get(key, ()))
        return max(filter(looser, stops), key=lambda stop: stop.n, default=None)

    def keep(self, owner: Any, key: Hashable, stop: S) -> None:
        """Record a stop; the oldest runs are forgotten."""
        with self._lock:
            by_key = self._found.setdefault(owner, {})
            by_key.setdefault(key, []).append(stop)
            while len(by_key) > MOST:
                del by_key[next(iter(by_key))]
