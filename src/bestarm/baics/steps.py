"""The steps of the strategies, as core/strategy.py has them: on a state, compiled."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import (
    NO_ARM,
    ONE_SIGMA,
    Problem,
    alternative_cost,
    alternative_within,
    best_feasible_arm,
    optimal_allocation,
    scaled,
    supergradient,
)
from bestarm.baics.bets import shrunk_rate
from bestarm.baics.e_values import (
    DIRECTED,
    GLR,
    MIXTURE,
    UNKNOWN,
    EValues,
    log_directed,
    log_mixture,
    make_e_values,
    plan_ahead,
    record,
    refuted_unknown,
)
from bestarm.baics.pairs import record_pairs
from bestarm.core.anytime import BERNOULLI_SIGMA
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.game import Game, make_game
from bestarm.core.gaussian_bai import bai_allocation
from bestarm.core.information import stylised_threshold
from bestarm.core.simplex import project_to_simplex
from bestarm.core.tracking import track

#: Draws of each (arm, subpopulation) before any strategy starts to choose (Section 5.1).
INITIAL_DRAWS = 5
#: With sigma unknown: up to so many times `Rules.bounded` a lacking pair gets every second pull.
SHARED = 6.0
#: Standard errors by which rates of other arms than the answer are raised for allocations.
CAUTION = 1.0


class Rules(NamedTuple):
    """What a strategy is given: the problem, when to stop, and how T-a-SCS moves its allocation."""

    n_arms: int  # K
    problem: Problem
    delta: float  # maximum probability of a wrong answer
    stopping: int  # GLR, Eq. (10), or a rule of e_values.py
    glr_factor: float  # with GLR, factor of F in the statistic: 1/2 in Eq. (10)
    step: float  # alpha, the size of a projected supergradient step
    inner_steps: int  # such steps per pull; 0 tracks the exact maximiser
    tie_coins: bool  # whether ties between nearest alternatives are broken by coins, else by order
    levelled: bool  # whether FWS levels the e-values of a proved rule (`frank_wolfe.level`)
    bounded: float = 0.0  # with sigma unknown, pulls from which bounds of variances are of use


class State(NamedTuple):
    """The data and the allocation of a run; every array is changed in place."""

    clock: np.ndarray  # (1,) pulls so far
    answer: np.ndarray  # (1,) best feasible arm of the empirical means, or NO_ARM
    decided: np.ndarray  # (K,) by Two-stage (two_stage.py), or 0 while undecided
    pulls: np.ndarray  # (K, L)
    sums: np.ndarray  # (K, L) of rewards
    means: np.ndarray  # (K, L) empirical
    standard: np.ndarray  # (K, L) the same in units of the sigma that allocations take
    scale: np.ndarray  # (K, L) that sigma over the largest, if they differ
    iterate: np.ndarray  # (K, L) T-a-SCS's supergradient iterate, on the simplex
    target: np.ndarray  # (n,) the allocation to track: over (arm, subpopulation), or arms
    tracked: np.ndarray  # (n,) sum of the floored targets so far
    floored: np.ndarray  # (n,) buffer of the tracking step
    gradient: np.ndarray  # (K, L) buffer
    shift: np.ndarray  # (2, L) buffer
    e_values: EValues  # of the proved stopping rules
    costs: np.ndarray  # (M + K,) buffer: of all kinds of alternatives
    needs: np.ndarray  # (M + K,) of FWS: factor of the GLR statistic that stopping needs
    game: Game  # buffers of Frank-Wolfe Sampling, else for no rows


@lean
def has_bets(rules: Rules) -> bool:
    """Whether rewards are from 0 to 1 and the rule is the one that bets on them."""
    return rules.stopping == DIRECTED and rules.problem.floor.size > 0


@lean
def directs(rules: Rules) -> bool:
    """Whether the stopping rule plans coefficients of pulls."""
    return rules.stopping in (DIRECTED, UNKNOWN)


@jit
def start_on(rules: Rules, n_targets: int, game_rows: int = 0) -> State:
    """An initial state; the initial draws count as tracked, so all lags start at 0.

    Args:
        rules: the rules of the run.
        n_targets: K L for a strategy that tracks (arm, subpopulation) pairs, K for arms.
        game_rows: alternatives that a game may have.
    """
    n_arms, n_groups = rules.n_arms, rules.problem.weights.size
    pairs = (n_arms, n_groups)
    scale = np.ones(pairs) if has_bets(rules) else rules.problem.scale
    return State(
        clock=np.zeros(1, np.int64),
        answer=np.full(1, NO_ARM),
        decided=np.zeros(n_arms, np.int64),
        pulls=np.zeros(pairs),
        sums=np.zeros(pairs),
        means=np.zeros(pairs),
        standard=np.zeros(pairs),
        scale=scale,
        iterate=np.full(pairs, 1.0 / (n_arms * n_groups)),
        target=np.zeros(n_targets),
        tracked=np.full(n_targets, INITIAL_DRAWS * n_arms * n_groups / n_targets),
        floored=np.zeros(n_targets),
        gradient=np.zeros(pairs),
        shift=np.zeros((2, n_groups)),
        e_values=make_e_values(n_arms, n_groups, rules.stopping, has_bets(rules)),
        costs=np.zeros(rules.problem.constrained + n_arms),
        needs=np.ones(rules.problem.constrained + n_arms),
        game=make_game(game_rows, n_arms * n_groups),
    )


@jit
def start(rules: Rules) -> State:
    """A state of a strategy that tracks arms, or nothing."""
    return start_on(rules, rules.n_arms)


@jit
def start_pairs(rules: Rules) -> State:
    """A state of a strategy that tracks (arm, subpopulation) pairs."""
    return start_on(rules, rules.n_arms * rules.problem.weights.size)


@inlined
def observe(rules: Rules, state: State, pair: int, reward: float) -> None:
    """Record a reward of the (arm, subpopulation) with flat index `pair`."""
    k, l = divmod(pair, rules.problem.weights.size)
    if rules.stopping == DIRECTED:
        record(state.e_values, k, l, reward, state.means, rules.problem)
    elif rules.stopping == UNKNOWN:
        record_pairs(state.e_values.pairs, k, l, reward)
        count = state.pulls[k, l]
        state.e_values.scatter[k, l] += (reward - state.means[k, l]) ** 2 * count / (count + 1.0)
    state.clock[0] += 1
    state.pulls[k, l] += 1.0
    state.sums[k, l] += reward
    state.means[k, l] = state.sums[k, l] / state.pulls[k, l]
    state.answer[0] = best_feasible_arm(state.means, rules.problem)
    if directs(rules) and state.clock[0] >= INITIAL_DRAWS * state.pulls.size:
        plan_ahead(
            state.e_values,
            needed_e_value(rules),
            state.clock[0],
            state.pulls,
            state.means,
            rules.problem,
            state.answer[0],
        )


@inlined
def done(rules: Rules, state: State) -> bool:
    """The stopping rule of every strategy, after the initial draws.

    Eq. (10): Z(t) > beta(t, delta), Z(t) = glr_factor F_mu^(N(t)). The rules of e_values.py: the
    e-values against every kind of alternative exceed K / delta.
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return False
    if rules.stopping == UNKNOWN:
        return all_refuted_unknown(rules, state)
    if rules.stopping != GLR:
        return all_refuted(rules, state)
    level = stylised_threshold(state.clock[0], rules.delta) / rules.glr_factor
    return all_beyond(rules, state, level)


