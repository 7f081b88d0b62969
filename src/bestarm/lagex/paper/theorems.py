"""Theorems 1 to 4, Proposition 1 and the bound of Appendix H.1, computed on the paper's instances.

What a statement says is equal is a ratio, which is 1 if it holds. Alternatives are those of
Eq. (5), lambda . pi' - r > lambda . pi: the nearest is the cheapest over all vertices pi'.
"""

import math

import numpy as np
import pandas as pd

from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import assemble, cell_rows
from bestarm.core.estimates import Estimate, exact
from bestarm.lagex.kernel_problem import Problem
from bestarm.lagex.paper.allocation import best_allocation, information
from bestarm.lagex.paper.bounds import constraint_rows, known_time, least_slack
from bestarm.lagex.paper.confidence import radius
from bestarm.lagex.problem import EASIER, HARD, TOLERANCE, Instance, setup1
from bestarm.lagex.vertices import Alternatives, alternatives, every_alternative, nonempty

#: By how much limits are relaxed: for Theorem 1, and in the limit of Theorem 2.
SHIFT, SMALL = 0.05, 1e-6
#: A change of the means that Theorem 3 asks to change 1/T little.
MOVE = 1e-6
#: Of strategies in setup 1 (recovered).
DELTA = 0.01


def alternative_costs(problem: Problem, rivals: Alternatives, r: float) -> np.ndarray:
    """(V, K) 2 sigma_a^2 v_a^2 / (gap_v + r)^2: D(omega) = 1 / max_v sum_a costs_va / omega_a."""
    return 2.0 * problem.variances * (rivals.steps / (rivals.gaps + r)[:, None]) ** 2


def all_costs(problem: Problem, r: float) -> np.ndarray:
    """`alternative_costs` all vertices other than the best: what Eq. (5) defines."""
    rivals = nonempty(every_alternative(problem.means, problem.matrix, problem.limits))
    return alternative_costs(problem, rivals, r)


def printed_costs(problem: Problem, r: float) -> np.ndarray:
    """As `alternative_costs`, with (r - gap)^2: what Proposition 1 and Theorem 4 print."""
    rivals = nonempty(alternatives(problem.means, problem.matrix, problem.limits, -1.0))
    return alternative_costs(problem, rivals, -r)


def uniform_information(costs: np.ndarray) -> float:
    """D at the uniform allocation."""
    k = costs.shape[1]
    return information(costs, len(costs), np.full(k, 1.0 / k))


def relaxed(problem: Problem, shift: float) -> Problem:
    """The instance whose limits are larger by a shift: its policies are the optimistic set."""
    return problem._replace(limits=problem.limits + shift)


def duality_ratio(problem: Problem) -> float:
    """An upper bound on the left side of Eq. (7) over its right side, r = 0, shift SHIFT.

    Both have the alternatives of the optimistic set. The left side's minimum over the matrices of
    the ellipsoid is at most its value for the most pessimistic one, A + SHIFT, and with one matrix
    the infimum over multipliers makes its constraint a hard one; the right side has A - SHIFT.
    """
    costs = all_costs(relaxed(problem, SHIFT), 0.0)
    left, right = (
        best_allocation(costs, constraint_rows(problem, shift)).value for shift in (-SHIFT, SHIFT)
    )
    return left / right


def spread_of_alternatives(problem: Problem, r: float) -> float:
    """The largest difference of an entry between cheapest alternatives, uniform allocation."""
    rivals = nonempty(every_alternative(problem.means, problem.matrix, problem.limits))
    costs = alternative_costs(problem, rivals, r).sum(axis=1)
    sizes = (rivals.steps**2).sum(axis=1, keepdims=True)
    nearest = problem.means + (rivals.gaps + r)[:, None] * rivals.steps / sizes
    cheapest = nearest[costs >= costs.max() * (1.0 - 1e-9)]
    return float(np.ptp(cheapest, axis=0).max())


def largest_jump(problem: Problem) -> float:
    """The largest relative change of 1/T if a mean changes by MOVE, r = TOLERANCE."""
    here = 1.0 / known_time(problem, TOLERANCE).time
    moved = (
        problem._replace(means=problem.means + MOVE * direction)
        for direction in np.eye(len(problem.means))
    )
    return max(
        abs(1.0 / known_time(moved_problem, TOLERANCE).time - here) / here
        for moved_problem in moved
    )


def violations(instance: Instance) -> list[Estimate]:
    """The largest violation that any allocation can have, and the bound of H.1 on its mean.

    The bound grows with E tau; it is taken at the fewest pulls, one of every arm.
    """
    problem = instance.problem
    d, k = problem.matrix.shape
    rows = constraint_rows(problem)
    policy = nonempty(every_alternative(problem.means, problem.matrix, problem.limits)).policy
    width = radius(k * math.log(2.0), k, DELTA)
    bound = math.sqrt(2.0 * d * width**2 * math.log(1.0 + (1.0 + k) / d))
    return [
        exact("largest_violation", "", float(rows.max())),
        exact("violation_bound", "", bound - max(least_slack(policy, rows), 0.0)),
    ]


def unconstrained(means: list[float]) -> Problem:
    """Arms of these means and of unit variance; the only constraint, sum pi <= 2, holds always."""
    k = len(means)
    return Problem(np.array(means), np.ones(k), np.ones((1, k)), np.array([2.0]), 1.0)


def theorems(sources: Sources) -> pd.DataFrame:
    """All of it, on the hard and the easy environment of setup 1, and a counterexample."""
    rows = []
    for name in (setup1(third).name for third in (HARD, EASIER)):
        instance = Instance(**sources.instances[name]["instance"])
        problem = instance.problem
        estimates = [exact("sides_ratio:theorem 1", "", duality_ratio(problem))]
        estimates += [exact("largest_jump", "", largest_jump(problem)), *violations(instance)]
        rows += cell_rows(Cell(name, "truth", {}, "exact"), estimates)
        for r in (0.0, TOLERANCE):
            rows += cell_rows(Cell(name, "truth", {}, "exact", x_name="r", x=r), ratios(problem, r))
    spread = spread_of_alternatives(unconstrained([1.0, 0.5, 0.5]), 0.0)
    estimates = [exact("alternative_spread", "reward", spread)]
    return assemble(rows, cell_rows(Cell("two equal rivals", "truth", {}, "exact"), estimates))


def ratios(problem: Problem, r: float) -> list[Estimate]:
    """What Theorem 2, Proposition 1 and Theorem 4 say is equal, as ratios."""
    definition, printed = all_costs(problem, r), printed_costs(problem, r)
    near = uniform_information(all_costs(relaxed(problem, SMALL), r))
    anywhere = np.zeros((0, len(problem.means)))
    best = [best_allocation(costs, anywhere).value for costs in (printed, definition)]
    return [
        exact("sides_ratio:theorem 2", "", near / uniform_information(definition)),
        exact(
            "sides_ratio:proposition 1",
            "",
            uniform_information(printed) / uniform_information(definition),
        ),
        exact("sides_ratio:theorem 4", "", best[0] / best[1]),
    ]
