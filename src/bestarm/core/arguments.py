"""Arguments of Python objects: checked one by one, with errors that name what is allowed."""

import math
import operator
from numbers import Real
from typing import Any

import numpy as np

from bestarm.core.inputs import InputError, short


def integer(value: Any) -> int | None:
    """A number of an integer type as an int, else None; True is no number."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def whole(value: Any, least: int, most: int | None, source: str) -> int:
    """A whole number between bounds. Raises InputError naming `source`."""
    found = integer(value)
    if found is None or found < least or (most is not None and found > most):
        limit = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{source}: must be a whole number {limit}, got {short(value)}")
    return found


def positive(value: Any, source: str) -> float:
    """A positive, finite number. Raises InputError naming `source`."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0.0 < number < math.inf:
        raise InputError(f"{source}: must be a positive number, got {short(value)}")
    return number


def numbers(value: Any, dimensions: int, source: str) -> np.ndarray:
    """Finite numbers as an array, not empty; one number is a vector of one.

    Raises:
        InputError: naming `source`, it is anything else.
    """
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    if array.ndim == 0 and dimensions == 1:
        array = array[None]
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        shape = "finite numbers" if dimensions == 1 else "vectors of equal length, finite numbers"
        raise InputError(f"{source}: must be {shape}, got {short(value)}")
    return array


def finite(number: Any) -> float:
    """A number as a float. Raises ValueError unless it is finite."""
    try:
        value = float(number)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"an observation must be a finite number, got {number!r}")
    return value
