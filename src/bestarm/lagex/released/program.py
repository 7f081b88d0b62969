"""What the programs released with the paper compute, one round at a time.

The solvers do what they do for those programs, bit for bit (slsqp.py, highs.py), so allocations
agree to the last digits. The computation departs from the paper in these points:

- Tight rows are those whose slack is exactly zero. The equation sum pi = 1 is written as two rows,
  and rounding mostly hides one of them. Then the policy is listed among its own neighbours, and
  the least value of the game and of the stopping rule is zero.
- Neighbours are stored by policy and not renewed when the estimates change.
- AdaGrad projects by minimising an unsquared L1 distance. Where its step asks for larger entries
  only, all nearby points of the simplex are equally near and it stays where it is. LAGEX scales
  gains by 0.01; then the step never asks for anything else, and its allocation remains uniform.
- AdaGrad's set is fixed: for LAGEX by a draw of the costs made before the first pull, widely
  relaxed; for CGE-WLag by the true constraints. The allocations of both are projected into the
  optimistic constraints.
- The multiplier is sought by a solver from one random start. Its upper bound is negative whenever
  some constraint has slack at the allocation (LAGEX) or is broken (LATS).
- LATS and CTnS-WLag maximise over [0, 1]^K under the optimistic constraints; no row makes the
  entries sum to one. Next to a policy that is its own neighbour the objective is flat, and the
  solver returns its random start.
- f_t has its growth with t inside the logarithm for LAGEX and CGE-WLag (`game_radius`).
- Lagrangian strategies and the others have different stopping rules (`stopping`).
- If the estimated set is empty or a solver fails, the last arm is pulled again. An arm that does
  not change the set is then pulled until the cap.
- CGE-WLag has no forced exploration. Uniform draws its arms and ignores the constraints.

Six of these can be switched off (`PECULIARITIES`), to see which of them the stopping times hang on.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bestarm.common.arithmetic import require_same_bits
from bestarm.core.status import Status
from bestarm.core.streams import run_streams, stream_key
from bestarm.lagex.paper.confidence import released_threshold
from bestarm.lagex.paper.state import GAME, PROJECTED, SOLVED, UNIFORM
from bestarm.lagex.problem import HARD, Problem, instances, setup1
from bestarm.lagex.released.solvers import (
    SMALLEST,
    AdaGrad,
    Game,
    Lagrangian,
    RoundFailure,
    Vertex,
    adagrad_step,
    best_policy,
    best_response,
    neighbour_game,
    optimistic_gains,
    project,
    simplex_rows,
    solved_allocation,
    vertex_neighbours,
)
from bestarm.lagex.world import BROKEN, BROKEN_BY_SOLVER


class Program(NamedTuple):
    """How one strategy's program differs from the others'."""

    sampling: int  # GAME, SOLVED, PROJECTED or UNIFORM
    is_lagrangian: bool = False  # constraints at a multiplier, and its stopping rule
    rescale: float = 1.0  # AdaGrad's factor of gains
    forced: bool = True  # forced exploration
    cap: int = 100_000  # rounds
    without: frozenset[str] = frozenset()  # the PECULIARITIES that are switched off


PROGRAMS = {
    "LAGEX": Program(GAME, is_lagrangian=True, rescale=0.01, cap=500),
    "LATS": Program(SOLVED, is_lagrangian=True, cap=500),
    "CTnS-WLag": Program(SOLVED),
    "CGE-WLag": Program(GAME, forced=False),
    "PTnS": Program(PROJECTED),
    "Uniform": Program(UNIFORM, forced=False),
}

#: What can be switched off, and what is done then.
PECULIARITIES = {
    "tight": "rows with a slack of at most 1e-9 are tight",
    "distance": "AdaGrad projects by least squares",
    "rescale": "AdaGrad's gains are not scaled",
    "start": "the multiplier is sought from zero",
    "sum": "allocations that a solver seeks sum to one",
    "radius": "f_t is that of the programs without a game",
}
#: Switches off all that a program has.
ALL = "all"
#: What is switched off, in words; nothing in the programs as released.
SWITCHED_OFF = {
    "": "nothing",
    "tight": "exact tight rows",
    "distance": "L1 projection",
    "rescale": "gains × 0.01",
    "start": "random start",
    "sum": "missing row Σω = 1",
    "radius": "the game's own fₜ",
    ALL: "all of these",
}
#: Slacks of tight rows, without "tight"; rounding leaves 1e-15.
TIGHT = 1e-9


def peculiarities(program: Program) -> list[str]:
    """Those of PECULIARITIES that a program has."""
    game, solved = program.sampling == GAME, program.sampling == SOLVED
    has = {"distance": game, "rescale": program.rescale != 1.0, "start": program.is_lagrangian}
    has |= {"sum": solved, "radius": game}
    return [name for name in PECULIARITIES if has.get(name, True)]


def can_be_without(name: str, without: str) -> bool:
    """Whether `variant` of a program of PROGRAMS is another program than those with other names."""
    has = peculiarities(PROGRAMS[name])
    return without in ("", *has) or (without == ALL and len(has) > 1)


def reading_without(without: str) -> str:
    """The reading of rows of tables that are of the programs without a peculiarity, or without ALL.

    Example:
        >>> reading_without("tight"), reading_without("")
        ('program-without-tight', 'program')
    """
    return f"program-without-{without}" if without else "program"


def variant(name: str, without: str = "") -> Program:
    """A program of PROGRAMS without one of its peculiarities, or without ALL of them."""
    program = PROGRAMS[name]
    named = {"": [], ALL: peculiarities(program)}.get(without, [without])
    program = program._replace(without=frozenset(named))
    return program._replace(rescale=1.0) if "rescale" in named else program


@dataclass
class State:
    """Everything a program remembers between rounds; K arms, d constraints."""

    limits: np.ndarray  # (d,) b
    delta: float
    start: np.ndarray  # (d,) where the multiplier's solver starts
    matrix: np.ndarray  # (d, K) estimates of A; entries of unpulled arms are not used
    means: np.ndarray  # (K,) estimates
    pulls: np.ndarray  # (K,)
    game: AdaGrad | None = None
    neighbours: dict[tuple, np.ndarray] = field(default_factory=dict)  # by policy
    arm_neighbours: dict[tuple, np.ndarray] = field(default_factory=dict)  # without constraints

    @property
    def time(self) -> int:
        return int(self.pulls.sum())

    def observe(self, arm: int, reward: float, costs: np.ndarray) -> None:
        """Take in a reward and a cost vector (d,) as running means."""
        self.pulls[arm] += 1.0
        n = self.pulls[arm]
        self.means[arm] += (1.0 / n) * (reward - self.means[arm])
        self.matrix[:, arm] = ((n - 1.0) * self.matrix[:, arm] + costs) / n


class Round(NamedTuple):
    """What a round computes."""

    policy: np.ndarray  # (K,)
    allocation: np.ndarray  # (K,)
    statistic: float
    threshold: float
    arm: int
    neighbours: np.ndarray  # (V, K) of the policy
    multiplier: np.ndarray  # (d,) of the stopping rule, or empty

    @property
    def stops(self) -> bool:
        return self.statistic > self.threshold


def game_radius(time: int, k: int, delta: float) -> float:
    """f_t of LAGEX and CGE-WLag: 1 + sqrt(ln(2K / delta + (K / 4) ln(1 + t / K)) / 2)."""
    return 1.0 + math.sqrt(0.5 * math.log(2 * k / delta + k / 4 * math.log(1.0 + time / k)))


def solved_radius(time: int, k: int, delta: float) -> float:
    """f_t of the others: 1 + sqrt(ln(4 / delta) / 2 + (K / 4) ln(1 + t / K))."""
    return 1.0 + math.sqrt(0.5 * math.log(4.0 / delta) + k / 4 * math.log(1.0 + time / k))


def row_shift(program: Program, state: State, policy: np.ndarray) -> float:
    """f_t ||pi|| in the norm of (I + diag(N))^-1, subtracted from every entry of A."""
    in_game = program.sampling == GAME and "radius" not in program.without
    radius = game_radius if in_game else solved_radius
    norm = (policy * (1.0 / (1.0 + state.pulls))).dot(policy)
    return radius(state.time, policy.size, state.delta) * math.sqrt(norm)


def lagrangian_at(program: Program, state: State, rows: np.ndarray) -> Lagrangian | None:
    """The Lagrangian of a strategy with constraints (d, K)."""
    if not program.is_lagrangian:
        return None
    sign = -1.0 if program.sampling == GAME else 1.0
    start = np.zeros_like(state.start) if "start" in program.without else state.start
    return Lagrangian(rows, state.limits, start, sign)


def stopping(
    program: Program, state: State, policy: np.ndarray, game: Game, shift: float
) -> tuple[float, float, np.ndarray]:
    """Statistic, threshold and multiplier of the stopping rule; it holds if the first is larger.

    With beta = ln(2 (1 + ln t) / delta), slacks c = b - (A - s) pi and the best response (D, l) to
    the empirical allocation: t D + l^T c > beta + (s + 1) sum l for Lagrangian strategies, where
    LAGEX has l for the estimated and LATS for the optimistic constraints; for the others
    t D + sum |c| > beta + K s.
    """
    time, optimistic = state.time, state.matrix - shift
    rows = state.matrix if program.sampling == GAME else optimistic
    lagrangian = lagrangian_at(program, state, rows)
    value, _, l = best_response(state.pulls / time, game, lagrangian)
    bar = released_threshold(time, state.delta)
    slacks = state.limits - optimistic.dot(policy)
    if program.is_lagrangian:
        return time * value + float(l.dot(slacks)), bar + float(l.sum()) * (shift + 1.0), l
    return time * value + float(np.abs(slacks).sum()), bar + policy.size * shift, l


def remembered(
    memory: dict[tuple, np.ndarray], vertex: Vertex, program: Program | None = None
) -> np.ndarray:
    """The neighbours of a policy, as they were when it was first met."""
    key = tuple(vertex.policy.tolist())
    if key not in memory:
        near = TIGHT if program is not None and "tight" in program.without else 0.0
        memory[key] = vertex_neighbours(vertex, near)
    return memory[key]


def play_round(program: Program, state: State, rng: np.random.Generator) -> Round:
    """One round of a program once every arm was pulled; moves AdaGrad, the rest only with data.

    Args:
        program: one of PROGRAMS, or a variant.
        state: AdaGrad and the stored neighbours are changed.
        rng: starting points, and the arms of Uniform.

    Raises:
        RoundFailure: the programs pull the last arm again.
        ValueError: the programs end.
    """
    limits = state.limits
    if program.sampling == PROJECTED:
        arm_vertex = best_policy(state.means)
    vertex = best_policy(state.means, (state.matrix, limits))
    policy, others = vertex.policy, remembered(state.neighbours, vertex, program)
    game = neighbour_game(state.means, policy, others)
    shift = row_shift(program, state, policy)
    optimistic = state.matrix - shift
    lagrangian = lagrangian_at(program, state, optimistic)
    if program.sampling == GAME:
        allocation = project(state.game.weights, optimistic, limits)  # pyright: ignore[reportOptionalMemberAccess]
        _play(program, state, allocation, game, lagrangian)
    elif program.sampling == SOLVED:
        summed = "sum" in program.without
        allocation = solved_allocation(game, rng, optimistic, limits, lagrangian, summed)
    elif program.sampling == PROJECTED:
        arms = remembered(state.arm_neighbours, arm_vertex, program)  # pyright: ignore[reportPossiblyUnboundVariable]
        arm_game = neighbour_game(state.means, arm_vertex.policy, arms)  # pyright: ignore[reportPossiblyUnboundVariable]
        free = solved_allocation(arm_game, rng)
        allocation = project(free, state.matrix, limits)
    else:
        allocation = np.ones(policy.size) / policy.size
    arm = next_arm(program, state, allocation, rng)
    statistic, bar, l = stopping(program, state, policy, game, shift)
    return Round(policy, allocation, float(statistic), float(bar), arm, others, l)


def _play(program, state: State, allocation, game: Game, lagrangian: Lagrangian | None) -> None:
    """AdaGrad's move after the best response to an allocation."""
    response = best_response(allocation, game, lagrangian)
    level = math.log(state.time) / state.pulls
    gains = optimistic_gains(state.means, level, response.means)
    if lagrangian is not None:
        gains = gains + response.multiplier.dot(lagrangian.rows)
    squared = "distance" in program.without
    adagrad_step(state.game, gains * program.rescale, squared)  # pyright: ignore[reportArgumentType]