@lean
def all_beyond(rules: Rules, state: State, level: float) -> bool:
    """Whether F_mu^(N(t)) > level. The kind of alternative that failed last is looked at first: it
    mostly fails again."""
    pulls, means, problem, best = state.pulls, state.means, rules.problem, state.answer[0]
    failed = state.e_values.failed
    if not alternative_cost(failed[0], pulls, means, problem, best, state.shift) > level:
        return False
    near = alternative_within(level, pulls, means, problem, best, state.shift)
    if near >= 0:
        failed[0] = near
    return near < 0


@lean
def needed_e_value(rules: Rules) -> float:
    """ln(K / delta)."""
    return math.log(rules.n_arms / rules.delta)


@lean
def log_e_value(rules: Rules, state: State, i: int) -> float:
    """ln of the e-value against the i-th kind of alternative; infinite if it does not exist."""
    best, problem, e_values = state.answer[0], rules.problem, state.e_values
    if rules.stopping == MIXTURE:
        return log_mixture(i, state.pulls, state.means, problem, best, e_values.buffers)
    level = needed_e_value(rules)
    return log_directed(i, level, e_values, state.pulls, state.means, problem, best)


@lean
def refuted(rules: Rules, state: State, i: int, level: float) -> bool:
    """Whether the e-value against the i-th kind of alternative exceeds exp(level).

    Looked at only if the GLR statistic exceeds the level too, which costs less and hardly ever
    makes a difference; to stop less often is always safe. Not so for rewards from 0 to 1, whose
    the e-value may well exceed the GLR statistic of sigma 1/2.
    """
    cost = alternative_cost(
        i, state.pulls, state.means, rules.problem, state.answer[0], state.shift
    )
    glr = 0.5 * cost
    return may_exceed(rules.problem.floor, glr, level) and log_e_value(rules, state, i) > level


