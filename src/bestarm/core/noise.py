"""Noise that breaks assumptions, in place of a generator's standard normals."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload_method

from bestarm.core.compile import jit
from bestarm.core.normals import STAND_INS


class DisturbedGenerator(NamedTuple):
    """A stand-in for a Generator in simulations, whose standard normals are something else.

        scale T + swing sin(2 pi n / period) + week w(n) + trend r(n)

    for the n-th of them, T normal or t with 3 degrees of freedom over its standard deviation; w is
    0.4 for the first five sevenths of a period and -1 for the others, so 0 on average; r rises from
    -1/2 to 1/2 during the first `period` of them and then stays.

    Example:
        >>> twice = DisturbedGenerator(np.random.default_rng(0), np.zeros(1), scale=2.0)
        >>> twice.standard_normal() == 2.0 * np.random.default_rng(0).standard_normal()
        True
    """

    generator: np.random.Generator
    drawn: np.ndarray  # (1,) n so far
    scale: float = 1.0
    heavy: bool = False
    swing: float = 0.0
    period: float = 1000.0
    week: float = 0.0
    trend: float = 0.0

    @property
    def bit_generator(self) -> "DisturbedGenerator":
        """Itself, as far as a bit generator is what has a `state`."""
        return self

    @property
    def state(self) -> dict[str, Any]:
        """The generator's state and n, so that a run can be repeated with the same noise."""
        return {"generator": self.generator.bit_generator.state, "drawn": float(self.drawn[0])}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self.generator.bit_generator.state = state["generator"]
        self.drawn[0] = state["drawn"]

    def permutation(self, n: int) -> np.ndarray:
        return self.generator.permutation(n)

    def standard_normal(self) -> float:
        return disturbed_normal(self)


@jit
def disturbed_normal(noise: DisturbedGenerator) -> float:
    """The next number, see `DisturbedGenerator`."""
    noise.drawn[0] += 1.0
    if noise.heavy:
        value = noise.generator.standard_t(3.0) / math.sqrt(3.0)
    else:
        value = noise.generator.standard_normal()
    return noise.scale * value + shift(noise, noise.drawn[0])


@jit
def shift(noise: DisturbedGenerator, n: float) -> float:
    """The part of the n-th number that is not random."""
    periods = n / noise.period
    value = noise.swing * math.sin(2.0 * math.pi * periods)
    if noise.week != 0.0:
        value += noise.week * (0.4 if 7.0 * (periods % 1.0) < 5.0 else -1.0)
    return value + noise.trend * (min(periods, 1.0) - 0.5)


@jit
def shifts(noise: DisturbedGenerator, count: int) -> np.ndarray:
    """(count,) the same of the next numbers."""
    values = np.empty(count)
    for i in range(count):
        values[i] = shift(noise, noise.drawn[0] + 1.0 + i)
    return values


STAND_INS[DisturbedGenerator] = disturbed_normal


@overload_method(types.NamedTuple, "random")
def _random(self):
    if self.instance_class is DisturbedGenerator:
        return lambda self: self.generator.random()
    return None


@overload_method(types.NamedTuple, "integers")
def _integers(self, low, high):
    if self.instance_class is DisturbedGenerator:
        return lambda self, low, high: self.generator.integers(low, high)
    return None


@overload_method(types.NamedTuple, "binomial")
def _binomial(self, n, p):
    if self.instance_class is DisturbedGenerator:
        return lambda self, n, p: self.generator.binomial(n, p)
    return None
