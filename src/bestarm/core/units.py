"""Units in which kernels compute, so that absolute tolerances mean the same in every problem.

Whoever takes in a problem divides its rewards, its rows and its limits by such units, once. They
are powers of two, by which division is exact: results in other units have the same digits.
"""

import math

from bestarm.core.compile import inlined


@inlined
def power_of_two(size: float) -> float:
    """The largest power of two up to |size|; 1 for 0.

    Args:
        size: of what is measured, finite.

    Example:
        >>> power_of_two(0.7), power_of_two(-1.0), power_of_two(6.0), power_of_two(0.0)
        (0.5, 1.0, 4.0, 1.0)
    """
    if size == 0.0:
        return 1.0
    _, exponent = math.frexp(size)
    return math.ldexp(1.0, exponent - 1)