@lean
def may_exceed(floor: np.ndarray, glr: float, level: float) -> bool:
    """Whether the e-value may be large enough, given the GLR statistic."""
    return floor.size > 0 or glr > level


@lean
def all_refuted(rules: Rules, state: State) -> bool:
    """Whether the e-value against every kind of alternative exceeds K / delta.

    The kind that failed last is looked at first: it mostly fails again.
    """
    level = needed_e_value(rules)
    if not refuted(rules, state, state.e_values.failed[0], level):
        return False
    for i in range(rules.problem.constrained + rules.n_arms):
        if not refuted(rules, state, i, level):
            state.e_values.failed[0] = i
            return False
    return True


@lean
def all_refuted_unknown(rules: Rules, state: State) -> bool:
    """`all_refuted` with sigma unknown."""
    level, best, problem = needed_e_value(rules), state.answer[0], rules.problem
    e_values, pulls, means = state.e_values, state.pulls, state.means
    if not refuted_unknown(e_values.failed[0], level, e_values, pulls, means, problem, best):
        return False
    for i in range(problem.constrained + rules.n_arms):
        if not refuted_unknown(i, level, e_values, pulls, means, problem, best):
            e_values.failed[0] = i
            return False
    return True


@lean
def standardise(rules: Rules, state: State) -> None:
    """Set `standard`: the means; but where rewards are bet on, each over its own sigma.

    That is sqrt(p (1 - p)) at the empirical rate, shrunk to be neither 0 nor 1, of the answer; and
    of another arm at two thirds of the way from there to the rates lambda with which it would be
    the answer, since kl(mu, lambda) is (mu - lambda)^2 / (2 p (1 - p)) there, to third order. Means
    of other arms are raised by CAUTION standard errors: one that was unlucky early would else get
    so few pulls that its estimate hardly changes any more. Until it is told from the answer by as
    much there is no optimal allocation, and sampling is uniform.
    """
    floor, largest, bets = rules.problem.floor, 0.0, state.e_values.bets
    for k in range(state.means.shape[0]):
        for l in range(state.means.shape[1]):
            state.standard[k, l] = state.means[k, l]
            if has_bets(rules):
                above = BERNOULLI_SIGMA * state.means[k, l]
                rate = shrunk_rate(state.pulls[k, l], floor[l] + above)
                if k != state.answer[0] and state.answer[0] == bets.planned[0] >= 0:
                    rate += 2.0 / 3.0 * (bets.centres[k, 1, l] - rate)
                state.scale[k, l] = math.sqrt(rate * (1.0 - rate))
                if k != state.answer[0]:
                    above += CAUTION * state.scale[k, l] / math.sqrt(max(state.pulls[k, l], 1.0))
                state.standard[k, l] = above / state.scale[k, l]
                largest = max(largest, state.scale[k, l])
    if has_bets(rules):
        for i in range(state.scale.size):
            state.scale.flat[i] /= largest


@inlined
def standard_problem(rules: Rules, state: State) -> Problem:
    """The problem of `State.standard`."""
    problem = rules.problem
    return Problem(problem.weights, problem.constrained, state.scale, problem.floor)


@inlined
def supergradient_step(rules: Rules, state: State, coins) -> None:
    """iterate <- P(iterate + alpha dF_mu^(iterate)), Section 4.1, P the projection on the simplex.

    For sparse iterates many alternatives have cost 0; which of them gives the supergradient is
    decided by fair coins, or by their order (`Rules.tie_coins`).
    """
    problem, best = rules.problem, state.answer[0]
    least = np.inf
    nearest = 0
    ties = 0
    for i in range(problem.constrained + state.pulls.shape[0]):
        cost = alternative_cost(i, state.iterate, state.means, problem, best, state.shift)
        if cost < least:
            least, nearest, ties = cost, i, 1
        elif cost == least and rules.tie_coins:
            ties += 1
            if coins.random() * ties < 1.0:
                nearest = i
    alternative_cost(nearest, state.iterate, state.means, problem, best, state.shift)
    supergradient(nearest, state.means, problem, best, state.shift, state.gradient)
    flat = state.iterate.reshape(-1)
    gradient = state.gradient.reshape(-1)
    for i in range(flat.size):
        flat[i] += rules.step * gradient[i]
    project_to_simplex(flat, 0.0, flat)


