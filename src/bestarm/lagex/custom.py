"""What a strategy from outside is given, asked and told on an instance of LAGEX."""

import math

import numpy as np

from bestarm.common.custom import Custom, Offer, Played, Rounds, arm_index, shares
from bestarm.core.status import Status
from bestarm.lagex.bounds import rows_of, slacks_of
from bestarm.lagex.exploration import BROKEN, draw_new
from bestarm.lagex.problem import Instance
from bestarm.lagex.strategies import FAILURES, Outcome, Setting, world_of
from bestarm.lagex.vertices import alternatives, nonempty


def offer(instance: Instance, setting: Setting) -> Offer:
    """Arguments, named as those of `LAGEX`, `Certified` and `CTnS`."""
    model, (sigma, cost_sigma) = instance.model, instance.sigmas
    known = {
        "n_arms": len(instance.means),
        "limits": model.limits.tolist(),
        "delta": setting.delta,
        "r": setting.r,
        "sigma": sigma[0] if len(sigma) == 1 else sigma,
        "cost_sigma": cost_sigma,
    }
    return Offer(known, {"matrix": model.matrix.tolist()})


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an arm; `tell` gets it, a reward and (d,) costs, all limits upper ones.

    The answer is a share of each arm, or None.
    """
    model = instance.model
    n = model.means.size
    best = nonempty(alternatives(model.means, model.matrix, model.limits, 0.0)).value

    def outcome(played: Played) -> Outcome:
        none = played.answer is None
        policy = np.full(n, math.nan) if none else shares(played.answer, n)
        over = model.matrix @ policy - model.limits
        slacks = slacks_of(policy, rows_of(model))
        support = np.concatenate([policy > BROKEN, slacks > 0.0])
        return Outcome(
            tau=played.tau,
            status=int(Status.STOPPED if played.stopped else Status.CAPPED),
            answer=support.astype(np.int64),
            policy=policy,
            pulls=played.pulls,
            policy_violations=0,
            allocation_violations=0,
            empty=0,
            **dict.fromkeys(FAILURES, 0),
            regret=best - float(model.means @ policy),
            excess=float(over.max()),
        )

    return Rounds(
        n=n,
        index_of=lambda arm: arm_index(arm, n),
        world=world_of(model, bernoulli=instance.bernoulli),
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
CUSTOM = Custom(offer, rounds, unknown=UNKNOWN)
