"""What is printed for a user instance."""

import numpy as np
import pandas as pd

from bestarm.baics import tables
from bestarm.baics.lower_bound import certificate
from bestarm.baics.problem import Instance
from bestarm.baics.statistics import correct
from bestarm.common.paper import UserOutput

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
    means["quality"] = truth["qualities"]
    means["feasible"] = np.where(instance.feasible, "yes", "no")
    tables = {f"{instance.name}: means ({_noise(instance)})": means}
    if isinstance(instance.sigma, list):
        tables["sigma"] = pd.DataFrame(instance.sigma, arms, groups)
    if instance.floor.any():
        least = [
            float(c) if l < instance.n_constrained else None for l, c in enumerate(instance.floor)
        ]
        tables["minimum"] = pd.DataFrame([least], ["mean at least"], groups)
    return tables | {
        "optimal allocation w*: share of pulls": pd.DataFrame(truth["allocation"], arms, groups),
    }


def _noise(instance: Instance) -> str:
    if instance.rewards == "bernoulli":
        return "rewards are 0 or 1"
    return "sigma below" if isinstance(instance.sigma, list) else f"sigma = {instance.sigma:g}"


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str | None]:
    """The arms that runs answered with, or None."""
    return [[None, *instance.arm_names][answer] for answer in runs["answer"]]


def several(instance: Instance, truth: dict) -> bool:
    """Whether a second feasible arm is as good as the best."""
    if not truth["answer"]:
        return False
    qualities = np.array(truth["qualities"])
    return int((instance.feasible & (qualities == qualities[truth["answer"] - 1])).sum()) > 1


USER_OUTPUT = UserOutput(
    COLUMNS, tables.bounds, describe, correct, answers, several, ["delta"], certificate
)
