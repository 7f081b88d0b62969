"""Arguments that all of LAGEX's ask/tell objects have, checked."""

from typing import Any

import numpy as np

from bestarm.core.arguments import numbers
from bestarm.core.inputs import InputError


def deviations_of(sigma: Any, n_arms: int, source: str) -> np.ndarray:
    """(K,) from one number or one of each arm. Raises InputError unless they are positive."""
    deviations = numbers(sigma, 1, source)
    if deviations.size not in (1, n_arms) or not (deviations > 0).all():
        raise InputError(
            f"{source}: must be positive, one number or {n_arms}, got {deviations.tolist()}"
        )
    return np.broadcast_to(deviations, n_arms).copy()
