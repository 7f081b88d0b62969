"""What is printed for a user's own instance."""

import numpy as np
import pandas as pd

from bestarm.baics import tables
from bestarm.baics.problem import Instance
from bestarm.baics.statistics import correct
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


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str]:
    """The arms that runs answered with, or "none"."""
    return [["none", *instance.arm_names][answer] for answer in runs["answer"]]


def several(instance: Instance, truth: dict) -> bool:
    """Whether a second feasible arm is as good as the best."""
    if not truth["answer"]:
        return False
    means, qualities = np.array(instance.means), np.array(truth["qualities"])
    feasible = (means[:, : instance.n_constrained] >= 0).all(axis=1)
    return int((feasible & (qualities == qualities[truth["answer"] - 1])).sum()) > 1


OWN = Own(COLUMNS, tables.bounds, describe, correct, answers, several, ["delta"])