def next_arm(
    program: Program, state: State, allocation: np.ndarray, rng: np.random.Generator
) -> int:
    """An arm by D-tracking; forced below sqrt(t) - K / 2 pulls; drawn for Uniform."""
    k, time = allocation.size, state.time
    if program.sampling == UNIFORM:
        shares = np.cumsum(allocation)
        return int(np.searchsorted(shares / shares[-1], rng.random(), side="right"))
    if program.forced and (state.pulls < math.sqrt(time) - k / 2).any():
        return int(np.argmin(state.pulls))
    return int(np.argmin(state.pulls - time * allocation))


def make_state(
    program: Program, problem: Problem, delta: float, matrix: np.ndarray, start: np.ndarray
) -> State:
    """A program's memory before the first pull.

    Args:
        matrix: (d, K) a draw of the costs, overwritten as arms are pulled. start: (d,).
    """
    k = problem.means.size
    state = State(
        problem.limits, delta, start, np.array(matrix, float), np.zeros(k), pulls=np.zeros(k)
    )
    if program.sampling == GAME:
        norm = math.sqrt(2 * k * math.log(1.0 + 1.0 / k))
        loose = state.matrix - game_radius(0, k, delta) * norm
        rows, limits = simplex_rows(
            k, (loose if program.is_lagrangian else problem.matrix, problem.limits)
        )
        weights = project(np.ones(k) / k, rows, limits)
        weights = np.clip(weights, SMALLEST, 1.0 - SMALLEST)
        state.game = AdaGrad(rows, limits, weights, np.zeros((k, k)))
    return state


