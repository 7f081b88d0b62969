"""When the certificate closes if all estimates equal the truth, for fixed allocations.

This is what a run without noise takes. It tells what an allocation, or a part of the bound, costs;
`times.py` keeps a table of it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bestarm.lagex.certified.cone import best_safe_policy, make_cone_solver
from bestarm.lagex.certified.confidence import ConfidenceSet, make_confidence_set, set_radii
from bestarm.lagex.certified.pieces import largest_shortfall, make_pieces, worst_of_box
from bestarm.lagex.certified.runs import play
from bestarm.lagex.certified.state import Rules
from bestarm.lagex.certified.steps import ACCURACY
from bestarm.lagex.kernel_problem import Problem
from bestarm.lagex.vertices import constraint_rows
from bestarm.lagex.world import World

#: Relative accuracy of times, and the factor by which a guess is widened.
CLOSE, WIDER = 1e-3, 1.2
#: Evaluations of the search for an allocation, and its least share of an arm.
MOST_EVALUATIONS, LEAST = 400, 1e-5
#: Latest time.
NEVER = 1e15


class Parts(NamedTuple):
    """Which parts of the bound are counted."""

    union: bool = True  # delta is shared by rewards and each row of costs
    mixture: bool = True  # the bound holds at all times, for all arms
    split: bool = True  # the simplex is split into pieces, else there is the box alone
    unsure: bool = True  # alternatives may be feasible by the bounds, else by the estimates


COMPLETE = Parts()
#: What is switched off in turn, by names for people.
WITHOUT = {
    "the union bound": Parts(union=False),
    "the mixture": Parts(mixture=False),
    "the alternatives' cost doubt": Parts(unsure=False),
    "splitting of the box": Parts(split=False),
}


class Certificate:
    """The certificate of an instance whose estimates equal the truth.

    Args:
        problem: the instance.
        rules: of Certified.
        parts: of the bound.
    """

    def __init__(self, problem: Problem, rules: Rules, parts: Parts = COMPLETE) -> None:
        d, k = problem.matrix.shape
        level = rules.level if parts.union else rules.level - math.log(1.0 + d)
        self.rules, self.parts = rules._replace(level=level), parts
        self._cone, self._pieces = make_cone_solver(k, d), make_pieces(k, d)
        self._buffer = np.zeros(k)
        reward, costs = rules.units[0], rules.units[1:, None]
        rows = constraint_rows(problem.matrix, problem.limits) / costs
        self._seen = make_confidence_set(k, d)._replace(means=problem.means / reward, rows=rows)

    def closes(self, pulls: np.ndarray) -> bool:
        """Whether a run with these pulls stops."""
        rules, seen = self.rules, self._set_radii(pulls)
        if not best_safe_policy(seen, rules.eps, ACCURACY * rules.r, self._cone):
            return False
        policy = self._cone.x[:-1].copy()
        if not self.parts.unsure:
            seen = seen._replace(u=1e-12 * seen.u)
        if worst_of_box(seen, policy, self._pieces, self._buffer) <= rules.r:
            return True
        return self.parts.split and largest_shortfall(seen, policy, rules.r, self._pieces) < np.inf

    def _set_radii(self, pulls: np.ndarray) -> ConfidenceSet:
        rules, seen = self.rules, self._seen
        set_radii(pulls, rules.level, rules.n0, rules.variances, rules.cost_variance, 0.0, seen)
        if not self.parts.mixture:
            for radii, variance in ((seen.h, rules.variances), (seen.u, rules.cost_variance)):
                radii[:] = 2.0 * rules.level * variance / pulls
        return seen

    def time(self, omega: np.ndarray, guess: float = 1e4) -> float:
        """The first time at which the certificate closes with pulls in these shares.

        Args:
            omega: (K,) positive, summing to 1.
            guess: where to look first.
        """
        low = high = guess
        while not self.closes(high * omega) and high < NEVER:
            low, high = high, WIDER * high
        while low == high or self.closes(low * omega):
            low, high = low / WIDER, low
        while high > (1.0 + CLOSE) * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.closes(middle * omega) else (middle, high)
        return high


def noiseless(problem: Problem, rules: Rules) -> tuple[float, np.ndarray]:
    """The time and the shares of pulls of a run without noise."""
    no_noise = np.zeros(problem.means.size)
    world = World(problem.means, no_noise, problem.matrix, problem.limits, 0.0, rules.units)
    pulls = play(world, rules, int(NEVER), np.random.default_rng(0)).pulls
    return float(pulls.sum()), pulls / pulls.sum()


class FixedAllocation(NamedTuple):
    """A fixed allocation, and when the certificate closes with it."""

    time: float
    omega: np.ndarray


def best_fixed(problem: Problem, rules: Rules) -> FixedAllocation:
    """The allocation that closes the certificate first, by a local search from that of a run.

    Its time is an upper bound on the least: the search may end in a local minimum.
    """
    certificate, (guess, shares) = Certificate(problem, rules), noiseless(problem, rules)
    best = FixedAllocation(certificate.time(shares, guess), shares)

    def logarithm(logits: np.ndarray) -> float:
        nonlocal best
        omega = np.exp(logits - logits.max()) + LEAST
        omega /= omega.sum()
        candidate = FixedAllocation(certificate.time(omega, best.time), omega)
        best = min(best, candidate, key=lambda allocation: allocation.time)
        return math.log(candidate.time)

    for _ in range(2):  # a new simplex gets the search out of a degenerate one
        options: Any = {"maxfev": MOST_EVALUATIONS, "xatol": 1e-2, "fatol": CLOSE}
        minimize(logarithm, np.log(best.omega + LEAST), method="Nelder-Mead", options=options)
    return best
