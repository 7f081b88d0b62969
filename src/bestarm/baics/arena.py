"""What BAICS brings to the arena."""

import numpy as np

from bestarm.baics.problem import Instance, instances
from bestarm.baics.pure_exploration import problem_and_means
from bestarm.common.arena import BEST_ARM, BEST_ARM_INSTANCES, Arena, Family


def random_instance(seed: int) -> Instance:
    """Four arms on three subpopulations of the same size; means are normal, of mean 0.3."""
    means = np.random.default_rng([4, 3, seed]).normal(0.3, 0.7, (4, 3)).round(2).tolist()
    return Instance(name=f"random 4x3 seed={seed}", means=means, weights=[1.0, 1.0, 1.0])


def best_arm(name: str) -> Instance:
    """One subpopulation and no constraint."""
    means, sigma = BEST_ARM_INSTANCES[name]
    columns = [[mean] for mean in means]
    return Instance(name=name, means=columns, weights=[1.0], constrained=0, sigma=sigma)


KNOWN = instances()
ARENA = Arena(
    {
        BEST_ARM: Family(
            tuple(map(best_arm, BEST_ARM_INSTANCES)), {"T-a-S": "proven", "Uniform": "proven"}, {}
        ),
        "best arm for all subpopulations": Family(
            (KNOWN["example1"], KNOWN["no-feasible-arm"], random_instance(0)),
            {
                "T-a-SCS": "maximiser+proven",
                "T-a-S": "proven",
                "Uniform": "proven",
                "FWS": "levelled+proven",
            },
            dict.fromkeys(("T-a-SCS", "T-a-S", "Uniform", "Two-stage"), "as-written"),
        ),
    },
    problem_and_means,
)
