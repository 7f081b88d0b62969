"""Arguments of Python objects: checked one by one, with errors that name what is allowed."""

import math
import operator
from numbers import Real
from typing import Any

import numpy as np

from bestarm.core.inputs import LARGEST, MOST_PULLS, SIZES, SMALLEST, InputError, short
from bestarm.core.plain import ordinary


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
    number = integer(value)
    if number is None or number < least or (most is not None and number > most):
        limit = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{source}: must be a whole number {limit}, got {short(value)}")
    return number


def sized(value: Any) -> bool:
    """Whether numbers are 0 or of an allowed size, see `SIZES`."""
    sizes = np.abs(value)
    return bool(((sizes == 0) | ((sizes >= SMALLEST) & (sizes <= LARGEST))).all())


def positive(value: Any, source: str) -> float:
    """A positive number of an allowed size. Raises InputError naming `source`."""
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # an integer beyond all floats
            number = math.inf
    if not number > 0.0:
        raise InputError(f"{source}: must be a positive number, got {short(value)}")
    if not sized(number):
        raise InputError(f"{source}: must be {SIZES}, got {short(value)}")
    return number


def numbers(value: Any, dimensions: int, source: str) -> np.ndarray:
    """Numbers of an allowed size as an array, not empty; one number is a vector of one.

    Raises:
        InputError: naming `source`, it is anything else.
    """
    try:
        array = np.array(ordinary(value), dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.array(math.nan)
    if array.ndim == 0 and dimensions == 1:
        array = array[None]
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        shape = "finite numbers" if dimensions == 1 else "vectors of equal length, finite numbers"
        raise InputError(f"{source}: must be {shape}, got {short(value)}")
    if not sized(array):
        raise InputError(f"{source}: must be {SIZES}, got {short(value)}")
    return array


def finite(number: Any) -> float:
    """A number as a float. Raises ValueError unless it is finite."""
    try:
        value = float(number)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"an observation must be a finite number, got {short(number)}")
    return value


def observed(number: Any, name: str, pulls: int = 1) -> float:
    """What one pull gave, or the sum over several. Raises ValueError naming it if it is too large.

    Without such a limit sums overflow, and two rewards end an experiment for good.
    """
    value = finite(number)
    if abs(value) > pulls * LARGEST:
        each = " per pull" if pulls > 1 else ""
        raise ValueError(f"{name} must be of size at most {LARGEST:g}{each}, got {number!r}")
    return value


def several_pulls(pulls: float) -> int:
    """A number of pulls that were told together. Raises ValueError unless it is one."""
    if not (1 <= pulls <= MOST_PULLS and int(pulls) == pulls):
        raise ValueError(f"pulls must be a positive integer, at most {MOST_PULLS:.0e}, got {pulls}")
    return int(pulls)
