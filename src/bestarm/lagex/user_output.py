"""What is printed for a user instance."""

import numpy as np
import pandas as pd

from bestarm.common.paper import UserOutput
from bestarm.lagex import tables
from bestarm.lagex.problem import Instance
from bestarm.lagex.statistics import correct
from bestarm.live.labels import listed

#: Statistics that `bestarm run` prints, and the headings of their columns.
COLUMNS = {
    "median_stopping_time": "median steps",
    "mean_stopping_time": "mean steps",
    "prob_r_optimal": "r-optimal",
    "prob_feasible": "feasible",
    "mean_excess": "excess if not",
    "policy_violation_share": "rounds infeasible",
    "share_capped": "share capped",
}


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: arms with costs, best policy, allocations; constraints."""
    problem = instance.problem
    arms = pd.DataFrame({"mean reward": problem.means}, index=instance.arm_names)
    for name, constraint in zip(instance.constraint_names, instance.constraints, strict=True):
        arms[name] = constraint.coefficients
    arms["best policy"] = truth["policy"]
    arms["pulls, any"] = truth["allocation"]
    arms["pulls, feasible"] = truth["inside_allocation"]
    limits = pd.DataFrame(
        {
            "limit": [
                f"at most {c.at_most:g}" if c.at_most is not None else f"at least {c.at_least:g}"
                for c in instance.constraints
            ],
            "slack at the best policy": truth["slacks"],
        },
        index=instance.constraint_names,
    )
    sigmas = sorted(set(np.sqrt(problem.variances).round(4)))
    spread = f"{sigmas[0]:g}" if len(sigmas) == 1 else f"{sigmas[0]:g} to {sigmas[-1]:g}"
    noise = f"sigma = {spread}, cost_sigma = {problem.cost_sigma:g}"
    if instance.bernoulli:
        noise = "rewards and costs are 0 or 1"
    tie = "" if truth["unique"] else "; the best policy is not unique"
    return {f"{instance.name}: arms ({noise}{tie})": arms, "constraints": limits}


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str | None]:
    """The policies that runs recommend: arms with their shares; None if none looked feasible."""

    def words(policy: np.ndarray) -> str | None:
        shares = zip(instance.arm_names, policy, strict=True)
        return listed(f"{share:.3g} {name}" for name, share in shares if share > 0.0) or None

    return [words(policy) for policy in runs["policy"]]


USER_OUTPUT = UserOutput(
    COLUMNS, tables.bounds, describe, correct, answers, bound_options=["delta", "r"]
)
