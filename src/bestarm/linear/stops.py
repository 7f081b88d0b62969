"""Which stops of G, XY and XY-Oracle a run with wider intervals continues from (common/stops.py).

G, XY and XY-Oracle pull the same arms whatever the width of their intervals, and their readings
share the streams of rewards. A stopping rule that holds at C(n) also holds at any smaller C(n), so
a run with narrower intervals is the beginning of one with wider intervals, to the last bit.
"""

from typing import Any, NamedTuple

from bestarm.linear.confidence import Width
from bestarm.linear.least_squares import Fit


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
