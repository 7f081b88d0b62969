"""What a user strategy is given, asked and told in best-arm identification."""

from bestarm.bai.problem import Instance
from bestarm.bai.steps import World, pull
from bestarm.bai.strategies import Outcome, Setting
from bestarm.common.user_strategies import (
    ConstructorArguments,
    Rounds,
    UserRun,
    UserStrategies,
    arm_index,
)
from bestarm.core.status import Status


def arguments(instance: Instance, setting: Setting) -> ConstructorArguments:
    """Arguments, named as those of `TrackAndStop`."""
    problem = {
        "n_arms": len(instance.means),
        "delta": setting.delta,
        "rewards": instance.rewards,
        "sigma": instance.sigma,
    }
    return ConstructorArguments(problem, {})


def rounds(instance: Instance, setting: Setting) -> Rounds:
    """`ask` gives an arm; `tell` gets it and a reward; the answer is an arm."""
    n_arms = len(instance.means)

    def outcome(run: UserRun) -> Outcome:
        return Outcome(
            tau=run.tau,
            answer=arm_index(run.answer, n_arms) + 1,
            status=Status.STOPPED if run.stopped else Status.CAPPED,
            pulls=run.pulls,
        )

    return Rounds(
        n=n_arms,
        index_of=lambda arm: arm_index(arm, n_arms),
        world=World(instance.law, instance.standard_means),
        pull=pull,
        told=lambda _, reward: (float(reward * instance.sigma),),
        outcome=outcome,
    )


USER_STRATEGIES = UserStrategies(arguments, rounds)
