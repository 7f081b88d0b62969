"""What a user strategy is given, asked and told on an instance of BAICS."""

from typing import Any

import numpy as np

from bestarm.baics.problem import Instance
from bestarm.baics.steps import pull
from bestarm.baics.strategies import Outcome, Setting, make_world
from bestarm.common.user_strategies import (
    ConstructorArguments,
    Rounds,
    UserRun,
    UserStrategies,
    arm_index,
)
from bestarm.core.anytime import BERNOULLI_SIGMA
from bestarm.core.inputs import short
from bestarm.core.status import Status


def arguments(instance: Instance, setting: Setting) -> ConstructorArguments:
    """Arguments, named as those of `TaSCS`."""
    problem = {
        "n_arms": len(instance.means),
        "weights": instance.problem.weights.tolist(),
        "delta": setting.delta,
        "constrained": instance.n_constrained,
        "minimum": instance.minimum,
        "sigma": BERNOULLI_SIGMA if instance.rewards == "bernoulli" else instance.sigma,
        "rewards": instance.rewards,
    }
    return ConstructorArguments(problem, {}, {"minimum"} if instance.floor.any() else set())


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives (arm, subpopulation); `tell` gets it and a reward; the answer is an arm or None.

    Compiled steps count pairs arm by arm, and their rewards are above the minimum of their
    subpopulation, in units of their sigma.
    """
    n_arms, n_groups = len(instance.means), len(instance.weights)
    sigma, floor = instance.sigmas.ravel(), np.tile(instance.floor, n_arms)

    def index(pair: Any) -> int:
        try:
            arm, group = pair
        except (TypeError, ValueError):
            raise ValueError(f"must be (arm, segment), got {short(pair)}") from None
        k, l = arm_index(arm, n_arms), arm_index(group, n_groups, "a segment")
        return k * n_groups + l

    def outcome(run: UserRun) -> Outcome:
        none = run.answer is None
        return Outcome(
            tau=run.tau,
            answer=0 if none else arm_index(run.answer, n_arms) + 1,
            status=Status.STOPPED if run.stopped else Status.CAPPED,
            pulls=run.pulls,
        )

    return Rounds(
        n=n_arms * n_groups,
        index_of=index,
        world=make_world(instance),
        pull=pull,
        told=lambda pair, reward: (float(reward * sigma[pair] + floor[pair]),),
        outcome=outcome,
    )


USER_STRATEGIES = UserStrategies(arguments, rounds)