@lean
def unbounded(rules: Rules, state: State) -> int:
    """With sigma unknown, the (arm, subpopulation) that the pair which failed last lacks, or -1.

    A pair's e-value is 0 until all of its variances have bounds, and these fall with every pull.
    Allocations, which take sigma as known, give it almost all pulls of one arm if that would be
    enough. So what has the least pulls gets all next ones while these are fewer than `bounded`, and
    every second one up to SHARED times as many.
    """
    best, k = state.answer[0], state.e_values.failed[0] - rules.problem.constrained
    if rules.stopping != UNKNOWN or best == NO_ARM or k < 0 or k == best:
        return -1
    problem, choice = rules.problem, -1
    least = rules.bounded if state.clock[0] % 2 == 0 else SHARED * rules.bounded
    n_groups = problem.weights.size
    for arm in (best, k):
        for l in range(n_groups):
            needed = problem.weights[l] > 0.0 or l < problem.constrained
            if needed and state.pulls[arm, l] < least:
                choice, least = arm * n_groups + l, state.pulls[arm, l]
    return choice


@inlined
def choose_ta_scs(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """T-a-SCS: track the allocation that maximises F for the empirical means, Eq. (9).

    If no arm looks feasible the maximiser is known in closed form and tracked instead, and the
    iterate stays as it is. The iterate is also kept when the empirical answer changes.
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    first = unbounded(rules, state)
    if first >= 0:
        return first
    target = state.target.reshape(state.pulls.shape)
    if rules.inner_steps == 0 or state.answer[0] == NO_ARM:
        standardise(rules, state)
        seen = standard_problem(rules, state)
        optimal_allocation(state.standard, seen, state.answer[0], target)
    else:
        for _ in range(rules.inner_steps):
            supergradient_step(rules, state, coins)
        for i in range(target.size):
            target.flat[i] = state.iterate.flat[i]
    return track(
        state.target, state.pulls.reshape(-1), state.clock[0], state.tracked, state.floored
    )


@lean
def draw_group(weights: np.ndarray, coins) -> int:
    """A subpopulation, drawn with probability q_l."""
    left = coins.random()
    for l in range(weights.size - 1):
        left -= weights[l]
        if left < 0.0:
            return l
    return weights.size - 1


@inlined
def choose_ta_s(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """T-a-S: track the arms' optimal allocation for plain identification of the best quality.

    Garivier & Kaufmann (2016) on the K empirical qualities; the subpopulation is drawn from q.
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    first = unbounded(rules, state)
    if first >= 0:
        return first
    n_arms, n_groups = state.pulls.shape
    arms = state.gradient.reshape(-1)  # buffer: qualities, then pulls
    for k in range(n_arms):
        arms[k] = 0.0
        for l in range(n_groups):
            arms[k] += rules.problem.weights[l] * scaled(
                rules.problem.scale, k, l, state.means[k, l]
            )
    bai_allocation(arms[:n_arms], state.target)
    for k in range(n_arms):
        arms[k] = state.pulls[k].sum()
    arm = track(state.target, arms[:n_arms], state.clock[0], state.tracked, state.floored)
    return arm * n_groups + draw_group(rules.problem.weights, coins)


@inlined
def choose_uniform(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Uniform: an arm with probability 1/K, and a subpopulation drawn from q."""
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    n_arms, n_groups = state.pulls.shape
    arm = min(int(n_arms * coins.random()), n_arms - 1)
    return arm * n_groups + draw_group(rules.problem.weights, coins)


class World(NamedTuple):
    """What is pulled in simulations; rewards are above the floor, in units of sigma.

    Rewards are Gaussian of unit variance, or, if there are chances, one of two values. For a
    strategy that does not know sigma the unit is the largest one.
    """

    means: np.ndarray  # (K, L)
    chances: np.ndarray  # (K L,) of the higher value; or none
    values: np.ndarray  # (K L, 2) the lower and the higher one; or none
    scale: np.ndarray = ONE_SIGMA  # (K, L) sigma of Gaussian rewards in the unit, if not 1


@inlined
def pull(world: World, state: State, pair: int, environment: np.random.Generator) -> float:
    """A reward of the (arm, subpopulation) with flat index `pair`."""
    if world.chances.size:
        return world.values[pair, int(environment.random() < world.chances[pair])]
    k, l = divmod(pair, world.means.shape[1])
    return world.means[k, l] + scaled(world.scale, k, l, environment.standard_normal())
