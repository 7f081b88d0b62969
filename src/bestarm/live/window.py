"""Results of trials that wait until they count: in the order of asking, each within a window."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple


class Waiting(NamedTuple):
    """A trial that was asked for and does not count yet.

    Example:
        >>> Waiting(arm=2, since=7.0, values=None).arm
        2
    """

    arm: int  # its index
    since: float | None  # when it was asked for; None once it was given up
    values: tuple[float, ...] | None  # what was told of it, if anything


class Window:
    """The trials that do not count yet, oldest first.

    A trial counts once all older ones do and it was told or given up, or its window has passed:
    then what was not told counts as `default`. docs/guarantees.md says why this order keeps a
    promise although results are late, or never come, because of their value.

    Args:
        length: of the window, in trials asked for later, or in the caller's unit of time.
        default: what counts for a trial without a result in time.

    Example:
        >>> window = Window(2.0, (0.0,))
        >>> for id in range(4):
        ...     window.add(id, index=0, since=id)
        >>> window.settle(1, (5.0,), now=2)
        True
        >>> [values for _, _, values in window.due(now=3)]  # the first has to be waited for
        [(0.0,), (5.0,)]
        >>> sorted(window.missed), sorted(window.waiting)
        ([0], [2, 3])
    """

    def __init__(self, length: float, default: tuple[float, ...]) -> None:
        self.length, self.default = length, default
        self.waiting: OrderedDict[int, Waiting] = OrderedDict()  # by trial
        self.counts: dict[int, int] = {}  # of them by the index of their arm, if there are any
        self.missed: dict[int, int] = {}  # arms by trial, of those that passed without a result

    def add(self, id: int, index: int, since: float | None) -> None:
        """A trial that was asked for."""
        self.waiting[id] = Waiting(index, since, None)
        self._add(index, 1)

    def _add(self, index: int, more: int) -> None:
        self.counts[index] = self.counts.get(index, 0) + more
        if not self.counts[index]:
            del self.counts[index]

    def settle(self, id: int, values: tuple[float, ...], now: float) -> bool:
        """What came of a trial; whether it came in time."""
        if self.missed.pop(id, None) is not None:
            return False
        since = self.waiting[id].since
        if since is None or now - since > self.length:
            self.give_up(id)
            return False
        self.waiting[id] = self.waiting[id]._replace(values=values)
        return True

    def give_up(self, id: int) -> None:
        """A trial that waits will never have a result."""
        self.waiting[id] = self.waiting[id]._replace(since=None)

    def told(self) -> int:
        """How many trials wait although they were told, for older ones."""
        return sum(trial.values is not None for trial in self.waiting.values())

    def due(self, now: float) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        """Id, arm and values of each trial that counts by now, in the order of asking; once."""
        while self.waiting:
            id, (index, since, values) = next(iter(self.waiting.items()))
            if values is None and since is not None:
                if now - since <= self.length:
                    return
                self.missed[id] = index
            del self.waiting[id]
            self._add(index, -1)
            yield id, index, self.default if values is None else values

    def to_json(self) -> dict[str, Any]:
        """The trials as JSON values."""
        return {
            "waiting": [[id, *trial] for id, trial in self.waiting.items()],
            "missed": [*map(list, self.missed.items())],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `to_json` gave."""
        self.missed = dict(state["missed"])
        for id, index, since, values in state["waiting"]:
            self.add(id, index, since)
            if values is not None:
                self.waiting[id] = self.waiting[id]._replace(values=tuple(values))
