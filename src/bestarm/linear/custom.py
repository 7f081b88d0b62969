"""What a strategy from outside is given, asked and told on an instance of linear bandits."""

import math

import numpy as np

from bestarm.common.custom import Custom, Offer, Played, Rounds, arm_index
from bestarm.core.compile import inlined
from bestarm.core.status import Status
from bestarm.linear.problem import Instance, Problem
from bestarm.linear.strategies import Outcome, Setting


def offer(instance: Instance, setting: Setting) -> Offer:
    """Arguments, named as those of `LinGapE` and `XYOracle`."""
    known = {"arms": instance.arms, "delta": setting.delta, "sigma": instance.sigma}
    norm = instance.problem.norm * instance.sigma
    return Offer(known, {"theta": instance.theta, "norm": norm})


@inlined
def pull(world: Problem, state, arm: int, environment: np.random.Generator) -> float:
    """A reward in units of the noise."""
    return world.means[arm] + environment.standard_normal()


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an arm; `tell` gets it and a reward; the answer is an arm.

    Rewards of compiled steps are in units of sigma.
    """
    n = len(instance.arms)

    def outcome(played: Played) -> Outcome:
        none = played.answer is None and not played.stopped
        return Outcome(
            tau=played.tau,
            status=int(Status.STOPPED if played.stopped else Status.CAPPED),
            answer=0 if none else arm_index(played.answer, n) + 1,
            lead=math.nan,
            pulls=played.pulls,
        )

    return Rounds(
        n=n,
        index_of=lambda arm: arm_index(arm, n),
        world=instance.problem,
        pull=pull,
        told=lambda _, reward: (reward * instance.sigma,),
        outcome=outcome,
    )


CUSTOM = Custom(offer, rounds, unknown={"lead": ()})
