"""An instance as kernels and bounds take it."""

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """The instance as kernels take it: policies pi of the simplex with matrix @ pi <= limits."""

    means: np.ndarray  # (K,)
    variances: np.ndarray  # (K,) of rewards
    matrix: np.ndarray  # (d, K) mean costs, A
    limits: np.ndarray  # (d,) b
    cost_sigma: float  # standard deviation of every entry of a cost vector
