"""Arguments that all of LAGEX's ask/tell objects have, checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bestarm.core.arguments import numbers
from bestarm.core.inputs import InputError


def limits_of(limits: Any, source: str) -> tuple[list[str], np.ndarray]:
    """Names and values of limits that are given as numbers or by name. Raises InputError."""
    named = isinstance(limits, Mapping)
    at_most = numbers(list(limits.values()) if named else limits, 1, source)
    return list(limits) if named else [f"cost {i + 1}" for i in range(at_most.size)], at_most


def deviations_of(sigma: Any, n_arms: int, source: str) -> np.ndarray:
    """(K,) from one number or one of each arm. Raises InputError unless they are positive."""
    deviations = numbers(sigma, 1, source)
    if deviations.size not in (1, n_arms) or not (deviations > 0).all():
        raise InputError(
            f"{source}: must be positive, one number or {n_arms}, got {deviations.tolist()}"
        )
    return np.broadcast_to(deviations, n_arms).copy()
