"""Exact arithmetic for checks of certificates: fractions, and logarithms rounded up."""

import hashlib
import json
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from sys import float_info
from typing import Any

import numpy as np

DIGITS = Context(prec=50, rounding=ROUND_CEILING)
#: Numbers as fractions.
exact = np.vectorize(Fraction, otypes=[object])


def numbers(value: Any, *shape: int) -> bool:
    """Whether a value is a finite number, or lists of these of this shape."""
    if not shape:
        return type(value) in (int, float) and abs(value) <= float_info.max
    fits = type(value) is list and len(value) == shape[0]
    return fits and all(numbers(entry, *shape[1:]) for entry in value)


def names(value: Any, size: int) -> bool:
    """Whether a value is a list of distinct texts."""
    fits = type(value) is list and all(type(name) is str for name in value)
    return fits and len(value) == len(set(value)) == size


def ln_up(x: Fraction) -> Fraction:
    """An upper bound on ln x."""
    return Fraction(DIGITS.divide(x.numerator, x.denominator).ln(DIGITS).next_plus(DIGITS))


def fields_sha256(data: dict[str, Any]) -> str:
    """The hash of all fields but `sha256`."""
    rest = json.dumps({name: data[name] for name in data if name != "sha256"}, sort_keys=True)
    return hashlib.sha256(rest.encode()).hexdigest()
