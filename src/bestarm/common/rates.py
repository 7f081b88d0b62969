"""Observations that are 0 or 1, in place of Gaussian ones."""

from typing import Any, Literal

import numpy as np

#: How rewards, or all observations, are drawn in simulations.
Law = Literal["gaussian", "bernoulli"]


def check_rates(field: str, means: Any, what: str) -> None:
    """Raises ValueError naming the first of some means that is not from 0 to 1.

    Args:
        field: their name in messages.
        means: an array or nested lists.
        what: the field that says "bernoulli".
    """
    for place, mean in np.ndenumerate(np.array(means, dtype=float)):
        if not 0.0 <= mean <= 1.0:
            where = ".".join(str(index + 1) for index in place)
            raise ValueError(
                f"{field}.{where}: must be from 0 to 1 if {what} are bernoulli, got {mean:g}"
            )
