"""What a run is made of."""

import numpy as np

from bestarm.core.compile import jit


@jit
def lead_of(means: np.ndarray, budget: int, environment) -> float:
    """The second arm's sum less the first's after budget / 2 pulls of each."""
    lead = 0.0
    for _ in range(budget // 2):
        lead += means[1] - means[0]
        lead += environment.standard_normal() - environment.standard_normal()
    return lead
