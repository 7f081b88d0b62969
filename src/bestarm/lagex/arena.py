"""What LAGEX brings to the arena: the best mixture under limits, known or unknown."""

import numpy as np

from bestarm.common.arena import Arena, Family
from bestarm.lagex import pure_exploration
from bestarm.lagex.paper.bounds import learning_time
from bestarm.lagex.problem import EASIER, Instance, instances, setup1
from bestarm.lagex.pure_exploration import Policies

KNOWN = instances()
#: By how much an answer may fall short if the limits are unknown: with 0 no run need ever end.
SHORT = 0.1


def problem_and_means(instance: Instance) -> tuple[Policies, np.ndarray]:
    """The problem of an instance, and its (K,) means."""
    return pure_exploration.problem_and_means(instance.problem)


def time_to_learn(instance: Instance) -> float:
    """T* of learning the limits, whatever is known of the rewards."""
    return learning_time(instance.problem, SHORT).time


#: Its stopping rules for unknown limits; the other strategies share them.
UNKNOWN = ("LAGEX", "LATS", "PTnS")
ARENA = Arena(
    {
        "best mixture, known limits": Family(
            (setup1(EASIER), KNOWN["setup 2 easy"], KNOWN["example"]),
            {},
            {"CTnS": "as-written", "CGE": "as-written"},
            setting={"r": 0.0},  # as the others, which look for the best
        ),
        "good mixture, unknown limits": Family(
            (setup1(EASIER), KNOWN["example"], KNOWN["triangle"]),
            {"Certified": "proven", "Certified-Uniform": "proven"},
            dict.fromkeys(UNKNOWN, "as-written"),
            generic=False,
            setting={"r": SHORT},
            time=time_to_learn,
        ),
    },
    problem_and_means,
)
