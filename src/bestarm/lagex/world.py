"""The ground truth of a simulation: it draws rewards and costs, and knows which limits break."""

from typing import Any, NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit

#: A constraint is broken by more than rounding, or by more than the sampling program's accuracy.
BROKEN, BROKEN_BY_SOLVER = 1e-9, 1e-3


class World(NamedTuple):
    """The ground truth, which simulations draw from and nothing writes to."""

    means: np.ndarray  # (K,)
    deviations: np.ndarray  # (K,)
    matrix: np.ndarray  # (d, K)
    limits: np.ndarray  # (d,)
    cost_sigma: float
    units: np.ndarray  # (1 + d,) that observations are divided by, see `Rules`
    bernoulli: bool = False  # whether rewards and costs are 0 or 1 (negative rows: -1)


@inlined
def breaks(world: World, weights: np.ndarray, slack: float) -> bool:
    """Whether the mean costs of some weights exceed a true limit by more than `slack` units."""
    for i in range(world.limits.size):
        total = -world.limits[i] - slack * world.units[1 + i]
        for a in range(weights.size):
            total += world.matrix[i, a] * weights[a]
        if total > 0.0:
            return True
    return False


@inlined
def in_units(world: World, observed: np.ndarray) -> np.ndarray:
    """A reward and costs as the strategy takes them, in place."""
    for i in range(world.units.size):
        observed[i] /= world.units[i]
    return observed


@inlined
def draw_counts(
    world: World, observed: np.ndarray, arm: int, pulls: float, environment: np.random.Generator
) -> None:
    """Sums of some rewards and costs that are 0 or 1; rows of lower limits are negative."""
    n = np.int64(pulls)
    observed[0] = environment.binomial(n, world.means[arm])
    for i in range(world.limits.size):
        count = environment.binomial(n, abs(world.matrix[i, arm]))
        observed[1 + i] = -count if world.matrix[i, arm] < 0.0 else count


@inlined
def draw(
    world: World, observed: np.ndarray, arm: int, environment: np.random.Generator
) -> np.ndarray:
    """A reward, then d costs, in `observed`, which is (1 + d,)."""
    if world.bernoulli:
        draw_counts(world, observed, arm, 1.0, environment)
        return in_units(world, observed)
    observed[0] = world.means[arm] + world.deviations[arm] * environment.standard_normal()
    for i in range(world.limits.size):
        observed[1 + i] = world.matrix[i, arm] + world.cost_sigma * environment.standard_normal()
    return in_units(world, observed)


@jit
def draw_new(world: World, s: Any, arm: int, environment: np.random.Generator) -> np.ndarray:
    """`draw` into a new array, for user strategies; their state does not matter."""
    return draw(world, np.empty(1 + world.limits.size), arm, environment)