class Result(NamedTuple):
    """How a run ended."""

    time: int  # pulls, the one made when the rule holds too
    status: Status
    policy: np.ndarray  # (K,) the last one; uniform if there was none
    pulls: np.ndarray  # (K,)
    policy_violations: int  # rounds whose policy, an old one if the round failed, breaks a limit
    allocation_violations: int  # rounds whose allocation does, or does not sum to one
    empty: int  # rounds in which the last arm was pulled again


def run(
    program: Program,
    problem: Problem,
    delta: float,
    cap: int | None,
    rng: np.random.Generator,
) -> Result:
    """One replication of a program, its first: later ones of a process reuse the last estimates.

    Args:
        program: one of PROGRAMS, or a variant. cap: rounds; None for the program's own.
    """
    k, d = problem.means.size, problem.limits.size
    draw = rng.normal(problem.matrix, problem.cost_sigma)
    state = make_state(program, problem, delta, draw, rng.standard_normal(d))
    policy = allocation = np.full(k, 1.0 / k)
    arm, stopped, status = 0, False, Status.CAPPED
    bad_policies = bad_allocations = empty = 0
    while not stopped and state.time < (cap or program.cap):
        if state.time < k:
            arm = state.time
        else:
            try:
                step = play_round(program, state, rng)
                policy, allocation, arm = step.policy, step.allocation, step.arm
                stopped = step.stops
            except RoundFailure:
                empty += 1
            except ValueError:
                status = Status.FAILED
                break
            bad_policies += _breaks(problem, policy, BROKEN)
            bad_allocations += _breaks(problem, allocation, BROKEN_BY_SOLVER)
        reward = rng.normal(problem.means[arm], math.sqrt(problem.variances[arm]))
        state.observe(arm, reward, rng.normal(problem.matrix[:, arm], problem.cost_sigma))
    return Result(
        state.time,
        Status.STOPPED if stopped else status,
        policy,
        state.pulls,
        bad_policies,
        bad_allocations,
        empty,
    )


