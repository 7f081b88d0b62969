"""What the running pulls of each arm tell, kept up to date report by report."""

import math

#: Bits of a float's mantissa; the largest number of places behind the point that it may have.
MANTISSA, PLACES = 53, 1127
#: One, in the unit in which sums are whole numbers.
ONE = 1 << PLACES


class RunningSums:
    """By arm the sums of w and of w times the estimate over its running pulls (`mixture.py`).

    A report changes them in constant time. They are exact, so they depend neither on the order of
    reports nor on what was taken out again, and a saved race goes on with the same bits.

    Args:
        n_arms: n.

    Example:
        >>> sums = RunningSums(n_arms=2)
        >>> sums.put(slot=7, arm=1, worth=0.5, weighted=1e16)
        >>> sums.put(slot=8, arm=1, worth=0.25, weighted=1.0)
        >>> sums.remove(7)
        >>> sums.of(1)
        (0.25, 1.0)
    """

    def __init__(self, n_arms: int) -> None:
        self._totals = [(0, 0)] * n_arms
        self._pulls: dict[int, tuple[int, int, int]] = {}  # arm, and what a slot's pull adds

    def put(self, slot: int, arm: int, worth: float, weighted: float) -> None:
        """What the pull in a slot tells now, in place of before."""
        self.remove(slot)
        self._pulls[slot] = arm, whole(worth), whole(weighted)
        self._add(slot, 1)

    def remove(self, slot: int) -> None:
        """The pull in a slot has ended, or never told anything."""
        if slot in self._pulls:
            self._add(slot, -1)
            del self._pulls[slot]

    def of(self, arm: int) -> tuple[float, float]:
        """Both sums of an arm."""
        worth, weighted = self._totals[arm]
        return worth / ONE, weighted / ONE

    def _add(self, slot: int, times: int) -> None:
        arm, worth, weighted = self._pulls[slot]
        before = self._totals[arm]
        self._totals[arm] = before[0] + times * worth, before[1] + times * weighted


def whole(x: float) -> int:
    """A finite float as a whole number of 1 / ONE.

    Example:
        >>> whole(0.75) * 4 == 3 * ONE
        True
    """
    mantissa, exponent = math.frexp(x)
    return int(math.ldexp(mantissa, MANTISSA)) << PLACES - MANTISSA + exponent
