"""What a user strategy is given, asked and told on an instance of LAGEX."""

import math

import numpy as np

from bestarm.common.user_strategies import (
    ConstructorArguments,
    Rounds,
    UserRun,
    UserStrategies,
    arm_index,
    shares,
)
from bestarm.core.status import Status
from bestarm.lagex.paper.bounds import constraint_rows, policy_slacks
from bestarm.lagex.problem import Instance
from bestarm.lagex.strategies import FAILURES, Outcome, Setting, make_world
from bestarm.lagex.vertices import alternatives, nonempty
from bestarm.lagex.world import BROKEN, draw_new


def arguments(instance: Instance, setting: Setting) -> ConstructorArguments:
    """Arguments, named as those of `LAGEX`, `Certified` and `CTnS`."""
    problem, (sigma, cost_sigma) = instance.problem, instance.sigmas
    problem_arguments = {
        "n_arms": len(instance.means),
        "limits": problem.limits.tolist(),
        "delta": setting.delta,
        "r": setting.r,
        "sigma": sigma[0] if len(sigma) == 1 else sigma,
        "cost_sigma": cost_sigma,
    }
    return ConstructorArguments(problem_arguments, {"matrix": problem.matrix.tolist()})


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an arm; `tell` gets it, a reward and (d,) costs, all limits upper ones.

    The answer is a share of each arm, or None.
    """
    problem = instance.problem
    n = problem.means.size
    best = nonempty(alternatives(problem.means, problem.matrix, problem.limits, 0.0)).value

    def outcome(run: UserRun) -> Outcome:
        none = run.answer is None
        policy = np.full(n, math.nan) if none else shares(run.answer, n)
        over = problem.matrix @ policy - problem.limits
        slacks = policy_slacks(policy, constraint_rows(problem))
        support = np.concatenate([policy > BROKEN, slacks > 0.0])
        return Outcome(
            tau=run.tau,
            status=int(Status.STOPPED if run.stopped else Status.CAPPED),
            answer=support.astype(np.int64),
            policy=policy,
            pulls=run.pulls,
            policy_violations=0,
            allocation_violations=0,
            empty=0,
            **dict.fromkeys(FAILURES, 0),
            regret=best - float(problem.means @ policy),
            excess=float(over.max()),
        )

    return Rounds(
        n=n,
        index_of=lambda arm: arm_index(arm, n),
        world=make_world(problem, bernoulli=instance.bernoulli),
        pull=draw_new,
        told=lambda _, observed: (float(observed[0]), observed[1:].copy()),
        outcome=outcome,
    )


UNKNOWN = {
    "policy_violations": ("policy_violations", "policy_violation_share"),
    "allocation_violations": ("allocation_violations", "allocation_violation_share"),
    "empty": ("share_empty",),
    **dict.fromkeys(FAILURES, ()),
}
USER_STRATEGIES = UserStrategies(arguments, rounds, unknown=UNKNOWN)
