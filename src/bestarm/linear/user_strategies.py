"""What a user strategy is given, asked and told on an instance of linear bandits."""

import math

import numpy as np

from bestarm.common.user_strategies import (
    ConstructorArguments,
    Rounds,
    UserRun,
    UserStrategies,
    arm_index,
)
from bestarm.core.compile import inlined
from bestarm.core.status import Status
from bestarm.linear.problem import Instance, Problem
from bestarm.linear.strategies import Outcome, Setting


def arguments(instance: Instance, setting: Setting) -> ConstructorArguments:
    """Arguments, named as those of `LinGapE` and `XYOracle`."""
    problem = {"arms": instance.arms, "delta": setting.delta, "sigma": instance.sigma}
    norm = instance.problem.norm * instance.sigma
    return ConstructorArguments(problem, {"theta": instance.theta, "norm": norm})


@inlined
def pull(world: Problem, state, arm: int, environment: np.random.Generator) -> float:
    """A reward in units of the noise."""
    return world.means[arm] + environment.standard_normal()


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an arm; `tell` gets it and a reward; the answer is an arm.

    Rewards of compiled steps are in units of sigma.
    """
    n = len(instance.arms)

    def outcome(run: UserRun) -> Outcome:
        none = run.answer is None and not run.stopped
        return Outcome(
            tau=run.tau,
            status=int(Status.STOPPED if run.stopped else Status.CAPPED),
            answer=0 if none else arm_index(run.answer, n) + 1,
            lead=math.nan,
            pulls=run.pulls,
        )

    return Rounds(
        n=n,
        index_of=lambda arm: arm_index(arm, n),
        world=instance.problem,
        pull=pull,
        told=lambda _, reward: (reward * instance.sigma,),
        outcome=outcome,
    )


USER_STRATEGIES = UserStrategies(arguments, rounds, unknown={"lead": ()})
