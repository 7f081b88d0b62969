"""What best-arm identification brings to the arena: its strategies, with Gaussian rewards."""

import numpy as np

from bestarm.bai.problem import Instance
from bestarm.bai.strategies import READINGS
from bestarm.common.arena import BEST_ARM, BEST_ARM_INSTANCES, Arena, Family
from bestarm.core.pure_exploration.top_arms import TopArms, top_arms


def best_arm(name: str) -> Instance:
    """The same as the others'."""
    means, sigma = BEST_ARM_INSTANCES[name]
    return Instance(name=name, means=means, rewards="gaussian", sigma=sigma)


def problem_and_means(instance: Instance) -> tuple[TopArms, np.ndarray]:
    """The problem of an instance with Gaussian rewards, and its (K,) means."""
    return top_arms(len(instance.means), sigma=instance.sigma), np.array(instance.means)


PROVEN = dict.fromkeys(READINGS, "proven")
ARENA = Arena(
    {BEST_ARM: Family(tuple(map(best_arm, BEST_ARM_INSTANCES)), PROVEN, {}, generic=False)},
    problem_and_means,
)
