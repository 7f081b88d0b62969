"""What is printed for a user's own instance."""

import pandas as pd

from bestarm.baics import tables
from bestarm.baics.problem import Instance
from bestarm.common.paper import Own

#: Statistics that `bestarm run` prints, and the headings of their columns.
COLUMNS = {
    "mean_stopping_time": "mean pulls",
    "median_stopping_time": "median pulls",
    "prob_correct": "share right",
    "share_capped": "share capped",
}


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: means with quality and feasibility, and w*."""
    arms, groups = instance.arm_names, instance.group_names
    means = pd.DataFrame(instance.means, arms, groups)
    feasible = (means.iloc[:, : instance.n_constrained] >= 0).all(axis=1)
    means["quality"] = truth["qualities"]
    means["feasible"] = feasible.map({True: "yes", False: "no"})
    return {
        f"{instance.name}: means (sigma = {instance.sigma:g})": means,
        "optimal allocation w*: share of pulls": pd.DataFrame(truth["allocation"], arms, groups),
    }


OWN = Own(COLUMNS, tables.bounds, describe)
