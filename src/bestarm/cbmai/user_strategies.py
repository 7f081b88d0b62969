"""What a user strategy is given, asked and told on an instance of CBMAI."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bestarm.cbmai.problem import Instance
from bestarm.cbmai.steps import World, pull
from bestarm.cbmai.strategies import Outcome, Setting, check_budget
from bestarm.common.user_strategies import (
    ConstructorArguments,
    Rounds,
    UserRun,
    UserStrategies,
    arm_index,
)
from bestarm.core.arguments import finite
from bestarm.core.inputs import short
from bestarm.core.status import Status


def arguments(instance: Instance, setting: Setting) -> ConstructorArguments:
    """Arguments, named as those of `SFSR`."""
    problem, noise = instance.problem, instance.noise
    check_budget(setting.budget, problem.n_unknown, instance.name)
    known = {
        arm: (float(problem.rewards[arm]), problem.costs[:, arm].tolist())
        for arm in range(problem.n_unknown, problem.rewards.size)
    }
    named = {
        "n_arms": problem.rewards.size,
        "bounds": problem.bounds.tolist(),
        "budget": setting.budget,
        "known": known,
        "sigma": noise.reward,
        "cost_sigma": noise.cost,
    }
    return ConstructorArguments(named, {})


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an unknown arm; `tell` gets it, a reward and (L,) costs.

    The answer is the support of the best mixture, L + 1 arms from 0 and slacks K + l; or None. Its
    `mixture`, if the strategy has one, is a mapping from arms to shares.
    """
    problem = instance.problem
    n_costs, n_arms = problem.costs.shape

    def outcome(run: UserRun) -> Outcome:
        support = np.zeros(n_costs + 1, np.int64)
        if run.answer is not None:
            support = checked_support(run.answer, n_arms, n_costs) + 1
        weights = mixture_shares(run.source, support - 1, n_arms)
        arms = (support > 0) & (support <= n_arms)
        mixed, places = weights[arms], support[arms] - 1
        excess = problem.costs[:, places] @ mixed - problem.bounds
        answered = run.answer is not None and np.isfinite(mixed).all()
        return Outcome(
            tau=run.tau,
            status=int(Status.STOPPED if run.stopped else Status.CAPPED),
            answer=support,
            weights=weights,
            reward=float(problem.rewards[places] @ mixed) if answered else math.nan,
            violation=max(0.0, float(excess.max())) if answered else math.nan,
            first_rejected=0,
            pulls=np.pad(run.pulls, (0, n_arms - run.pulls.size)).astype(float),
        )

    return Rounds(
        n=problem.n_unknown,
        index_of=lambda arm: arm_index(arm, problem.n_unknown, "an unknown arm"),
        world=World(problem, instance.noise, np.zeros(n_costs + 2), instance.bernoulli),
        pull=pull,
        told=lambda _, observed: (float(observed[0]), observed[1:-1].copy()),
        outcome=outcome,
    )


def checked_support(answer: Any, n_arms: int, n_costs: int) -> np.ndarray:
    """(L + 1,) columns from 0, ascending. Raises ValueError if the answer is not so many."""
    try:
        columns = sorted(arm_index(column, n_arms + n_costs) for column in answer)
    except (TypeError, ValueError):
        columns = []
    if len(set(columns)) != n_costs + 1 or len(columns) != n_costs + 1:
        raise ValueError(
            f"must be {n_costs + 1} different arms or slacks, 0 to {n_arms + n_costs - 1}, or "
            f"None; got {short(answer)}"
        )
    return np.array(columns)


def mixture_shares(source: Any, support: np.ndarray, n_arms: int) -> np.ndarray:
    """(L + 1,) shares of the mixture, by column of the support; nan for what is not told.

    Raises:
        ValueError: the mixture is not a mapping, or a share is no number.
    """
    mixture = getattr(source, "mixture", None)
    if mixture is None or (support < 0).any():
        return np.full(support.size, math.nan)
    if not isinstance(mixture, Mapping):
        raise ValueError(f"mixture must be a mapping from arms to shares, got {short(mixture)}")
    shares = {arm_index(arm, n_arms): finite(share) for arm, share in mixture.items()}
    if stray := shares.keys() - set(support.tolist()):
        raise ValueError(f"mixture must be of arms in the answer, got {sorted(stray)}")
    return np.array([shares.get(int(c), 0.0 if c < n_arms else math.nan) for c in support])


UNKNOWN = {
    "first_rejected": ("share_first_rejects_support",),
    "weights": ("share_breaks_limits",),  # weights of slacks are not asked for
}
USER_STRATEGIES = UserStrategies(arguments, rounds, unknown=UNKNOWN)