def warm_up() -> None:
    """Compile what runs of the programs call; tests in several processes would each do so."""
    problem = instances()[setup1(HARD).name].problem
    for program in PROGRAMS.values():
        run(program, problem, 0.1, problem.means.size + 3, np.random.default_rng(1))


def simulate(
    name: str, instance: str, delta: float, cap: int, seed: int, replication: int, without: str = ""
) -> dict[str, Any]:
    """A replication on an instance of the paper, as plain values.

    Args:
        name: of PROGRAMS. without: what is switched off, see `variant`; the stream is the same.

    Raises:
        InputError: this process computes in another arithmetic than that of the kept runs.
    """
    require_same_bits()
    key = stream_key(seed, "lagex", "programs", instance, name)
    rng = run_streams(key, replication).environment
    result = run(variant(name, without), instances()[instance].problem, delta, cap, rng)
    return {
        "tau": result.time,
        "status": int(result.status),
        "policy": result.policy.tolist(),
        "pulls": result.pulls.astype(int).tolist(),
        "policy_violations": result.policy_violations,
        "allocation_violations": result.allocation_violations,
        "empty": result.empty,
    }


def _breaks(problem: Problem, weights: np.ndarray, slack: float) -> bool:
    """Whether weights exceed a true limit, or their sum differs from one, by more than `slack`."""
    excess = (problem.matrix @ weights - problem.limits).max()
    return bool(excess > slack or abs(weights.sum() - 1.0) > slack)
