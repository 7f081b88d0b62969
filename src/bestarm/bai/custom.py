"""What a strategy from outside is given, asked and told in best-arm identification."""

from bestarm.bai.problem import Instance
from bestarm.bai.steps import World, pull
from bestarm.bai.strategies import Outcome, Setting
from bestarm.common.custom import Custom, Offer, Played, Rounds, arm_index
from bestarm.core.status import Status


def offer(instance: Instance, setting: Setting) -> Offer:
    """Arguments, named as those of `TrackAndStop`."""
    known = {
        "n_arms": len(instance.means),
        "delta": setting.delta,
        "rewards": instance.rewards,
        "sigma": instance.sigma,
    }
    return Offer(known, {})


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an arm; `tell` gets it and a reward; the answer is an arm."""
    n_arms = len(instance.means)

    def outcome(played: Played) -> Outcome:
        return Outcome(
            tau=played.tau,
            answer=arm_index(played.answer, n_arms) + 1,
            status=Status.STOPPED if played.stopped else Status.CAPPED,
            pulls=played.pulls,
        )

    return Rounds(
        n=n_arms,
        index_of=lambda arm: arm_index(arm, n_arms),
        world=World(instance.law, instance.standard_means),
        pull=pull,
        told=lambda _, reward: (float(reward * instance.sigma),),
        outcome=outcome,
    )


CUSTOM = Custom(offer, rounds)
