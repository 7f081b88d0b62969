"""What a paper brings to the arena (`bestarm.arena`): instances, and the rules that play them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

#: A family that more than one paper can express: the best of arms whose means are unrelated.
BEST_ARM = "best arm"
#: Its instances: means, and sigma of all arms. The first two are those of Garivier & Kaufmann
#: (2016, Section 6), with Gaussian rewards of at least the variance of their Bernoulli ones.
BEST_ARM_INSTANCES: dict[str, tuple[list[float], float]] = {
    "Garivier-Kaufmann 1": ([0.5, 0.45, 0.43, 0.4], 0.5),
    "Garivier-Kaufmann 2": ([0.3, 0.21, 0.2, 0.19, 0.18], 0.5),
    "random K=5 seed=4": (np.random.default_rng([5, 4]).normal(size=5).round(2).tolist(), 1.0),
}


class Family(NamedTuple):
    """Instances of one kind, and the strategies of a paper that play them.

    Args:
        instances: the paper's own models of them.
        proven: by strategy, the reading whose stopping rule is proved.
        written: by strategy, the reading of the paper's own text.
        generic: whether those of core/pure_exploration play here; they play each family once.
        setting: what runs are asked beside delta and the cap, or the budget.
        time: an instance -> T* with E[tau] >= T* kl(delta, 1 - delta), if it is not that of the
            paper's `Arena.problem`.
    """

    instances: tuple[Any, ...]
    proven: Mapping[str, str]
    written: Mapping[str, str]
    generic: bool = True
    setting: Mapping[str, Any] = {}
    time: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Arena:
    """Families by name, and what is common to them.

    Args:
        families: by name.
        problem: an instance as a problem of core/pure_exploration, and its means.
        budgets: at which strategies play, if the paper is one of fixed budgets; else none.
    """

    families: Mapping[str, Family]
    problem: Callable[[Any], tuple[Any, np.ndarray]] | None = None
    budgets: tuple[int, ...] = ()
