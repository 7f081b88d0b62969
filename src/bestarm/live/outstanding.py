"""Trials that were asked for and have no result yet."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice


class Outstanding:
    """Trials by id, oldest first, with the index of their arm, however many in the same time.

    A dictionary's oldest entry is behind the places of all that were removed before it, hence
    `OrderedDict`.

    Args:
        trials: ids and indices of arms, oldest first.

    Example:
        >>> trials = Outstanding([(0, 2), (1, 5), (2, 2)])
        >>> trials.oldest(2, most=5), trials.counts
        ([0, 2], {2: 2, 5: 1})
        >>> trials.remove(0), next(iter(trials))
        (2, (1, 5))
    """

    def __init__(self, trials: Iterable[tuple[int, int]] = ()) -> None:
        self._arms: OrderedDict[int, int] = OrderedDict()
        self._ids: dict[int, OrderedDict[int, None]] = {}  # of an arm
        #: By the index of an arm how many trials of it there are, if any.
        self.counts: dict[int, int] = {}
        for id, index in trials:
            self.add(id, index)

    def __len__(self) -> int:
        return len(self._arms)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Ids and indices of arms, oldest first."""
        return iter(self._arms.items())

    def arm(self, id: int) -> int | None:
        """The index of a trial's arm; None if there is no such trial."""
        return self._arms.get(id)

    def oldest(self, index: int, most: int) -> list[int]:
        """The ids of the oldest trials of an arm, at most so many."""
        return [*islice(self._ids.get(index, ()), most)]

    def add(self, id: int, index: int) -> None:
        """A trial, which is the newest."""
        self._arms[id] = index
        self._ids.setdefault(index, OrderedDict())[id] = None
        self.counts[index] = self.counts.get(index, 0) + 1

    def remove(self, id: int) -> int | None:
        """Remove a trial, if there is such a one, and return the index of its arm."""
        index = self._arms.pop(id, None)
        if index is not None:
            del self._ids[index][id]
            self.counts[index] -= 1
            if not self.counts[index]:
                del self.counts[index], self._ids[index]
        return index
