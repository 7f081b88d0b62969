"""Rules of Certified, and runs whose blocks are drawn as sums."""

from math import comb, log, sqrt
from typing import NamedTuple

import numpy as np
from pydantic import Field

from bestarm.core.compile import jit
from bestarm.core.inputs import Input, InputError, Scale, Tolerance
from bestarm.core.units import power_of_two
from bestarm.lagex.certified.state import TIME, UNCLOSED, UNSAFE, VERDICT, Rules, State
from bestarm.lagex.certified.steps import STEPS, done, estimate, observe, pull_sums
from bestarm.lagex.vertices import best_support, find_best, load
from bestarm.lagex.world import World

#: By strategy, whether it allocates as `allocation.py` says, else uniformly.
ADAPTIVE = {"Certified": True, "Certified-Uniform": False}
#: Most sets of d + 1 of K + d columns; all of them are solved before a run stops.
MOST_SETS = 50_000


class Options(Input):
    """Options of Certified."""

    eps: Tolerance = Field(default=0.0, description="tolerance of limits")
    directed: float = Field(default=0.0, ge=0.0, lt=1.0, description="share of directed sums")
    n0: Scale | None = Field(default=None, description="prior weight in pulls; else by r")


def make_rules(
    strategy: str,
    delta: float,
    r: float,
    options: Options,
    variances: np.ndarray,
    cost_sigma: float,
    limits: np.ndarray,
) -> Rules:
    """The rules of a strategy, in units that are powers of two near the standard deviations.

    n0 is by default the number of pulls after which the standard error of a mean reward is r / 2.
    Then N / n0, which the threshold grows with, is between 1 and 100 for the arms that matter.

    Args:
        strategy: in ADAPTIVE.
        delta: maximum probability of a wrong answer.
        r: tolerance of the answer's mean reward.
        options: of the strategy.
        variances: (K,) of rewards. cost_sigma: standard deviation of costs. limits: (d,) b.

    Raises:
        InputError: r is 0, or there are too many arms and constraints.
    """
    k, d = variances.size, limits.size
    if not r > 0.0:
        raise InputError(f"r: must be greater than 0 for {strategy}, got {r:g}")
    if (sets := comb(k + d, d + 1)) > MOST_SETS:
        raise InputError(
            f"arms, constraints: {strategy} would have to solve {sets:,} vertices, at most "
            f"{MOST_SETS:,}"
        )
    reward, cost = power_of_two(sqrt(variances.max())), power_of_two(cost_sigma)
    return Rules(
        adaptive=ADAPTIVE[strategy],
        level=log((1.0 + d) / delta),
        r=r / reward,
        eps=options.eps / cost,
        n0=options.n0 or max(1.0, 4.0 * float(variances.max()) / r**2),
        directed=options.directed,
        variances=variances / reward**2,
        cost_variance=(cost_sigma / cost) ** 2,
        limits=limits / cost,
        units=np.append(reward, np.full(d, cost)),
    )


class Result(NamedTuple):
    """What the row of a run needs."""

    time: int
    verdict: int
    broken: np.ndarray  # (2,) pulls whose safe policy, and whose allocation, violates a true limit
    unsafe: int  # pulls before a safe policy was found
    unclosed: int  # checks that more pieces of the simplex might have passed
    policy: np.ndarray  # (K,) the safe policy found last; uniform before
    support: np.ndarray  # (K + d,) of the best policy by the estimates, see `best_support`
    pulls: np.ndarray  # (K,)


@jit
def play_blocks(
    world: World, rules: Rules, s: State, cap: int, environment: np.random.Generator
) -> bool:
    """A run whose blocks are drawn as sums; whether it ended before a block beyond the cap."""
    while not done(rules, s):
        left = 0.0
        for a in range(s.owed.size):
            left += s.owed[a]
        if s.counts[TIME] + left > cap:
            return False
        for a in range(s.owed.size):
            pulls = s.owed[a]
            if left > 0.0 and pulls > 0.0:
                left -= pulls
                observe(rules, s, a, pull_sums(world, s, a, pulls, environment))
    return True


def play(world: World, rules: Rules, cap: int, environment: np.random.Generator) -> State:
    """A run whose blocks are drawn as sums; in a block beyond the cap pulls are single."""
    s = STEPS.start(rules)
    if not play_blocks(world, rules, s, cap, environment):
        STEPS.resume(world, rules, s, cap - int(s.counts[TIME]), environment, environment)
    return s


@jit
def find_answer(rules: Rules, s: State) -> np.ndarray:
    """The support of the best policy by the estimates, see `best_support`."""
    estimate(rules, s)
    load(s.polytope, s.seen.means, s.seen.rows)
    find_best(s.polytope)
    return best_support(s.polytope)


def run(world: World, rules: Rules, cap: int, environment: np.random.Generator) -> Result:
    """`play`, and what is kept of it."""
    s = play(world, rules, cap, environment)
    support = find_answer(rules, s)
    counts = s.counts.tolist()
    return Result(
        counts[TIME],
        counts[VERDICT],
        s.broken,
        counts[UNSAFE],
        counts[UNCLOSED],
        s.policy,
        support,
        s.pulls,
    )
