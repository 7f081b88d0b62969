"""What a strategy from outside is given, asked and told on an instance of BAICS."""

from typing import Any

import numpy as np

from bestarm.baics.problem import Instance
from bestarm.baics.steps import pull
from bestarm.baics.strategies import Outcome, Setting, world_of
from bestarm.common.custom import Custom, Offer, Played, Rounds, arm_index
from bestarm.core.anytime import BERNOULLI_SIGMA
from bestarm.core.inputs import short
from bestarm.core.status import Status


def offer(instance: Instance, setting: Setting) -> Offer:
    """Arguments, named as those of `TaSCS`."""
    known = {
        "n_arms": len(instance.means),
        "weights": instance.problem.weights.tolist(),
        "delta": setting.delta,
        "constrained": instance.n_constrained,
        "minimum": instance.minimum,
        "sigma": BERNOULLI_SIGMA if instance.rewards == "bernoulli" else instance.sigma,
        "rewards": instance.rewards,
    }
    return Offer(known, {}, {"minimum"} if instance.floor.any() else set())


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
            raise ValueError(f"must be (arm, subpopulation), got {short(pair)}") from None
        k, l = arm_index(arm, n_arms), arm_index(group, n_groups, "a subpopulation")
        return k * n_groups + l

    def outcome(played: Played) -> Outcome:
        none = played.answer is None
        return Outcome(
            tau=played.tau,
            answer=0 if none else arm_index(played.answer, n_arms) + 1,
            status=Status.STOPPED if played.stopped else Status.CAPPED,
            pulls=played.pulls,
        )

    return Rounds(
        n=n_arms * n_groups,
        index_of=index,
        world=world_of(instance),
        pull=pull,
        told=lambda pair, reward: (float(reward * sigma[pair] + floor[pair]),),
        outcome=outcome,
    )


CUSTOM = Custom(offer, rounds)
