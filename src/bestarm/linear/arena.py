"""What linear bandits bring to the arena."""

import math

import numpy as np

from bestarm.common.arena import BEST_ARM, BEST_ARM_INSTANCES, Arena, Family
from bestarm.linear.problem import Instance, instances
from bestarm.linear.pure_exploration import problem_and_means

#: The angle between the two best arms of Section 6, which has 0.01.
OMEGA = 0.3
#: Strategies whose readings are made of the paper's widths.
STATIC = ("G", "XY", "Fully-Adaptive")
#: The printed width and rules (docs/readings.md).
PRINTED = "2sqrt2*logn+argmin-max"


def canonical(d: int) -> Instance:
    """Section 6 with a wider angle: the canonical basis and (cos w, sin w, 0, ...)."""
    near = [math.cos(OMEGA), math.sin(OMEGA)] + [0.0] * (d - 2)
    arms = [*np.eye(d).tolist(), near]
    return Instance(name=f"canonical d={d}", arms=arms, theta=[2.0] + [0.0] * (d - 1))


def random_instance(seed: int) -> Instance:
    """Ten unit vectors drawn uniformly in R^3; theta is the first of them."""
    arms = np.random.default_rng([10, 3, seed]).normal(size=(10, 3))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    name = f"random K=10 d=3 seed={seed}"
    return Instance(name=name, arms=arms.tolist(), theta=arms[0].tolist())


def best_arm(name: str) -> Instance:
    """Arms are the canonical basis."""
    means, sigma = BEST_ARM_INSTANCES[name]
    return Instance(name=name, arms=np.eye(len(means)).tolist(), theta=means, sigma=sigma)


MODERN = {"RAGE": "as-written", "LinGapE": "as-written"}  # proven by their authors
ARENA = Arena(
    {
        BEST_ARM: Family(tuple(map(best_arm, BEST_ARM_INSTANCES)), MODERN, {}, generic=False),
        "linear rewards": Family(
            (instances()["three-arms"], canonical(5), random_instance(0)),
            dict.fromkeys((*STATIC, "XY-Adaptive"), "honest") | MODERN,
            dict.fromkeys(STATIC, PRINTED) | {"XY-Adaptive": f"{PRINTED}+fig3+rebuilt"},
        ),
    },
    problem_and_means,
)
