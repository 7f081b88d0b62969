"""What delayed feedback brings to the arena: racing, with rewards that come at once."""

import numpy as np

from bestarm.common.arena import BEST_ARM, BEST_ARM_INSTANCES, Arena, Family
from bestarm.core.pure_exploration.top_arms import TopArms, top_arms
from bestarm.delayed.problem import Instance, always


def at_once(name: str, means: list[float], top: int = 1, sigma: float = 1.0) -> Instance:
    """Every pull takes a step, so that steps are pulls."""
    return Instance(
        name=name, means=means, top=top, sigma=[sigma], feedback="full", delay=[always(1)]
    )


def random_instance(seed: int) -> Instance:
    """The best three of ten normal means."""
    means = np.random.default_rng([10, seed]).normal(size=10).round(2).tolist()
    return at_once(f"random K=10 top=3 seed={seed}", means, top=3)


def best_arm(name: str) -> Instance:
    """The same as the others'."""
    means, sigma = BEST_ARM_INSTANCES[name]
    return at_once(name, means, sigma=sigma)


def problem_and_means(instance: Instance) -> tuple[TopArms, np.ndarray]:
    """The problem of an instance, and its (n,) means. Delays do not matter to it."""
    means = np.array(instance.means)
    return top_arms(means.size, instance.top, instance.problem.sigma), means


RACING = {"Full": "mixture"}
ARENA = Arena(
    {
        BEST_ARM: Family(tuple(map(best_arm, BEST_ARM_INSTANCES)), RACING, {}, generic=False),
        "best k arms": Family(
            (random_instance(0), random_instance(1)), RACING, {"Full": "as-written"}
        ),
    },
    problem_and_means,
)
