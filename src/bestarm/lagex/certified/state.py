"""The rules and the state of Certified."""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit
from bestarm.lagex.certified.cone import ConeSolver, make_cone_solver
from bestarm.lagex.certified.confidence import ConfidenceSet, make_confidence_set
from bestarm.lagex.certified.pieces import Pieces, make_pieces
from bestarm.lagex.vertices import Polytope, make_polytope

#: What a run has certified.
RUNNING, POLICY, INFEASIBLE = range(3)
#: Indices of State.counts: pulls; what is certified; whether a safe policy was found; pulls before
#: that; checks that more pieces of the simplex than MOST_PIECES might have passed.
TIME, VERDICT, SAFE, UNSAFE, UNCLOSED = range(5)


class DirectedSums(NamedTuple):
    """Sums of costs in one direction for each side: ABOVE, and BELOW, see `directed.py`."""

    coefficients: np.ndarray  # (2, K) c of the pulls until the next check
    moved: np.ndarray  # (2, K) W, the sum of c by arm
    sums: np.ndarray  # (2, d) Y, the sum of c times the cost
    squares: np.ndarray  # (2,) Q, the sum of c^2


class Rules(NamedTuple):
    """What the strategy is given."""

    adaptive: bool  # whether it allocates as above, else uniformly
    level: float  # ln((1 + d) / delta)
    r: float  # tolerance of the answer's mean reward, positive
    eps: float  # tolerance of its mean costs
    n0: float  # weight of the prior of the confidence bounds, in pulls
    directed: float  # share of the rows' delta for directed sums, below 1; without them 0
    variances: np.ndarray  # (K,) of rewards
    cost_variance: float  # of every cost
    limits: np.ndarray  # (d,) b
    units: np.ndarray  # (1 + d,) of a reward and of each cost, in which all of the above is


class State(NamedTuple):
    """The state of a run, with buffers. Only simulations fill `broken`."""

    counts: np.ndarray  # (5,) from TIME to UNCLOSED
    broken: np.ndarray  # (2,) pulls whose safe policy, and whose allocation, violates a true limit
    observed: np.ndarray  # (d + 2,) buffer
    pulls: np.ndarray  # (K,) N
    reward_sums: np.ndarray  # (K,)
    cost_sums: np.ndarray  # (d, K)
    owed: np.ndarray  # (K,) pulls of the current block that are still to come
    policy: np.ndarray  # (K,) the safe policy of the last check that found one
    demands: np.ndarray  # (K,) moving average of c, normalised
    omega: np.ndarray  # (K,) allocation
    other: np.ndarray  # (K,) the worst alternative found
    multiplier: np.ndarray  # (1,) sum of its multipliers
    tilted: np.ndarray  # (1 + d, K) linear program for it
    directed: DirectedSums
    seen: ConfidenceSet
    cone: ConeSolver
    pieces: Pieces
    polytope: Polytope


@jit
def start(rules: Rules) -> State:
    """The state before the first pull; the first block has a pull of every arm."""
    k, d = rules.variances.size, rules.limits.size
    return State(
        counts=np.zeros(5, np.int64),
        broken=np.zeros(2, np.int64),
        observed=np.zeros(d + 2),
        pulls=np.zeros(k),
        reward_sums=np.zeros(k),
        cost_sums=np.zeros((d, k)),
        owed=np.ones(k),
        policy=np.full(k, 1.0 / k),
        demands=np.full(k, 1.0 / k),
        omega=np.full(k, 1.0 / k),
        other=np.zeros(k),
        multiplier=np.zeros(1),
        tilted=np.zeros((1 + d, k)),
        directed=DirectedSums(np.zeros((2, k)), np.zeros((2, k)), np.zeros((2, d)), np.zeros(2)),
        seen=make_confidence_set(k, d),
        cone=make_cone_solver(k, d),
        pieces=make_pieces(k, d),
        polytope=make_polytope(k, d),
    )
