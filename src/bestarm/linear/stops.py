"""Records of where runs stopped, so that runs with wider intervals continue from there.

G, XY and XY-Oracle pull the same arms whatever the width of their intervals, and their readings
share the streams of rewards. A stopping rule that holds at C(n) also holds at any smaller C(n), so
a run with narrower intervals is the beginning of one with wider intervals, to the last bit.
"""

import threading
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from bestarm.linear.allocation import StaticSequence
from bestarm.linear.confidence import Width
from bestarm.linear.least_squares import Fit

#: Streams of one sequence whose runs are kept; a shard has at most 100 replications.
MOST = 256


class Stop(NamedTuple):
    """A run under some width when it stopped or reached its cap."""

    width: Width
    n: int  # pulls
    fit: Fit  # of its own
    stream: dict[str, Any]  # state of the generator of rewards


def at_most(narrow: Width, wide: Width) -> bool:
    """Whether C(n) of one width is certainly at most that of another, at every n >= 1.

    C is bias + sqrt(scale base + scale growth log(offset + slope n)). If both widths grow, offset
    and slope must agree, and the logarithms of a growing one must not be negative. Without growth,
    offset and slope have no effect.
    """
    same = narrow.offset == wide.offset and narrow.slope == wide.slope
    return (
        narrow.bias <= wide.bias
        and narrow.scale * narrow.base <= wide.scale * wide.base
        and narrow.scale * narrow.growth <= wide.scale * wide.growth
        and (narrow.growth == 0.0 or same)
        and (wide.growth == 0.0 or wide.offset + wide.slope >= 1.0)
    )


class Stops:
    """A thread-safe record of stops by sequence; they last as long as the sequence."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found = WeakKeyDictionary[StaticSequence, dict[tuple, list[Stop]]]()

    def last_before(self, sequence: StaticSequence, key: tuple, width: Width) -> Stop | None:
        """The latest stop under intervals that are at most as wide; `key` names run and truth."""
        with self._lock:
            stops = self._found.get(sequence, {}).get(key, [])
            earlier = [stop for stop in stops if at_most(stop.width, width)]
        return max(earlier, key=lambda stop: stop.n, default=None)

    def keep(self, sequence: StaticSequence, key: tuple, stop: Stop) -> None:
        """Record a stop."""
        with self._lock:
            by_key = self._found.setdefault(sequence, {})
            by_key.setdefault(key, []).append(stop)
            while len(by_key) > MOST:
                del by_key[next(iter(by_key))]
